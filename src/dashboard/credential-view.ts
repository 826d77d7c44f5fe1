import { deletedKeyProblems } from "../insight/consumers/deleted-keys.ts";
import { leftBehind } from "../insight/consumers/left-behind.ts";
import { explain, type Fact, lastFailureText } from "../insight/explain/explanation.ts";
import { lastFailure } from "../insight/explain/last-failure.ts";
import { type ChildView, lookAtChildren } from "../insight/resources/look-at-children.ts";
import { lookAtParent } from "../insight/resources/look-at-parent.ts";
import { type ManagedResource, managedResource } from "../insight/resources/managed-resource.ts";
import { withConsumers } from "../insight/status/secret-consumers.ts";
import { reportOf } from "../insight/status/status-report.ts";
import { oneLine } from "../insight/words/one-line.ts";
import type { Kube } from "../kube/port.ts";
import { SpecProblem } from "../reconcile/managed/spec-problem.ts";
import { managedKinds } from "../reconcile/managed-kinds.ts";
import { offersFor, seenStateOf } from "./action-rules.ts";
import { mayPatch } from "./change-rights.ts";
import { keyInParent, withinParent } from "./child-keys.ts";
import { consumerView } from "./consumer-views.ts";
import { type Credential, findCredential, idOf } from "./credential-id.ts";
import { entryOf, rowOf } from "./entry.ts";
import { pastOf } from "./history.ts";
import { keyBars } from "./key-bars.ts";
import { protocolSteps } from "./protocol-steps.ts";
import { lookAtSecret } from "./secret-view.ts";
import { withNewestKeys } from "./seed.ts";
import type { Looker, ViewSource } from "./view-source.ts";
import { windowsOf } from "./window-bars.ts";
import { type CredentialView, type LastFailureView, MAX_KEYS, type SecretView } from "./wire.ts";

const DAY_MS = 86_400_000;
/** How far windows are drawn around now. */
const WINDOWS_MS = 30 * DAY_MS;

const MAX_ALIKE = 20;
const MAX_TEXT = 2000;

/**
 * The resource as it is, read with the rights of whoever asks: what they may not read, they are not shown. With no more keys
 * than anybody is shown.
 */
export const readResource = async (kube: Kube, { kind, ref }: Credential): Promise<ManagedResource> =>
  managedResource(kind, withNewestKeys(await kube.get(kind.type, ref), MAX_KEYS));

/** Everything about one credential. All of it is live, and is what the rights of the viewer let them see. */
export async function credentialView(source: ViewSource, looker: Looker, wanted: Credential): Promise<CredentialView> {
  const { kube } = looker.guest;
  const object = await kube.get(wanted.kind.type, wanted.ref);
  const resource = managedResource(wanted.kind, withNewestKeys(object, MAX_KEYS));
  const now = source.clock.now();
  const entry = entryOf(wanted.kind, object, now);
  const [children, parent, consumers, secret, past, isAllowed] = await Promise.all([
    lookAtChildren(kube, resource),
    lookAtParent(kube, resource),
    withConsumers(kube, [reportOf(resource, now)], now),
    secretOf(kube, resource),
    pastOf(source, resource),
    source.mayChange ? mayPatch(looker.guest, wanted) : false,
  ]);
  const report = consumers.reports[0] ?? reportOf(resource, now);
  const users = report.consumers ?? [];
  const consumerProblems = deletedKeyProblems(resource, users);
  const formerNames = new Map(past.deleted.flatMap(({ id, name }) => (id === name ? [] : [[id, name] as const])));
  const facts = explain(resource, {
    now,
    lastFailure: undefined,
    children,
    parent,
    consumerProblems,
    leftBehind: leftBehind(resource, users, now),
    formerNames,
  });
  const bars = keyBars(report, now).slice(0, MAX_KEYS);
  const hidden = entry.retired + (entry.hasActive ? 1 : 0) + (entry.hasPending ? 1 : 0) - bars.length;
  const own = parent && keyInParent(resource, parent, now);
  const keys = [...withinParent(bars, own), ...past.deleted].slice(0, MAX_KEYS);
  const refusal = refusalFor(source.mayChange, isAllowed);
  return {
    at: now,
    row: rowOf(entry, now),
    seen: seenStateOf(resource),
    facts: told(facts),
    steps: protocolSteps(resource, { now, children, secret }),
    keys,
    ...(hidden > 0 && { moreKeys: hidden }),
    ...(secret && { secret }),
    consumers: users.map(consumerView),
    consumersUnseen: consumers.hints,
    children: children.map((child) => childOf(child, resource)),
    history: past.history,
    windows: windowsOf(resource, { from: now - WINDOWS_MS, until: now + WINDOWS_MS }) ?? [],
    ...(refusal === undefined ? { actions: offersFor(resource, now) } : { actions: [], refusal }),
  };
}

/** What is wrong now stands in the view itself. */
export async function lastFailureView(
  { clock }: ViewSource,
  { guest: { kube } }: Looker,
  wanted: Credential,
): Promise<LastFailureView> {
  const { metadata } = await kube.get(wanted.kind.type, wanted.ref, { metadataOnly: true });
  const failure = await lastFailure(kube, metadata);
  return failure ? { text: cut(lastFailureText(failure, clock.now())) } : {};
}

/** Of a thing that there are very many of, the first few stand for all. */
function told(facts: readonly Fact[]): CredentialView["facts"] {
  const counts = new Map<string, number>();
  return facts.flatMap(({ about, text, isProblem, isWarning }) => {
    const count = (counts.get(about) ?? 0) + 1;
    counts.set(about, count);
    return count > MAX_ALIKE
      ? []
      : [{ about, text: cut(text), ...(isProblem && { isProblem }), ...(isWarning && { isWarning }) }];
  });
}

const cut = (text: string): string => (text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text);

function refusalFor(mayChange: boolean, isAllowed: boolean): string | undefined {
  if (!mayChange) return "This dashboard only shows: it was started without changes.";
  return isAllowed ? undefined : "You may not change this: the API server says so.";
}

async function secretOf(kube: Kube, { spec }: ManagedResource): Promise<SecretView | undefined> {
  return spec instanceof SpecProblem || !spec.secret ? undefined : lookAtSecret(kube, spec.secret);
}

function childOf(child: ChildView, { object }: ManagedResource): CredentialView["children"][number] {
  const { kind, name, state, isReady, message } = child;
  const managed = managedKinds.find(({ type }) => type.kind === kind);
  const { namespace } = object.metadata;
  const id =
    managed && idOf(managed, { name, ...(managed.type.namespaced && namespace !== undefined && { namespace }) });
  const fares = isReady ? "ready" : isReady === undefined ? "cannot be looked at" : "not ready";
  return {
    ...(id !== undefined && findCredential(id) && { id }),
    kind,
    name,
    state,
    words: message === undefined ? fares : `${fares}: ${oneLine(message)}`,
  };
}
