import { formatInstant } from "../../base/instant.ts";
import { decide } from "../../engine/decide.ts";
import { NotFound } from "../../kube/errors.ts";
import type { KubeObject } from "../../kube/objects.ts";
import type { ListOptions } from "../../kube/port.ts";
import type { Consumers } from "../../reconcile/managed/consumers.ts";
import { readOptIn } from "../../restart/opt-in.ts";
import { deploymentType, podType } from "../../restart/workload-kinds.ts";
import type { Tampering } from "../assembly.ts";
import { OPT_IN } from "../consumers/consumers.ts";
import { DAY_MS } from "../scene.ts";
import { kindOf, type Mutant } from "./mutant.ts";
import { deciding } from "./tampering.ts";

/** Those who know who uses a key say something else. */
const asking = (mutate: (consumers: Consumers) => Consumers): Tampering => ({
  options: (options) => ({ ...options, consumers: options.consumers && mutate(options.consumers) }),
});

/** Pods, as they are listed for that. */
const listing = (mutate: (pods: readonly KubeObject[], now: number) => readonly KubeObject[]): Tampering => ({
  kube: (kube, { clock }) => ({
    ...kube,
    list: async <T extends KubeObject>(...[type, options]: Parameters<typeof kube.list>) => {
      if (type.kind !== podType.kind) return kube.list<T>(type, options);
      const { fieldSelector: _, ...rest }: ListOptions = options ?? {};
      const list = await kube.list<T>(type, rest);
      return { ...list, items: mutate(list.items, clock.now()) as readonly T[] };
    },
  }),
});

/** The server leaves out what has ended; here nobody does but the mutant. */
const running = (pods: readonly KubeObject[]): readonly KubeObject[] =>
  pods.filter(({ status }) => (status as { readonly phase?: string } | undefined)?.phase !== "Succeeded");

const created = (at: (now: number) => number): Tampering =>
  listing((pods, now) =>
    running(pods).map((pod) => {
      const creationTimestamp = formatInstant(at(now));
      return { ...pod, metadata: { ...pod.metadata, creationTimestamp } };
    }),
  );

/** Nobody's hold ever ends. */
const patient: Tampering = {
  options: (options) => {
    const { kind } = options;
    const readSpec: typeof kind.readSpec = (object) => {
      const spec = kind.readSpec(object);
      return { ...spec, policy: { ...spec.policy, maxHoldMs: 1000 * DAY_MS } };
    };
    return { ...options, kind: { ...kind, readSpec } };
  },
};

/** A Secret that has come to hold a retired key is written again, and that is all. */
const republished = deciding((situation) => {
  const decision = decide(situation);
  const { active } = situation.state;
  const isOfBefore = decision.kind === "redate" && decision.replacedAt === undefined && active;
  return isOfBefore ? { kind: "republish", id: active.id } : decision;
});

/** Of a later key than there is, and long ago. */
const renewed = <T extends KubeObject>(secret: T): T => ({
  ...secret,
  metadata: {
    ...secret.metadata,
    annotations: { "keyturn.dev/derived-from": "orders@none,orders-secret@none,other@none" },
    managedFields: [{ manager: "x", operation: "Apply", time: "2020-01-01T00:00:00Z", fieldsV1: { "f:data": {} } }],
  },
});

const everybody = readOptIn({ own: { [OPT_IN]: "true" }, template: {}, prefixes: [], reloader: false });

/** Rules about keys that consumers are waited for with. */
export const HOLDING: readonly Mutant[] = (
  [
    {
      rule: "holdKept",
      name: "a key goes at its date, whoever is behind",
      tampering: asking(() => ({ behind: async ({ keys }) => new Map(keys.map(({ id }) => [id, []])) })),
      stories: ["behind"],
    },
    {
      rule: "holdEnds",
      name: "a key is kept for as long as somebody is behind",
      tampering: patient,
      stories: ["neverMoves"],
    },
    {
      rule: "holdDismissed",
      name: "pods on their way out do not count",
      tampering: listing((pods) => running(pods).filter(({ metadata }) => metadata.deletionTimestamp === undefined)),
      stories: ["dismissed"],
    },
    {
      rule: "holdEnded",
      name: "pods that have ended count",
      tampering: listing((pods) => pods.map((pod) => ({ ...pod, status: {} }))),
      stories: ["ended"],
    },
    {
      rule: "holdFormer",
      name: "only the Secret of now is asked about",
      tampering: asking((consumers) => ({
        behind: ({ secrets, keys }, signal) => consumers.behind({ secrets: secrets.slice(0, 1), keys }, signal),
      })),
      stories: ["heldMove"],
    },
    {
      rule: "holdOptedIn",
      name: "whoever has not opted in is waited for",
      tampering: {
        view: (view) => ({ ...view, optedIn: () => everybody && { optIn: everybody, state: undefined } }),
      },
      stories: ["notOptedIn"],
    },
    {
      rule: "holdMoved",
      name: "a pod of before counts as one of after",
      tampering: created((now) => now),
      stories: ["behind"],
    },
    {
      rule: "holdMoved",
      name: "a pod of after counts as one of before",
      tampering: created(() => 0),
      stories: ["movesLate"],
    },
    {
      rule: "holdAgain",
      name: "a Secret that held a retired key again has had no users",
      tampering: republished,
      stories: ["heldRestore"],
    },
    {
      rule: "holdDerived",
      name: "who uses what is made from the Secret is not asked about",
      tampering: {
        kube: (kube) => ({
          ...kube,
          list: async <T extends KubeObject>(...[type, options]: Parameters<typeof kube.list>) => {
            const list = await kube.list<T>(type, options);
            return options?.labelSelector === "keyturn.dev/derived=true" ? { ...list, items: [] } : list;
          },
        }),
      },
      stories: ["derived"],
    },
    {
      rule: "holdDerived",
      name: "what is made from the Secret is made of what that holds",
      tampering: {
        kube: (kube) => ({
          ...kube,
          list: async <T extends KubeObject>(...[type, options]: Parameters<typeof kube.list>) => {
            const list = await kube.list<T>(type, options);
            return options?.labelSelector === "keyturn.dev/derived=true"
              ? { ...list, items: list.items.map(renewed) }
              : list;
          },
        }),
      },
      stories: ["derivedOld"],
    },
    {
      rule: "holdFresh",
      name: "who has opted in is known by the watches alone",
      tampering: {
        view: (view) => ({ ...view, isFresh: () => true }),
        kube: (kube) => ({
          ...kube,
          get: async <T extends KubeObject>(...[type, ref, options]: Parameters<typeof kube.get>) => {
            if (type.kind === deploymentType.kind) throw new NotFound("nobody asks");
            return kube.get<T>(type, ref, options);
          },
        }),
      },
      focus: kindOf("stale"),
      stories: ["notOptedIn"],
    },
  ] satisfies readonly Mutant[]
).map((mutant) => ({ ...mutant, family: "btp-consumers" }));
