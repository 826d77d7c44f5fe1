import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { test } from "node:test";
import { inspect } from "node:util";
import { ManualClock } from "../base/manual-clock.ts";
import { fc } from "../base/properties.fixture.ts";
import { seededRandom } from "../base/random.ts";
import { Redacted } from "../base/redacted.ts";
import type { ControlMessage } from "./control-message.ts";
import { RndcDialogue, type RndcReply } from "./dialogue.ts";
import { RndcClockSkew, RndcCommandFailed, RndcProtocolViolation } from "./errors.ts";
import { answerTo, CANARY, PEER_NONCE, peerKey, readRequest } from "./peer.fixture.ts";
import { signedMessage } from "./signature.ts";

const clock = new ManualClock();
const now = clock.now();

const begin = (command = "status"): { readonly dialogue: RndcDialogue; readonly first: Buffer } => {
  const dialogue = new RndcDialogue({ key: peerKey, command, clock, random: seededRandom(7) });
  return { dialogue, first: dialogue.open() };
};

/** A dialogue whose first answer has come, with the command that is sent then. */
const greeted = (command?: string): { readonly dialogue: RndcDialogue; readonly sent: Buffer } => {
  const { dialogue, first } = begin(command);
  const step = dialogue.receive(answerTo(first, now));
  assert.equal(step.kind, "send");
  return { dialogue, sent: step.kind === "send" ? step.message : Buffer.of() };
};

const replyOf = (dialogue: RndcDialogue, message: Uint8Array): RndcReply => {
  const step = dialogue.receive(message);
  assert.equal(step.kind, "done");
  return step.kind === "done" ? step.reply : { text: "" };
};

test("asks for a nonce first, and sends the command with it and the next serial", () => {
  const { dialogue, first } = begin("reload example.com");
  const request = readRequest(first);
  assert.equal(request.data.type, "null");
  assert.equal(request.nonce, undefined);
  assert.equal(dialogue.isCommandSent, false);
  const { sent } = greeted("reload example.com");
  const command = readRequest(sent);
  assert.equal(command.data.type, "reload example.com");
  assert.equal(command.nonce, PEER_NONCE);
  assert.equal(command.serial, (request.serial + 1) >>> 0);
  assert.equal(command.sentAt, now);
  assert.equal(command.expiresAt, now + 300_000);
});

test("gives what named says", () => {
  const { dialogue, sent } = greeted();
  const reply = answerTo(sent, now, (honest) => ({ ...honest, data: { ...honest.data, text: "up\nand running" } }));
  assert.deepEqual(replyOf(dialogue, reply), { text: "up\nand running" });
});

test("a command that failed is an error with named's result, one bounded line and all of its text", () => {
  const { dialogue, sent } = greeted("reconfig now");
  const err = `failure\n\u0007${"x".repeat(500)}`;
  const data = { type: "reconfig now", result: 25, err, text: "more" };
  assert.throws(
    () => dialogue.receive(answerTo(sent, now, (honest) => ({ ...honest, data }))),
    (error) => {
      assert.ok(error instanceof RndcCommandFailed);
      assert.match(error.message, /^named: reconfig failed: failure x{100,}…$/);
      assert.ok(error.message.length < 300);
      assert.deepEqual([error.result, error.text, error.mayHaveRun], [25, "more", false]);
      return true;
    },
  );
});

const withoutNonce = ({ nonce: _, ...rest }: ControlMessage): ControlMessage => rest;

const lies: readonly {
  readonly reason: string;
  readonly change: (honest: ControlMessage) => ControlMessage;
  readonly error: typeof RndcProtocolViolation | typeof RndcClockSkew;
  readonly onlyAt?: "first" | "second";
}[] = [
  {
    reason: "an answer to another question",
    change: (m) => ({ ...m, serial: m.serial + 1 }),
    error: RndcProtocolViolation,
  },
  { reason: "a question", change: (m) => ({ ...m, isReply: false }), error: RndcProtocolViolation },
  { reason: "no nonce", change: withoutNonce, error: RndcProtocolViolation },
  { reason: "no usable nonce", change: (m) => ({ ...m, nonce: 0 }), error: RndcProtocolViolation },
  { reason: "another nonce", change: (m) => ({ ...m, nonce: 1 }), error: RndcProtocolViolation, onlyAt: "second" },
  { reason: "no result", change: (m) => ({ ...m, data: { type: "status" } }), error: RndcProtocolViolation },
  { reason: "a time long ago", change: (m) => ({ ...m, sentAt: now - 301_000 }), error: RndcClockSkew },
  { reason: "a time far ahead", change: (m) => ({ ...m, sentAt: now + 301_000 }), error: RndcClockSkew },
  { reason: "an end long ago", change: (m) => ({ ...m, expiresAt: now - 301_000 }), error: RndcClockSkew },
];
for (const { reason, change, error, onlyAt } of lies) {
  if (onlyAt !== "second") {
    test(`does not believe a first answer with ${reason}: the command is not sent`, () => {
      const { dialogue, first } = begin();
      assert.throws(() => dialogue.receive(answerTo(first, now, change)), error);
      assert.equal(dialogue.isCommandSent, false);
    });
  }
  test(`does not believe a second answer with ${reason}, and says that the command may have run`, () => {
    const { dialogue, sent } = greeted();
    assert.throws(
      () => dialogue.receive(answerTo(sent, now, change)),
      (thrown) => {
        assert.ok(thrown instanceof error);
        assert.equal(thrown.mayHaveRun, true);
        return true;
      },
    );
  });
}

test("a clock that is off within named's own tolerance is no reason to doubt", () => {
  for (const sentAt of [now - 300_000, now + 300_000]) {
    const { dialogue, sent } = greeted();
    assert.deepEqual(replyOf(dialogue, answerTo(sent, sentAt)), { text: "" });
  }
});

test("says by how much, and which way, the clocks differ", () => {
  const { dialogue, first } = begin();
  const late = answerTo(first, now, (honest) => ({ ...honest, sentAt: now - 400_000 }));
  assert.throws(() => dialogue.receive(late), /400 s behind ours/);
});

test("an answer with another key, a repeated first answer, our own question back: none is believed", () => {
  const stranger = { ...peerKey, secret: new Redacted(new Uint8Array(32)) };
  const { dialogue, first } = begin();
  const { dialogue: later, sent } = greeted();
  assert.throws(() => dialogue.receive(signedMessage(new Map(), stranger)), /not signed with the key/);
  assert.throws(() => later.receive(answerTo(first, now)), /to another question/);
  assert.throws(() => later.receive(sent), /a question, not an answer/);
});

test("an answer cut off at any byte, or with any byte changed, is a violation", () => {
  const { sent } = greeted();
  const whole = answerTo(sent, now);
  for (let at = 0; at < whole.length; at++) {
    const changed = Buffer.from(whole);
    changed[at] = (changed[at] ?? 0) ^ 0x20;
    for (const bad of [whole.subarray(0, at), changed]) {
      assert.throws(() => greeted().dialogue.receive(bad), RndcProtocolViolation, `at byte ${at}`);
    }
  }
});

test("whatever a holder of the key may send, only typed errors come of it, without the secret", () => {
  const leaf = fc.oneof(fc.uint8Array({ maxLength: 12 }), fc.constant(new Map()), fc.constant([]));
  const names = fc.constantFrom(
    "_ctrl",
    "_data",
    "_ser",
    "_tim",
    "_exp",
    "_nonce",
    "_rpl",
    "type",
    "result",
    "err",
    "text",
  );
  const inner = fc.array(fc.tuple(names, leaf), { maxLength: 8 }).map((list) => new Map(list));
  const content = fc.array(fc.tuple(names, fc.oneof(leaf, inner)), { maxLength: 4 }).map((list) => new Map(list));
  fc.assert(
    fc.property(content, (table) => {
      const { dialogue } = begin();
      assert.throws(
        () => dialogue.receive(signedMessage(table, peerKey)),
        (error) => error instanceof RndcProtocolViolation && !inspect(error, { depth: 9 }).includes(CANARY),
      );
    }),
  );
});

for (const command of ["", " status", "status\n", "ключ", "x".repeat(1025)]) {
  test(`takes no command like ${JSON.stringify(command.slice(0, 20))}`, () => {
    assert.throws(() => begin(command), RangeError);
  });
}
