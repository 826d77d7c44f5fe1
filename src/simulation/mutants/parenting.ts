import { decide } from "../../engine/decide.ts";
import type { SeenKey } from "../../engine/model.ts";
import type { KubeObject } from "../../kube/objects.ts";
import type { Kube } from "../../kube/port.ts";
import type { ChildPlan } from "../../reconcile/parents/child-plan.ts";
import type { Tampering } from "../assembly.ts";
import { DAY_MS, SECRET } from "../scene.ts";
import { actOf, faultOf, type Mutant } from "./mutant.ts";
import { overriding, seeing } from "./tampering.ts";

const CHILD = "ServiceCredentialBinding";

/** Parents that plan their children otherwise. */
const planning = (mutate: (plan: ChildPlan) => Partial<ChildPlan>): Tampering => ({
  parents: {
    family: (family) => ({
      ...family,
      planOf: async (...input) => {
        const plan = await family.planOf(...input);
        return { ...plan, ...mutate(plan) };
      },
    }),
  },
});

const deciding = (mutate: typeof decide): Tampering => ({
  parents: { options: (options) => ({ ...options, decide: mutate }) },
});

const onKube = (mutate: (kube: Kube) => Partial<Kube>): Tampering => ({
  parents: { kube: (kube) => ({ ...kube, ...mutate(kube) }) },
});

const isOfChild = ({ metadata }: KubeObject): boolean =>
  metadata.ownerReferences?.some(({ kind }) => kind === CHILD) === true;

/** Children's Secrets do not say which key they hold. */
const withoutKeyIds = (kube: Kube): Partial<Kube> => ({
  get: async (type, ref, options) => {
    const object: KubeObject = await kube.get(type, ref, options);
    if (type.kind !== "Secret" || !isOfChild(object)) return object as never;
    const { "keyturn.dev/key-id": _, ...annotations } = object.metadata.annotations ?? {};
    return { ...object, metadata: { ...object.metadata, annotations } } as never;
  },
});

const wellSeeming = ({ illSince: _, ...key }: SeenKey): SeenKey => key;

/** Rules about parents, whose keys are their children. */
export const PARENTING: readonly Mutant[] = (
  [
    {
      rule: "copyWell",
      name: "what a child that is not well publishes is copied",
      tampering: planning(() => ({ healthOf: () => ({ kind: "well" }) })),
      focus: actOf("deleteSecret", "editSecret"),
      stories: ["childUnreachable"],
    },
    {
      rule: "copyKeyId",
      name: "a child's Secret that holds another key than the child says is copied",
      tampering: onKube(withoutKeyIds),
      focus: faultOf("crashAfter", "lost"),
      stories: ["childForced", "create"],
    },
    {
      rule: "copyAgain",
      name: "what a child publishes is copied once",
      tampering: {
        parents: {
          options: (options) => ({
            ...options,
            resolve: async (...input) => ({ ...(await options.resolve(...input)), fingerprint: undefined }),
          }),
        },
      },
      stories: ["childForced", "childLosesKey"],
    },
    {
      rule: "importUnmarked",
      name: "a child without the parent's marks is taken over",
      tampering: {
        parents: {
          options: (options) => ({
            ...options,
            resolve: async (...input) => ({ ...(await options.resolve(...input)), takesOverOnlyOwn: false }),
          }),
        },
      },
      stories: ["covetStray"],
    },
    {
      rule: "onePending",
      name: "two children are made for one intent",
      tampering: {
        parents: {
          options: (options) => ({
            ...options,
            resolve: async (...input) => {
              const outside = await options.resolve(...input);
              const { connection } = outside;
              const create: typeof connection.create = async (request, signal) => {
                await connection.create({ ...request, name: `${request.name}x` }, signal);
                return connection.create(request, signal);
              };
              return { ...outside, connection: overriding(connection, { create }) };
            },
          }),
        },
      },
      stories: ["rotate"],
    },
    {
      rule: "illGrace",
      name: "a child that is ill is replaced at once",
      tampering: deciding((situation) => decide({ ...situation, policy: { ...situation.policy, illGraceMs: 0 } })),
      stories: ["childIllBriefly"],
    },
    {
      rule: "illReplaced",
      name: "a child that stays ill is kept",
      tampering: deciding((situation) =>
        decide({ ...situation, policy: { ...situation.policy, illGraceMs: Infinity } }),
      ),
      stories: ["childIll"],
    },
    {
      rule: "illChanged",
      name: "a child that cannot get well with what it was made from is waited for",
      tampering: deciding((situation) => {
        const { outside, observed } = situation.observation;
        const asked = [...observed].map(([id, key]) => [id, key === "gone" ? key : wellSeeming(key)] as const);
        return seeing(situation, { outside: outside?.map(wellSeeming), observed: new Map(asked) });
      }),
      stories: ["childStuck"],
    },
    {
      rule: "pastIll",
      name: "a newest child that is ill is overlooked when the past comes back",
      tampering: deciding((situation) => {
        const { state, observation } = situation;
        const isOverlooked = (key: SeenKey): boolean =>
          key.state === "creating" && (key.sequence ?? 0) > state.sequence;
        return seeing(situation, { outside: observation.outside?.filter((key) => !isOverlooked(key)) });
      }),
      stories: ["restoreLong"],
      climates: ["asynchronous"],
      schedule: {
        seed: 1,
        disturbances: [
          { at: 6, what: { kind: "fault", fault: "crashAfter" } },
          { at: 9, what: { kind: "fault", fault: "lost" } },
        ],
      },
    },
    {
      rule: "copyFirst",
      name: "a key of a child goes though its parent still gives it out",
      tampering: { options: (options) => ({ ...options, copies: undefined }) },
      stories: ["movesLate"],
      family: "rotating-consumers",
      schedule: {
        seed: 835_452_785,
        disturbances: [
          { at: 4, what: { kind: "person", name: "freeze" } },
          { at: 13, what: { kind: "person", name: "tamperChild" } },
          { at: 32, what: { kind: "pause", ms: 3 * DAY_MS } },
          { at: 38, what: { kind: "fault", fault: "late" } },
        ],
      },
    },
    {
      rule: "childAge",
      name: "a child is as old as its object, whatever became of its key",
      tampering: planning(() => ({ createdAt: () => undefined })),
      stories: ["childLosesKey"],
    },
    {
      rule: "childRenewed",
      name: "a retired child is as old as it was when it was retired",
      tampering: deciding((situation) => {
        const { outside } = situation.observation;
        const ageOf = ({ id, createdAt }: SeenKey): number | undefined =>
          situation.state.retired.find((key) => key.id === id)?.createdAt ?? createdAt;
        return seeing(situation, { outside: outside?.map((key) => ({ ...key, createdAt: ageOf(key) })) });
      }),
      family: "rotating-consumers",
      stories: ["behind"],
      schedule: {
        seed: 854_705_537,
        disturbances: [
          { at: 0, what: { kind: "person", name: "rotateFaster" } },
          { at: 2, what: { kind: "person", name: "loseChildKey" } },
          { at: 3, what: { kind: "zombie", pauseMs: 15 * DAY_MS, returnsTo: "deleteSecret" } },
        ],
      },
    },
    {
      rule: "childSecret",
      name: "the Secret of a child goes before the child",
      tampering: onKube((kube) => ({
        delete: async (type, ref, options) => {
          const secret = {
            type: { ...type, group: "", version: "v1", plural: "secrets", kind: "Secret", namespaced: true },
          };
          if (type.kind === CHILD) await kube.delete(secret.type, { namespace: SECRET.namespace, name: ref.name });
          return kube.delete(type, ref, options);
        },
      })),
      stories: ["expire"],
    },
    {
      rule: "childOwner",
      name: "children do not name their parent as their owner",
      tampering: onKube((kube) => ({
        create: (type, object, options) => {
          if (type.kind !== CHILD) return kube.create(type, object, options);
          const { ownerReferences: _, ...metadata } = object.metadata;
          return kube.create(type, { ...object, metadata } as never, options);
        },
        patch: async (type, ref, patch, options) =>
          type.kind === CHILD ? kube.get(type, ref, options) : kube.patch(type, ref, patch, options),
      })),
      focus: actOf("dropFinalizerAndDelete"),
      stories: ["rotate"],
    },
    {
      rule: "childKept",
      name: "a child that has lost its owner reference stays without",
      tampering: onKube((kube) => ({
        patch: async (type, ref, patch, options) =>
          type.kind === CHILD ? kube.get(type, ref, options) : kube.patch(type, ref, patch, options),
      })),
      stories: ["childDisowned"],
    },
  ] satisfies readonly Mutant[]
).map((mutant) => ({ family: "rotating", ...mutant }));
