import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { test } from "node:test";
import { ManualClock } from "../../base/manual-clock.ts";
import { fc } from "../../base/properties.fixture.ts";
import { seededRandom } from "../../base/random.ts";
import { contentOf } from "../../rndc/control-message.ts";
import { RndcDialogue } from "../../rndc/dialogue.ts";
import { RndcCommandFailed } from "../../rndc/errors.ts";
import { generateRndcKey, type RndcKey } from "../../rndc/key.ts";
import { printRndcKey } from "../../rndc/key-file.ts";
import { signedMessage } from "../../rndc/signature.ts";
import { encodeDns } from "./dns/dns-message.ts";
import { CLASS, FLAG, OPCODE, RCODE, rcodeOf, TYPE } from "./dns/numbers.ts";
import { openDns, signedDns } from "./dns/tsig.ts";
import { memoryFiles } from "./memory-files.fixture.ts";
import { SandboxNamed } from "./sandbox-named.ts";

const ADDRESS = "127.0.0.1";
const key = generateRndcKey("op-1", "hmac-sha256", seededRandom(1));
const CONF = `include "key";
acl "updaters" { key "op-1"; };
controls { inet 127.0.0.1 port 9953 allow { 127.0.0.0/8; } keys { "op-1"; }; };
options { listen-on port 5353 { 127.0.0.1; }; };
zone "example.test" { type primary; file "zone"; allow-update { updaters; }; };
`;

const newNamed = (conf = CONF) => {
  const files = new Map([
    ["named.conf", conf],
    ["key", printRndcKey(key).reveal()],
    ["zone", `@ 60 IN SOA ns hostmaster 1 3600 600 86400 60\nbig TXT${` "${"x".repeat(250)}"`.repeat(4)}`],
  ]);
  const clock = new ManualClock();
  const log: string[] = [];
  const options = { files: memoryFiles(files), configPath: "named.conf", clock, random: seededRandom(2) };
  const stops: string[] = [];
  const named = new SandboxNamed({ ...options, log: (line) => log.push(line), onStop: () => stops.push("stop") });
  return { named, files, clock, log, stops };
};

/** A command from end to end, without a socket. */
const run = (named: SandboxNamed, clock: ManualClock, command: string, signer: RndcKey = key): string | undefined => {
  const session = named.controlSession(ADDRESS);
  const dialogue = new RndcDialogue({ key: signer, command, clock, random: seededRandom(clock.now() / 1000) });
  const greeting = session?.receive(dialogue.open());
  const step = greeting && dialogue.receive(greeting);
  const answer = step?.kind === "send" ? session?.receive(step.message) : undefined;
  const done = answer && dialogue.receive(answer);
  return done?.kind === "done" ? done.reply.text : undefined;
};

const query = (name: string, type: number = TYPE.TXT) => ({
  id: 1,
  flags: OPCODE.QUERY,
  questions: [{ name, type, class: CLASS.IN }],
  answers: [],
  authorities: [],
  additionals: [],
});

test("a client and the stand-in talk without a socket, on a clock that is moved by hand", async () => {
  const { named, clock, stops } = newNamed();
  assert.match(run(named, clock, "status") ?? "", /server is up and running/);
  await clock.advance(1000);
  assert.equal(run(named, clock, "stop"), "");
  assert.deepEqual(stops, ["stop"]);
});

test("a message is known again for a quarter of an hour, by when it is too old", async () => {
  const { named, clock, log } = newNamed();
  const sentAt = clock.now() + 290_000;
  const message = signedMessage(contentOf({ serial: 5, sentAt, isReply: false, data: { type: "null" } }), key);
  assert.ok(named.controlSession(ADDRESS)?.receive(message));
  await clock.advance(580_000);
  assert.equal(named.controlSession(ADDRESS)?.receive(message), undefined);
  await clock.advance(400_000);
  assert.equal(named.controlSession(ADDRESS)?.receive(message), undefined);
  assert.deepEqual(log, ["invalid command: duplicate", "invalid command: clock skew"]);
});

test("whoever comes from elsewhere is not even listened to", () => {
  const { named } = newNamed();
  assert.equal(named.controlSession("192.0.2.1"), undefined);
  assert.ok(named.controlSession("127.9.9.9"));
});

test("without a key there is no control channel, which is no mistake", () => {
  const { named } = newNamed(CONF.replace(/^controls .*$/m, "controls { };"));
  assert.equal(named.controlSession(ADDRESS), undefined);
});

test("the log says what was wrong, and nothing of the keys", async () => {
  const { named, files, clock, log } = newNamed();
  files.set("key", printRndcKey(key).reveal().replace("hmac-sha256", "hmac-sha1"));
  assert.throws(() => run(named, clock, "reconfig"), RndcCommandFailed);
  assert.deepEqual(log, [
    "reconfig failed: key: line 1: hmac-sha1 is too weak: use one of hmac-sha224, hmac-sha256, hmac-sha384, hmac-sha512",
  ]);
  await clock.advance(1000);
  assert.match(run(named, clock, "status") ?? "", /reload\/reconfig failed/);
});

const notKnown = [
  { reason: "another address to listen on", edit: (text: string) => text.replace("5353", "5354") },
  { reason: "another control port", edit: (text: string) => text.replace("9953", "9954") },
  { reason: "a secondary zone", edit: (text: string) => text.replace("type primary", "type secondary") },
  { reason: "what is not in a list", edit: (text: string) => text.replace('key "op-1"; }', '!key "op-1"; }') },
  {
    reason: "two control channels",
    edit: (text: string) => `${text}controls { inet 127.0.0.1 port 1 allow { any; } keys { "op-1"; }; };`,
  },
  {
    reason: "a control channel that is a file",
    edit: (text: string) => text.replace("inet 127.0.0.1 port", "unix /tmp/x perm"),
  },
  { reason: "a port that there is not", edit: (text: string) => text.replace("9953", "99530") },
  { reason: "a range that is none", edit: (text: string) => text.replace("/8", "/64") },
  {
    reason: "a list that names itself through an include of itself",
    edit: (text: string) => `${text}include "named.conf";`,
  },
];
for (const { reason, edit } of notKnown) {
  test(`refuses ${reason}, rather than to pass over it`, () => {
    const { named, files, clock } = newNamed();
    files.set("named.conf", edit(CONF));
    assert.throws(() => run(named, clock, "reconfig"), RndcCommandFailed);
  });
}

test("lists that name each other in a circle match nobody", () => {
  const { named, clock } = newNamed(`${CONF.replace('key "op-1"; };', "more; };")}acl more { updaters; };`);
  const update = { ...query("example.test", TYPE.SOA), flags: OPCODE.UPDATE << 11 };
  const reply = named.answerDns(signedDns(update, { key, signedAt: clock.now() }), { address: ADDRESS, isUdp: true });
  assert.equal(rcodeOf(openDns(reply ?? Buffer.of()).message.flags), RCODE.REFUSED);
});

test("what does not fit into a packet is asked for over TCP", () => {
  const { named } = newNamed();
  const [udp, tcp] = [true, false].map((isUdp) =>
    openDns(named.answerDns(encodeDns(query("big.example.test")), { address: ADDRESS, isUdp }) ?? Buffer.of()),
  );
  assert.equal((udp?.message.flags ?? 0) & FLAG.TRUNCATED, FLAG.TRUNCATED);
  assert.deepEqual([udp?.message.answers.length, tcp?.message.answers.length], [0, 1]);
});

const rcodes = [
  { reason: "a name of another zone", message: query("example.org"), rcode: RCODE.REFUSED },
  { reason: "a name that there is not", message: query("none.example.test"), rcode: RCODE.NXDOMAIN },
  { reason: "a type that is not there", message: query("big.example.test", TYPE.A), rcode: RCODE.NOERROR },
  { reason: "no question", message: { ...query(""), questions: [] }, rcode: RCODE.FORMERR },
  {
    reason: "an operation that there is not",
    message: { ...query("example.test"), flags: 2 << 11 },
    rcode: RCODE.NOTIMP,
  },
  {
    reason: "an update of another zone",
    message: { ...query("example.org", TYPE.SOA), flags: OPCODE.UPDATE << 11 },
    rcode: RCODE.NOTAUTH,
  },
  {
    reason: "an update of what is no zone",
    message: { ...query("example.test", TYPE.A), flags: OPCODE.UPDATE << 11 },
    rcode: RCODE.FORMERR,
  },
];
for (const { reason, message, rcode } of rcodes) {
  test(`${reason} is answered with ${rcode}`, () => {
    const reply = newNamed().named.answerDns(encodeDns(message), { address: ADDRESS, isUdp: true });
    assert.equal(rcodeOf(openDns(reply ?? Buffer.of()).message.flags), rcode);
  });
}

test("an update is applied whole or not at all", () => {
  const { named, clock } = newNamed();
  const add = { name: "new.example.test", type: TYPE.TXT, class: CLASS.IN, ttl: 1, data: Buffer.from("\x01a") };
  const update = { ...query("example.test", TYPE.SOA), flags: OPCODE.UPDATE << 11 };
  const rcodesOf = [
    { ...add, name: "elsewhere.test" },
    { ...add, type: TYPE.NS },
  ].map((bad) => {
    const bytes = signedDns({ ...update, authorities: [add, bad] }, { key, signedAt: clock.now() });
    return rcodeOf(openDns(named.answerDns(bytes, { address: ADDRESS, isUdp: true }) ?? Buffer.of()).message.flags);
  });
  const seen = named.answerDns(encodeDns(query("new.example.test")), { address: ADDRESS, isUdp: true });
  assert.deepEqual(rcodesOf, [RCODE.REFUSED, RCODE.NOTIMP]);
  assert.equal(rcodeOf(openDns(seen ?? Buffer.of()).message.flags), RCODE.NXDOMAIN);
});

test("no packet and no message brings it down", () => {
  const { named } = newNamed();
  const valid = signedDns(query("big.example.test"), { key, signedAt: 0 });
  const changed = fc.tuple(fc.nat({ max: valid.length - 1 }), fc.nat({ max: 255 })).map(([at, byte]) => {
    const bytes = Buffer.from(valid);
    bytes[at] = byte;
    return bytes;
  });
  fc.assert(
    fc.property(fc.oneof(changed, fc.uint8Array({ maxLength: 300 })), (bytes) => {
      const answer = named.answerDns(bytes, { address: ADDRESS, isUdp: true });
      assert.ok(answer === undefined || openDns(answer).message.flags & FLAG.RESPONSE);
      assert.equal(named.controlSession(ADDRESS)?.receive(bytes), undefined);
    }),
    { numRuns: 500 },
  );
});
