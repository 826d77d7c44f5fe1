import { CREATED_AT } from "../../api/bind/names.ts";
import { rndcKey } from "../../api/keyturn/rndc-key.ts";
import { formatInstant } from "../../base/instant.ts";
import { apiVersionOf, type KubeObject, type ObjectRef } from "../../kube/objects.ts";
import { secretType } from "../../publish/secret-publisher.ts";
import { deploymentType, podType } from "../../restart/workload-kinds.ts";
import { STOPPED } from "../restarts/shop.ts";
import { COMPROMISED, DAY_MS, EXTERNAL_NAME, FROZEN, PAUSED } from "../scene.ts";
import { unlessRefused } from "../unless-refused.ts";
import { draftPod, KEY, PUBLISHED, RING, RING_REF, ringIn, WORKLOAD } from "./objects.ts";
import type { Server } from "./played-servers.ts";
import type { RingWorld } from "./world.ts";

/** What was saved of everything at some time. */
export interface RingBackup {
  readonly resource: KubeObject | undefined;
  readonly published: KubeObject | undefined;
  readonly ring: KubeObject | undefined;
}

export const NO_BACKUP: RingBackup = { resource: undefined, published: undefined, ring: undefined };

export const backUp = (world: RingWorld): RingBackup => ({
  resource: world.resource(),
  published: world.secret(PUBLISHED),
  ring: world.secret(RING),
});

type Act = (world: RingWorld, backup: RingBackup) => Promise<void>;

const patch = async (world: RingWorld, body: object): Promise<void> => {
  await world.kube.patch(rndcKey, KEY, { type: "merge", body });
};

const annotate =
  (annotations: Readonly<Record<string, string | null>>): Act =>
  (world) =>
    patch(world, { metadata: { annotations } });

const edit =
  (spec: object): Act =>
  (world) =>
    patch(world, { spec });

const force =
  (value: string): Act =>
  (world) =>
    patch(world, { metadata: { annotations: { [world.kind.forceAnnotation]: value } } });

const remove =
  (ref: ObjectRef): Act =>
  async (world) => {
    await world.kube.delete(secretType, ref);
  };

const write =
  (ref: ObjectRef, body: (world: RingWorld) => object): Act =>
  async (world) => {
    await world.kube.patch(secretType, ref, { type: "merge", body: body(world) });
  };

/** Somebody sets the date on the published Secret. */
const date = (text: (world: RingWorld) => string | null): Act =>
  write(KEY, (world) => ({ metadata: { annotations: { [CREATED_AT]: text(world) } } }));

const restore =
  (which: "published" | "ring"): Act =>
  async (world, backup) => {
    const saved = backup[which];
    if (!saved) return;
    const { resourceVersion: _version, uid: _uid, ...metadata } = saved.metadata;
    const isThere = world.secret(which === "ring" ? RING : PUBLISHED) !== undefined;
    if (isThere) await world.kube.replace(secretType, { ...saved, metadata });
    else await world.kube.create(secretType, { ...saved, metadata });
  };

async function writeStatus(world: RingWorld, status: unknown): Promise<void> {
  const object = world.resource();
  if (object) await world.kube.replace(rndcKey, { ...object, status }, { subresource: "status" });
}

async function removeAtOnce(world: RingWorld): Promise<void> {
  await patch(world, { metadata: { finalizers: null } });
  if (world.resource()) await world.kube.delete(rndcKey, KEY);
}

const createAnew = async (world: RingWorld, from: KubeObject, isWhole: boolean): Promise<void> => {
  const { annotations, finalizers } = from.metadata;
  const kept = { ...(annotations && { annotations }), ...(finalizers && { finalizers }) };
  const metadata = { ...KEY, ...(isWhole && kept) };
  const { kind, spec } = from;
  await world.kube.create<KubeObject>(rndcKey, { apiVersion: apiVersionOf(rndcKey), kind, metadata, spec });
  if (isWhole) await writeStatus(world, from.status ?? {});
};

/** What a backup tool does: the object comes back under a new UID, with the status it had. */
const recreate: Act = async (world, { resource }) => {
  const source = resource ?? world.resource();
  if (!source) return;
  await removeAtOnce(world);
  await createAnew(world, source, true);
};

/** The manifest once more, for a resource of the same name that knows nothing of the former one. */
const reapply: Act = async (world) => {
  const source = world.resource();
  if (!source) return;
  await removeAtOnce(world);
  await createAnew(world, source, false);
};

const removePod = async (world: RingWorld, name: string): Promise<void> => {
  await world.kube.delete(podType, { ...KEY, name }, { gracePeriodSeconds: 0 });
};

async function addPod(world: RingWorld): Promise<void> {
  const taken = new Set(world.pods().map(({ metadata }) => metadata.name));
  for (let number = 0; ; number++) {
    const pod = draftPod(number);
    if (taken.has(pod.metadata.name)) continue;
    await world.kube.create<KubeObject>(podType, pod);
    return;
  }
}

/** Something is done to one named, always the same one where it is there. */
const onServer =
  (change: (server: Server, world: RingWorld) => void): Act =>
  async (world) => {
    const [server] = world.servers();
    if (server) change(server, world);
  };

const annotateWorkload =
  (stopped: string | null): Act =>
  async (world) => {
    const body = { metadata: { annotations: { [STOPPED]: stopped } } };
    await world.kube.patch(deploymentType, WORKLOAD, { type: "merge", body });
  };

/** Everything a person, a script, a backup tool or a node may do to a key and its servers. */
const ACTS = {
  deleteRing: remove(RING_REF),
  editRing: write(RING_REF, () => ({ data: { "ring.json": Buffer.from("{").toString("base64") } })),
  editFiles: write(RING_REF, () => ({ data: { "keys.conf": "", "acl.conf": "" } })),
  restoreRing: restore("ring"),
  deleteSecret: remove(KEY),
  editSecret: write(KEY, () => ({ data: { secret: Buffer.from("elsewhere").toString("base64") } })),
  restoreSecret: restore("published"),
  deleteBoth: async (world, backup) => {
    await remove(KEY)(world, backup);
    await remove(RING_REF)(world, backup);
  },
  dateBack: date((world) => formatInstant(world.clock.now() - 30 * DAY_MS)),
  dateAhead: date((world) => formatInstant(world.clock.now() + 30 * DAY_MS)),
  dateNonsense: date(() => "yesterday"),
  dateRemoved: date(() => null),
  deleteResource: async (world) => {
    await world.kube.delete(rndcKey, KEY);
  },
  dropFinalizer: (world) => patch(world, { metadata: { finalizers: null } }),
  wipeStatus: (world) => writeStatus(world, {}),
  restoreStatus: (world, { resource }) => writeStatus(world, resource?.status ?? {}),
  restoreAll: async (world, backup) => {
    await writeStatus(world, backup.resource?.status ?? {});
    const name = backup.resource?.metadata.annotations?.[EXTERNAL_NAME] ?? null;
    await patch(world, { metadata: { annotations: { [EXTERNAL_NAME]: name } } });
    await restore("published")(world, backup);
    await restore("ring")(world, backup);
  },
  recreate,
  reapply,
  tamperExternalName: annotate({ [EXTERNAL_NAME]: "tampered" }),
  force: force("please"),
  forceOnceMore: force("once more"),
  compromise: annotate({ [COMPROMISED]: "leaked" }),
  pause: annotate({ [PAUSED]: "true" }),
  unpause: annotate({ [PAUSED]: null }),
  freeze: annotate({ [FROZEN]: "true" }),
  shortenTtl: edit({ rotation: { ttl: "300h" } }),
  rotateFaster: edit({ rotation: { frequency: "100h" } }),
  stopRotation: edit({ rotation: null }),
  startRotation: edit({ rotation: { ttl: "336h", frequency: "288h" } }),
  changeAlgorithm: edit({ algorithm: "hmac-sha512" }),
  changeKeyName: edit({ keyName: "bindy-renamed" }),
  addPod,
  removePod: async (world) => {
    const [pod] = world.pods();
    if (pod) await removePod(world, pod.metadata.name);
  },
  replacePod: async (world) => {
    const [pod] = world.pods();
    if (pod) await removePod(world, pod.metadata.name);
    await addPod(world);
  },
  restartNamed: onServer((server, world) => world.played.read(server)),
  silence: onServer((server) => {
    server.isSilent = true;
  }),
  /** Its clock or its allow list is wrong. */
  shutOut: onServer((server) => {
    server.hangsUp = true;
  }),
  jam: onServer((server) => {
    server.isJammed = true;
  }),
  /** What was on its way comes too, much later. */
  holdMount: onServer((server) => {
    server.delayMs = LONG_MS;
  }),
  stopRestarts: annotateWorkload("not now"),
  holdPods: async (world) => {
    world.isJammed = true;
  },
  /** What the operator asks for where neither Secret holds a key that can be read. */
  clearAway: async (world, backup) => {
    const [ring, published] = [world.secret(RING), world.secret(PUBLISHED)];
    if (!ring || ringIn(ring)) return;
    await remove(RING_REF)(world, backup);
    if (published) await remove(KEY)(world, backup);
  },
  mend: async (world) => {
    world.isJammed = false;
    if (world.workload()) await annotateWorkload(null)(world, NO_BACKUP);
    for (const server of world.servers())
      Object.assign(server, { delayMs: 0, isSilent: false, hangsUp: false, isJammed: false });
  },
} as const satisfies Readonly<Record<string, Act>>;

/** Longer than anybody waits, and not for ever. */
const LONG_MS = 3 * 3_600_000;

export type RingAct = keyof typeof ACTS;

/** What makes no sense where pods are made from a workload, and read a key when they start. */
const OF_RINGS: ReadonlySet<RingAct> = new Set<RingAct>(["addPod", "replacePod", "restartNamed", "holdMount", "jam"]);

const isOfRings = (name: RingAct): boolean => name !== "holdPods" && name !== "stopRestarts";

/** What can happen to servers that read a ring, and to those that are restarted for a key. */
export const RING_ACTS = (Object.keys(ACTS) as readonly RingAct[]).filter(isOfRings);
export const RESTARTED_ACTS = (Object.keys(ACTS) as readonly RingAct[]).filter((name) => !OF_RINGS.has(name));

/** What takes away what the status knew. */
const LOSES_STATUS: ReadonlySet<RingAct> = new Set<RingAct>([
  "wipeStatus",
  "restoreStatus",
  "restoreAll",
  "recreate",
  "reapply",
]);

/** Does it, if it can be done now. */
export async function performRingAct(world: RingWorld, name: RingAct, backup: RingBackup): Promise<void> {
  world.trace(`      person: ${name}`);
  if (LOSES_STATUS.has(name)) world.judge.statusLost();
  const perform: Act = ACTS[name];
  await world.act(() => unlessRefused(() => perform(world, backup)));
}

/** Pods whose named can be told nothing any more are replaced, as a person would. */
export async function replaceLost(world: RingWorld): Promise<void> {
  const lost = world.overlaps ? world.servers().filter((one) => world.judge.isLost(one)) : [];
  for (const server of lost)
    await world.act(async () => {
      await removePod(world, server.name);
      await addPod(world);
    });
}
