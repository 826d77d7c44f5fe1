import { parentOf } from "../insight/resources/children.ts";
import { managedResource } from "../insight/resources/managed-resource.ts";
import { reportOf, type StatusReport } from "../insight/status/status-report.ts";
import type { KubeObject } from "../kube/objects.ts";
import type { ManagedKind } from "../reconcile/managed/managed-kind.ts";
import { SpecProblem } from "../reconcile/managed/spec-problem.ts";
import { idOf } from "./credential-id.ts";
import { keyBars } from "./key-bars.ts";
import { MAX_SEED_KEYS, resourceOfSeed, seedOf } from "./seed.ts";
import { type TroubleToCome, troublesAt, troublesToCome } from "./troubles.ts";
import type { CredentialId, Row } from "./wire.ts";

/** A resource in the read model: what overviews count, and what everything else grows from. */
export interface Entry {
  readonly id: CredentialId;
  readonly kind: ManagedKind;
  readonly namespace: string | undefined;
  readonly phase: Row["phase"];
  readonly isFrozen: boolean;
  readonly isPaused: boolean;
  readonly hasActive: boolean;
  readonly hasPending: boolean;
  readonly retired: number;
  readonly held: number;
  /** Infinity: never, or not before somebody lets it. */
  readonly rotationAt: number;
  /** When retired keys go, those that wait for somebody at the latest. */
  readonly deletionsAt: readonly number[];
  readonly troubles: readonly TroubleToCome[];
  /** That what is published is not what the spec asks for, which only the whole object tells. */
  readonly warnings: readonly string[];
  /** The resource; or, where that is too large to keep, its row as it was. */
  readonly seed: string;
  readonly isWhole: boolean;
}

/** Of a row more are counted, not shown. */
const MAX_ROW_KEYS = 6;

/** Once for each state of an object. The object itself is not kept. */
export function entryOf(kind: ManagedKind, object: KubeObject, now: number): Entry {
  const resource = managedResource(kind, object);
  const report = reportOf(resource, now);
  const { namespace } = object.metadata;
  const seed = seedOf(kind, object);
  const counted = report.retired.filter(({ goesAt }) => Number.isFinite(goesAt)).slice(0, MAX_SEED_KEYS);
  const facts = {
    id: idOf(kind, object.metadata),
    kind,
    namespace,
    phase: report.phase,
    isFrozen: resource.isFrozen,
    isPaused: resource.isPaused,
    hasActive: report.active !== undefined,
    hasPending: report.pending !== undefined,
    retired: report.retired.length,
    held: report.retired.filter(({ heldFor }) => heldFor !== undefined).length,
    rotationAt: report.rotationAt,
    deletionsAt: counted.map(({ goesAt }) => goesAt),
    troubles: troublesToCome(resource, now),
    warnings: report.warnings,
  };
  if (seed !== undefined) return { ...facts, seed, isWhole: true };
  return { ...facts, seed: JSON.stringify(rowOfReport(facts, report, now)), isWhole: false };
}

/** The line of a list, as of now. */
export function rowOf(entry: Entry, now: number): Row {
  const row = entry.isWhole
    ? rowOfReport(entry, reportOf(resourceOfSeed(entry.kind, entry.seed), now), now)
    : (JSON.parse(entry.seed) as Row);
  const troubles = troublesAt(entry.troubles, now);
  return { ...row, ...(troubles.length > 0 && { troubles }) };
}

type Facts = Omit<Entry, "seed" | "isWhole">;

function rowOfReport(facts: Facts, report: StatusReport, now: number): Row {
  const { resource, rotationAt, secret } = report;
  const { name } = resource.object.metadata;
  const parent = parentOf(resource);
  const policy = resource.spec instanceof SpecProblem ? undefined : resource.spec.policy;
  const bars = keyBars(report, now);
  const isShort = bars.length <= MAX_ROW_KEYS;
  const hidden = facts.retired - report.retired.length + (isShort ? 0 : bars.length - MAX_ROW_KEYS);
  return {
    id: facts.id,
    kind: facts.kind.type.kind,
    ...(facts.namespace !== undefined && { namespace: facts.namespace }),
    name,
    ...(parent && { parent: idOf(parent.kind, parent) }),
    phase: report.phase,
    ...(facts.isFrozen && { isFrozen: true }),
    ...(facts.isPaused && { isPaused: true }),
    ...(facts.warnings.length > 0 && { warnings: facts.warnings }),
    ...(Number.isFinite(rotationAt) && { rotationAt }),
    ...(policy && Number.isFinite(policy.frequencyMs) && { frequencyMs: policy.frequencyMs }),
    ...(policy?.ttlMs !== undefined && { ttlMs: policy.ttlMs }),
    ...(secret !== undefined && { secret }),
    keys: isShort ? bars : bars.slice(0, MAX_ROW_KEYS),
    ...(hidden > 0 && { moreKeys: hidden }),
  };
}
