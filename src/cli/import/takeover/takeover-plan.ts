import { formatInstant } from "../../../base/instant.ts";
import { deletionInstant, rotationInstant } from "../../../engine/dates.ts";
import type { RetiredKey, State } from "../../../engine/model.ts";
import type { KubeObject } from "../../../kube/objects.ts";
import type { OutsideKey } from "../../../providers/contract.ts";
import { marksOf, ownerOf, seenKey } from "../../../reconcile/managed/marks.ts";
import { fieldsOf } from "../../../reconcile/managed/read-fields.ts";
import { type Plan, type Refusal, refusal, type Step, together } from "../plan.ts";
import type { RetiredSight, TakeoverFacts } from "./facts.ts";
import { retiredKeys } from "./retired-keys.ts";
import { planSecret, type SecretWishes } from "./secret-plan.ts";

/**
 * What has to be in place before the operator may look at a resource whose key somebody else has made: then it takes that
 * key over, and makes none. Pure. The resource is paused meanwhile, which whoever plans the rest sees to.
 */
export function planTakeover(facts: TakeoverFacts, wishes: SecretWishes): Plan {
  const seen: Plan = { refusals: outsideRefusals(facts), steps: [], hints: hintsOf(facts) };
  const marks: Plan = { refusals: foreignRetired(facts), steps: markSteps(facts), hints: [] };
  const status: Plan = { refusals: [], steps: statusStep(facts), hints: [] };
  return together(seen, marks, status, planSecret(facts, wishes));
}

const CONFIG_REMEDY = "a ProviderConfig of Keyturn's with credentials that may see and delete the key is needed";

function outsideRefusals(facts: TakeoverFacts): readonly Refusal[] {
  const { outside, keyId, spec } = facts;
  const where = `by ProviderConfig ${spec.providerConfig}`;
  if (outside.kind === "unknown") return [refusal(outside.problem, CONFIG_REMEDY)];
  const { key, instanceId } = outside;
  if (!key) {
    const problem = `key ${keyId} is not there ${where}: the operator would make a new one`;
    return [refusal(problem, "see that it is the right ProviderConfig, and that the key lives")];
  }
  return [
    ...(key.state === "ready"
      ? []
      : [refusal(`key ${keyId} is ${key.state}`, "wait until it is ready, or have the other operator finish")]),
    ...(key.instanceId === instanceId
      ? []
      : [refusal(`key ${keyId} is of another service instance`, `correct the instance: ${key.instanceId}`)]),
    ...(isForeign(key, facts)
      ? [refusal(`key ${keyId} bears the marks of another Keyturn`, "find out which, and let it set the key free")]
      : []),
  ];
}

const isForeign = (key: OutsideKey, facts: TakeoverFacts): boolean =>
  key.marks !== undefined && sequenceIn(key, facts) === undefined;

function sequenceIn(key: OutsideKey, { object, family, clusterId }: TakeoverFacts): number | undefined {
  return object && seenKey(key, { clusterId, owner: ownerOf(family.kind, object) }).sequence;
}

const living = ({ retired }: TakeoverFacts): readonly (RetiredSight & { readonly key: OutsideKey })[] =>
  retired.flatMap(({ entry, key }) => (key ? [{ entry, key }] : []));

const foreignRetired = (facts: TakeoverFacts): readonly Refusal[] =>
  living(facts).flatMap(({ key }) =>
    isForeign(key, facts)
      ? [
          refusal(
            `retired key ${key.id} bears the marks of another Keyturn`,
            "find out which, and let it delete the key",
          ),
        ]
      : [],
  );

function markSteps(facts: TakeoverFacts): readonly Step[] {
  const { object, family, clusterId, spec } = facts;
  return living(facts).flatMap(({ key }, index) => {
    const sequence = index + 1;
    if (sequenceIn(key, facts) === sequence) return [];
    const words = {
      does: `mark retired key ${key.id} outside`,
      why: "so that the operator deletes it when its time has come; it works on until then",
    };
    if (!object) return [words];
    const marks = marksOf(ownerOf(family.kind, object), clusterId, sequence);
    const action = { kind: "mark", providerConfig: spec.providerConfig, keyId: key.id, marks } as const;
    return [{ ...words, action }];
  });
}

/** No active key in it: then external-name is what the operator takes over. */
function statusStep(facts: TakeoverFacts): readonly Step[] {
  const { object, family, spec, now } = facts;
  const wanted = retiredKeys(facts.retired, spec.policy, now);
  const words = {
    does:
      wanted.length === 0 ? "clear its status of the active key" : `write ${wanted.length} retired keys to its status`,
    why: "the operator then takes over the key that external-name names, and makes none",
  };
  if (!object) return wanted.length === 0 ? [] : [words];
  const state = family.kind.readState(object);
  if (isAsWanted(state, wanted)) return [];
  const fields = family.kind.statusOf(stateWith(state, wanted), spec.policy);
  const { conditions } = fieldsOf(object.status);
  const status = JSON.parse(JSON.stringify({ ...fields, conditions })) as Readonly<Record<string, unknown>>;
  const changed: KubeObject = { ...object, status };
  return [{ ...words, action: { kind: "status", type: family.kind.type, object: changed } }];
}

const stateWith = (state: State, retired: readonly RetiredKey[]): State => ({
  ...state,
  active: undefined,
  pending: undefined,
  sequence: retired.length,
  retired,
  history: [],
});

function isAsWanted({ active, pending, sequence, retired }: State, wanted: readonly RetiredKey[]): boolean {
  const isSame =
    retired.length === wanted.length &&
    retired.every(({ id, replacedAt }, index) => id === wanted[index]?.id && replacedAt !== undefined);
  return active === undefined && pending === undefined && sequence === wanted.length && isSame;
}

function hintsOf(facts: TakeoverFacts): readonly string[] {
  const { outside, spec, now } = facts;
  const createdAt = outside.kind === "seen" ? outside.key?.createdAt : undefined;
  const dueAt = createdAt === undefined ? Infinity : rotationInstant(spec.policy, { createdAt });
  return [
    ...(dueAt <= now
      ? ["its key is due: it is rotated as soon as the operator looks at it; keyturn freeze holds that back"]
      : []),
    ...retiredKeys(facts.retired, spec.policy, now).map((key) => {
      const at = formatInstant(deletionInstant(spec.policy, key));
      return `retired key ${key.id} is deleted at ${at}`;
    }),
    ...spec.warnings,
  ];
}
