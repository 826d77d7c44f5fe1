import assert from "node:assert/strict";
import { test } from "node:test";
import { ManualClock } from "../../base/manual-clock.ts";
import { seededRandom } from "../../base/random.ts";
import { Redacted } from "../../base/redacted.ts";
import { EMPTY_RING, type KeyRing } from "../../bind/key-ring.ts";
import { RndcRefused, RndcUnreachable } from "../../rndc/errors.ts";
import { generateRndcKey } from "../../rndc/key.ts";
import type { Connection, Created } from "../contract.ts";
import { ProviderError } from "../provider-error.ts";
import { type BindConnectionOptions, createBindConnection } from "./bind-connection.ts";
import type { KeyUsers, RingStore } from "./ports.ts";
import { marks, PLACE } from "./ring-marks.fixture.ts";
import type { Objection } from "./server-gate.ts";

/** What the connection owes beyond the conformance suite of providers, which `test/providers/bind.test.ts` runs. */
const { signal } = new AbortController();

class MemoryRing implements RingStore {
  ring: KeyRing = EMPTY_RING;
  version = 0;
  writes = 0;
  /** So many writes find that somebody was faster. */
  rivals = 0;

  async read() {
    return { ring: this.ring, version: String(this.version) };
  }

  async replace(ring: KeyRing, over: { readonly version: string | undefined }) {
    if (this.rivals > 0) {
      this.rivals--;
      this.version++;
    }
    if (over.version !== String(this.version)) return "changed" as const;
    this.writes++;
    this.version++;
    this.ring = ring;
    return this.read();
  }
}

interface Stage {
  readonly connection: Connection;
  readonly store: MemoryRing;
  readonly clock: ManualClock;
  readonly refused: Set<string>;
  add(sequence: number, parameters?: Readonly<Record<string, unknown>>): Promise<Created>;
}

function staged(changes: Partial<BindConnectionOptions> = {}): Stage {
  const [store, clock, random] = [new MemoryRing(), new ManualClock(), seededRandom(3)];
  const refused = new Set<string>();
  const connection = createBindConnection({
    place: PLACE,
    mode: { kind: "overlap" },
    store,
    servers: { list: async () => [{ name: "web-0", host: "a", port: 953 }] },
    clock,
    random,
    send: async ({ key }) => {
      if (refused.has(key.name)) throw new RndcRefused("hung up");
      return { text: "" };
    },
    ...changes,
  });
  const add = (sequence: number, parameters = {}): Promise<Created> =>
    connection.create(
      { name: `web-${sequence}`, instanceId: PLACE, parameters: new Redacted(parameters), marks: marks(sequence) },
      signal,
    );
  return { connection, store, clock, refused, add };
}

const idOf = (created: Created): string => (created.kind === "ready" ? created.key.id : created.id);
const phases = ({ store }: Stage): readonly string[] => store.ring.keys.map(({ key, phase }) => `${key.name} ${phase}`);

test("the first key of a ring is ready at once, the next one when servers accept it", async () => {
  const stage = staged();
  assert.equal((await stage.add(1)).kind, "ready");
  assert.equal((await stage.add(2)).kind, "accepted");
  assert.deepEqual(phases(stage), ["web-1 accepted", "web-2 adding"]);
});

test("a key that is given is taken with its name; one is generated of the algorithm that is asked for", async () => {
  const stage = staged();
  await stage.add(1, { key: generateRndcKey("theirs", "hmac-sha384", seededRandom(9)) });
  await stage.add(2, { algorithm: "hmac-sha512" });
  const made = stage.store.ring.keys.map(({ key }) => [key.name, key.algorithm, key.secret.reveal().length]);
  assert.deepEqual(made, [
    ["theirs", "hmac-sha384", 48],
    ["web-2", "hmac-sha512", 64],
  ]);
  await assert.rejects(stage.add(3, { algorithm: "hmac-md5" }), { code: "ProviderRefused" });
});

test("with one key at a time nobody is asked, and all keys are given out under one name", async () => {
  const asked = async (): Promise<never> => assert.fail("nobody is asked");
  const stage = staged({ mode: { kind: "restart", keyName: "fixed" }, servers: { list: asked }, send: asked });
  const [one, two] = [await stage.add(1), await stage.add(2)];
  assert.deepEqual([one.kind, two.kind], ["ready", "ready"]);
  const given = await Promise.all([one, two].map((made) => stage.connection.readCredentials(idOf(made), signal)));
  assert.deepEqual(
    given.map((credentials) => credentials.reveal()["key-name"]),
    ["fixed", "fixed"],
  );
  assert.match(String(given[0]?.reveal()["rndc.key"]), /^key "fixed"/);
  assert.equal(await stage.connection.delete(idOf(one), signal), "gone");
  assert.deepEqual(phases(stage), ["web-2 accepted"]);
});

const UNBORN = { list: async () => [{ name: "web-0", host: undefined, port: 953 }] };

test("a server that has not started is waited for as long as it may be handed an older ring, and no longer", async () => {
  const stage = staged({ servers: UNBORN });
  await stage.add(1);
  const id = idOf(await stage.add(2));
  await stage.clock.advance(4 * 60_000);
  assert.equal((await stage.connection.observe(id, signal))?.state, "creating");
  await stage.clock.advance(60_000);
  assert.equal((await stage.connection.observe(id, signal))?.state, "ready", "it may be waiting for this very key");
});

test("nor is it waited for where all keys are on their way out", async () => {
  for (const [isLeaving, expected] of [
    [false, "deleting"],
    [true, undefined],
  ] as const) {
    const stage = staged({ servers: UNBORN, isLeaving });
    const [first] = [idOf(await stage.add(1)), await stage.add(2)];
    await stage.connection.delete(first, signal);
    assert.equal((await stage.connection.observe(first, signal))?.state, expected);
  }
});

test("the last key goes at once: nobody would be left to be asked", async () => {
  const stage = staged();
  const [one, two] = [idOf(await stage.add(1)), idOf(await stage.add(2))];
  assert.equal(await stage.connection.delete(one, signal), "accepted");
  assert.equal(await stage.connection.delete(two, signal), "gone");
  assert.equal(await stage.connection.observe(one, signal), undefined);
  assert.deepEqual(phases(stage), []);
});

test("a list of servers that cannot be had keeps a key from being ready, and from being gone", async () => {
  let isBroken = true;
  const list = async () => {
    if (isBroken) throw new ProviderError("ProviderUnavailable", "no list");
    return [];
  };
  const stage = staged({ servers: { list } });
  const [one, two] = [idOf(await stage.add(1)), idOf(await stage.add(2))];
  await assert.rejects(stage.connection.observe(two, signal), { code: "ProviderUnavailable" });
  await stage.connection.delete(one, signal);
  await assert.rejects(stage.connection.listMarked({ clusterId: "c" }, signal), { code: "ProviderUnavailable" });
  assert.deepEqual(phases(stage), ["web-1 removing", "web-2 adding"]);
  isBroken = false;
  assert.deepEqual(
    (await stage.connection.listMarked({ clusterId: "c" }, signal)).map(({ name, state }) => [name, state]),
    [["web-2", "ready"]],
  );
});

test("a rival's write is no reason to give up, many of them are; looking at what is settled writes nothing", async () => {
  const stage = staged();
  const id = idOf(await stage.add(1));
  const { writes } = stage.store;
  stage.store.rivals = 3;
  await stage.connection.mark(id, marks(7), signal);
  await stage.connection.mark(id, marks(7), signal);
  await stage.connection.observe(id, signal);
  assert.equal(stage.store.writes, writes + 1);
  stage.store.rivals = 9;
  await assert.rejects(stage.connection.mark(id, marks(8), signal), { code: "ProviderBusy" });
});

test("with one key at a time a key is ready once its users are prepared, and gone once they have moved", async () => {
  let unprepared: readonly Objection[] = [{ server: "Deployment a/b", why: "is stopped", kind: "broken" }];
  let behind: readonly Objection[] = [];
  const asked: string[] = [];
  const users: KeyUsers = {
    notPrepared: async () => unprepared,
    moves: async ({ accepting }) => {
      asked.push([...accepting].join());
      return { behind, remarks: ["one is left alone"] };
    },
  };
  const shared = { store: new MemoryRing(), random: seededRandom(4) };
  const at = (inUse?: string) => staged({ mode: { kind: "restart", keyName: "fixed", users }, ...shared, inUse });
  const one = idOf(await at().add(1));
  const two = idOf(await at(one).add(2));
  const waiting = await at(one).connection.observe(two, signal);
  assert.deepEqual(
    [waiting?.state, waiting?.complaint],
    ["creating", "the key is not replaced yet: Deployment a/b (is stopped)"],
  );
  unprepared = [];
  assert.equal((await at(one).connection.observe(two, signal))?.state, "ready");
  behind = [{ server: "Deployment a/b", why: "is being restarted", kind: "behind" }];
  const used = await at(two).connection.observe(two, signal);
  const words = "not everybody runs on the new key yet: Deployment a/b (is being restarted)";
  assert.deepEqual([used?.notice, used?.complaint], [`${words}; one is left alone`, undefined]);
  assert.equal(asked.at(-1), "web-0", "who accepts the old key is found out first");
  assert.equal(await at(two).connection.delete(one, signal), "accepted");
  assert.equal((await at(two).connection.observe(one, signal))?.state, "deleting");
  behind = [{ server: "Deployment a/b", why: "is paused", kind: "broken" }];
  const stuck = await at(two).connection.observe(two, signal);
  assert.deepEqual(
    [stuck?.complaint, stuck?.isHindered],
    ["not everybody runs on the new key: Deployment a/b (is paused)", true],
  );
  behind = [];
  for (const past of [one, undefined]) {
    const leaving = await at(past).connection.observe(one, signal);
    assert.equal(leaving?.state, "deleting", "by a status that knows no later key nobody can tell who has moved");
  }
  assert.equal(await at(two).connection.observe(one, signal), undefined);
  assert.equal((await at(two).connection.observe(two, signal))?.notice, "one is left alone");
});

test("with one key at a time a key that was ready waits again when restarts are stopped before it is published", async () => {
  const stopped: readonly Objection[] = [{ server: "Deployment a/b", why: "is stopped", kind: "broken" }];
  let unprepared: readonly Objection[] = [];
  const users: KeyUsers = { notPrepared: async () => unprepared, moves: async () => ({ behind: [], remarks: [] }) };
  const shared = { store: new MemoryRing(), random: seededRandom(4) };
  const at = (inUse?: string, unpublished?: number) =>
    staged({ mode: { kind: "restart", keyName: "fixed", users }, ...shared, inUse, unpublished });
  const one = idOf(await at().add(1));
  const two = idOf(await at(one, 2).add(2));
  const stateOf = async (unpublished?: number, inUse: string | undefined = one): Promise<string | undefined> =>
    (await at(inUse, unpublished).connection.observe(two, signal))?.state;
  assert.equal(await stateOf(2), "ready");
  unprepared = stopped;
  assert.equal(await stateOf(2), "creating");
  assert.equal(await stateOf(), "ready", "what is published stays so");
  assert.equal(
    (await at(undefined, 1).connection.observe(one, signal))?.state,
    "ready",
    "of the first nobody is worse off",
  );
  unprepared = [];
  assert.equal(await stateOf(2), "ready");
  unprepared = stopped;
  await at(one).connection.mark(two, undefined, signal);
  assert.equal(await stateOf(), "ready", "one without marks is nobody's next");
});

test("a ring that is full takes no more", async () => {
  const stage = staged({ mode: { kind: "restart", keyName: "fixed" } });
  for (let sequence = 1; sequence <= 32; sequence++) await stage.add(sequence);
  await assert.rejects(stage.add(33), { code: "QuotaExceeded" });
});

test("a key in use that a server does not accept is ill, hindered, and never anything but ready", async () => {
  const ill = new Map<string, number>();
  const illnesses = {
    since: (id: string, now: number) => ill.get(id) ?? ill.set(id, now).get(id) ?? now,
    recovered: (id: string) => void ill.delete(id),
  };
  const stage = staged({ illnesses });
  const id = idOf(await stage.add(1));
  const inUse = createBindConnection({
    place: PLACE,
    mode: { kind: "overlap" },
    store: stage.store,
    servers: { list: async () => [{ name: "web-0", host: "a", port: 953 }] },
    clock: stage.clock,
    random: seededRandom(4),
    inUse: id,
    illnesses,
    send: async ({ key }) => {
      if (stage.refused.has("unreachable")) throw new RndcUnreachable("no way");
      if (stage.refused.has(key.name)) throw new RndcRefused("hung up");
      return { text: "" };
    },
  });
  stage.refused.add("web-1");
  const since = stage.clock.now();
  const seen = await inUse.observe(id, signal);
  assert.deepEqual([seen?.state, seen?.illSince, seen?.isHindered], ["ready", since, true]);
  assert.match(seen?.complaint ?? "", /^not every server accepts web-1: web-0 \(hangs up/);
  stage.refused.clear();
  assert.equal((await inUse.observe(id, signal))?.complaint, undefined);
  stage.refused.add("unreachable");
  assert.equal((await inUse.observe(id, signal))?.complaint, undefined, "it may be starting");
  await stage.clock.advance(120_000);
  assert.match((await inUse.observe(id, signal))?.complaint ?? "", /no way/, "for too long");
});

test("when a key counts as made may be said from outside of the ring", async () => {
  const dates = new Map<string, number>();
  const stage = staged({ dates });
  const id = idOf(await stage.add(1));
  dates.set(id, 5);
  assert.equal((await stage.connection.observe(id, signal))?.createdAt, 5);
});

test("nothing is taken out of a ring that lacks the key in use: it may be the last that servers know", async () => {
  const stage = staged({ inUse: "elsewhere" });
  const one = idOf(await stage.add(1));
  await assert.rejects(stage.connection.delete(one, signal), { code: "ProviderBusy" });
  assert.deepEqual(phases(stage), ["web-1 accepted"]);
});
