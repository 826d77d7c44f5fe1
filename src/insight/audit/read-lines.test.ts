import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { fc } from "../../base/properties.fixture.ts";
import { linesOf, linesOfFile, type RawLine } from "./read-lines.ts";

async function* inPieces(bytes: Uint8Array, size: number): AsyncIterable<Uint8Array> {
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
}

const read = (bytes: Uint8Array, size = 7): Promise<readonly RawLine[]> =>
  Array.fromAsync(linesOf(inPieces(bytes, size)));

test("lines come as they are, however the bytes arrive", async () => {
  const texts = fc.array(fc.string({ unit: "grapheme" }).map((text) => text.replaceAll("\n", "")));
  await fc.assert(
    fc.asyncProperty(texts, fc.integer({ min: 1, max: 9 }), async (lines, size) => {
      const found = await read(Buffer.from(lines.map((line) => `${line}\n`).join("")), size);
      assert.deepEqual(
        found.map(({ text, bytes, hasEnd }) => [text, bytes, hasEnd]),
        lines.map((line) => [line, Buffer.byteLength(line), true]),
      );
    }),
  );
});

test("a line without an end, bytes that are no text, a mark at the beginning, and lines without an end to them", async () => {
  const huge = Buffer.alloc(3 * 1024 * 1024, 97);
  const table: readonly (readonly [bytes: Uint8Array, lines: readonly RawLine[], reason: string])[] = [
    [Buffer.from("a\nbc"), [line("a"), { text: "bc", bytes: 2, hasEnd: false }], "the last is unfinished"],
    [Buffer.from([0xff, 0x0a]), [{ text: undefined, bytes: 1, hasEnd: true }], "not what U+FFFD would read like"],
    [Buffer.from("\ufeffa\n"), [line("\ufeffa")], "a byte order mark is not passed over"],
    [Buffer.from("a\r\n"), [line("a\r")], "nor is a carriage return"],
    [Buffer.from("\n\n"), [line(""), line("")], "empty lines are lines"],
    [
      Buffer.concat([huge, Buffer.from("\na\n")]),
      [{ text: undefined, bytes: huge.length, hasEnd: true }, line("a")],
      "what is too long is not kept",
    ],
  ];
  for (const [bytes, lines, reason] of table) assert.deepEqual(await read(bytes, 65_536), lines, reason);
});

const line = (text: string): RawLine => ({ text, bytes: Buffer.byteLength(text), hasEnd: true });

test("a compressed file reads as what it was, and a damaged one is an error", async () => {
  const folder = await mkdtemp(join(tmpdir(), "keyturn-lines-"));
  try {
    const path = join(folder, "audit.log.1.gz");
    await writeFile(path, gzipSync("a\nb\n"));
    assert.deepEqual(await Array.fromAsync(linesOfFile(path)), [line("a"), line("b")]);
    await writeFile(path, gzipSync("a\nb\n").subarray(0, 15));
    await assert.rejects(Array.fromAsync(linesOfFile(path)));
    await assert.rejects(Array.fromAsync(linesOfFile(join(folder, "none.gz"))), { code: "ENOENT" });
  } finally {
    await rm(folder, { recursive: true });
  }
});
