import { serviceBinding } from "../../../api/btp/service-binding.ts";
import { isObjectName } from "../../../base/object-names.ts";
import { type KubeObject, keyOf } from "../../../kube/objects.ts";
import { recordOf } from "../../../kube/record.ts";
import { ANNOTATIONS } from "../../../reconcile/managed/managed-kind.ts";
import { textOf } from "../../../reconcile/managed/read-fields.ts";
import { IMPORTING, NOTHING_TO_DO, type Plan, type Refusal, refusal, type Step, seenOf, together } from "../plan.ts";
import type { TakeoverFacts } from "../takeover/facts.ts";
import { planTakeover } from "../takeover/takeover-plan.ts";
import { FORCE, IMPORTED_FROM, ourName, readSapBinding, SAP_FINALIZER, sapBindingType } from "./sap-binding.ts";

export interface SapFacts {
  readonly theirs: KubeObject;
  /** Those that it has rotated away, and that still live. */
  readonly stale: readonly KubeObject[];
  /** The resource of ours that has its name; it may be about something else. */
  readonly ours: KubeObject | undefined;
  /** Another one of theirs that becomes ours under this name, and comes first. */
  readonly namesake?: KubeObject | undefined;
  /** What ours is to be; undefined where that cannot be said. */
  readonly manifest: KubeObject | undefined;
  /** Not looked at where nothing of it is left to do. */
  readonly takeover: TakeoverFacts | undefined;
  /** What of the spec cannot be followed. */
  readonly problem?: string;
}

/**
 * Pure. Ours is made first and complete, then it begins, and only then theirs goes: at no moment does nobody have the key,
 * and theirs is what tells that something is left to do.
 */
export function planSap(facts: SapFacts, wishes: { readonly acceptChanges: boolean }): Plan {
  const { theirs, takeover, ours } = facts;
  const own: Plan = { ...NOTHING_TO_DO, refusals: refusalsOf(facts) };
  const isTheirs = ({ uid }: { readonly uid: string }): boolean => uid === theirs.metadata.uid;
  const cleanUp: Plan = { ...NOTHING_TO_DO, steps: cleanUpSteps(facts), hints: staleHints(facts) };
  if (ours && isTakenOver(facts)) return together(own, cleanUp);
  if (!takeover) return own;
  const make: Plan = { ...NOTHING_TO_DO, steps: makeStep(facts) };
  const begin: Plan = { ...NOTHING_TO_DO, steps: [beginStep(facts)] };
  return together(own, make, planTakeover(takeover, { ...wishes, isTheirs }), begin, cleanUp);
}

const annotationsOf = (object: KubeObject | undefined): Readonly<Record<string, string>> =>
  object?.metadata.annotations ?? {};

/** By the UID: one that was made anew under the name is another one. */
const isOurs = ({ ours, theirs }: SapFacts): boolean => annotationsOf(ours)[IMPORTED_FROM] === theirs.metadata.uid;

const isTakenOver = (facts: SapFacts): boolean => isOurs(facts) && annotationsOf(facts.ours)[IMPORTING] === undefined;

function refusalsOf(facts: SapFacts): readonly Refusal[] {
  const { theirs, stale, ours, namesake, problem } = facts;
  const { bindingId, instanceId, isReady, isBusy } = readSapBinding(theirs);
  const name = ourName(theirs);
  if (isTakenOver(facts)) return [];
  return [
    ...(theirs.metadata.deletionTimestamp === undefined
      ? []
      : [refusal("it is being deleted", "let SAP's operator finish that, and stop it then")]),
    ...(bindingId !== undefined && instanceId !== undefined && isReady
      ? []
      : [refusal("it has no key that works: it is not ready", "have SAP's operator finish it first")]),
    ...(isBusy
      ? [refusal("SAP's operator is in the middle of something with it", "start it again, and let it finish")]
      : []),
    ...(annotationsOf(theirs)[FORCE] === undefined
      ? []
      : [refusal(`it asks for a new key: ${FORCE}`, "take the annotation away, or let that be done first")]),
    ...stale.flatMap((one) =>
      readSapBinding(one).bindingId === undefined
        ? [
            refusal(
              `the key of ${one.metadata.name}, which it has rotated away, is not known`,
              "let SAP's operator finish",
            ),
          ]
        : [],
    ),
    ...(isObjectName(name) ? [] : [refusal(`ours would be called ${name}, which is too long`, "make it by hand")]),
    ...(ours && !isOurs(facts)
      ? [refusal(`there is a ServiceBinding ${name} of ours that is about something else`, "rename or delete it")]
      : []),
    ...(namesake && !ours
      ? [
          refusal(
            `ServiceBinding ${keyOf(namesake.metadata)} becomes ${name}, and so would this one`,
            "make one of the two anew under another name",
          ),
        ]
      : []),
    ...(problem === undefined
      ? []
      : [refusal(problem, "correct it; SAP's operator is stopped and does not act on it")]),
  ];
}

function makeStep({ ours, manifest, takeover }: SapFacts): readonly Step[] {
  if (ours || !manifest) return [];
  return [
    {
      does: `make ServiceBinding ${manifest.metadata.name}, paused, with external-name ${takeover?.keyId}`,
      why: "the operator is to take over that key; while it is paused nothing is done about it",
      action: { kind: "create", type: serviceBinding, object: manifest },
    },
  ];
}

function beginStep({ ours, theirs }: SapFacts): Step {
  const words = {
    does: `let the operator begin with ServiceBinding ${ourName(theirs)}`,
    why: "it takes over the key that external-name names; SAP's operator is stopped",
  };
  const body = { metadata: { annotations: { [ANNOTATIONS.paused]: null, [IMPORTING]: null } } };
  return ours ? { ...words, action: { kind: "patch", type: serviceBinding, seen: seenOf(ours), body } } : words;
}

/** Rotated ones first: they are owned by the other one, and would hang on their finalizers when it goes. */
const cleanUpSteps = ({ theirs, stale }: SapFacts): readonly Step[] => [...stale, theirs].flatMap(letGo);

function letGo(theirs: KubeObject): readonly Step[] {
  const { finalizers = [] } = theirs.metadata;
  const title = `ServiceBinding.${sapBindingType.group} ${keyOf(theirs.metadata)}`;
  const seen = seenOf(theirs);
  const rest = finalizers.filter((name) => name !== SAP_FINALIZER);
  const release: Step = {
    does: `take the finalizer of SAP's operator off ${title}`,
    why: "that operator would delete the key for it",
    action: { kind: "patch", type: sapBindingType, seen, body: { metadata: { finalizers: rest } } },
  };
  const remove: Step = {
    does: `delete ${title}`,
    why: "the object alone: its key stays outside, and it would be looked after twice were it left",
    action: { kind: "delete", type: sapBindingType, seen },
  };
  return finalizers.includes(SAP_FINALIZER) ? [release, remove] : [remove];
}

const staleHints = ({ stale }: SapFacts): readonly string[] =>
  stale.flatMap(({ metadata, spec }) => {
    const secret = textOf(recordOf(spec).secretName);
    return secret === undefined
      ? []
      : [`the Secret ${metadata.namespace}/${secret} of a rotated key goes with its binding; the key lives on`];
  });
