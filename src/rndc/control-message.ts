import { Buffer } from "node:buffer";
import { RndcProtocolViolation } from "./errors.ts";
import { isTable, type WireTable, type WireValue } from "./wire.ts";

/**
 * What a message says, on either side: who asks for what, when, and for how long that is good. Numbers and texts are all
 * written as text; instants are whole seconds there and milliseconds here. Must not: judge what it reads.
 */
export interface ControlMessage {
  readonly serial: number;
  readonly sentAt: number;
  readonly expiresAt?: number;
  /** named's token for this connection; a first message has none. */
  readonly nonce?: number;
  readonly isReply: boolean;
  readonly data: ControlData;
}

export interface ControlData {
  /** The command with its arguments. */
  readonly type: string;
  /** 0 is success; only replies have one. */
  readonly result?: number;
  readonly err?: string;
  readonly text?: string;
}

const SECOND_MS = 1000;
const MAX_UINT32 = 2 ** 32 - 1;

export function contentOf({ serial, sentAt, expiresAt, nonce, isReply, data }: ControlMessage): WireTable {
  return new Map([
    [
      "_ctrl",
      entries({
        _ser: serial,
        _tim: Math.floor(sentAt / SECOND_MS),
        _exp: expiresAt === undefined ? undefined : Math.floor(expiresAt / SECOND_MS),
        _rpl: isReply ? 1 : undefined,
        _nonce: nonce,
      }),
    ],
    ["_data", entries({ ...data })],
  ]);
}

export function messageFrom(content: WireTable): ControlMessage {
  const control = tableAt(content, "_ctrl");
  const data = tableAt(content, "_data");
  const expiresAt = optionalNumber(control, "_exp");
  const nonce = optionalNumber(control, "_nonce");
  return {
    serial: numberAt(control, "_ser"),
    sentAt: numberAt(control, "_tim") * SECOND_MS,
    ...(expiresAt !== undefined && { expiresAt: expiresAt * SECOND_MS }),
    ...(nonce !== undefined && { nonce }),
    isReply: control.has("_rpl"),
    data: dataFrom(data),
  };
}

function dataFrom(data: WireTable): ControlData {
  const result = optionalNumber(data, "result");
  const err = optionalText(data, "err");
  const text = optionalText(data, "text");
  return {
    type: optionalText(data, "type") ?? missing("type"),
    ...(result !== undefined && { result }),
    ...(err !== undefined && { err }),
    ...(text !== undefined && { text }),
  };
}

function entries(values: Readonly<Record<string, string | number | undefined>>): WireTable {
  const table = new Map<string, WireValue>();
  for (const [key, value] of Object.entries(values)) {
    if (value !== undefined) table.set(key, Buffer.from(String(value), "utf8"));
  }
  return table;
}

function tableAt(content: WireTable, key: string): WireTable {
  const value = content.get(key);
  return isTable(value) ? value : missing(key);
}

function optionalText(table: WireTable, key: string): string | undefined {
  const value = table.get(key);
  if (value === undefined) return undefined;
  if (!(value instanceof Uint8Array)) throw new RndcProtocolViolation(`${key} is not a text`);
  return Buffer.from(value).toString("utf8");
}

function optionalNumber(table: WireTable, key: string): number | undefined {
  const text = optionalText(table, key);
  if (text === undefined) return undefined;
  const number = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (!(number <= MAX_UINT32)) throw new RndcProtocolViolation(`${key} is not a number of 32 bits`);
  return number;
}

const numberAt = (table: WireTable, key: string): number => optionalNumber(table, key) ?? missing(key);

function missing(key: string): never {
  throw new RndcProtocolViolation(`there is no ${key}`);
}
