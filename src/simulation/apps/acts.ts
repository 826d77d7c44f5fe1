import { cfServiceBinding } from "../../api/korifi/cf-service-binding.ts";
import { cfServiceInstance } from "../../api/korifi/cf-service-instance.ts";
import type { KubeObject, ResourceType } from "../../kube/objects.ts";
import { secretType } from "../../publish/secret-publisher.ts";
import { podType } from "../../restart/workload-kinds.ts";
import { unlessRefused } from "../unless-refused.ts";
import { encoded, flat, nested, type Texts, type Version } from "./credentials.ts";
import {
  BINDING,
  derivedFrom,
  draftBinding,
  draftPod,
  LATE_BINDING,
  POD,
  ROTATED,
  refOf,
  SERVICE,
  VCAP,
} from "./objects.ts";
import { type AppWorld, FIRST_TYPE } from "./world.ts";

type Act = (world: AppWorld) => Promise<void>;

const patch = async (world: AppWorld, type: ResourceType, name: string, body: object): Promise<void> => {
  await world.kube.patch(type, refOf(name), { type: "merge", body });
};

const remove =
  (type: ResourceType, name: string): Act =>
  async (world) => {
    await world.kube.delete(type, refOf(name));
  };

const typeNow = ({ judge }: AppWorld): string =>
  judge.latest(SERVICE)?.type.slice("servicebinding.io/".length) ?? FIRST_TYPE;

const otherType = (world: AppWorld): string => (typeNow(world) === FIRST_TYPE ? "postgresql" : FIRST_TYPE);

/** Its credentials are still those of former times, in its own Secret. */
const isUnmoved = (world: AppWorld): boolean =>
  world.service()?.sourceName === SERVICE && String(world.secret(SERVICE)?.type).startsWith("servicebinding.io/");

/** What is written where the credentials come from. */
const sourceTexts = (world: AppWorld, { text, flat: texts }: Version): Texts => {
  if (world.origin === "followed") return { ...texts, note: `of ${world.stepCount}` };
  return isUnmoved(world) ? texts : { credentials: text };
};

const putVersion = async (world: AppWorld, version: Version): Promise<void> => {
  const service = world.service();
  if (!service) return;
  await world.putSecret({ name: service.sourceName, texts: sourceTexts(world, version), keyId: version.keyId });
};

/** As the document has it: the first thing that is done to credentials of former times before they are changed. */
const pointAtMigrated: Act = async (world) => {
  const { credentials } = world.service() ?? {};
  if (isUnmoved(world) && credentials !== undefined && credentials !== SERVICE)
    await patch(world, cfServiceInstance, SERVICE, { spec: { secretName: credentials } });
};

/** Another version than all before it. */
async function change(world: AppWorld, type: string): Promise<void> {
  await pointAtMigrated(world);
  const { stepCount: number } = world;
  if (isUnmoved(world)) return;
  await putVersion(world, world.origin === "followed" ? flat(number, type, `key-${number}`) : nested(number, type));
}

const writeSource =
  (texts: (world: AppWorld) => Texts): Act =>
  async (world) => {
    const service = world.service();
    if (service && !isUnmoved(world)) await world.putSecret({ name: service.sourceName, texts: texts(world) });
  };

/** What cannot be a key of a Secret, or one that is asked for and missing. */
const breakCredentials = writeSource(({ origin }) =>
  origin === "followed" ? { user: "nobody" } : { credentials: '{"no key": 1}' },
);
const spoilCredentials = writeSource(({ origin }) =>
  origin === "followed" ? { note: "nothing" } : { credentials: "[1]" },
);

/** The key is another one, and what is taken of it is the same. */
const rotateNote: Act = async (world) => {
  const latest = world.judge.latest(SERVICE);
  if (world.origin === "followed" && latest && world.secret(ROTATED))
    await putVersion(world, { ...latest, keyId: `key-${world.stepCount}` });
};

/** Of former times, and changed as it was then. */
const changeFlat: Act = async (world) => {
  if (isUnmoved(world) && world.secret(SERVICE)) await putVersion(world, flat(world.stepCount, typeNow(world)));
};

const restoreCredentials: Act = async (world) => {
  const first = world.judge.first(SERVICE);
  if (first) await putVersion(world, first);
};

const touchSource: Act = async (world) => {
  const { sourceName } = world.service() ?? {};
  if (sourceName !== undefined)
    await patch(world, secretType, sourceName, { metadata: { labels: { seen: `at-${world.stepCount}` } } });
};

const mountOf = (world: AppWorld): string | undefined =>
  world.bindings().find(({ name }) => name === BINDING)?.mounts[0];

/** Something is done to a Secret that was made from another one. */
const onDerived =
  (nameIn: (world: AppWorld) => string | undefined, perform: (world: AppWorld, name: string) => Promise<void>): Act =>
  async (world) => {
    const name = nameIn(world) ?? "";
    const secret = world.secret(name);
    if (secret && derivedFrom(secret).size > 0) await perform(world, name);
  };

const edited =
  (texts: Texts) =>
  (world: AppWorld, name: string): Promise<void> =>
    patch(world, secretType, name, { data: encoded(texts) });

const deleted = (world: AppWorld, name: string): Promise<void> => remove(secretType, name)(world);

const wipe =
  (type: ResourceType, name: string): Act =>
  async (world) => {
    const object = world.stored(type).find(({ metadata }) => metadata.name === name);
    if (object) await world.kube.replace(type, { ...object, status: {} }, { subresource: "status" });
  };

const bind =
  (name: string): Act =>
  async (world) => {
    const isThere = world.bindings().some((bound) => bound.name === name);
    if (!isThere) await world.createBinding(draftBinding({ name, service: SERVICE }));
  };

/** Everything a person, a script or a rotation may do to services, bindings, and what is made from them. */
const ACTS = {
  changeCredentials: (world) => change(world, typeNow(world)),
  changeType: (world) => change(world, otherType(world)),
  restoreCredentials,
  breakCredentials,
  spoilCredentials,
  rotateNote,
  changeFlat,
  pointAtMigrated,
  touchSource,
  loseSource: async (world) => {
    const service = world.service();
    if (service) await remove(secretType, service.sourceName)(world);
  },
  addBinding: bind(LATE_BINDING),
  deleteBinding: remove(cfServiceBinding, BINDING),
  recreateBinding: async (world) => {
    await remove(cfServiceBinding, BINDING)(world);
    await bind(BINDING)(world);
  },
  deleteInstance: remove(cfServiceInstance, SERVICE),
  recreateInstance: async (world) => {
    await remove(cfServiceInstance, SERVICE)(world);
    await world.createService();
  },
  renameService: (world) =>
    patch(world, cfServiceInstance, SERVICE, { spec: { displayName: "renamed", tags: [`at-${world.stepCount}`] } }),
  wipeBinding: wipe(cfServiceBinding, BINDING),
  wipeInstance: wipe(cfServiceInstance, SERVICE),
  editMount: onDerived(mountOf, edited({ user: "nobody" })),
  deleteMount: onDerived(mountOf, deleted),
  editVcap: onDerived(() => VCAP, edited({ VCAP_SERVICES: "{}" })),
  deleteVcap: onDerived(() => VCAP, deleted),
  deleteDerived: onDerived((world) => world.service()?.credentials, deleted),
  /** The application starts, with what its binding names now. */
  startPod: async (world) => {
    const mount = mountOf(world);
    if (mount !== undefined && !world.hasPods) await world.kube.create<KubeObject>(podType, draftPod(mount));
  },
  stopPod: async (world) => {
    if (world.hasPods) await world.kube.delete(podType, POD, { gracePeriodSeconds: 0 });
  },
  /** Somebody else's Secret has the name of a binding that comes later. */
  takeName: (world) => world.putSecret({ name: LATE_BINDING, texts: { note: "nothing" } }),
} as const satisfies Readonly<Record<string, Act>>;

export type AppAct = keyof typeof ACTS;

export const APP_ACTS = Object.keys(ACTS) as readonly AppAct[];

/** Does it, if it can be done now. */
export async function performAppAct(world: AppWorld, name: AppAct): Promise<void> {
  world.trace(`      person: ${name}`);
  const perform: Act = ACTS[name];
  await world.act(() => unlessRefused(() => perform(world)));
}
