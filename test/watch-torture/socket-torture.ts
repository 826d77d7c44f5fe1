import { delay, systemClock } from "../../src/base/clock.ts";
import { silentLogger } from "../../src/base/logger.ts";
import { integerBetween, type Random, seededRandom } from "../../src/base/random.ts";
import { Redacted } from "../../src/base/redacted.ts";
import { serve } from "../../src/embedded/http/serve.ts";
import type { ServingCertificate } from "../../src/embedded/http/serving-certificate.ts";
import { createKubeClient } from "../../src/kube/kube-client.ts";
import { createListWatch, type ListWatch } from "../../src/kube/list-watch.ts";
import type { KubeObject } from "../../src/kube/objects.ts";
import { ResourceCache } from "../../src/kube/resource-cache.ts";
import { createUndiciTransport } from "../../src/kube/undici-transport.ts";
import { EmbeddedTortureServer } from "./embedded-torture-server.ts";
import { type FaultyProxy, startFaultyProxy } from "./faulty-proxy.ts";
import { differenceBetween, TortureFailure, type TortureServer, writeSomething } from "./torture-world.ts";
import { WatchJudge } from "./watch-judge.ts";

/** Short enough that a silent connection is noticed, and everything settled, within a fraction of a second. */
const TUNING = {
  pageSize: 2,
  idleMs: [150, 250],
  watchSeconds: [1, 2],
  timing: {
    firstPauseMs: 4,
    longestPauseMs: 40,
    notServedPauseMs: 10,
    longestNotServedPauseMs: 40,
    longestRetryAfterMs: 50,
    soundWatchMs: 50,
  },
} as const;
const CALL_TIMEOUT_MS = 300;
const SETTLE_WITHIN_MS = 20_000;

export interface SocketTortureOptions {
  readonly seed: number;
  readonly schedules: number;
  /** Schedules spend their time waiting, so several run side by side. */
  readonly atOnce: number;
  readonly certificate: ServingCertificate;
  readonly onProgress?: (done: number) => void;
}

export interface SocketTortureReport extends SocketScheduleResult {
  readonly schedules: number;
}

/** Runs that many schedules with consecutive seeds; throws `TortureFailure` at the first promise that is broken. */
export async function runSocketSchedules(options: SocketTortureOptions): Promise<SocketTortureReport> {
  const totals = { schedules: 0, faults: 0, deltas: 0, refreshes: 0 };
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < options.schedules) {
      const result = await runSocketSchedule(options.seed + next++, options.certificate);
      totals.schedules += 1;
      totals.faults += result.faults;
      totals.deltas += result.deltas;
      totals.refreshes += result.refreshes;
      options.onProgress?.(totals.schedules);
    }
  };
  await Promise.all(Array.from({ length: options.atOnce }, work));
  return totals;
}

interface SocketScheduleResult {
  readonly faults: number;
  readonly deltas: number;
  readonly refreshes: number;
}

/** As the torture in memory, with real sockets, TLS and time in between; the seed decides what goes wrong. */
async function runSocketSchedule(seed: number, certificate: ServingCertificate): Promise<SocketScheduleResult> {
  const random = seededRandom(seed);
  const clock = systemClock;
  const server = new EmbeddedTortureServer({ clock, random });
  const token = new Redacted(`token-of-${seed}`);
  const serving = await serve({ api: { handle: (request) => server.api.handle(request) }, certificate, token, clock });
  const proxy = await startFaultyProxy({ target: serving.port, random, rate: 0.2 + random.next() * 0.6 });
  const transport = createUndiciTransport({
    server: `https://127.0.0.1:${proxy.port}`,
    connectTimeoutMs: CALL_TIMEOUT_MS,
    credentials: fixedCredentials(certificate.authorityPem, token),
  });
  const kube = createKubeClient({ transport, clock, userAgent: "torture", defaultTimeoutMs: CALL_TIMEOUT_MS });
  const cache = new ResourceCache<KubeObject>();
  const judge = new WatchJudge(() => server.changes(undefined));
  const listWatch = createListWatch({
    kube,
    type: server.type,
    clock,
    random,
    logger: silentLogger,
    cache,
    onDelta: (delta) => judge.onDelta(delta),
    observer: { onRefresh: () => judge.onRefresh(cache.position) },
    tuning: { ...TUNING, watchList: random.next() < 0.5 },
  });
  const stop = new AbortController();
  const running = listWatch.run(stop.signal);
  try {
    for (let i = integerBetween(random, 10, 30); i > 0; i--) await act(server, proxy, random);
    proxy.stopFaults();
    await settle({ seed, server, cache, judge, listWatch });
  } finally {
    stop.abort();
    await running;
    await kube.close();
    await serving.stop();
  }
  await until(
    () => proxy.connections === 0,
    () => new TortureFailure(seed, "connections were left open"),
  );
  await proxy.close();
  return { faults: proxy.faults, deltas: judge.deltas, refreshes: judge.refreshes };
}

function fixedCredentials(ca: string, token: Redacted<string>) {
  const credentials = { authorization: new Redacted(`Bearer ${token.reveal()}`), tls: { ca } };
  return { current: async () => credentials, reject: () => {} };
}

async function act(server: TortureServer, proxy: FaultyProxy, random: Random): Promise<void> {
  const roll = random.next();
  if (roll < 0.75) writeSomething(server, random);
  else if (roll < 0.8) server.compact();
  else if (roll < 0.85) proxy.breakAll();
  else if (roll < 0.9) {
    server.restart({ keepHistory: false });
    proxy.breakAll();
  }
  await delay(systemClock, integerBetween(random, 0, 20));
}

async function settle(world: {
  readonly seed: number;
  readonly server: TortureServer;
  readonly cache: ResourceCache<KubeObject>;
  readonly judge: WatchJudge;
  readonly listWatch: ListWatch;
}): Promise<void> {
  const { seed, server, cache, judge, listWatch } = world;
  const difference = (): string | undefined => differenceBetween(server, cache, undefined);
  await until(
    () => difference() === undefined && judge.isUpToDate() && listWatch.state().synced,
    () => new TortureFailure(seed, `not settled in time: ${difference()}`),
  );
  const problem = judge.verdict();
  if (problem !== undefined) throw new TortureFailure(seed, problem);
}

async function until(holds: () => boolean, failure: () => Error): Promise<void> {
  const deadline = systemClock.monotonic() + SETTLE_WITHIN_MS;
  while (!holds()) {
    if (systemClock.monotonic() > deadline) throw failure();
    await delay(systemClock, 5);
  }
}
