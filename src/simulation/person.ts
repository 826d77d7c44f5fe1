import { serviceBinding } from "../api/btp/service-binding.ts";
import { Conflict, Invalid, NotFound } from "../kube/errors.ts";
import type { KubeObject } from "../kube/objects.ts";
import { secretType } from "../publish/secret-publisher.ts";
import { serviceBindingKind } from "../reconcile/btp/service-binding-kind.ts";
import { BASE_NAME, COMPROMISED, EXTERNAL_NAME, FORCE, FROZEN, PAUSED, RESOURCE, SECRET } from "./scene.ts";
import type { World } from "./world.ts";

/** What was saved of the resource and its Secret at some time. */
export interface Backup {
  readonly resource: KubeObject | undefined;
  readonly secret: KubeObject | undefined;
}

export async function takeBackup(world: World): Promise<Backup> {
  return {
    resource: await world.resource(),
    secret: world.storedSecret(`${SECRET.namespace}/${SECRET.name}`),
  };
}

type Act = (world: World, backup: Backup) => Promise<void>;

const ref = { name: RESOURCE };

const patch = (world: World, body: object): Promise<unknown> =>
  world.kube.patch(serviceBinding, ref, { type: "merge", body });

const annotate =
  (annotations: Readonly<Record<string, string | null>>): Act =>
  async (world) => {
    await patch(world, { metadata: { annotations } });
  };

const edit =
  (spec: object): Act =>
  async (world) => {
    await patch(world, { spec });
  };

async function writeStatus(world: World, status: unknown): Promise<void> {
  const object = await world.resource();
  if (object) await world.kube.replace(serviceBinding, { ...object, status }, { subresource: "status" });
}

/** The key that the resource calls active goes outside, without a request of ours. */
const removeActiveOutside: Act = async (world) => {
  const object = await world.resource();
  const id = object && serviceBindingKind.readState(object).active?.id;
  if (id === undefined) return;
  world.judge.personActed(id);
  world.sandbox.controls.removeBinding(id);
};

const removeRetiredOutside: Act = async (world) => {
  const object = await world.resource();
  const id = object && serviceBindingKind.readState(object).retired[0]?.id;
  if (id === undefined) return;
  world.judge.personActed(id);
  world.sandbox.controls.removeBinding(id);
};

const restoreSecret: Act = async (world, { secret }) => {
  if (!secret) return;
  const present = world.storedSecret(`${SECRET.namespace}/${SECRET.name}`);
  const { resourceVersion: _version, uid: _uid, ...metadata } = secret.metadata;
  const restored: KubeObject = { ...secret, metadata };
  if (present) await world.kube.replace(secretType, restored);
  else await world.kube.create(secretType, restored);
};

/** What a backup tool does: the object comes back under a new UID, with the status it had. */
const recreate: Act = async (world, backup) => {
  const source = backup.resource ?? (await world.resource());
  if (!source) return;
  await takeFinalizerOff(world);
  await world.kube.delete(serviceBinding, ref);
  const { labels, annotations, finalizers } = source.metadata;
  const metadata = {
    ...(labels && { labels }),
    ...(annotations && { annotations }),
    ...(finalizers && { finalizers }),
  };
  await world.createResource(source.spec as Readonly<Record<string, unknown>>, metadata);
  await writeStatus(world, source.status ?? {});
  await world.collectGarbage();
};

/** The manifest once more, for a resource of the same name that knows nothing of the former one. */
const reapply: Act = async (world) => {
  const spec = (await world.resource())?.spec;
  await takeFinalizerOff(world);
  await world.kube.delete(serviceBinding, ref);
  await world.createResource(spec as Readonly<Record<string, unknown>>);
  await world.collectGarbage();
};

/** Another instance of the service, and keys are to be of that one from now on. */
const changeInstance: Act = async (world) => {
  const { id } = world.sandbox.controls.putInstance();
  await patch(world, { spec: { forProvider: { serviceInstanceId: id } } });
};

const takeFinalizerOff = (world: World): Promise<unknown> => patch(world, { metadata: { finalizers: null } });

/** Everything a person, a script or a backup tool may do to what the operator works on. */
const ACTS = {
  deleteSecret: async (world) => {
    await world.kube.delete(secretType, SECRET);
  },
  editSecret: async (world) => {
    await world.kube.patch(secretType, SECRET, { type: "merge", body: { data: { uri: "ZWxzZXdoZXJl" } } });
  },
  stripSecret: async (world) => {
    await world.kube.patch(secretType, SECRET, { type: "merge", body: { metadata: { annotations: null } } });
  },
  deleteResource: async (world) => {
    await world.kube.delete(serviceBinding, ref);
  },
  dropFinalizer: async (world) => {
    await takeFinalizerOff(world);
  },
  dropFinalizerAndDelete: async (world) => {
    await takeFinalizerOff(world);
    await world.kube.delete(serviceBinding, ref);
  },
  wipeStatus: (world) => writeStatus(world, {}),
  restoreStatus: (world, { resource }) => writeStatus(world, resource?.status ?? {}),
  restoreSecret,
  restoreBoth: async (world, backup) => {
    await writeStatus(world, backup.resource?.status ?? {});
    const name = backup.resource?.metadata.annotations?.[EXTERNAL_NAME] ?? null;
    await patch(world, { metadata: { annotations: { [EXTERNAL_NAME]: name } } });
    await restoreSecret(world, backup);
  },
  recreate,
  reapply,
  tamperExternalName: annotate({ [EXTERNAL_NAME]: "tampered" }),
  dropExternalName: annotate({ [EXTERNAL_NAME]: null }),
  force: annotate({ [FORCE]: "please" }),
  forceOnceMore: annotate({ [FORCE]: "once more" }),
  compromise: annotate({ [COMPROMISED]: "leaked" }),
  pause: annotate({ [PAUSED]: "true" }),
  unpause: annotate({ [PAUSED]: null }),
  freeze: annotate({ [FROZEN]: "true" }),
  unfreeze: annotate({ [FROZEN]: null }),
  shortenTtl: edit({ rotation: { ttl: "300h" } }),
  lengthenTtl: edit({ rotation: { ttl: "500h" } }),
  rotateFaster: edit({ rotation: { frequency: "100h" } }),
  startRotation: edit({ rotation: { ttl: "336h", frequency: "288h" } }),
  stopRotation: edit({ rotation: null }),
  changeParameters: edit({ forProvider: { parameters: { size: "large" } } }),
  changeName: edit({ forProvider: { name: `${BASE_NAME}-renamed` } }),
  changeInstance,
  moveSecret: edit({ writeConnectionSecretToRef: { name: "orders-elsewhere" } }),
  removeActiveOutside,
  removeRetiredOutside,
} as const satisfies Readonly<Record<string, Act>>;

export type ActName = keyof typeof ACTS;
export const ACT_NAMES = Object.keys(ACTS) as readonly ActName[];

/** What makes a Secret stop telling which key it holds, or the resource stop asking it. */
const HIDES_PUBLICATION: ReadonlySet<ActName> = new Set<ActName>([
  "deleteSecret",
  "editSecret",
  "stripSecret",
  "restoreSecret",
  "restoreBoth",
  "moveSecret",
  "recreate",
  "reapply",
]);

/** What takes away what the status knew. */
const LOSES_STATUS: ReadonlySet<ActName> = new Set<ActName>([
  "wipeStatus",
  "restoreStatus",
  "restoreBoth",
  "recreate",
  "reapply",
]);

/** Does it, if it can be done now: what is not there cannot be edited. */
export async function act(world: World, name: ActName, backup: Backup): Promise<void> {
  world.trace(`      person: ${name}`);
  world.judge.personActed();
  if (HIDES_PUBLICATION.has(name)) world.judge.recordLost();
  if (LOSES_STATUS.has(name)) world.judge.statusLost();
  const perform: Act = ACTS[name];
  try {
    await perform(world, backup);
  } catch (error) {
    const isRefused = error instanceof NotFound || error instanceof Conflict || error instanceof Invalid;
    if (!isRefused) throw error;
  }
  world.judge.personActed();
}
