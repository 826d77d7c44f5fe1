import { formatInstant } from "../../base/instant.ts";
import type { RetiredReport, StatusReport } from "../../insight/status/status-report.ts";
import { apiVersionOf } from "../../kube/objects.ts";
import { entryFields } from "../../reconcile/managed/history-fields.ts";
import { consumerJson } from "../consumers/consumers-json.ts";

/** The reports for programs: dates as RFC 3339, what is not there left out. */
export function statusJson(reports: readonly StatusReport[]): unknown {
  return { items: reports.map(item), withProblems: reports.filter(({ problems }) => problems.length > 0).length };
}

function item(report: StatusReport) {
  const { resource, phase, problems, warnings, active, pending, rotationAt, retired, parent, secret } = report;
  const { type } = resource.kind;
  const { namespace, name } = resource.object.metadata;
  return {
    apiVersion: apiVersionOf(type),
    kind: type.kind,
    namespace,
    name,
    parent: parent && { kind: parent.kind.type.kind, namespace: parent.namespace, name: parent.name },
    phase,
    isFrozen: resource.isFrozen,
    isPaused: resource.isPaused,
    problems: problems.map(({ reason, message, since }) => ({ reason, message, since: dateOf(since) })),
    warnings,
    activeKey: active && {
      id: active.id,
      name: active.name,
      createdAt: dateOf(active.createdAt),
      sequence: active.sequence,
    },
    pendingKey: pending && { id: pending.id, name: pending.name, since: dateOf(pending.since) },
    nextRotationAt: dateOf(rotationAt),
    retiredKeys: retired.map(retiredKey),
    history: resource.state.history.map(entryFields),
    children: childrenOf(report),
    secret,
    consumers: report.consumers?.map(consumerJson),
  };
}

/** The resources that the keys are; absent where they are not. */
function childrenOf({ childKind: kind, active, pending, retired }: StatusReport) {
  if (kind === undefined) return undefined;
  return [
    ...(active ? [{ kind, uid: active.id, name: active.name, state: "active" }] : []),
    ...(pending?.id === undefined ? [] : [{ kind, uid: pending.id, name: pending.name, state: "pending" }]),
    ...retired.map(({ id, name, goesAt }) => ({ kind, uid: id, name, state: "retired", deletionAt: dateOf(goesAt) })),
  ];
}

const retiredKey = ({ id, name, cause, createdAt, retiredAt, replacedAt, goesAt, heldFor }: RetiredReport) => ({
  id,
  name,
  cause,
  createdAt: dateOf(createdAt),
  retiredAt: dateOf(retiredAt),
  replacedAt: dateOf(replacedAt),
  deletionAt: dateOf(goesAt),
  heldFor,
});

const dateOf = (at: number | undefined): string | undefined =>
  at === undefined || !Number.isFinite(at) ? undefined : formatInstant(at);
