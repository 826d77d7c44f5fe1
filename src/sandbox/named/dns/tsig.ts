import { Buffer } from "node:buffer";
import { createHmac, timingSafeEqual } from "node:crypto";
import { ALGORITHMS } from "../../../rndc/algorithms.ts";
import type { RndcKey } from "../../../rndc/key.ts";
import { type DnsMessage, type DnsRecord, decodeDns, encodeDns } from "./dns-message.ts";
import { decodeName, encodeName } from "./dns-name.ts";
import { MalformedDns } from "./malformed-dns.ts";
import { CLASS, TSIG_ERROR, TYPE } from "./numbers.ts";

/**
 * Signatures on DNS messages (RFC 8945), for both sides: the last record names the key, the time and the HMAC of all that
 * stands before it; that of an answer covers the question's HMAC too. Must not: accept a shortened HMAC.
 */
export interface Tsig {
  readonly keyName: string;
  readonly algorithm: string;
  readonly signedAt: number;
  readonly fudgeS: number;
  readonly mac: Uint8Array;
  readonly originalId: number;
  readonly error: number;
  readonly other: Uint8Array;
}

interface OpenedDns {
  /** Without the signature. */
  readonly message: DnsMessage;
  readonly tsig?: Tsig;
}

interface Signing {
  readonly key: RndcKey;
  readonly signedAt: number;
  /** Of the question that this answers. */
  readonly requestMac?: Uint8Array;
  readonly error?: number;
  readonly other?: Uint8Array;
}

const FUDGE_S = 300;

export function openDns(bytes: Uint8Array): OpenedDns {
  const { message } = decodeDns(bytes);
  const { answers, authorities, additionals } = message;
  const signatures = [...answers, ...authorities, ...additionals].filter(({ type }) => type === TYPE.TSIG);
  const [signature] = signatures;
  if (!signature) return { message };
  if (signatures.length > 1 || signature !== additionals.at(-1)) throw new MalformedDns("a signature that is not last");
  return { message: { ...message, additionals: additionals.slice(0, -1) }, tsig: tsigFrom(signature) };
}

/** The message with its signature, as bytes. */
export function signedDns(message: DnsMessage, { key, signedAt, requestMac, error = 0, other }: Signing): Buffer {
  const unsigned = { signedAt, error, keyName: key.name, algorithm: key.algorithm, other: other ?? new Uint8Array() };
  const bare = { ...unsigned, fudgeS: FUDGE_S, originalId: message.id, mac: new Uint8Array() };
  return withTsig(message, { ...bare, mac: macOf(encodeDns(message), bare, key, requestMac) });
}

/** For what cannot be signed: the answer to a signature that is not accepted. */
export function withTsig(message: DnsMessage, tsig: Tsig): Buffer {
  return encodeDns({ ...message, additionals: [...message.additionals, tsigRecord(tsig)] });
}

/** What is wrong with the signature, as TSIG numbers it; the bytes are those of the whole message. */
export function tsigError(
  bytes: Uint8Array,
  tsig: Tsig,
  {
    key,
    now,
    requestMac,
  }: { readonly key: RndcKey | undefined; readonly now: number; readonly requestMac?: Uint8Array },
): number {
  if (key?.algorithm !== tsig.algorithm) return TSIG_ERROR.BADKEY;
  const mac = macOf(signedPart(bytes, tsig.originalId), tsig, key, requestMac);
  if (mac.length !== tsig.mac.length || !timingSafeEqual(mac, tsig.mac)) return TSIG_ERROR.BADSIG;
  return Math.abs(now - tsig.signedAt) > tsig.fudgeS * 1000 ? TSIG_ERROR.BADTIME : TSIG_ERROR.NONE;
}

/** All before the signature, as if it had never been there. */
function signedPart(bytes: Uint8Array, originalId: number): Buffer {
  const { message, lastRecordAt } = decodeDns(bytes);
  const part = Buffer.from(bytes.subarray(0, lastRecordAt));
  part.writeUInt16BE(originalId, 0);
  part.writeUInt16BE(message.additionals.length - 1, 10);
  return part;
}

function macOf(part: Uint8Array, tsig: Tsig, key: RndcKey, requestMac?: Uint8Array): Buffer {
  const hmac = createHmac(ALGORITHMS[key.algorithm].hash, key.secret.reveal());
  if (requestMac) hmac.update(uint16(requestMac.length)).update(requestMac);
  return hmac
    .update(part)
    .update(encodeName(tsig.keyName))
    .update(Buffer.concat([uint16(CLASS.ANY), Buffer.alloc(4), encodeName(tsig.algorithm), timeBytes(tsig.signedAt)]))
    .update(Buffer.concat([uint16(tsig.fudgeS), uint16(tsig.error), uint16(tsig.other.length), tsig.other]))
    .digest();
}

function tsigRecord(tsig: Tsig): DnsRecord {
  const data = Buffer.concat([
    encodeName(tsig.algorithm),
    timeBytes(tsig.signedAt),
    uint16(tsig.fudgeS),
    uint16(tsig.mac.length),
    tsig.mac,
    uint16(tsig.originalId),
    uint16(tsig.error),
    uint16(tsig.other.length),
    tsig.other,
  ]);
  return { name: tsig.keyName, type: TYPE.TSIG, class: CLASS.ANY, ttl: 0, data };
}

function tsigFrom({ name, class: dnsClass, ttl, data }: DnsRecord): Tsig {
  if (dnsClass !== CLASS.ANY || ttl !== 0) throw new MalformedDns("a signature of another class, or with a life");
  const bytes = Buffer.from(data);
  const { name: algorithm, end } = decodeName(bytes, 0);
  const macAt = end + 10;
  const macEnd = macAt + (bytes.length >= macAt ? bytes.readUInt16BE(end + 8) : 0);
  const otherAt = macEnd + 6;
  if (otherAt > bytes.length || otherAt + bytes.readUInt16BE(macEnd + 4) !== bytes.length) {
    throw new MalformedDns("a signature is cut off");
  }
  return {
    keyName: name,
    algorithm,
    signedAt: bytes.readUIntBE(end, 6) * 1000,
    fudgeS: bytes.readUInt16BE(end + 6),
    mac: bytes.subarray(macAt, macEnd),
    originalId: bytes.readUInt16BE(macEnd),
    error: bytes.readUInt16BE(macEnd + 2),
    other: bytes.subarray(otherAt),
  };
}

/** Seconds in 48 bits. */
export function timeBytes(at: number): Buffer {
  const bytes = Buffer.alloc(6);
  bytes.writeUIntBE(Math.floor(at / 1000), 0, 6);
  return bytes;
}

function uint16(number: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(number);
  return bytes;
}
