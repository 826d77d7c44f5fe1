import { parseInstant } from "../../../base/instant.ts";
import { compileJudgement, type Judgement } from "../../../embedded/schema/cel/judgement.ts";
import type { KubeObject } from "../../../kube/objects.ts";
import { type Fields, fieldsOf, itemsOf, textOf } from "../../managed/read-fields.ts";
import { SpecProblem } from "../../managed/spec-problem.ts";
import type { ChildHealth } from "../child-plan.ts";

/** How children show that they may be used. */
export type Readiness =
  | { readonly kind: "condition"; readonly type: string }
  | { readonly kind: "cel"; readonly judge: Extract<Judgement, { ok: true }>["judge"] };

const FIELD = "spec.readiness";
const DEFAULT_CONDITION = "Ready";

/** Throws `SpecProblem` for an expression that cannot be used. */
export function readReadiness(fields: Fields): Readiness {
  const [type, source] = [textOf(fields.condition), textOf(fields.cel)];
  if (source === undefined) return { kind: "condition", type: type ?? DEFAULT_CONDITION };
  if (type !== undefined) throw new SpecProblem(`${FIELD}.condition`, "says the same as cel: keep one of them");
  const judgement = compiled(source);
  if (!judgement.ok) throw new SpecProblem(`${FIELD}.cel`, judgement.error);
  return { kind: "cel", judge: judgement.judge };
}

const MAX_COMPILED = 256;
const judgements = new Map<string, Judgement>();

/** The same few expressions are read again in every pass. */
function compiled(source: string): Judgement {
  const judgement = judgements.get(source) ?? compileJudgement(source);
  if (judgements.size >= MAX_COMPILED) judgements.clear();
  judgements.set(source, judgement);
  return judgement;
}

/** What was seen of a child before: an expression tells that something is wrong, but not since when. */
export interface Surroundings {
  readonly now: number;
  /** Since when the expression has not held for the child of this UID; now, when it is news. */
  illSince(uid: string): number;
}

/** Controllers need a moment, and say "not ready" of what they have just begun. */
const PATIENCE_MS = 60_000;

/** Whether it is too early to complain of a child. */
export function isYoung({ metadata }: KubeObject, { now }: Pick<Surroundings, "now">): boolean {
  return now - (parseInstant(metadata.creationTimestamp) ?? now) < PATIENCE_MS;
}

/** How a child is. Must not: throw, whatever the child's status holds. */
export function readinessOf(child: KubeObject, readiness: Readiness, around: Surroundings): ChildHealth {
  const complaint = readiness.kind === "cel" ? judged(child, readiness) : conditionsOf(child, readiness.type);
  if (complaint === "well" || complaint === "coming") return { kind: complaint };
  if (isYoung(child, around)) return { kind: "coming" };
  const { text, since = around.illSince(child.metadata.uid ?? "") } = complaint;
  return { kind: "ill", since, complaint: oneLine(text) };
}

interface Complaint {
  readonly text: string;
  readonly since?: number | undefined;
}

type Finding = "well" | "coming" | Complaint;

/**
 * The condition that is asked for, and beside it `Synced`, where the child has one: a child that could not follow its spec
 * may be ready with what it had before. What was said of an earlier generation says nothing of this one.
 */
function conditionsOf(child: KubeObject, type: string): Finding {
  const conditions = itemsOf(fieldsOf(child.status).conditions);
  const wanted = conditions.find((one) => one.type === type);
  if (!wanted) return { text: `it has no condition ${type}` };
  const unsynced = conditions.find((one) => one.type === "Synced" && one.status === "False");
  const spoiler = wanted.status === "False" ? wanted : unsynced;
  if (spoiler) return complaintOf(spoiler);
  const { generation = 0 } = child.metadata;
  const isStale = typeof wanted.observedGeneration === "number" && wanted.observedGeneration < generation;
  return wanted.status === "True" && !isStale ? "well" : "coming";
}

function complaintOf(condition: Fields): Complaint {
  const words = [textOf(condition.reason), textOf(condition.message)].filter((word) => word !== undefined);
  return {
    text: `${condition.type} is ${condition.status}${words.length > 0 ? `: ${words.join(": ")}` : ""}`,
    since: parseInstant(condition.lastTransitionTime),
  };
}

function judged(child: KubeObject, { judge }: Extract<Readiness, { kind: "cel" }>): Finding {
  const { managedFields: _, ...metadata } = child.metadata;
  try {
    return judge({ ...child, metadata }) ? "well" : { text: "spec.readiness.cel does not hold" };
  } catch (error) {
    return { text: `spec.readiness.cel: ${error instanceof Error ? error.message : "cannot be evaluated"}` };
  }
}

const MAX_COMPLAINT = 500;

/** What others say goes into a condition of ours: bounded, and on one line. */
function oneLine(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= MAX_COMPLAINT ? line : `${line.slice(0, MAX_COMPLAINT)}…`;
}
