import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { test } from "node:test";
import { fc } from "../../../base/properties.fixture.ts";
import { type DnsMessage, decodeDns, encodeDns } from "./dns-message.ts";
import { decodeName, encodeName } from "./dns-name.ts";
import { MalformedDns } from "./malformed-dns.ts";

const uint16 = fc.nat({ max: 0xffff });
const label = fc.stringMatching(/^[a-z0-9_-]{1,12}$/);
const name = fc.array(label, { maxLength: 5 }).map((labels) => labels.join("."));
const question = fc.record({ name, type: uint16, class: uint16 }, { noNullPrototype: true });
const data = fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes));
const record = fc.record(
  { name, type: uint16, class: uint16, ttl: fc.nat({ max: 0xffffffff }), data },
  { noNullPrototype: true },
);
const message: fc.Arbitrary<DnsMessage> = fc.record(
  {
    id: uint16,
    flags: uint16,
    questions: fc.array(question, { maxLength: 3 }),
    answers: fc.array(record, { maxLength: 3 }),
    authorities: fc.array(record, { maxLength: 3 }),
    additionals: fc.array(record, { maxLength: 3 }),
  },
  { noNullPrototype: true },
);

test("what is written is read back", () => {
  fc.assert(fc.property(message, (written) => assert.deepEqual(decodeDns(encodeDns(written)).message, written)));
});

test("any bytes are a message or malformed, and a message cut off anywhere is malformed", () => {
  const changed = fc.tuple(message, fc.nat(), fc.nat({ max: 255 })).map(([written, at, byte]) => {
    const bytes = encodeDns(written);
    bytes[at % bytes.length] = byte;
    return bytes;
  });
  fc.assert(
    fc.property(fc.oneof(changed, fc.uint8Array({ maxLength: 200 })), (bytes) => {
      try {
        decodeDns(bytes);
      } catch (error) {
        if (!(error instanceof MalformedDns)) throw error;
      }
    }),
    { numRuns: 1000 },
  );
  fc.assert(
    fc.property(message, fc.nat(), (written, at) => {
      const bytes = encodeDns(written);
      assert.throws(() => decodeDns(bytes.subarray(0, at % bytes.length)), MalformedDns);
      assert.throws(() => decodeDns(Buffer.concat([bytes, Buffer.of(0)])), MalformedDns);
    }),
  );
});

test("a pointer leads back to the rest of a name", () => {
  const bytes = Buffer.concat([encodeName("example.test"), Buffer.from("\x03www\xc0\x00", "latin1")]);
  assert.deepEqual(decodeName(bytes, 14), { name: "www.example.test", end: bytes.length });
});

const badNames = [
  { reason: "a pointer to itself", bytes: "c000" },
  { reason: "a pointer ahead", bytes: "c00200" },
  { reason: "a circle", bytes: "0161c000" },
  { reason: "half a pointer", bytes: "c0" },
  { reason: "a label that is cut off", bytes: "0561" },
  { reason: "no end", bytes: "0161" },
  { reason: "a kind of label that there is not", bytes: "4061" },
  { reason: "a dot within a label", bytes: "012e00" },
  { reason: "a byte that needs an escape", bytes: "010000" },
  { reason: "more than 255 bytes", bytes: `${"3f".padEnd(128, "61").repeat(4)}00` },
];
for (const { reason, bytes } of badNames) {
  test(`a name with ${reason} is malformed`, () => {
    assert.throws(() => decodeName(Buffer.from(bytes, "hex"), 0), MalformedDns);
  });
}

test("names that cannot be written are refused", () => {
  for (const bad of ["a..b", "a.", `${"x".repeat(64)}.test`, Array(50).fill("label").join(".")]) {
    assert.throws(() => encodeName(bad), MalformedDns, bad);
  }
});
