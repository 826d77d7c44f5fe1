import { CREATED_AT } from "../../api/bind/names.ts";
import { Redacted } from "../../base/redacted.ts";
import { EMPTY_RING, type KeyRing, ringFromJson } from "../../bind/key-ring.ts";
import { RING_FILE, renderRing } from "../../bind/render-ring.ts";
import type { KubeObject, ResourceType } from "../../kube/objects.ts";
import type { Kube, ObjectList } from "../../kube/port.ts";
import type { SendCommand } from "../../providers/bind/ports.ts";
import { secretType } from "../../publish/secret-publisher.ts";
import { deploymentType, podType } from "../../restart/workload-kinds.ts";
import { RndcRefused, RndcUnreachable } from "../../rndc/errors.ts";
import type { Tampering } from "../assembly.ts";
import { STOPPED } from "../restarts/shop.ts";
import { KEY, PUBLISHED, publishedIn, RING_REF } from "../rings/objects.ts";
import { DAY_MS } from "../scene.ts";
import { actOf, kindOf, type Mutant } from "./mutant.ts";
import { withoutVersions } from "./tampering.ts";

type Data = Readonly<Record<string, string>>;
type Get = Parameters<Kube["get"]>;

const isRing = (type: ResourceType, name: string | undefined): boolean =>
  type.kind === secretType.kind && name === RING_REF.name;
const isPublished = (type: ResourceType, name: string): boolean => type.kind === secretType.kind && name === KEY.name;

const ringIn = ({ data }: KubeObject): KeyRing => {
  const text = Buffer.from((data as Data)[RING_FILE] ?? "", "base64").toString();
  return text === "" ? EMPTY_RING : ringFromJson(new Redacted(text));
};

const holding = <T extends object>(object: T, ring: KeyRing, shown: KeyRing = ring): T => {
  const files = { ...renderRing(shown).reveal(), [RING_FILE]: renderRing(ring).reveal()[RING_FILE] ?? "" };
  const data = Object.entries(files).map(([name, text]) => [name, Buffer.from(text).toString("base64")]);
  return { ...object, data: Object.fromEntries(data) };
};

/** Whatever is written of the ring becomes something else. */
const writing = (change: (object: KubeObject) => KubeObject): Tampering => {
  const changed = <T extends { readonly metadata: { readonly name?: string } }>(kind: ResourceType, object: T): T =>
    // What is written of a Secret is one, whatever the caller calls it.
    isRing(kind, object.metadata.name) ? (change(object as unknown as KubeObject) as unknown as T) : object;
  return {
    kube: (kube) => ({
      ...kube,
      create: (type, object, options) => kube.create(type, changed(type, object), options),
      replace: (type, object, options) => kube.replace(type, changed(type, object), options),
    }),
  };
};

const keeping = (change: (keys: KeyRing["keys"]) => KeyRing["keys"]): Tampering =>
  writing((object) => holding(object, { keys: change(ringIn(object).keys) }));

const without = <T extends KubeObject>(object: T, annotation: string): T => {
  const { [annotation]: _, ...annotations } = object.metadata.annotations ?? {};
  return { ...object, metadata: { ...object.metadata, annotations } };
};

/** Restarts that are stopped count as if they went on, where the ring that was read last is such a one. */
const restartable = (isMeant: (keys: KeyRing["keys"]) => boolean): Tampering => ({
  kube: (kube) => {
    let last: KeyRing["keys"] = [];
    const moving = <T extends KubeObject>(object: T): T => (isMeant(last) ? without(object, STOPPED) : object);
    return {
      ...kube,
      get: async <T extends KubeObject>(...[type, ref, options]: Get): Promise<T> => {
        const object = await kube.get<T>(type, ref, options);
        if (isRing(type, ref.name)) last = ringIn(object).keys;
        return object;
      },
      list: async <T extends KubeObject>(...[type, options]: Parameters<Kube["list"]>): Promise<ObjectList<T>> => {
        const list = await kube.list<T>(type, options);
        return type.kind === deploymentType.kind ? { ...list, items: list.items.map(moving) } : list;
      },
    };
  },
});

/** The published Secret says something else to whoever has just read the ring, or to everybody. */
const publishing = (change: (secret: KubeObject) => KubeObject, isForAll = false): Tampering => ({
  kube: (kube) => {
    let last = "";
    return {
      ...kube,
      get: async <T extends KubeObject>(...[type, ref, options]: Get): Promise<T> => {
        const isMeant = isPublished(type, ref.name) && (isForAll || last === RING_REF.name);
        last = ref.name;
        const object = await kube.get<T>(type, ref, options);
        return isMeant ? (change(object) as T) : object;
      },
    };
  },
});

const annotated = (secret: KubeObject, annotations: Readonly<Record<string, string>>): KubeObject => ({
  ...secret,
  metadata: { ...secret.metadata, annotations: { ...secret.metadata.annotations, ...annotations } },
});

/** The date on the published Secret is read otherwise. */
const dating = (change: (text: string) => string): Tampering =>
  publishing(
    (secret) => annotated(secret, { [CREATED_AT]: change(secret.metadata.annotations?.[CREATED_AT] ?? "") }),
    true,
  );

/** Servers are listed otherwise. */
const listing = (change: (pods: readonly KubeObject[], memory: KubeObject[]) => readonly KubeObject[]): Tampering => ({
  kube: (kube) => {
    const memory: KubeObject[] = [];
    return {
      ...kube,
      list: async <T extends KubeObject>(...input: Parameters<Kube["list"]>): Promise<ObjectList<T>> => {
        const list = await kube.list<T>(...input);
        return input[0].kind === podType.kind ? { ...list, items: change(list.items, memory) as readonly T[] } : list;
      },
    };
  },
});

const sending = (change: (send: SendCommand) => SendCommand): Tampering => ({ rings: { send: change } });

const isRefusal = (error: unknown): error is RndcRefused => error instanceof RndcRefused;

/** What fails otherwise than by hanging up counts as an answer. */
const trusting = sending((send) => async (options) => {
  try {
    return await send(options);
  } catch (error) {
    if (isRefusal(error) || options.command !== "status") throw error;
    return { text: "" };
  }
});

/** That a server hangs up on the key that is published does not count. */
const credulous: Tampering = {
  rings: {
    send:
      (send, { watch }) =>
      async (options) => {
        try {
          return await send(options);
        } catch (error) {
          const secret = watch.find(secretType, PUBLISHED);
          const isMeant = options.command === "status" && secret && publishedIn(secret)?.name === options.key.name;
          if (!isRefusal(error) || !isMeant) throw error;
          return { text: "" };
        }
      },
  },
};

/** Nobody is told with a second key when the first is refused. */
const impatient = sending((send) => async (options) => {
  try {
    return await send(options);
  } catch (error) {
    if (!isRefusal(error) || options.command !== "reconfig") throw error;
    throw new RndcUnreachable("not tried again");
  }
});

/** What is the same but for what named includes is not written. */
const careless: Tampering = {
  kube: (kube) => ({
    ...kube,
    replace: async (type, object, options) => {
      if (!isRing(type, object.metadata.name)) return kube.replace(type, object, options);
      const stored = await kube.get<KubeObject>(type, RING_REF);
      const [was, is] = [stored.data as Data, (object as KubeObject).data as Data];
      return was[RING_FILE] === is[RING_FILE] ? (stored as never) : kube.replace(type, object, options);
    },
  }),
};

/** Rules about rings. */
export const RINGING: readonly Mutant[] = (
  [
    {
      rule: "ringGate",
      name: "a key is ready before servers accept it",
      tampering: keeping((keys) => keys.map((key) => (key.phase === "adding" ? { ...key, phase: "accepted" } : key))),
      stories: ["rotate"],
    },
    {
      rule: "ringAll",
      name: "one of the servers is not asked",
      tampering: listing((pods) => pods.slice(1)),
      stories: ["rotate"],
    },
    {
      rule: "ringLive",
      name: "servers are listed once in a process",
      tampering: listing((pods, memory) => {
        if (memory.length === 0) memory.push(...pods);
        return memory;
      }),
      focus: actOf("addPod", "replacePod"),
      stories: ["rotate"],
    },
    {
      rule: "ringSilence",
      name: "silence is taken for an answer",
      tampering: trusting,
      stories: ["silent"],
    },
    {
      rule: "ringTold",
      name: "servers are not told to read the ring again",
      tampering: sending((send) => async (options) => (options.command === "status" ? send(options) : { text: "" })),
      stories: ["rotate"],
    },
    {
      rule: "ringSigners",
      name: "servers are told with one key alone",
      tampering: impatient,
      stories: ["changeAtGate"],
    },
    {
      rule: "ringRefused",
      name: "a key is out of the ring before servers refuse it",
      tampering: keeping((keys) => keys.filter(({ phase }) => phase !== "removing")),
      stories: ["expire"],
    },
    {
      rule: "ringProof",
      name: "hanging up proves that a key is refused",
      tampering: credulous,
      stories: ["shutOutWhenGone"],
    },
    {
      rule: "ringShown",
      name: "named includes keys that are to go",
      tampering: writing((object) => {
        const { keys } = ringIn(object);
        return holding(object, { keys }, { keys: keys.map((key) => ({ ...key, phase: "accepted" })) });
      }),
      stories: ["expire"],
    },
    {
      rule: "ringFirst",
      name: "the first key of a ring waits for servers",
      tampering: keeping((keys) => (keys.length === 1 ? keys.map((key) => ({ ...key, phase: "adding" })) : keys)),
      stories: ["create"],
    },
    {
      rule: "ringPrepared",
      name: "a key is ready before those who use it can be restarted",
      tampering: restartable(() => true),
      family: "rings-restarted",
      stories: ["stopped"],
    },
    {
      rule: "ringStillPrepared",
      name: "a key that was ready is published whatever has happened since",
      tampering: restartable((keys) => keys.every(({ phase }) => phase === "accepted")),
      family: "rings-restarted",
      stories: ["changeKeyName"],
      schedule: {
        seed: 845_543_939,
        disturbances: [
          { at: 51, what: { kind: "jump", byMs: -DAY_MS } },
          { at: 70, what: { kind: "person", name: "stopRestarts" } },
          { at: 88, what: { kind: "fault", fault: "crashAfter" } },
        ],
      },
    },
    {
      rule: "ringMoved",
      name: "a key is gone before those who use it have moved",
      tampering: keeping((keys) => keys.filter(({ phase }) => phase !== "removing")),
      family: "rings-restarted",
      stories: ["rotate"],
    },
    {
      rule: "ringRecovered",
      name: "the published key does not come back into a ring that has lost it",
      tampering: publishing((secret) => annotated(secret, { "keyturn.dev/sequence": "no number" })),
      stories: ["loseRing", "editRing"],
    },
    {
      rule: "ringDead",
      name: "a Secret from a backup brings a key back that has gone",
      tampering: publishing((secret) => annotated(secret, { "keyturn.dev/sequence": "99" })),
      stories: ["restoreDead"],
    },
    {
      rule: "ringCas",
      name: "the ring is written whatever has become of it",
      tampering: {
        // Whatever is written has metadata.
        kube: (kube) =>
          withoutVersions(kube, ({ object }) => (object as unknown as KubeObject).metadata.name === RING_REF.name),
      },
      focus: kindOf("zombie", "rival"),
      stories: ["rotate", "expire"],
    },
    {
      rule: "ringFiles",
      name: "what named includes is not put right",
      tampering: careless,
      stories: ["editFiles"],
    },
    {
      rule: "ringDated",
      name: "a date that is none makes the key old",
      tampering: dating((text) => (Number.isNaN(Date.parse(text)) ? "2020-01-01T00:00:00Z" : text)),
      stories: ["dateNonsense", "dateRemoved"],
    },
    {
      rule: "ringAsked",
      name: "a date in the past is put right",
      tampering: dating((text) => (Date.parse(text) < Date.UTC(2025, 10, 5) ? "nonsense" : text)),
      stories: ["dateBack"],
    },
  ] satisfies readonly Mutant[]
).map((mutant) => ({ family: "rings", ...mutant }));
