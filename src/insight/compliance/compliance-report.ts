import { ownName } from "../../base/own-names.ts";
import { rotationInstant } from "../../engine/dates.ts";
import { nextOpening } from "../../engine/windows.ts";
import { keyOf } from "../../kube/objects.ts";
import { SpecProblem } from "../../reconcile/managed/spec-problem.ts";
import { parentOf } from "../resources/children.ts";
import type { Unseen } from "../resources/list-all.ts";
import { type ManagedResource, nameOf } from "../resources/managed-resource.ts";
import { problemsOf } from "../resources/problems.ts";
import { nextRotation } from "../status/status-report.ts";
import { shortLength } from "../words/when.ts";

/** Why a credential is not rotated by schedule, or not as it should be. */
type ExceptionKind = "Frozen" | "Paused" | "Static" | "UserManaged" | "PeriodTooLong" | "Unreadable" | "NoKey";

interface Exception {
  readonly kind: ExceptionKind;
  readonly words: string;
}

/** One rotated credential, as evidence: what is promised, and what was kept of it. */
export interface ComplianceItem {
  readonly kind: string;
  readonly namespace: string | undefined;
  readonly name: string;
  /** As kubectl names it. */
  readonly label: string;
  readonly secret: string | undefined;
  /** The age at which a key is replaced; Infinity: never. Undefined where the spec cannot be read. */
  readonly periodMs: number | undefined;
  readonly activeKey: { readonly id: string; readonly name: string } | undefined;
  /** When the key in use was made. */
  readonly lastRotationAt: number | undefined;
  /** When the next one begins, as `keyturn status` says it; Infinity: never, or not before somebody lets it. */
  readonly nextRotationAt: number;
  /** When the next one is due by the policy alone; Infinity: never. */
  readonly dueAt: number;
  /** How late that is, whatever holds it back; 0 when it is not. */
  readonly overdueMs: number;
  /** What holds a late rotation back, in words; undefined where nothing does. */
  readonly heldBackBy: string | undefined;
  /** What is wrong: its code, and what is said of it. */
  readonly problems: readonly { readonly reason: string; readonly message: string }[];
  readonly exceptions: readonly Exception[];
  /** The resource whose key it is, which rotates it. */
  readonly parent: string | undefined;
}

export interface ComplianceReport {
  readonly at: number;
  readonly maxPeriodMs: number;
  readonly items: readonly ComplianceItem[];
  readonly unseen: readonly Unseen[];
}

/** What a rotation takes; not late before that is over. */
const GRACE_MS = 120_000;

export interface ReportOptions {
  readonly now: number;
  /** Longer periods are exceptions; Infinity: none is too long. */
  readonly maxPeriodMs: number;
}

/** Pure: one resource, judged by its spec, its status and the time. */
export function complianceItem(resource: ManagedResource, options: ReportOptions): ComplianceItem {
  const { kind, object, state, spec } = resource;
  const { now } = options;
  const { namespace, name } = object.metadata;
  const known = spec instanceof SpecProblem ? undefined : spec;
  const parent = parentOf(resource);
  const { active } = state;
  const dueAt =
    known && active ? rotationInstant(known.policy, active, state.postponedUntil) : Number.POSITIVE_INFINITY;
  const lateMs = now - dueAt;
  const overdueMs = lateMs > GRACE_MS ? lateMs : 0;
  return {
    kind: kind.type.kind,
    namespace,
    name,
    label: nameOf(resource),
    secret: known?.secret && keyOf(known.secret),
    periodMs: known?.policy.frequencyMs,
    activeKey: active && { id: active.id, name: active.name },
    lastRotationAt: active?.createdAt,
    nextRotationAt: nextRotation(resource, now),
    dueAt,
    overdueMs,
    heldBackBy: overdueMs > 0 ? holdOf(resource, dueAt, now) : undefined,
    problems: problemsOf(resource, now).map(({ reason, message }) => ({ reason, message })),
    exceptions: exceptionsOf(resource, options, parent !== undefined),
    parent: parent && `${parent.kind.type.kind.toLowerCase()}/${keyOf(parent)}`,
  };
}

function holdOf({ spec, isFrozen, isPaused }: ManagedResource, dueAt: number, now: number): string | undefined {
  if (isPaused) return "paused";
  if (isFrozen) return "frozen";
  if (spec instanceof SpecProblem) return undefined;
  if (!spec.may.create) return "managementPolicies";
  return (nextOpening(spec.windows, dueAt) ?? Number.POSITIVE_INFINITY) > now ? "a maintenance window" : undefined;
}

function exceptionsOf(
  { spec, state, isFrozen, isPaused }: ManagedResource,
  { maxPeriodMs }: ReportOptions,
  isChild: boolean,
): readonly Exception[] {
  const held: readonly Exception[] = [
    ...(isPaused ? [{ kind: "Paused", words: "nothing is done about it (crossplane.io/paused)" } as const] : []),
    ...(isFrozen ? [{ kind: "Frozen", words: `no new rotation begins (${ownName("freeze")})` } as const] : []),
  ];
  if (spec instanceof SpecProblem) return [...held, { kind: "Unreadable", words: spec.message }];
  const { frequencyMs } = spec.policy;
  const isStatic = frequencyMs === Number.POSITIVE_INFINITY;
  return [
    ...held,
    ...(spec.may.create
      ? []
      : [{ kind: "UserManaged", words: "managementPolicies let no key be made: somebody else sees to it" } as const]),
    // What a parent makes as a key is replaced by the parent as a whole.
    ...(isStatic && !isChild ? [{ kind: "Static", words: "there is no rotation: one key, for ever" } as const] : []),
    ...(!isStatic && frequencyMs > maxPeriodMs
      ? [
          {
            kind: "PeriodTooLong",
            words: `its period is longer than the ${shortLength(maxPeriodMs)} asked for`,
          } as const,
        ]
      : []),
    ...(state.active ? [] : [{ kind: "NoKey", words: "there is no active key yet" } as const]),
  ];
}

/** Neither late nor an exception. */
export const isInOrder = ({ overdueMs, exceptions, problems }: ComplianceItem): boolean =>
  overdueMs === 0 && exceptions.length === 0 && problems.length === 0;
