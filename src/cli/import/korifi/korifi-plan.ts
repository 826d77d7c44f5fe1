import { cfServiceBinding } from "../../../api/korifi/cf-service-binding.ts";
import { cfServiceInstance } from "../../../api/korifi/cf-service-instance.ts";
import { KORIFI_GROUP } from "../../../api/korifi/names.ts";
import type { KubeObject, ResourceType } from "../../../kube/objects.ts";
import { recordOf } from "../../../kube/record.ts";
import type { Differences } from "../differences.ts";
import { NOTHING_TO_DO, type Plan, type Refusal, refusal, type Step, seenOf } from "../plan.ts";

export interface BoundFacts {
  readonly object: KubeObject;
  /** How the Secret that it has projected differs from the one that Keyturn would write; undefined where that stays. */
  readonly differences: Differences | undefined;
  /** The type of that Secret would be another one, and so its name. */
  readonly isRetyped: boolean;
}

export interface KorifiFacts {
  readonly instance: KubeObject;
  readonly bindings: readonly BoundFacts[];
  /** Why its credentials cannot be read; they would be left as they are. */
  readonly problem?: string;
}

const isKorifis = (finalizer: string): boolean => finalizer.endsWith(KORIFI_GROUP);

/** Pure. The objects and their Secrets stay what they are: only nobody of Korifi's holds them any more. */
export function planKorifi(facts: KorifiFacts, { acceptChanges }: { readonly acceptChanges: boolean }): Plan {
  const { instance, bindings, problem } = facts;
  if (recordOf(instance.spec).type !== "user-provided") {
    const hint = "it is of type managed: it is left to its broker and to Korifi, and so are its bindings";
    return { ...NOTHING_TO_DO, hints: [hint] };
  }
  const leaving = [instance, ...bindings.map(({ object }) => object)].filter(
    ({ metadata }) => metadata.deletionTimestamp !== undefined,
  );
  return {
    refusals: [
      ...leaving.map(({ kind, metadata }) =>
        refusal(`${kind} ${metadata.name} is being deleted`, "let Korifi finish that, and stop it then"),
      ),
      ...(problem === undefined ? [] : [refusal(`its credentials cannot be read: ${problem}`, "correct them first")]),
      ...(acceptChanges ? [] : bindings.flatMap(changes)),
    ],
    steps: [
      ...bindings.flatMap(({ object }) => letGo(object, cfServiceBinding)),
      ...letGo(instance, cfServiceInstance),
    ],
    hints: bindings.flatMap(hintsOf),
  };
}

const ACCEPT = "have the users of the Secret look, and give --accept-changes";

function changes(bound: BoundFacts): readonly Refusal[] {
  const { object, isRetyped } = bound;
  const words = changeWords(bound);
  const title = `CFServiceBinding ${object.metadata.name}`;
  if (isRetyped) return [refusal(`${title} would get a Secret of another type, and its application restarts`, ACCEPT)];
  return words === "" ? [] : [refusal(`the Secret of ${title} would be written: ${words}`, ACCEPT)];
}

function changeWords({ differences }: BoundFacts): string {
  const { added = [], removed = [], changed = [] } = differences ?? {};
  const parts = [
    [added, "with"],
    [removed, "without"],
    [changed, "with another form of"],
  ] as const;
  return parts.flatMap(([keys, word]) => (keys.length > 0 ? [`${word} ${keys.join(", ")}`] : [])).join("; ");
}

const hintsOf = (bound: BoundFacts): readonly string[] => {
  const words = changeWords(bound);
  return words === "" ? [] : [`the Secret of CFServiceBinding ${bound.object.metadata.name} is written: ${words}`];
};

function letGo(object: KubeObject, type: ResourceType): readonly Step[] {
  const { finalizers = [], name } = object.metadata;
  const others = finalizers.filter((finalizer) => !isKorifis(finalizer));
  if (others.length === finalizers.length) return [];
  return [
    {
      does: `take Korifi's finalizer off ${type.kind} ${name}`,
      why: "Korifi is stopped: nobody would let it go when it is deleted one day",
      action: { kind: "patch", type, seen: seenOf(object), body: { metadata: { finalizers: others } } },
    },
  ];
}
