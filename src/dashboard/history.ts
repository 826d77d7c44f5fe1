import type { HistoryEntry, RotationOutcome } from "../engine/model.ts";
import { whyIntended } from "../insight/explain/history-facts.ts";
import type { ManagedResource } from "../insight/resources/managed-resource.ts";
import type { ViewSource } from "./view-source.ts";
import type { HistoryLine } from "./wire.ts";

const OUTCOMES: Readonly<Record<RotationOutcome, string>> = {
  Succeeded: "became the active key",
  Abandoned: "was given up for another one",
  Ineffective: "brought the old credentials again",
};

/** What has happened to a resource, the latest first: from its status, and from the audit log where there is one. */
export async function historyOf(_source: ViewSource, { state }: ManagedResource): Promise<readonly HistoryLine[]> {
  return state.history.map(statusLine).sort((a, b) => b.at - a.at);
}

function statusLine({ keyId, endedAt, reason, outcome }: HistoryEntry): HistoryLine {
  return {
    at: endedAt,
    what: `key ${OUTCOMES[outcome]}`,
    keyId,
    ...(reason !== undefined && { reason: whyIntended(reason) }),
    outcome,
    from: "status",
  };
}
