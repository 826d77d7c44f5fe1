import assert from "node:assert/strict";
import { test } from "node:test";
import type { Logger } from "../base/logger.ts";
import { silentLogger } from "../base/logger.ts";
import { ManualClock } from "../base/manual-clock.ts";
import { seededRandom } from "../base/random.ts";
import { Forbidden, Gone, Invalid, NotServed, TooManyRequests, Unreachable } from "./errors.ts";
import { createListWatch, type ListWatch, type ListWatchOptions } from "./list-watch.ts";
import type { KubeObject, ResourceType } from "./objects.ts";
import type { Kube, ListOptions, ObjectList, WatchEvent, WatchOptions } from "./port.ts";
import { type Delta, ResourceCache } from "./resource-cache.ts";

const type: ResourceType = { group: "", version: "v1", plural: "secrets", kind: "Secret", namespaced: true };

const object = (name: string, resourceVersion: string, uid = `uid-${name}`): KubeObject => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name, namespace: "n", uid, resourceVersion, managedFields: [{ manager: "x" }] },
});

/** One watch connection whose other end is in the hands of the test. */
class Connection {
  readonly options: WatchOptions;
  readonly #queue: (WatchEvent | Error | "end")[] = [];
  #wake: (() => void) | undefined;
  isLeft = false;

  constructor(options: WatchOptions) {
    this.options = options;
    options.signal?.addEventListener("abort", () => this.fail(new Error("aborted")));
  }

  send(...events: readonly WatchEvent[]): void {
    this.#queue.push(...events);
    this.#wake?.();
  }

  fail(error: Error): void {
    this.#queue.push(error);
    this.#wake?.();
  }

  end(): void {
    this.#queue.push("end");
    this.#wake?.();
  }

  async *events(): AsyncGenerator<WatchEvent> {
    try {
      while (true) {
        const next = this.#queue.shift();
        if (next === "end") return;
        if (next instanceof Error) throw next;
        if (next) yield next;
        else await new Promise<void>((resolve) => (this.#wake = resolve));
      }
    } finally {
      this.isLeft = true;
    }
  }
}

interface World {
  readonly clock: ManualClock;
  readonly cache: ResourceCache<KubeObject>;
  readonly listWatch: ListWatch;
  readonly connections: Connection[];
  readonly lists: ListOptions[];
  readonly log: string[];
  readonly deltas: Delta<KubeObject>[];
  readonly stop: () => Promise<void>;
  current(): Connection;
}

type Answer = (options: ListOptions) => ObjectList | Error;

function start(answer: Answer, extra: Partial<ListWatchOptions<KubeObject>> = {}): World {
  const clock = new ManualClock();
  const cache = new ResourceCache<KubeObject>();
  const connections: Connection[] = [];
  const lists: ListOptions[] = [];
  const log: string[] = [];
  const deltas: Delta<KubeObject>[] = [];
  const kube: Pick<Kube, "list" | "watch"> = {
    async list<T extends KubeObject>(_type: ResourceType, options: ListOptions = {}): Promise<ObjectList<T>> {
      lists.push(options);
      const page = answer(options);
      if (page instanceof Error) throw page;
      return page as ObjectList<T>;
    },
    watch<T extends KubeObject>(_type: ResourceType, options: WatchOptions): AsyncIterable<WatchEvent<T>> {
      const connection = new Connection(options);
      connections.push(connection);
      return connection.events() as AsyncGenerator<WatchEvent<T>>;
    },
  };
  const listWatch = createListWatch({
    kube: kube as Kube,
    type,
    clock,
    random: seededRandom(1),
    logger: silentLogger,
    cache,
    onDelta: (delta) => {
      deltas.push(delta);
      log.push(`${delta.type} ${delta.key}`);
    },
    onSynced: () => log.push("synced"),
    tuning: { watchList: false },
    ...extra,
  });
  const controller = new AbortController();
  const running = listWatch.run(controller.signal);
  return {
    clock,
    cache,
    listWatch,
    connections,
    lists,
    log,
    deltas,
    async stop() {
      controller.abort();
      await running;
    },
    current() {
      const connection = connections.at(-1);
      assert.ok(connection, "no connection has been made");
      return connection;
    },
  };
}

const pageOf = (resourceVersion: string, ...items: readonly KubeObject[]): ObjectList => ({ items, resourceVersion });
const modified = (of: KubeObject): WatchEvent => ({ type: "MODIFIED", object: of });
const bookmark = (resourceVersion: string): WatchEvent => ({
  type: "BOOKMARK",
  resourceVersion,
  initialEventsEnd: false,
});

test("lists, tells, says it is synced, watches from there, and strips managedFields", async () => {
  const world = start(() => pageOf("5", object("a", "3")));
  await world.clock.advance(0);
  assert.deepEqual(world.log, ["added n/a", "synced"]);
  assert.equal(world.cache.get("n/a")?.metadata.managedFields, undefined);
  assert.equal(world.current().options.resourceVersion, "5");
  const { timeoutSeconds = 0, idleTimeoutMs = 0 } = world.current().options;
  assert.ok(timeoutSeconds >= 240 && timeoutSeconds <= 480);
  assert.ok(idleTimeoutMs >= 120_000 && idleTimeoutMs <= 180_000);
  world
    .current()
    .send(
      modified(object("a", "6")),
      { type: "DELETED", object: object("a", "7") },
      { type: "ADDED", object: object("b", "8") },
    );
  await world.clock.advance(0);
  assert.deepEqual(world.log.slice(2), ["updated n/a", "deleted n/a", "added n/b"]);
  await world.stop();
  assert.equal(world.clock.timerCount, 0);
  assert.equal(world.current().isLeft, true);
});

test("an object re-created under its name is a deletion and an addition, also inside one event", async () => {
  const world = start(() => pageOf("5", object("a", "3", "first")));
  await world.clock.advance(0);
  world.current().send(modified(object("a", "8", "second")));
  await world.clock.advance(0);
  assert.deepEqual(world.log, ["added n/a", "synced", "deleted n/a", "added n/a"]);
  await world.stop();
});

test("what happened while away is told once, and what did not change is not", async () => {
  const pages = [
    pageOf("5", object("a", "1"), object("b", "2"), object("c", "3"), object("d", "4", "first")),
    pageOf("20", object("b", "2"), object("c", "12"), object("d", "13", "second"), object("e", "14")),
  ];
  const world = start(() => pages.shift() ?? new Unreachable("no more pages"));
  await world.clock.advance(0);
  world.log.length = 0;
  world.current().fail(new Gone("too old"));
  await world.clock.advance(0);
  assert.deepEqual(world.log, ["deleted n/a", "updated n/c", "deleted n/d", "added n/d", "added n/e"]);
  assert.equal(world.current().options.resourceVersion, "20");
  await world.stop();
});

test("pages: the token of the page before, the same moment, one commit", async () => {
  const world = start(
    (options) =>
      options.continue === undefined
        ? { ...pageOf("5", object("a", "1")), continue: "t" }
        : pageOf("5", object("b", "2")),
    { tuning: { watchList: false, pageSize: 1 } },
  );
  await world.clock.advance(0);
  assert.deepEqual(
    world.lists.map(({ limit, continue: token }) => [limit, token]),
    [
      [1, undefined],
      [1, "t"],
    ],
  );
  assert.deepEqual(world.log, ["added n/a", "added n/b", "synced"]);
  await world.stop();
});

test("WatchList first; where the server refuses it, a list, and WatchList never again", async () => {
  const world = start(() => pageOf("5"), { tuning: { watchList: true } });
  await world.clock.advance(0);
  assert.equal(world.current().options.sendInitialEvents, true);
  world.current().fail(new Invalid("sendInitialEvents is forbidden"));
  await world.clock.advance(0);
  assert.equal(world.lists.length, 1);
  world.current().fail(new Gone("too old"));
  await world.clock.advance(60_000);
  assert.ok(world.connections.slice(1).every(({ options }) => options.sendInitialEvents === undefined));
  await world.stop();
});

test("WatchList: the state is told once it is complete, changes go on over the same connection", async () => {
  const world = start(() => new Unreachable("nobody lists here"), { tuning: { watchList: true } });
  await world.clock.advance(0);
  world.current().send({ type: "ADDED", object: object("a", "3") }, { type: "ADDED", object: object("b", "4") });
  await world.clock.advance(0);
  assert.deepEqual(world.log, [], "half a state is no state");
  world
    .current()
    .send(
      { type: "DELETED", object: object("b", "5") },
      { type: "BOOKMARK", resourceVersion: "5", initialEventsEnd: true },
    );
  world.current().send(modified(object("a", "6")));
  await world.clock.advance(0);
  assert.deepEqual(world.log, ["added n/a", "synced", "updated n/a"]);
  assert.equal(world.connections.length, 1);
  await world.stop();
});

test("a connection that breaks is made again from the last bookmark; nothing is listed", async () => {
  const world = start(() => pageOf("5"));
  await world.clock.advance(0);
  world.current().send(bookmark("50"));
  await world.clock.advance(0);
  world.current().fail(new Unreachable("reset"));
  await world.clock.advance(1000);
  assert.equal(world.connections.length, 2);
  assert.equal(world.current().options.resourceVersion, "50");
  assert.equal(world.lists.length, 1);
  await world.stop();
});

test("a handler that throws, or rejects, is logged and stops nothing", async () => {
  const errors: unknown[] = [];
  const logger: Logger = {
    ...silentLogger,
    error: (_message, fields) => errors.push(fields?.error),
    with: () => logger,
  };
  const seen: string[] = [];
  const world = start(() => pageOf("5", object("a", "1"), object("b", "2")), {
    logger,
    onDelta: (delta) => {
      seen.push(delta.key);
      if (delta.key === "n/a") throw new Error("thrown");
      return Promise.reject(new Error("rejected")) as never;
    },
    onSynced: () => {
      throw new Error("synced, too");
    },
  });
  await world.clock.advance(0);
  world.current().send({ type: "ADDED", object: object("c", "6") });
  await world.clock.advance(0);
  assert.deepEqual(seen, ["n/a", "n/b", "n/c"]);
  assert.equal(world.cache.size, 3);
  assert.deepEqual(errors.sort(), ["rejected", "rejected", "synced, too", "thrown"]);
  await world.stop();
});

test("observers and indexes that throw cost no change", async () => {
  const fail = (): never => {
    throw new Error("no");
  };
  const cache = new ResourceCache<KubeObject>({ indexes: { broken: fail } });
  const world = start(() => pageOf("5", object("a", "1"), object("b", "2")), {
    cache,
    observer: { onEvent: fail, onRestart: fail, onRefresh: fail },
  });
  await world.clock.advance(0);
  world.current().send(modified(object("a", "6")), { type: "DELETED", object: object("b", "7") });
  await world.clock.advance(0);
  world.current().fail(new Gone("too old"));
  await world.clock.advance(0);
  assert.deepEqual(world.log.slice(0, 5), ["added n/a", "added n/b", "synced", "updated n/a", "deleted n/b"]);
  assert.equal(world.lists.length, 2);
  assert.equal(cache.get("n/b")?.metadata.resourceVersion, "2", "as the second list says");
  await world.stop();
});

test("what is not kept is as if it were not there; an object that no longer is, is told as a deletion", async () => {
  const transform = (one: KubeObject): KubeObject | undefined =>
    one.metadata.labels?.keep === "yes" ? one : undefined;
  const labelled = (name: string, version: string, keep: string, uid?: string): KubeObject => {
    const { metadata, ...rest } = object(name, version, uid);
    return { ...rest, metadata: { ...metadata, labels: { keep } } };
  };
  let page = pageOf("5", labelled("a", "3", "yes"), labelled("b", "4", "no"));
  const world = start(() => page, { transform });
  await world.clock.advance(0);
  assert.deepEqual(world.log.splice(0), ["added n/a", "synced"]);
  world.current().send(modified(labelled("b", "6", "no")), modified(labelled("b", "7", "yes")));
  world.current().send(modified(labelled("a", "8", "no")), modified(labelled("a", "9", "no")));
  world.current().send(modified(labelled("b", "2", "no")), { type: "DELETED", object: labelled("a", "10", "no") });
  await world.clock.advance(0);
  assert.deepEqual(world.log.splice(0), ["added n/b", "deleted n/a"], "an older state of b says nothing");
  world.current().send(modified(labelled("b", "11", "no", "another")));
  await world.clock.advance(0);
  assert.deepEqual(world.log.splice(0), ["deleted n/b"], "re-created as one that is not kept");
  assert.equal(world.cache.size, 0);
  page = pageOf("20", labelled("c", "12", "yes"), labelled("d", "13", "no"));
  world.current().fail(new Gone("too old"));
  await world.clock.advance(60_000);
  assert.deepEqual(world.log, ["added n/c"]);
  await world.stop();
});

test("an object that cannot be compacted is left out and logged, the rest goes on", async () => {
  const errors: string[] = [];
  const logger: Logger = { ...silentLogger, error: (message) => errors.push(message), with: () => logger };
  const world = start(() => pageOf("5", object("a", "1"), object("b", "2")), {
    logger,
    transform: (one) => {
      if (one.metadata.name === "a") throw new Error("no");
      return one;
    },
  });
  await world.clock.advance(0);
  assert.deepEqual(world.log, ["added n/b", "synced"]);
  assert.equal(errors.length, 1);
  await world.stop();
});

test("a kind that is not served is ready, not synced; it is picked up when it appears, at once when poked", async () => {
  let served = false;
  const world = start(() => (served ? pageOf("5", object("a", "1")) : new NotServed("404")));
  await world.clock.advance(0);
  const { ready, synced, served: isServed } = world.listWatch.state();
  assert.deepEqual({ ready, synced, isServed }, { ready: true, synced: false, isServed: false });
  assert.equal(world.lists.length, 1);
  await world.clock.advance(30_000);
  const looked = world.lists.length;
  assert.ok(looked >= 2 && looked <= 4, `it looks again, slowly: ${looked} times`);
  served = true;
  world.listWatch.poke();
  await world.clock.advance(0);
  assert.deepEqual(world.log, ["added n/a", "synced"]);
  assert.equal(world.listWatch.state().served, true);
  await world.stop();
  assert.equal(world.clock.timerCount, 0);
});

test("Retry-After is waited for, to the full and not much longer", async () => {
  let throttled = true;
  const world = start(() => (throttled ? new TooManyRequests("slow down", { retryAfterMs: 7000 }) : pageOf("5")));
  await world.clock.advance(6999);
  assert.equal(world.lists.length, 1);
  throttled = false;
  await world.clock.advance(1500);
  assert.equal(world.listWatch.state().synced, true);
  await world.stop();
});

test("no right to look is an error that heals by itself once the right is given", async () => {
  let allowed = false;
  const warnings: string[] = [];
  const logger: Logger = { ...silentLogger, warn: (message) => warnings.push(message), with: () => logger };
  const world = start(() => (allowed ? pageOf("5") : new Forbidden("no")), { logger });
  await world.clock.advance(60_000);
  assert.ok(warnings.length > 0);
  assert.equal(world.listWatch.state().ready, false);
  allowed = true;
  await world.clock.advance(31_000);
  assert.equal(world.listWatch.state().synced, true);
  await world.stop();
});

test("stale: contact too long ago, whatever the cache holds", async () => {
  let reachable = true;
  const world = start(() => (reachable ? pageOf("5") : new Unreachable("down")));
  assert.equal(world.listWatch.state().stale, true, "before the first contact");
  await world.clock.advance(0);
  assert.equal(world.listWatch.state().stale, false);
  reachable = false;
  for (let i = 0; i < 60; i++) {
    world.current().fail(new Unreachable("down"));
    await world.clock.advance(30_000);
  }
  const state = world.listWatch.state();
  assert.deepEqual([state.synced, state.stale, state.lastContactAt], [true, true, 0]);
  world.current().send(bookmark("6"));
  await world.clock.advance(0);
  assert.equal(world.listWatch.state().stale, false);
  await world.stop();
});

test("a watch that was silent for long because nothing happened is not stale for a short trouble after it", async () => {
  let reachable = true;
  const world = start(() => (reachable ? pageOf("5") : new Unreachable("down")));
  await world.clock.advance(0);
  await world.clock.advance(88_000);
  reachable = false;
  world.current().fail(new Unreachable("down"));
  await world.clock.advance(10_000);
  const { stale, trouble, lastContactAt } = world.listWatch.state();
  assert.deepEqual([stale, trouble, lastContactAt], [false, "Unreachable", 0]);
  for (let i = 0; i < 3; i++) {
    world.current().fail(new Unreachable("down"));
    await world.clock.advance(3_000);
  }
  assert.equal(world.listWatch.state().stale, true, "trouble that lasts is proof enough");
  await world.stop();
});

test("a watch that is accepted and holds is contact before its first event; one that stays mute is none", async () => {
  const world = start(() => pageOf("5", object("a", "3")));
  await world.clock.advance(0);
  const breakOff = async (): Promise<void> => {
    world.current().fail(new Unreachable("broken"));
    await world.clock.advance(40_000);
  };
  for (let i = 0; i < 8; i++) await breakOff();
  assert.equal(world.listWatch.state().stale, true);
  world.current().options.onOpen?.();
  await world.clock.advance(5_000);
  assert.deepEqual([world.listWatch.state().stale, world.listWatch.state().trouble], [false, undefined]);
  await world.clock.advance(180_000);
  await breakOff();
  world.current().options.onOpen?.();
  await world.clock.advance(100_000);
  assert.equal(world.listWatch.state().stale, true, "twice accepted, and never a word");
  world.current().send(bookmark("6"));
  await world.clock.advance(0);
  assert.equal(world.listWatch.state().stale, false);
  await world.stop();
  assert.equal(world.clock.timerCount, 0);
});

test("an outage is told once for each kind of error, a short one not at all, and its end is told", async () => {
  const lines: string[] = [];
  const logger: Logger = {
    ...silentLogger,
    info: (message) => void lines.push(message),
    warn: (message, fields) => void lines.push(`${message} ${fields?.code}`),
    with: () => logger,
  };
  let trouble: Error | undefined;
  const world = start(() => trouble ?? pageOf("5"), { logger });
  await world.clock.advance(0);
  const outage = async (error: Error, breaks: number): Promise<void> => {
    for (let i = 0; i < breaks; i++) {
      world.current().fail(error);
      await world.clock.advance(60_000);
    }
  };
  await outage(new Unreachable("refused"), 2);
  world.current().send(bookmark("6"));
  await world.clock.advance(0);
  assert.deepEqual(lines, []);
  trouble = new Forbidden("no");
  await outage(new Unreachable("refused"), 5);
  await outage(new Forbidden("no"), 3);
  await outage(new Unreachable("refused"), 2);
  assert.equal(world.listWatch.state().trouble, "Unreachable");
  world.current().send(bookmark("7"));
  await world.clock.advance(0);
  const told = ["cannot watch; trying on Unreachable", "cannot watch; trying on Forbidden", "in contact again"];
  assert.deepEqual(lines, told);
  await world.stop();
});

test("metrics: events, restarts by reason and refreshes are told", async () => {
  const told: string[] = [];
  const world = start(() => pageOf("5", object("a", "1")), {
    observer: {
      onEvent: (kind) => told.push(kind),
      onRestart: (reason) => told.push(reason),
      onRefresh: (objects, deltas) => told.push(`${objects}/${deltas}`),
    },
  });
  await world.clock.advance(0);
  world.current().send(bookmark("6"));
  world.current().fail(new Gone("too old"));
  await world.clock.advance(0);
  assert.deepEqual(told, ["1/1", "BOOKMARK", "expired", "1/0"]);
  await world.stop();
});

test("stopping is prompt in every phase", async () => {
  const paused = start(() => new Unreachable("down"));
  await paused.clock.advance(0);
  assert.equal(paused.listWatch.state().phase, "waiting");
  await paused.stop();
  assert.equal(paused.clock.timerCount, 0);
  assert.equal(paused.listWatch.state().phase, "stopped");
});
