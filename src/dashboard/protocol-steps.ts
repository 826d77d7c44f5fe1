import { awaitedChild, waitingText } from "../insight/explain/child-words.ts";
import { whyIntended } from "../insight/explain/history-facts.ts";
import { outlookOf } from "../insight/explain/outlook.ts";
import type { ChildView } from "../insight/resources/look-at-children.ts";
import type { ManagedResource } from "../insight/resources/managed-resource.ts";
import { SpecProblem } from "../reconcile/managed/spec-problem.ts";
import type { ProtocolStep, SecretView } from "./wire.ts";

export interface StepsOptions {
  readonly now: number;
  readonly children: readonly ChildView[];
  readonly secret: SecretView | undefined;
}

const STEPS: readonly ProtocolStep["step"][] = ["intend", "create", "publish", "activate", "commit"];

/**
 * Where a rotation stands, by what the engine would do next; none where nothing is under way. What is known of the Secret is
 * seen, and not only foreseen.
 */
export function protocolSteps(resource: ManagedResource, options: StepsOptions): readonly ProtocolStep[] {
  const { kind, object, spec, state } = resource;
  if (spec instanceof SpecProblem || state.isDeleting) return [];
  const awaited = awaitedChild(resource, options.children);
  const outlook = outlookOf({ kind, object, spec, now: options.now, isAwaited: awaited !== undefined });
  const left = new Set<string>(outlook.now.map((step) => step.kind));
  if (!state.pending && !left.has("intend")) return [];
  const { pending } = state;
  if (awaited) for (const step of ["create", "publish", "activate", "commit"]) left.add(step);
  if (pending?.id !== undefined && options.secret?.keyId === pending.id) left.delete("publish");
  const first = STEPS.find((step) => left.has(step));
  return STEPS.map((step) => ({
    step,
    state: !left.has(step) ? "done" : step === first ? "now" : "to come",
    words: step === "create" && awaited ? waitingText(awaited) : wordsOf(step, resource),
  }));
}

function wordsOf(step: ProtocolStep["step"], { state, spec, kind }: ManagedResource): string {
  const name = state.pending?.name ?? "the next key";
  const secret = spec instanceof SpecProblem ? undefined : spec.secret;
  switch (step) {
    case "intend": {
      const reason = state.pending?.reason;
      return `${name} is written down as the key to come${reason ? `: ${whyIntended(reason)}` : ""}.`;
    }
    case "create":
      return `${name} is made outside, once, whoever is interrupted.`;
    case "publish":
      return secret
        ? `The Secret ${secret.namespace}/${secret.name} holds it.`
        : "There is no Secret to publish it in.";
    case "activate":
      return `The ${kind.type.kind} names it as the one in use.`;
    case "commit":
      return "It is the active key, and the one before is retired.";
  }
}
