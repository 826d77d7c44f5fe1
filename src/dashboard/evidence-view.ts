import { scheduler } from "node:timers/promises";
import { bind9Instance } from "../api/bind/bind9-instance.ts";
import { parseDuration } from "../base/duration.ts";
import { messageOf } from "../base/errors.ts";
import { type ComplianceItem, complianceItem, isInOrder } from "../insight/compliance/compliance-report.ts";
import { followedKeyItem } from "../insight/compliance/followed-key.ts";
import { listSeen, type Unseen } from "../insight/resources/list-all.ts";
import type { ManagedResource } from "../insight/resources/managed-resource.ts";
import { oneLine } from "../insight/words/one-line.ts";
import type { Kube } from "../kube/port.ts";
import { auditView } from "./audit-view.ts";
import { unseenWords } from "./consumers-view.ts";
import { readCredential } from "./credential-id.ts";
import { readResource } from "./credential-view.ts";
import type { Entry } from "./entry.ts";
import { BadQuestion } from "./refusals.ts";
import { resourceOfSeed } from "./seed.ts";
import type { Looker, ViewSource } from "./view-source.ts";
import type { CredentialId, EvidenceItem, EvidenceView } from "./wire.ts";

/** So many are judged before others get a turn. */
const ITEMS_AT_ONCE = 200;

/** The compliance report of all that somebody may see, and what became of the audit log. */
export async function evidenceView(source: ViewSource, looker: Looker, query: URLSearchParams): Promise<EvidenceView> {
  const maxPeriodMs = readPeriod(query.get("maxPeriod"));
  const { kube } = looker.guest;
  const now = source.clock.now();
  const unseen: Unseen[] = [];
  const items: EvidenceItem[] = [];
  let [count, heldKeys] = [0, 0];
  for (const entry of source.model.entries()) {
    if (!looker.sight.sees(entry)) continue;
    heldKeys += entry.held;
    const resource = await resourceOf(kube, entry);
    if (resource) items.push(itemOf(complianceItem(resource, { now, maxPeriodMs }), entry.id));
    if (++count % ITEMS_AT_ONCE === 0) await scheduler.yield();
  }
  for (const object of await listSeen(kube, bind9Instance, {}, unseen)) {
    const item = followedKeyItem(object);
    if (item) items.push(itemOf(item));
  }
  return {
    at: now,
    ...(Number.isFinite(maxPeriodMs) && { maxPeriodMs }),
    heldKeys,
    items: items.sort((a, b) => (a.label < b.label ? -1 : 1)),
    unseen: [...looker.sight.unseen, ...unseen.map(unseenWords)],
    audit: await auditView(source, kube),
  };
}

/** One that was too large to keep is read; undefined when it has gone since. */
async function resourceOf(kube: Kube, { id, kind, seed, isWhole }: Entry): Promise<ManagedResource | undefined> {
  return isWhole ? resourceOfSeed(kind, seed) : readResource(kube, readCredential(id)).catch(() => undefined);
}

function readPeriod(text: string | null): number {
  if (text === null || text === "") return Number.POSITIVE_INFINITY;
  try {
    return parseDuration(text, { positive: true });
  } catch (error) {
    throw new BadQuestion(400, `maxPeriod: ${messageOf(error)}`);
  }
}

function itemOf(item: ComplianceItem, id?: CredentialId): EvidenceItem {
  const { secret, periodMs, lastRotationAt, nextRotationAt, overdueMs, heldBackBy, exceptions, problems } = item;
  return {
    label: item.label,
    kind: item.kind,
    name: item.namespace === undefined ? item.name : `${item.namespace}/${item.name}`,
    ...(id !== undefined && { id }),
    ...(secret !== undefined && { secret }),
    ...(periodMs !== undefined && Number.isFinite(periodMs) && { periodMs }),
    ...(lastRotationAt !== undefined && { lastRotationAt }),
    ...(Number.isFinite(nextRotationAt) && { nextRotationAt }),
    overdueMs,
    ...(heldBackBy !== undefined && { heldBackBy }),
    exceptions,
    problems: problems.map(({ reason, message }) => ({ reason, words: oneLine(message) })),
    isInOrder: isInOrder(item),
  };
}
