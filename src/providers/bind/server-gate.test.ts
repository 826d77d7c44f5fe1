import assert from "node:assert/strict";
import { test } from "node:test";
import { ManualClock } from "../../base/manual-clock.ts";
import { seededRandom } from "../../base/random.ts";
import { RndcCommandFailed, RndcRefused, RndcTimeout, RndcUnreachable } from "../../rndc/errors.ts";
import { generateRndcKey, type RndcKey } from "../../rndc/key.ts";
import { ProviderError } from "../provider-error.ts";
import { objectionWords } from "./objection-words.ts";
import type { NamedServer, SendCommand } from "./ports.ts";
import { ServerGate } from "./server-gate.ts";

const clock = new ManualClock();
const random = seededRandom(1);
const keyNamed = (name: string): RndcKey => generateRndcKey(name, "hmac-sha256", random);
const [fresh, old, older] = [keyNamed("fresh"), keyNamed("old"), keyNamed("older")];
const { signal } = new AbortController();

/** A server that knows some keys, and others once it was told. */
interface Played {
  readonly knows: readonly RndcKey[];
  readonly learns?: readonly RndcKey[];
  readonly fails?: Error;
  readonly failsToldBy?: Error;
}

function played(servers: Readonly<Record<string, Played>>): { readonly gate: ServerGate; readonly log: string[] } {
  const known = new Map(Object.entries(servers).map(([host, { knows }]) => [host, knows]));
  const log: string[] = [];
  const send: SendCommand = async ({ host, key, command }) => {
    const server = servers[host];
    log.push(`${host} ${command} ${key.name}`);
    if (server?.fails) throw server.fails;
    if (!known.get(host)?.includes(key)) throw new RndcRefused("hung up");
    if (command === "reconfig") {
      if (server?.failsToldBy) throw server.failsToldBy;
      known.set(host, server?.learns ?? known.get(host) ?? []);
    }
    return { text: "" };
  };
  return { gate: new ServerGate({ clock, random, send, timeoutMs: 1_000 }), log };
}

const serversOf = (names: readonly string[]): readonly NamedServer[] =>
  names.map((name) => ({ name, host: name, port: 953 }));

const NONE = /^hangs up on every key/;

const accepting: readonly (readonly [reason: string, server: Played, why: RegExp | undefined, kind?: string])[] = [
  ["it knows the key", { knows: [fresh] }, undefined],
  ["it is told with the old key, and follows", { knows: [old], learns: [old, fresh] }, undefined],
  ["it is told with a key that is on its way out", { knows: [older], learns: [old, fresh] }, undefined],
  ["it is told, and what it reads is older", { knows: [old] }, /^does not know it yet/, "behind"],
  ["it knows none of the keys", { knows: [] }, NONE, "broken"],
  [
    "its files are broken",
    { knows: [old], failsToldBy: new RndcCommandFailed("named: reconfig failed: failure", { result: 25, text: "" }) },
    /^named: reconfig failed/,
    "broken",
  ],
  ["it cannot be reached", { knows: [], fails: new RndcUnreachable("no way") }, /^no way$/, "unreached"],
  ["it is silent", { knows: [], fails: new RndcTimeout("no answer") }, /^no answer$/, "unreached"],
  [
    "it breaks off when told",
    { knows: [old], failsToldBy: new RndcUnreachable("broke off", { mayHaveRun: true }) },
    /^broke off$/,
    "unreached",
  ],
  [
    "its status fails, in an answer that the key has signed",
    { knows: [fresh], fails: new RndcCommandFailed("named: status failed", { result: 1, text: "" }) },
    undefined,
  ],
];

for (const [reason, server, why, kind] of accepting) {
  test(`whether a key is accepted: ${reason}`, async () => {
    const { gate } = played({ a: server });
    const [objection] = await gate.notAccepting(serversOf(["a"]), { key: fresh, signers: [old, older], signal });
    if (why === undefined) assert.equal(objection, undefined);
    else {
      assert.match(objection?.why ?? "", why);
      assert.equal(objection?.kind, kind);
    }
  });
}

const refusing: readonly (readonly [reason: string, server: Played, why: RegExp | undefined])[] = [
  ["it knows the others alone", { knows: [fresh] }, undefined],
  ["it is told, and follows", { knows: [fresh, old], learns: [fresh] }, undefined],
  ["it knows nothing but the old one, is told with that, and follows", { knows: [old], learns: [fresh] }, undefined],
  ["it is told, and what it reads is older", { knows: [fresh, old] }, /^still accepts it/],
  ["it hangs up on everybody, which proves nothing", { knows: [] }, NONE],
  ["it cannot be reached", { knows: [], fails: new RndcUnreachable("no way") }, /^no way$/],
];

test("whether a key is refused: a server that has hung up on everybody for a moment has refused nothing", async () => {
  let asked = 0;
  const send: SendCommand = async () => {
    if (asked++ === 0) throw new RndcRefused("hung up");
    return { text: "" };
  };
  const gate = new ServerGate({ clock, random, send, timeoutMs: 1_000 });
  const [objection] = await gate.stillAccepting(serversOf(["a"]), { key: old, signers: [fresh], signal });
  assert.match(objection?.why ?? "", /^still accepts it/);
});

for (const [reason, server, why] of refusing) {
  test(`whether a key is refused: ${reason}`, async () => {
    const { gate } = played({ a: server });
    const [objection] = await gate.stillAccepting(serversOf(["a"]), { key: old, signers: [fresh], signal });
    if (why === undefined) assert.equal(objection, undefined);
    else assert.match(objection?.why ?? "", why);
  });
}

test("every server is asked whatever another one does, and one without an address is one that objects", async () => {
  const { gate, log } = played({ a: { knows: [], fails: new RndcTimeout("late") }, b: { knows: [fresh] } });
  const servers = [...serversOf(["a", "b"]), { name: "c", host: undefined, port: 953 }];
  const objections = await gate.notAccepting(servers, { key: fresh, signers: [], signal });
  assert.deepEqual(
    objections.map(({ server, kind }) => [server, kind]),
    [
      ["a", "unreached"],
      ["c", "unborn"],
    ],
  );
  assert.deepEqual(log, ["a status fresh", "b status fresh"]);
});

test("no server is nobody who objects", async () => {
  const { gate } = played({});
  assert.deepEqual(await gate.notAccepting([], { key: fresh, signers: [], signal }), []);
});

test("what was broken off is no answer", async () => {
  const { gate } = played({ a: { knows: [fresh] } });
  const question = { key: fresh, signers: [], signal: AbortSignal.abort() };
  await assert.rejects(gate.notAccepting(serversOf(["a"]), question), ProviderError);
});

test("at most 32 are asked at a time, and all in the end", async () => {
  let [underWay, most, asked] = [0, 0, 0];
  const send: SendCommand = async () => {
    asked++;
    most = Math.max(most, ++underWay);
    await new Promise((resolve) => setImmediate(resolve));
    underWay--;
    return { text: "" };
  };
  const gate = new ServerGate({ clock, random, send, timeoutMs: 1_000 });
  const servers = serversOf(Array.from({ length: 100 }, (_, index) => `s${index}`));
  assert.deepEqual(await gate.notAccepting(servers, { key: fresh, signers: [], signal }), []);
  assert.deepEqual([asked, most], [100, 32]);
});

test("objections are said in one line, the same whatever order they came in", () => {
  const objections = ["d", "b", "c", "a"].map((server) => ({ server, why: "no", kind: "broken" as const }));
  assert.equal(objectionWords("not yet", objections), "not yet: a (no), b (no), c (no) and 1 more");
  assert.equal(objectionWords("not yet", objections.toReversed()), objectionWords("not yet", objections));
});
