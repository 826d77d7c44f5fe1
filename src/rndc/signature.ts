import { Buffer } from "node:buffer";
import { createHmac, timingSafeEqual } from "node:crypto";
import { ALGORITHMS } from "./algorithms.ts";
import type { RndcKey } from "./key.ts";
import { decodeTable, encodeTable, type WireTable } from "./wire.ts";

/**
 * A message is a version, an `_auth` entry and what it vouches for: all that follows it. `_auth` holds the number of the
 * algorithm and the HMAC in base64, filled up with zeros to the length of the longest. BIND writes these bytes in one
 * way alone, so they are compared as they are, and nothing that is not signed reaches the parser. Must not: say which
 * of the bytes were wrong, or accept MD5 (`hmd5`) and SHA-1.
 */
const VERSION = Buffer.from([0, 0, 0, 1]);
const MAC_BYTES = 88;

const entry = (key: string, type: number, length: number): Buffer =>
  Buffer.concat([Buffer.from([key.length]), Buffer.from(key, "latin1"), Buffer.from([type, 0, 0, 0, length])]);

const HEADER = Buffer.concat([VERSION, entry("_auth", 2, 99), entry("hsha", 1, MAC_BYTES + 1)]);
const SIGNED_AT = HEADER.length + 1 + MAC_BYTES;

export function signedMessage(content: WireTable, key: RndcKey): Buffer {
  const signed = encodeTable(content);
  return Buffer.concat([HEADER, Buffer.from([ALGORITHMS[key.algorithm].wireNumber]), macOf(signed, key), signed]);
}

/** What the message says, where it is signed with this key. */
export function verifiedContent(message: Uint8Array, key: RndcKey): WireTable | undefined {
  if (message.length < SIGNED_AT || !HEADER.equals(message.subarray(0, HEADER.length))) return undefined;
  if (message[HEADER.length] !== ALGORITHMS[key.algorithm].wireNumber) return undefined;
  const signed = message.subarray(SIGNED_AT);
  const mac = message.subarray(HEADER.length + 1, SIGNED_AT);
  return timingSafeEqual(mac, macOf(signed, key)) ? decodeTable(signed) : undefined;
}

function macOf(signed: Uint8Array, key: RndcKey): Buffer {
  const mac = createHmac(ALGORITHMS[key.algorithm].hash, key.secret.reveal()).update(signed).digest("base64");
  const filled = Buffer.alloc(MAC_BYTES);
  filled.write(mac, "latin1");
  return filled;
}
