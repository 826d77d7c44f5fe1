import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { test } from "node:test";
import { fc } from "../base/properties.fixture.ts";
import { RndcProtocolViolation } from "./errors.ts";
import { FrameReader, framed } from "./frames.ts";

test("however a stream is cut into pieces, the same messages come out", () => {
  const messages = fc.array(fc.uint8Array({ minLength: 4, maxLength: 60 }), { maxLength: 5 });
  fc.assert(
    fc.property(messages, fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1 }), (sent, sizes) => {
      const stream = Buffer.concat(sent.map(framed));
      const reader = new FrameReader(64);
      const received: Buffer[] = [];
      for (let at = 0, turn = 0; at < stream.length; turn++) {
        const end = at + (sizes[turn % sizes.length] ?? 1);
        received.push(...reader.push(stream.subarray(at, end)));
        at = end;
      }
      assert.deepEqual(
        received,
        sent.map((message) => Buffer.from(message)),
      );
      assert.equal(reader.isWithin, false);
    }),
  );
});

test("a stream that ends anywhere within a message is within it", () => {
  const frame = framed(Buffer.from("message"));
  for (let end = 1; end < frame.length; end++) {
    const reader = new FrameReader(64);
    assert.deepEqual(reader.push(frame.subarray(0, end)), []);
    assert.equal(reader.isWithin, true, `after ${end} bytes`);
  }
});

for (const [reason, length] of [
  ["as large as can be said", 0xffffffff],
  ["one byte over the limit", 65],
  ["too small for a version", 3],
] as const) {
  test(`refuses a length ${reason}, before a byte of the message has come`, () => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(length);
    assert.throws(() => new FrameReader(64).push(bytes), RndcProtocolViolation);
  });
}
