import type { KubeObject } from "../../../kube/objects.ts";
import type { ManagedFamily } from "../../../reconcile/managed/family.ts";
import { ANNOTATIONS, FINALIZER } from "../../../reconcile/managed/managed-kind.ts";
import { fieldsOf, textOf } from "../../../reconcile/managed/read-fields.ts";
import { IMPORTING, NOTHING_TO_DO, type Plan, type Refusal, refusal, type Step, seenOf, together } from "../plan.ts";
import type { TakeoverFacts } from "../takeover/facts.ts";
import { planTakeover } from "../takeover/takeover-plan.ts";
import type { Rival } from "./rivals.ts";

/** What Crossplane puts on everything that it manages; while it is there nobody but Crossplane lets the object go. */
const CROSSPLANE_FINALIZER = "finalizer.managedresource.crossplane.io";

export interface CrossplaneFacts {
  readonly source: string;
  readonly family: ManagedFamily;
  readonly object: KubeObject;
  /** Undefined where there is no key, or where the spec cannot be followed. */
  readonly takeover: TakeoverFacts | undefined;
  /** Who is to have its key, where that is another one. */
  readonly rival?: Rival | undefined;
  /** What of the spec cannot be followed. */
  readonly problem?: string;
}

/** By its id outside; some releases write the subaccount before it. */
export function keyIdIn({ metadata }: KubeObject): string | undefined {
  const name = metadata.annotations?.[ANNOTATIONS.externalName]?.split(",").at(-1)?.trim();
  return name === undefined || name === "" || name === metadata.name ? undefined : name;
}

/** Pure: a resource of a kind that Crossplane's provider and Keyturn share stays the object that it is. */
export function planCrossplane(facts: CrossplaneFacts, wishes: { readonly acceptChanges: boolean }): Plan {
  const { object, takeover } = facts;
  if (isTakenOver(object)) return { ...NOTHING_TO_DO, hints: ["Keyturn looks after it already"] };
  const own: Plan = { ...NOTHING_TO_DO, refusals: refusalsOf(facts), hints: hintsOf(facts) };
  if (!takeover) return own;
  const isTheirs = ({ uid }: { readonly uid: string }): boolean => uid === object.metadata.uid;
  const inside = planTakeover(takeover, { ...wishes, isTheirs });
  const pause: Plan = { ...NOTHING_TO_DO, steps: pauseStep(facts, takeover.keyId) };
  const release: Plan = { ...NOTHING_TO_DO, steps: [releaseStep(facts)] };
  return together(own, pause, inside, release);
}

export const isTakenOver = ({ metadata: { annotations = {}, finalizers = [] } }: KubeObject): boolean =>
  annotations[IMPORTING] === undefined && finalizers.includes(FINALIZER) && !finalizers.includes(CROSSPLANE_FINALIZER);

function refusalsOf({ object, family, rival, problem }: CrossplaneFacts): readonly Refusal[] {
  const { annotations = {}, deletionTimestamp } = object.metadata;
  const isPaused = annotations[ANNOTATIONS.paused] === "true" && annotations[IMPORTING] === undefined;
  const asked = [family.kind.forceAnnotation, ANNOTATIONS.compromised].find((name) => annotations[name] !== undefined);
  return [
    ...(deletionTimestamp === undefined
      ? []
      : [refusal("it is being deleted", "let Crossplane's provider finish that, and stop it then")]),
    ...(keyIdIn(object) === undefined
      ? [
          refusal(
            "it has no key yet: crossplane.io/external-name names none",
            "there is nothing to take over: make it anew",
          ),
        ]
      : []),
    ...(rival === undefined
      ? []
      : [
          refusal(
            `${object.kind} ${rival.name} has key ${rival.keyId}, which this one names as well: the operator would make a new one for it`,
            "have each name a key of its own (crossplane.io/external-name), or delete the one that is too many",
          ),
        ]),
    ...(isPaused ? [refusal("it is paused: crossplane.io/paused", "take the annotation away, or leave it out")] : []),
    ...(asked === undefined
      ? []
      : [refusal(`it asks for a new key: ${asked}`, "take the annotation away, or let that be done first")]),
    ...(problem === undefined
      ? []
      : [refusal(problem, "correct it; the other operator is stopped and does not act on it")]),
  ];
}

/** What a package of the provider's takes along when it is uninstalled. */
function hintsOf({ object, family, takeover }: CrossplaneFacts): readonly string[] {
  const { id, type } = family.instances;
  const isNamed = textOf(fieldsOf(fieldsOf(object.spec).forProvider)[id]) !== undefined;
  const { outside } = takeover ?? {};
  if (isNamed || outside?.kind !== "seen") return [];
  return [
    `it names its service instance by a ${type.kind} of the provider's, which has to stay; or say forProvider.${id}: ${outside.instanceId}`,
  ];
}

function pauseStep({ object, source, family }: CrossplaneFacts, keyId: string): readonly Step[] {
  const { annotations = {} } = object.metadata;
  if (annotations[IMPORTING] !== undefined && annotations[ANNOTATIONS.externalName] === keyId) return [];
  return [
    {
      does: "pause it (crossplane.io/paused)",
      why: "no operator acts on it while it is half taken over",
      action: {
        kind: "patch",
        type: family.kind.type,
        seen: seenOf(object),
        body: {
          metadata: {
            annotations: { [ANNOTATIONS.paused]: "true", [IMPORTING]: source, [ANNOTATIONS.externalName]: keyId },
          },
        },
      },
    },
  ];
}

/** In one write: there is no moment at which nobody holds it, and none at which it is held by somebody who is not there. */
function releaseStep({ object, family }: CrossplaneFacts): Step {
  const { finalizers = [] } = object.metadata;
  const kept = finalizers.filter((name) => name !== CROSSPLANE_FINALIZER && name !== FINALIZER);
  const body = {
    metadata: {
      finalizers: [...kept, FINALIZER],
      annotations: { [ANNOTATIONS.paused]: null, [IMPORTING]: null },
    },
  };
  return {
    does: "put Keyturn's finalizer in the place of Crossplane's, and let the operator begin",
    why: "from here on the operator holds it, and takes over the key that external-name names",
    action: { kind: "patch", type: family.kind.type, seen: seenOf(object), body },
  };
}
