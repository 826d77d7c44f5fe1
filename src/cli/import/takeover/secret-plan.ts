import { apiVersionOf, type KubeObject, keyOf, type OwnerReference } from "../../../kube/objects.ts";
import { WRITABLE_TYPES } from "../../../publish/secret-data.ts";
import { secretType } from "../../../publish/secret-publisher.ts";
import { layoutName } from "../../../reconcile/managed/managed-kind.ts";
import type { Differences } from "../differences.ts";
import { NOTHING_TO_DO, type Plan, type Refusal, refusal, type Step, seenOf } from "../plan.ts";
import type { SecretSight, TakeoverFacts } from "./facts.ts";

export interface SecretWishes {
  readonly acceptChanges: boolean;
  /** Whether an owner of the Secret is the other operator's object, which it leaves. */
  readonly isTheirs: (owner: OwnerReference) => boolean;
}

type Present = Extract<SecretSight, { readonly kind: "present" }>;

/**
 * The Secret stays the object that it is, with the data that it has: it is given another owner, and told which key it holds.
 * So nobody writes it before the next rotation. Pure.
 */
export function planSecret(facts: TakeoverFacts, wishes: SecretWishes): Plan {
  const { secret: sight, spec } = facts;
  if (!spec.secret || sight.kind === "none") {
    return { ...NOTHING_TO_DO, hints: ["the key is published nowhere: there is no writeConnectionSecretToRef"] };
  }
  if (sight.kind === "unseen") return NOTHING_TO_DO;
  if (sight.kind === "missing") {
    const where = keyOf(spec.secret);
    return { ...NOTHING_TO_DO, hints: [`the Secret ${where} is missing: the operator writes it with this key`] };
  }
  return {
    refusals: [...obstacles(sight, wishes), ...changes(sight, wishes)],
    steps: [...ownerStep(facts, sight, wishes), ...marksStep(facts, sight)],
    hints: hintsOf(sight.differences),
  };
}

const nameOf = ({ secret }: Present): string => `Secret ${keyOf(secret.metadata)}`;

function obstacles(sight: Present, { isTheirs }: SecretWishes): readonly Refusal[] {
  const { secret, problem } = sight;
  const type = typeof secret.type === "string" ? secret.type : "Opaque";
  const stranger = secret.metadata.ownerReferences?.find((owner) => owner.controller === true && !isTheirs(owner));
  return [
    ...(WRITABLE_TYPES.has(type) ? [] : [refusal(`${nameOf(sight)} is of type ${type}`, "have another one written")]),
    ...(secret.immutable === true
      ? [refusal(`${nameOf(sight)} is immutable: no later key could be published in it`, "make a mutable one of it")]
      : []),
    ...(stranger
      ? [refusal(`${nameOf(sight)} belongs to ${stranger.kind} ${stranger.name}`, "find out why, and free it")]
      : []),
    ...(problem === undefined ? [] : [refusal(`no later key could be published: ${problem}`, "change the layout")]),
  ];
}

const ACCEPT = "have its users look, and give --accept-changes";

function changes(sight: Present, { acceptChanges }: SecretWishes): readonly Refusal[] {
  const { holdsKey, differences, marked } = sight;
  if (acceptChanges || marked) return [];
  if (holdsKey === undefined) {
    const problem = `whether ${nameOf(sight)} holds this key cannot be told: the service does not give its credentials again`;
    return [refusal(problem, "compare them yourself, and give --accept-changes")];
  }
  if (!holdsKey) {
    return [
      refusal(`${nameOf(sight)} does not hold this key: it would be written at once, and restart its users`, ACCEPT),
    ];
  }
  const words = changeWords(differences);
  return words === "" ? [] : [refusal(`from the next rotation on ${nameOf(sight)} differs: ${words}`, ACCEPT)];
}

/** What somebody may miss. */
function changeWords({ removed, changed }: Differences): string {
  return [
    ...(removed.length > 0 ? [`without ${removed.join(", ")}`] : []),
    ...(changed.length > 0 ? [`with something else, or in another form, in ${changed.join(", ")}`] : []),
  ].join("; ");
}

function hintsOf({ added, ...rest }: Differences): readonly string[] {
  const words = changeWords({ added, ...rest });
  return [
    ...(words === "" ? [] : [`from the next rotation on the Secret is ${words}`]),
    ...(added.length > 0 ? [`from the next rotation on the Secret also has ${added.join(", ")}`] : []),
  ];
}

function ownerStep(facts: TakeoverFacts, sight: Present, { isTheirs }: SecretWishes): readonly Step[] {
  const { object, family } = facts;
  const { metadata } = sight.secret;
  const { ownerReferences = [] } = metadata;
  if (object && ownerReferences.some(({ uid }) => uid === object.metadata.uid)) return [];
  const words = {
    does: `give ${nameOf(sight)} to ${family.kind.type.kind} ${facts.object?.metadata.name ?? "that was made"}`,
    why: "with its former owner it would be deleted; its data stays as it is",
  };
  if (!object) return [words];
  const others = ownerReferences.filter((owner) => !isTheirs(owner));
  const body = { metadata: { ownerReferences: [...others, referenceTo(object, facts)] } };
  return [{ ...words, action: { kind: "patch", type: secretType, seen: seenOf(sight.secret), body } }];
}

function referenceTo({ metadata }: KubeObject, { family }: TakeoverFacts): OwnerReference {
  const { type } = family.kind;
  return { apiVersion: apiVersionOf(type), kind: type.kind, name: metadata.name, uid: metadata.uid ?? "" };
}

/** Where it holds another key, it is left to the operator, which writes it. */
function marksStep(facts: TakeoverFacts, sight: Present): readonly Step[] {
  const { object, keyId, spec, retired, family } = facts;
  const sequence = retired.filter(({ key }) => key).length + 1;
  const isDone = sight.marked?.keyId === keyId && sight.marked.sequence === sequence;
  if (isDone || sight.holdsKey === false || !spec.secret) return [];
  const { namespace, name, layout } = spec.secret;
  const words = {
    does: `write on ${nameOf(sight)} that it holds key ${keyId}`,
    why: "so the operator finds it in order and does not write it: same data, no restart",
  };
  const { kind } = family;
  const publication = { kind, address: { namespace, name }, keyId, sequence, layout: layoutName(layout) };
  return [object ? { ...words, action: { kind: "publish", publication: { ...publication, owner: object } } } : words];
}
