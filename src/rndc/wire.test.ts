import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { test } from "node:test";
import { fc } from "../base/properties.fixture.ts";
import { RndcProtocolViolation } from "./errors.ts";
import { decodeTable, encodeTable, type WireTable, type WireValue } from "./wire.ts";

const bytes = fc.uint8Array({ maxLength: 40 }).map((array): WireValue => Buffer.from(array));
const key = fc.uint8Array({ maxLength: 12 }).map((array) => Buffer.from(array).toString("latin1"));
const { table } = fc.letrec<{ value: WireValue; table: WireTable }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    bytes,
    tie("table"),
    fc.array(tie("value"), { maxLength: 4 }),
  ),
  table: fc.array(fc.tuple(key, tie("value")), { maxLength: 5 }).map((entries) => new Map(entries)),
}));

const nested = (depth: number): WireTable => new Map([["t", depth === 0 ? Buffer.of() : nested(depth - 1)]]);

test("what is written is read back", () => {
  fc.assert(fc.property(table, (content) => assert.deepEqual(decodeTable(encodeTable(content)), content)));
});

test("any bytes are a table or a violation, and a table is written back as it was", () => {
  const nearly = fc.tuple(table, fc.nat(), fc.nat({ max: 255 })).map(([content, at, byte]) => {
    const encoded = encodeTable(content);
    if (encoded.length > 0) encoded[at % encoded.length] = byte;
    return encoded;
  });
  fc.assert(
    fc.property(fc.oneof(nearly, fc.uint8Array({ maxLength: 300 })), (input) => {
      try {
        assert.deepEqual(encodeTable(decodeTable(input)), Buffer.from(input));
      } catch (error) {
        if (!(error instanceof RndcProtocolViolation)) throw error;
      }
    }),
    { numRuns: 1000 },
  );
});

test("a table cut off anywhere is a violation, unless an entry ends there", () => {
  const whole = encodeTable(
    new Map<string, WireValue>([
      ["a", Buffer.from("xyz")],
      ["b", new Map([["c", Buffer.of(1)]])],
    ]),
  );
  const readable = Array.from(whole, (_, end) => end).filter((end) => {
    try {
      return decodeTable(whole.subarray(0, end)).size < 2;
    } catch (error) {
      assert.ok(error instanceof RndcProtocolViolation);
      return false;
    }
  });
  assert.deepEqual(readable, [0, 10]);
});

const hostile = [
  { reason: "a length beyond the end", hex: "0161" + "01ffffffff" },
  { reason: "a key longer than what is left", hex: "ff61" },
  { reason: "a key and no value", hex: "0161" },
  { reason: "half a header", hex: "0161" + "0100" },
  { reason: "the same key twice", hex: "0161" + "0100000000" + "0161" + "0100000000" },
  { reason: "the type for texts, which BIND does not read either", hex: "0161" + "0000000000" },
  { reason: "a type that there is not", hex: "0161" + "0900000000" },
  { reason: "a byte after the last entry", hex: "0161" + "0100000000" + "01" },
  { reason: "an inner table that ends within an entry", hex: "0161" + "0200000003" + "016101" },
  { reason: "an inner list that ends within a value", hex: "0161" + "0300000003" + "010000" },
];
for (const { reason, hex } of hostile) {
  test(`refuses ${reason}`, () => {
    assert.throws(() => decodeTable(Buffer.from(hex, "hex")), RndcProtocolViolation);
  });
}

test("goes as deep as named, and no deeper, however long the input", () => {
  assert.deepEqual(decodeTable(encodeTable(nested(10))), nested(10));
  assert.throws(() => encodeTable(nested(11)), RndcProtocolViolation);
  let deep = Buffer.of();
  for (let depth = 0; depth < 5000; depth++) {
    const header = Buffer.from("01610200000000", "hex");
    header.writeUInt32BE(deep.length, 3);
    deep = Buffer.concat([header, deep]);
  }
  assert.throws(() => decodeTable(deep), /deeper than 10/);
});

test("refuses to write a key that has no single bytes, or too many", () => {
  assert.throws(() => encodeTable(new Map([["ключ", Buffer.of()]])), RndcProtocolViolation);
  assert.throws(() => encodeTable(new Map([["k".repeat(256), Buffer.of()]])), RndcProtocolViolation);
});
