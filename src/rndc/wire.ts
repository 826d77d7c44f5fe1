import { Buffer } from "node:buffer";
import { RndcProtocolViolation } from "./errors.ts";

/**
 * Tables, lists and bytes as the control channel writes them (BIND's isccc): an entry of a table is a length and a key,
 * a value is a type, a length and its bytes. Reads strictly: every length within what surrounds it, no key twice, no
 * nesting that a message has no use for. Must not: know what a message means, or throw anything but
 * `RndcProtocolViolation`.
 */
export type WireValue = Uint8Array | WireTable | readonly WireValue[];

/** Keys are the bytes on the wire, one character each. */
export type WireTable = ReadonlyMap<string, WireValue>;

const BYTES = 1;
const TABLE = 2;
const LIST = 3;

/** As deep as named goes itself. */
const MAX_DEPTH = 10;
const MAX_KEY = 255;
const VALUE_HEADER = 5;

export function encodeTable(table: WireTable): Buffer {
  return tableBytes(table, 0);
}

/** All of `bytes` is one table. */
export function decodeTable(bytes: Uint8Array): WireTable {
  return readTable(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), 0);
}

function tableBytes(table: WireTable, depth: number): Buffer {
  refuseDepth(depth);
  const pieces: Uint8Array[] = [];
  for (const [key, value] of table) {
    const name = Buffer.from(key, "latin1");
    if (key.length > MAX_KEY || name.toString("latin1") !== key) {
      throw new RndcProtocolViolation("a key of a table is too long, or not of single bytes");
    }
    pieces.push(Uint8Array.of(name.length), name, valueBytes(value, depth));
  }
  return Buffer.concat(pieces);
}

function valueBytes(value: WireValue, depth: number): Buffer {
  if (value instanceof Uint8Array) return withHeader(BYTES, value);
  if (isTable(value)) return withHeader(TABLE, tableBytes(value, depth + 1));
  refuseDepth(depth + 1);
  return withHeader(LIST, Buffer.concat(value.map((item) => valueBytes(item, depth + 1))));
}

export const isTable = (value: WireValue | undefined): value is WireTable => value instanceof Map;

function withHeader(type: number, content: Uint8Array): Buffer {
  const header = Buffer.alloc(VALUE_HEADER);
  header.writeUInt8(type, 0);
  header.writeUInt32BE(content.length, 1);
  return Buffer.concat([header, content]);
}

function readTable(bytes: Buffer, depth: number): WireTable {
  refuseDepth(depth);
  const table = new Map<string, WireValue>();
  let at = 0;
  while (at < bytes.length) {
    const keyEnd = at + 1 + bytes.readUInt8(at);
    if (keyEnd > bytes.length) throw new RndcProtocolViolation("a key of a table is cut off");
    const key = bytes.toString("latin1", at + 1, keyEnd);
    if (table.has(key)) throw new RndcProtocolViolation("a table has the same key twice");
    const { value, end } = readValue(bytes, keyEnd, depth);
    table.set(key, value);
    at = end;
  }
  return table;
}

function readValue(bytes: Buffer, start: number, depth: number): { readonly value: WireValue; readonly end: number } {
  const contentAt = start + VALUE_HEADER;
  if (contentAt > bytes.length) throw new RndcProtocolViolation("a value is cut off");
  const end = contentAt + bytes.readUInt32BE(start + 1);
  if (end > bytes.length) throw new RndcProtocolViolation("a value is longer than what surrounds it");
  const content = bytes.subarray(contentAt, end);
  const type = bytes.readUInt8(start);
  if (type === BYTES) return { value: content, end };
  if (type === TABLE) return { value: readTable(content, depth + 1), end };
  if (type === LIST) return { value: readList(content, depth + 1), end };
  throw new RndcProtocolViolation(`a value is of type ${type}, which there is not`);
}

function readList(bytes: Buffer, depth: number): readonly WireValue[] {
  refuseDepth(depth);
  const list: WireValue[] = [];
  let at = 0;
  while (at < bytes.length) {
    const { value, end } = readValue(bytes, at, depth);
    list.push(value);
    at = end;
  }
  return list;
}

function refuseDepth(depth: number): void {
  if (depth > MAX_DEPTH) throw new RndcProtocolViolation(`tables within tables, deeper than ${MAX_DEPTH}`);
}
