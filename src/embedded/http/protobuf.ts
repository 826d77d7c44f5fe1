import { readFileSync } from "node:fs";
import type { Json } from "../json.ts";
import { fieldsOf, ProtobufError, packedVarints, type WireField, type WireValue } from "./protobuf-reader.ts";

/**
 * Objects in Kubernetes' protobuf form, turned into JSON: kubectl and other typed Go clients send what they create and
 * update that way and know no other. Answers are always JSON, which those clients accept. Which field is which comes from
 * `protobuf-fields.generated.json` (see `test/cluster/protobuf-fields`). Must not: quote content in an error.
 */
interface FieldRow {
  /** Field number. */
  readonly n: number;
  /** JSON name; empty where the fields belong to the parent. */
  readonly j: string;
  /** A scalar, a well-known message, or `#index` of a message. */
  readonly t: string;
  readonly s?: "list" | "map" | "inline";
  /** Go leaves it out of JSON when it is zero, although it is always on the wire. */
  readonly z?: boolean;
}

interface FieldTable {
  readonly roots: Readonly<Record<string, number>>;
  readonly messages: readonly (readonly FieldRow[] | null)[];
}

interface Tables {
  readonly roots: ReadonlyMap<string, number>;
  readonly messages: readonly ReadonlyMap<number, FieldRow>[];
}

let loaded: Tables | undefined;

function tables(): Tables {
  if (loaded) return loaded;
  const text = readFileSync(new URL("./protobuf-fields.generated.json", import.meta.url), "utf8");
  const { roots, messages } = JSON.parse(text) as FieldTable;
  loaded = {
    roots: new Map(Object.entries(roots)),
    messages: messages.map((rows) => new Map((rows ?? []).map((row) => [row.n, row]))),
  };
  return loaded;
}

/** What a protobuf body starts with. */
const MAGIC = Uint8Array.of(0x6b, 0x38, 0x73, 0x00);
const MAX_DEPTH = 64;

type MutableJson = { [key: string]: Json };

/** Throws `ProtobufError` for what is no such object, or of a kind that has no table. */
export function decodeProtobuf(body: Uint8Array): Json {
  if (body.length < MAGIC.length || MAGIC.some((byte, index) => body[index] !== byte)) {
    throw new ProtobufError("the body does not start as a Kubernetes protobuf object does");
  }
  const envelope = readEnvelope(body.subarray(MAGIC.length));
  const { apiVersion, kind } = envelope;
  const { roots } = tables();
  const root = roots.get(`${apiVersion} ${kind}`) ?? roots.get(kind);
  if (root === undefined) throw new ProtobufError(`${kind} of ${apiVersion} is not known in protobuf form; send JSON`);
  const object: MutableJson = { apiVersion, kind };
  readMessage(envelope.raw, root, object, 0);
  return object;
}

interface Envelope {
  readonly apiVersion: string;
  readonly kind: string;
  readonly raw: Uint8Array;
}

function readEnvelope(bytes: Uint8Array): Envelope {
  let apiVersion = "";
  let kind = "";
  let raw: Uint8Array = new Uint8Array();
  for (const { number, value } of fieldsOf(bytes)) {
    if (number === 1) {
      for (const part of fieldsOf(bytesOf(value))) {
        if (part.number === 1) apiVersion = textOf(part.value);
        if (part.number === 2) kind = textOf(part.value);
      }
    } else if (number === 2) raw = bytesOf(value);
    else if (number === 3 && bytesOf(value).length > 0) throw new ProtobufError("a content encoding is not supported");
  }
  return { apiVersion, kind, raw };
}

function readMessage(bytes: Uint8Array, index: number, into: MutableJson, depth: number): void {
  if (depth > MAX_DEPTH) throw new ProtobufError("messages are nested too deeply");
  const rows = tables().messages[index];
  for (const field of fieldsOf(bytes)) {
    const row = rows?.get(field.number);
    if (row) readField(field, row, into, depth);
  }
}

function readField({ value }: WireField, row: FieldRow, into: MutableJson, depth: number): void {
  switch (row.s) {
    case "inline":
      readMessage(bytesOf(value), Number(row.t.slice(1)), into, depth + 1);
      break;
    case "map":
      readMapEntry(bytesOf(value), row, into, depth);
      break;
    case "list":
      readListItem(value, row, into, depth);
      break;
    case undefined: {
      const decoded = readValue(value, row.t, depth);
      if (decoded !== undefined && !(row.z && isZero(decoded))) into[row.j] = decoded;
    }
  }
}

/** Lists and maps are grown in place while they are being read: copying them item by item would cost their square. */
function readListItem(value: WireValue, row: FieldRow, into: MutableJson, depth: number): void {
  const items = (into[row.j] ?? []) as Json[];
  for (const item of listItems(value, row, depth)) items.push(item);
  into[row.j] = items;
}

function listItems(value: WireValue, row: FieldRow, depth: number): readonly Json[] {
  if (row.t === "int" && value.kind === "bytes") return packedVarints(value.bytes).map(signed);
  const item = readValue(value, row.t, depth);
  return item === undefined ? [] : [item];
}

/** A map is a list of messages with a key (1) and a value (2); either may be left out when it is zero. */
function readMapEntry(bytes: Uint8Array, row: FieldRow, into: MutableJson, depth: number): void {
  let key = "";
  let value = zeroOf(row.t);
  for (const field of fieldsOf(bytes)) {
    if (field.number === 1) key = textOf(field.value);
    if (field.number === 2) value = readValue(field.value, row.t, depth) ?? value;
  }
  if (key === "__proto__") throw new ProtobufError('the key "__proto__" is not supported');
  const known = into[row.j];
  into[row.j] = {
    ...(typeof known === "object" && known !== null && !Array.isArray(known) ? known : {}),
    [key]: value,
  };
}

const zeroOf = (type: string): Json => {
  if (type.startsWith("#")) return {};
  if (type === "int" || type === "double") return 0;
  if (type === "bool") return false;
  return type === "stringList" ? [] : "";
};

/** Scalars only: Go writes an empty struct into JSON even where it says `omitempty`. */
const isZero = (value: Json): boolean => value === "" || value === 0 || value === false;

function readValue(value: WireValue, type: string, depth: number): Json | undefined {
  switch (type) {
    case "string":
      return textOf(value);
    case "bytes":
      return Buffer.from(bytesOf(value)).toString("base64");
    case "int":
      return signed(varintOf(value));
    case "bool":
      return varintOf(value) !== 0n;
    case "double":
      return doubleOf(value);
    case "time":
      return timeOf(bytesOf(value), 0);
    case "microTime":
      return timeOf(bytesOf(value), 6);
    case "rawJson":
      return rawJsonOf(bytesOf(value));
    case "intOrString":
      return intOrStringOf(bytesOf(value));
    case "quantity":
      return textIn(bytesOf(value), 1);
    case "stringList":
      return [...fieldsOf(bytesOf(value))].filter(({ number }) => number === 1).map((item) => textOf(item.value));
    default: {
      const object: MutableJson = {};
      readMessage(bytesOf(value), Number(type.slice(1)), object, depth + 1);
      return object;
    }
  }
}

function bytesOf(value: WireValue): Uint8Array {
  if (value.kind !== "bytes") throw new ProtobufError("a field has the wrong wire type");
  return value.bytes;
}

function varintOf(value: WireValue): bigint {
  if (value.kind !== "varint") throw new ProtobufError("a field has the wrong wire type");
  return value.value;
}

const textOf = (value: WireValue): string => Buffer.from(bytesOf(value)).toString("utf8");

const signed = (value: bigint): number => Number(BigInt.asIntN(64, value));

function doubleOf(value: WireValue): number {
  if (value.kind !== "fixed" || value.bytes.length !== 8) throw new ProtobufError("a field has the wrong wire type");
  const number = Buffer.from(value.bytes).readDoubleLE(0);
  if (!Number.isFinite(number)) throw new ProtobufError("a number is not finite");
  return number;
}

const textIn = (message: Uint8Array, wanted: number): string => {
  let text = "";
  for (const { number, value } of fieldsOf(message)) if (number === wanted) text = textOf(value);
  return text;
};

/** The largest instant that can be written with four digits of year. */
const MAX_SECONDS = 253_402_300_799;

/** No fields at all is Go's zero time, which JSON writes as null and which means that nothing was said. */
function timeOf(message: Uint8Array, fractionDigits: number): string | undefined {
  if (message.length === 0) return undefined;
  let seconds = 0;
  let nanos = 0;
  for (const { number, value } of fieldsOf(message)) {
    if (number === 1) seconds = signed(varintOf(value));
    if (number === 2) nanos = signed(varintOf(value));
  }
  if (Math.abs(seconds) > MAX_SECONDS || nanos < 0 || nanos > 999_999_999)
    throw new ProtobufError("a time is out of range");
  const whole = new Date(seconds * 1000).toISOString().slice(0, 19);
  const fraction = fractionDigits === 0 ? "" : `.${String(nanos).padStart(9, "0").slice(0, fractionDigits)}`;
  return `${whole}${fraction}Z`;
}

function rawJsonOf(message: Uint8Array): Json | undefined {
  const text = textIn(message, 1);
  if (text === "") return undefined;
  try {
    return JSON.parse(text) as Json;
  } catch {
    throw new ProtobufError("an embedded object is not JSON");
  }
}

function intOrStringOf(message: Uint8Array): Json {
  let isText = false;
  let number = 0;
  let text = "";
  for (const { number: field, value } of fieldsOf(message)) {
    if (field === 1) isText = varintOf(value) === 1n;
    if (field === 2) number = signed(varintOf(value));
    if (field === 3) text = textOf(value);
  }
  return isText ? text : number;
}
