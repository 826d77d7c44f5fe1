import type { State } from "../engine/model.ts";
import { Conflict, Invalid, NotFound } from "../kube/errors.ts";
import type { KubeObject, ObjectRef } from "../kube/objects.ts";
import { secretType } from "../publish/secret-publisher.ts";
import { type Family, specOf, type Wish } from "./families/family.ts";
import type { Level } from "./levels.ts";
import { BASE_NAME, COMPROMISED, DAY_MS, EXTERNAL_NAME, FROZEN, PAUSED, RESOURCE, SECRET } from "./scene.ts";
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
const NOWHERE = "nowhere";

const patch = (world: World, body: object): Promise<unknown> =>
  world.kube.patch(world.kind.type, ref, { type: "merge", body });

const annotate =
  (annotations: Readonly<Record<string, string | null>>): Act =>
  async (world) => {
    await patch(world, { metadata: { annotations } });
  };

const force =
  (value: string): Act =>
  (world, backup) =>
    annotate({ [world.kind.forceAnnotation]: value })(world, backup);

const edit =
  (wish: Wish): Act =>
  async (world) => {
    await patch(world, { spec: specOf(world.family.fields, wish) });
  };

async function writeStatus(world: World, status: unknown): Promise<void> {
  const object = await world.resource();
  if (object) await world.kube.replace(world.kind.type, { ...object, status }, { subresource: "status" });
}

/** The status says of the active key that it was made long after it was. */
const misdate: Act = async (world) => {
  const object = await world.resource();
  const state = object && world.kind.readState(object);
  if (!object || !state?.active) return;
  const active = { ...state.active, createdAt: state.active.createdAt + 100 * DAY_MS };
  const fields = world.kind.statusOf({ ...state, active }, world.kind.readSpec(object).policy);
  await writeStatus(world, { ...(object.status as object), ...fields });
};

/** A key that the resource knows goes, without a request of ours: at the external system, or a child of a parent. */
const remove =
  (choose: (state: State) => string | undefined): Act =>
  async (world) => {
    const object = await world.resource();
    const id = object && choose(world.kind.readState(object));
    if (id === undefined) return;
    world.tell((judge) => judge.personActed(id));
    await world.levels[0].take(id);
  };

/** The child that a parent calls active. */
async function activeChild(world: World): Promise<KubeObject | undefined> {
  const [, children] = world.levels;
  const object = await world.resource();
  const id = object && world.kind.readState(object).active?.id;
  return children && world.stored(children.kind.type).find(({ metadata }) => metadata.uid === id);
}

/** Something is done to the active child, behind its parent's back. */
const onChild =
  (perform: (world: World, child: KubeObject, level: Level) => Promise<unknown>): Act =>
  async (world) => {
    const [, level] = world.levels;
    const child = await activeChild(world);
    if (child && level) await perform(world, child, level);
  };

const patchChild = (body: (level: Level) => object): Act =>
  onChild((world, { metadata }, level) =>
    world.kube.patch(level.kind.type, { name: metadata.name }, { type: "merge", body: body(level) }),
  );

const annotateChild = (annotation: string | ((level: Level) => string), value: string): Act =>
  patchChild((level) => {
    const key = typeof annotation === "string" ? annotation : annotation(level);
    return { metadata: { annotations: { [key]: value } } };
  });

/** Its key goes at the external system. */
const loseChildKey: Act = onChild(async (world, child, level) => {
  const id = level.kind.readState(child).active?.id;
  if (id === undefined) return;
  world.tell((judge) => judge.personActed(id));
  world.tell((judge) => judge.personActed(child.metadata.uid));
  await level.take(id);
});

/** Nobody may go on with its key: it goes at once, and until the parent has copied the next one its Secret is wrong. */
const compromiseChild: Act = async (world, backup) => {
  const child = await activeChild(world);
  world.tell((judge) => judge.personActed(child?.metadata.uid));
  await annotateChild(COMPROMISED, "leaked")(world, backup);
};

const childSecret = ({ metadata }: KubeObject): ObjectRef => ({ namespace: SECRET.namespace, name: metadata.name });

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
  await world.kube.delete(world.kind.type, ref);
  const { labels, annotations, finalizers } = source.metadata;
  const metadata = {
    ...(labels && { labels }),
    ...(annotations && { annotations }),
    ...(finalizers && { finalizers }),
  };
  await world.createObject(source.spec, metadata);
  await writeStatus(world, source.status ?? {});
  await world.collectGarbage();
};

/** The manifest once more, for a resource of the same name that knows nothing of the former one. */
const reapply: Act = async (world) => {
  const spec = (await world.resource())?.spec;
  await takeFinalizerOff(world);
  await world.kube.delete(world.kind.type, ref);
  await world.createObject(spec);
  await world.collectGarbage();
};

/** Another instance of the service, and keys are to be of that one from now on. */
const changeInstance: Act = async (world, backup) => {
  await edit({ instanceId: world.outside.putInstance({}) })(world, backup);
};

const takeFinalizerOff = (world: World): Promise<unknown> => patch(world, { metadata: { finalizers: null } });

/** An instance that is not there: whatever is made for it never gets well. */
const pointNowhere: Act = edit({ instanceId: NOWHERE });
const pointBack: Act = (world, backup) => edit({ instanceId: world.instanceId })(world, backup);

/** What somebody has broken so that it cannot work is put right. */
const mend: Act = async (world) => {
  const isNowhere = ({ spec }: KubeObject): boolean => JSON.stringify(spec).includes(`"${NOWHERE}"`);
  for (const { type } of world.levels.map(({ kind }) => kind)) {
    for (const { metadata } of world.stored(type).filter(isNowhere)) {
      const body = { spec: specOf(world.family.fields, { instanceId: world.instanceId }) };
      await world.kube.patch(type, { name: metadata.name }, { type: "merge", body });
    }
  }
};

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
    await world.kube.delete(world.kind.type, ref);
  },
  dropFinalizer: async (world) => {
    await takeFinalizerOff(world);
  },
  dropFinalizerAndDelete: async (world) => {
    await takeFinalizerOff(world);
    await world.kube.delete(world.kind.type, ref);
  },
  wipeStatus: (world) => writeStatus(world, {}),
  misdate,
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
  force: force("please"),
  forceOnceMore: force("once more"),
  compromise: annotate({ [COMPROMISED]: "leaked" }),
  pause: annotate({ [PAUSED]: "true" }),
  unpause: annotate({ [PAUSED]: null }),
  mend,
  freeze: annotate({ [FROZEN]: "true" }),
  unfreeze: annotate({ [FROZEN]: null }),
  shortenTtl: edit({ rotation: { ttl: "300h" } }),
  lengthenTtl: edit({ rotation: { ttl: "500h" } }),
  rotateFaster: edit({ rotation: { frequency: "100h" } }),
  startRotation: edit({ rotation: { ttl: "336h", frequency: "288h" } }),
  stopRotation: edit({ rotation: null }),
  changeParameters: edit({ parameters: { size: "large" } }),
  changeName: edit({ name: `${BASE_NAME}-renamed` }),
  changeInstance,
  pointNowhere,
  pointBack,
  moveSecret: edit({ writeConnectionSecretToRef: { name: "orders-elsewhere" } }),
  removeActiveOutside: remove(({ active }) => active?.id),
  removeRetiredOutside: remove(({ retired }) => retired[0]?.id),
  loseChildKey,
  tamperChild: annotateChild(EXTERNAL_NAME, "tampered"),
  forceChild: annotateChild(({ kind }) => kind.forceAnnotation, "please"),
  compromiseChild,
  breakChild: patchChild(() => ({ spec: { forProvider: { serviceInstance: NOWHERE } } })),
  disownChild: patchChild(() => ({ metadata: { ownerReferences: null } })),
  editChildSecret: onChild((world, child) =>
    world.kube.patch(secretType, childSecret(child), { type: "merge", body: { data: { uri: "ZWxzZXdoZXJl" } } }),
  ),
  deleteChildSecret: onChild((world, child) => world.kube.delete(secretType, childSecret(child))),
  loseRights: async (world) => world.outside.grant("none"),
  loseSomeRights: async (world) => world.outside.grant("few"),
  regainRights: async (world) => world.outside.grant("all"),
} as const satisfies Readonly<Record<string, Act>>;

export type ActName = keyof typeof ACTS;

const ON_CHILDREN: ReadonlySet<ActName> = new Set<ActName>([
  "loseChildKey",
  "tamperChild",
  "forceChild",
  "compromiseChild",
  "breakChild",
  "disownChild",
  "editChildSecret",
  "deleteChildSecret",
]);

/** What people may do in the worlds of a family. */
export function actsOf({ createParent }: Family): readonly ActName[] {
  const all = Object.keys(ACTS) as readonly ActName[];
  return createParent ? all : all.filter((name) => !ON_CHILDREN.has(name));
}

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

/** What takes away that a key without marks is looked for where it is. */
const LOSES_UNMARKED: ReadonlySet<ActName> = new Set<ActName>([
  "changeInstance",
  "pointNowhere",
  "pointBack",
  "wipeStatus",
  "restoreStatus",
  "restoreBoth",
  "dropFinalizer",
  "dropFinalizerAndDelete",
  "recreate",
  "reapply",
]);

/** Does it, if it can be done now: what is not there cannot be edited. */
export async function act(world: World, name: ActName, backup: Backup): Promise<void> {
  world.trace(`      person: ${name}`);
  world.tell((judge) => judge.personActed());
  if (HIDES_PUBLICATION.has(name)) world.tell((judge) => judge.recordLost());
  if (LOSES_STATUS.has(name)) world.tell((judge) => judge.statusLost());
  if (LOSES_UNMARKED.has(name)) world.tell((judge) => judge.unmarkedLost());
  const perform: Act = ACTS[name];
  try {
    await perform(world, backup);
  } catch (error) {
    const isRefused = error instanceof NotFound || error instanceof Conflict || error instanceof Invalid;
    if (!isRefused) throw error;
  }
  world.tell((judge) => judge.personActed());
}
