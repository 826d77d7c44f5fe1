import { scheduler } from "node:timers/promises";
import { parentOf } from "../insight/resources/children.ts";
import { lookAtParent } from "../insight/resources/look-at-parent.ts";
import type { ManagedResource } from "../insight/resources/managed-resource.ts";
import { act } from "./actions.ts";
import type { Answer, Method } from "./api-routes.ts";
import { keyInParent, withinParent } from "./child-keys.ts";
import { consumersView, workloadsView } from "./consumers-view.ts";
import { idOf, readCredential } from "./credential-id.ts";
import { credentialView, lastFailureView, readResource } from "./credential-view.ts";
import { evidenceView } from "./evidence-view.ts";
import { futureOf } from "./future.ts";
import { goneBars } from "./history.ts";
import { previewOf } from "./preview.ts";
import { BadQuestion } from "./refusals.ts";
import { resourceOfSeed } from "./seed.ts";
import type { Looker, ViewSource } from "./view-source.ts";
import { windowsOf } from "./window-bars.ts";
import {
  ACTIONS,
  type Future,
  type FuturesAnswer,
  type FuturesRequest,
  type Interval,
  MAX_FUTURE_KEYS,
  MAX_FUTURES,
  MAX_PAST_KEYS,
  type Preview,
} from "./wire.ts";

/** What can be asked for by whoever was let in, by its path. */
export const ANSWERS: ReadonlyMap<string, readonly [method: Method, answer: Answer]> = new Map([
  [
    "/api/credential",
    ["GET", ({ source, looker, query }) => credentialView(source, looker, readCredential(query.get("id")))],
  ],
  [
    "/api/last-failure",
    ["GET", ({ source, looker, query }) => lastFailureView(source, looker, readCredential(query.get("id")))],
  ],
  ["/api/preview", ["GET", preview]],
  ["/api/action", ["POST", ({ source, looker, body }) => act(source, looker, body)]],
  ["/api/futures", ["POST", futures]],
  [
    "/api/consumers",
    ["GET", ({ source, looker, query }) => consumersView(looker.guest.kube, query, source.clock.now())],
  ],
  ["/api/workloads", ["GET", ({ looker, query }) => workloadsView(looker.guest.kube, query)]],
  ["/api/evidence", ["GET", ({ source, looker, query }) => evidenceView(source, looker, query)]],
] satisfies [string, [Method, Answer]][]);

type Asked = Parameters<Answer>[0];

async function preview({ source, looker, query }: Asked): Promise<Preview> {
  const action = ACTIONS.find((one) => one === query.get("action"));
  if (!action) throw new BadQuestion(400, `action must be one of ${ACTIONS.join(", ")}`);
  const until = readUntil(Number(query.get("until") || Number.NaN));
  const { kube } = looker.guest;
  const resource = await readResource(kube, readCredential(query.get("id")));
  const parent = await lookAtParent(kube, resource);
  return previewOf(resource, action, { now: source.clock.now(), until, parent });
}

/** What is unknown, or may not be seen, has no future: the page asks again when it hears of it. */
async function futures({ source, past, looker, body }: Asked): Promise<FuturesAnswer> {
  const { ids, until, sight } = (body ?? {}) as Readonly<Partial<Record<keyof FuturesRequest, unknown>>>;
  if (!Array.isArray(ids) || ids.length > MAX_FUTURES)
    throw new BadQuestion(400, `ids must be a list of at most ${MAX_FUTURES}`);
  const span = { now: source.clock.now(), until: readUntil(until) };
  const within = readSight(sight);
  const told: Record<string, Future> = Object.create(null);
  const entries = [...new Set(ids.map(String))].flatMap((id) => source.model.get(id) ?? []);
  const seen = entries.filter((entry) => entry.isWhole && looker.sight.sees(entry));
  const deleted = await past.deletedOf(seen.map(({ id }) => id));
  for (const { id, kind, seed } of seen) {
    try {
      const resource = resourceOfSeed(kind, seed);
      const future = futureOf(resource, span);
      const parent = parentIn(source, looker, resource);
      const own = parent && keyInParent(resource, parent, span.now);
      const gone = goneBars(resource, deleted.get(id) ?? []);
      // Each with room of its own: else a future that fills it would leave nothing of the past.
      const keys = withinParent(future.keys, own).slice(0, MAX_FUTURE_KEYS);
      const windows = windowsOf(resource, within);
      told[id] = { ...future, keys: [...keys, ...gone.slice(0, MAX_PAST_KEYS)], ...(windows && { windows }) };
    } catch (error) {
      source.logger.error("the future of a credential could not be told", { id, error });
    }
    // Each is a moment of work, and an operator has others to do.
    await scheduler.yield();
  }
  return { futures: told };
}

/** As it is known here, where whoever asks may see it. */
function parentIn({ model }: ViewSource, { sight }: Looker, resource: ManagedResource): ManagedResource | undefined {
  const parent = parentOf(resource);
  const entry = parent && model.get(idOf(parent.kind, parent));
  return entry?.isWhole && sight.sees(entry) ? resourceOfSeed(entry.kind, entry.seed) : undefined;
}

function readUntil(until: unknown): number {
  if (isInstant(until)) return until;
  throw new BadQuestion(400, "until must be an instant in milliseconds");
}

function readSight(sight: unknown): Interval {
  const { from, until } = (sight ?? {}) as Readonly<Partial<Record<keyof Interval, unknown>>>;
  if (!isInstant(from) || !isInstant(until) || until < from)
    throw new BadQuestion(400, "sight must go from an instant until a later one, in milliseconds");
  return { from, until };
}

const isInstant = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value);
