import type { State } from "../engine/model.ts";
import type { KubeObject, ObjectRef, ResourceType } from "../kube/objects.ts";
import { secretType } from "../publish/secret-publisher.ts";
import { CONSUMER_ACTS } from "./consumers/acts.ts";
import type { Children, Family, Wish } from "./families/family.ts";
import { nameIn, refOf } from "./places.ts";
import { BASE_NAME, COMPROMISED, DAY_MS, EXTERNAL_NAME, FROZEN, PAUSED, RESOURCE, SECRET } from "./scene.ts";
import { unlessRefused } from "./unless-refused.ts";
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

const NOWHERE = "nowhere";

const resourceIn = ({ kind }: World): ObjectRef => refOf(kind.type, RESOURCE);

const patch = (world: World, body: object): Promise<unknown> =>
  world.kube.patch(world.kind.type, resourceIn(world), { type: "merge", body });

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
    await patch(world, { spec: world.family.specOf(wish) });
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
  const { children } = world;
  const object = await world.resource();
  const id = object && world.kind.readState(object).active?.id;
  return children && world.stored(children.type).find(({ metadata }) => metadata.uid === id);
}

/** Something is done to the active child, behind its parent's back. */
const onChild =
  (perform: (world: World, child: KubeObject, children: Children) => Promise<unknown>): Act =>
  async (world) => {
    const { children } = world;
    const child = await activeChild(world);
    if (child && children) await perform(world, child, children);
  };

const patchChild = (body: (children: Children) => object): Act =>
  onChild((world, { metadata: { name } }, children) =>
    world.kube.patch(children.type, refOf(children.type, name), { type: "merge", body: body(children) }),
  );

const annotateChild = (annotation: string | ((children: Children) => string), value: string): Act =>
  patchChild((children) => {
    const key = typeof annotation === "string" ? annotation : annotation(children);
    return { metadata: { annotations: { [key]: value } } };
  });

/** Its key goes at the external system. */
const loseChildKey: Act = onChild(async (world, child) => {
  const [, level] = world.levels;
  const id = level?.kind.readState(child).active?.id;
  if (!level || id === undefined) return;
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

const childSecret = ({ metadata }: KubeObject, children: Children): ObjectRef => ({
  namespace: SECRET.namespace,
  name: nameIn(children.secretOf(metadata.name)),
});

/** What others make, nobody else knows to have been edited: it is copied until they have made it anew. */
const editChildSecret: Act = onChild(async (world, child, children) => {
  if (children.madeFor) world.tell((judge) => judge.personActed(child.metadata.uid));
  await world.kube.patch(secretType, childSecret(child, children), {
    type: "merge",
    body: { data: world.family.damage },
  });
});

/** One that is made in its place says nothing of whose it is until somebody has looked at it. */
const deleteChildSecret: Act = onChild(async (world, child, children) => {
  world.judge.untie(child.metadata.uid ?? "");
  await world.kube.delete(secretType, childSecret(child, children));
});

const disownChild: Act = async (world, backup) => {
  const child = await activeChild(world);
  world.judge.disown(child?.metadata.uid ?? "");
  await patchChild(() => ({ metadata: { ownerReferences: null } }))(world, backup);
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
  await removeAtOnce(world);
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
  await removeAtOnce(world);
  await world.createObject(spec);
  await world.collectGarbage();
};

/** Another instance of the service, and keys are to be of that one from now on. */
const changeInstance: Act = async (world, backup) => {
  await edit({ instanceId: world.outside.putInstance({}) })(world, backup);
};

const takeFinalizerOff = (world: World): Promise<unknown> => patch(world, { metadata: { finalizers: null } });

/** One that is being deleted goes with its finalizer. */
async function removeAtOnce(world: World): Promise<void> {
  await takeFinalizerOff(world);
  if (await world.resource()) await world.kube.delete(world.kind.type, resourceIn(world));
}

/** An instance that is not there: whatever is made for it never gets well. */
const pointNowhere: Act = edit({ instanceId: NOWHERE });
const pointBack: Act = (world, backup) => edit({ instanceId: world.instanceId })(world, backup);

/** What somebody has broken so that it cannot work is put right. */
const mend: Act = async (world) => {
  await pointFrom(world, NOWHERE, world.instanceId);
  const { outside, instanceId } = world;
  if (!outside.instances().includes(instanceId)) await pointFrom(world, instanceId, outside.putInstance({}));
  await CONSUMER_ACTS.movePods(world);
};

/** What is to live on, and is of one instance, is to be of another one; children that are kept included. */
async function pointFrom(world: World, former: string, instanceId: string): Promise<void> {
  const { children, family, kind } = world;
  const isMeant = ({ spec, metadata }: KubeObject): boolean =>
    metadata.deletionTimestamp === undefined && JSON.stringify(spec).includes(`"${former}"`);
  const put = async (type: ResourceType, spec: object): Promise<void> => {
    for (const { metadata } of world.stored(type).filter(isMeant))
      await world.kube.patch(type, refOf(type, metadata.name), { type: "merge", body: { spec } });
  };
  await put(kind.type, family.specOf({ instanceId }));
  if (children) await put(children.type, children.pointingTo(instanceId));
}

/** Everything a person, a script or a backup tool may do to what the operator works on. */
const ACTS = {
  deleteSecret: async (world) => {
    await world.kube.delete(secretType, SECRET);
  },
  editSecret: async (world) => {
    await world.kube.patch(secretType, SECRET, { type: "merge", body: { data: world.family.damage } });
  },
  stripSecret: async (world) => {
    await world.kube.patch(secretType, SECRET, { type: "merge", body: { metadata: { annotations: null } } });
  },
  deleteResource: async (world) => {
    await world.kube.delete(world.kind.type, resourceIn(world));
  },
  dropFinalizer: async (world) => {
    await takeFinalizerOff(world);
  },
  dropFinalizerAndDelete: removeAtOnce,
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
  forceChild: annotateChild(({ forceAnnotation }) => forceAnnotation, "please"),
  compromiseChild,
  breakChild: patchChild((children) => ({ spec: children.pointingTo(NOWHERE) })),
  disownChild,
  editChildSecret,
  deleteChildSecret,
  loseRights: async (world) => world.outside.grant("none"),
  loseSomeRights: async (world) => world.outside.grant("few"),
  regainRights: async (world) => world.outside.grant("all"),
  ...CONSUMER_ACTS,
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

/** What only children have that have keys of their own. */
const ON_THEIR_KEYS: ReadonlySet<ActName> = new Set<ActName>(["loseChildKey", "tamperChild", "compromiseChild"]);

/** What people may do in the worlds of a family; what concerns those who use keys only where there are such. */
export function actsOf({ holders, parents }: Family, hasConsumers: boolean): readonly ActName[] {
  const all = (Object.keys(ACTS) as readonly ActName[]).filter((name) => hasConsumers || !(name in CONSUMER_ACTS));
  const without = !parents ? ON_CHILDREN : !holders ? ON_THEIR_KEYS : undefined;
  return without ? all.filter((name) => !without.has(name)) : all;
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

const REMAKES: ReadonlySet<ActName> = new Set<ActName>(["recreate", "reapply"]);

/** To children that are not ours, where there are such. */
const LOSES_RIGHTS: ReadonlySet<ActName> = new Set<ActName>(["loseRights", "loseSomeRights"]);

/** Does it, if it can be done now: what is not there cannot be edited. */
export async function act(world: World, name: ActName, backup: Backup): Promise<void> {
  world.trace(`      person: ${name}`);
  world.tell((judge) => judge.personActed());
  if (HIDES_PUBLICATION.has(name)) world.tell((judge) => judge.recordLost());
  if (LOSES_STATUS.has(name)) world.tell((judge) => judge.statusLost());
  if (LOSES_UNMARKED.has(name)) world.tell((judge) => judge.unmarkedLost());
  if (REMAKES.has(name)) world.tell((judge) => judge.remade());
  if (LOSES_RIGHTS.has(name) && world.children?.madeFor) world.tell((judge) => judge.childrenNeglected());
  const isThere = (): boolean => world.truth().subjects.has(RESOURCE);
  const wasThere = isThere();
  const perform: Act = ACTS[name];
  await unlessRefused(() => perform(world, backup));
  if (wasThere && !isThere()) leaveDisowned(world);
  world.tell((judge) => judge.personActed());
}

/** The parent went without a look at its children: those that name no owner at that moment are tied to nobody. */
function leaveDisowned(world: World): void {
  const { children } = world;
  for (const { metadata } of children ? world.stored(children.type) : [])
    if (!metadata.ownerReferences?.length) world.judge.leave(metadata.uid ?? "");
}
