import { Buffer } from "node:buffer";
import type { Random } from "../base/random.ts";
import { Redacted } from "../base/redacted.ts";
import { ALGORITHMS, isRndcAlgorithm, type RndcAlgorithm } from "./algorithms.ts";
import { RndcKeyInvalid } from "./errors.ts";

/**
 * A key as named knows it: for its control channel (which never sends the name) and for TSIG (which does). Must not: show
 * its secret to anybody who does not ask for it.
 */
export interface RndcKey {
  readonly name: string;
  readonly algorithm: RndcAlgorithm;
  readonly secret: Redacted<Uint8Array>;
}

/** A key that was read, and what is allowed about it but not good. */
export interface ReadKey {
  readonly key: RndcKey;
  readonly warnings: readonly string[];
}

/** As they stand in a Secret or a file. */
export interface KeyParts {
  readonly name: string;
  readonly algorithm: string;
  /** In base64. */
  readonly secret: Redacted<string>;
}

/** 112 bits, the least that NIST SP 800-131A lets an HMAC key have. */
const SHORTEST_SECRET = 14;
/** named reads no longer one. */
const LONGEST_SECRET = 1024;
const LONGEST_NAME = 253;

const LABEL = /^[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?$/;

/** A new key as long as its HMAC. `random` is the system's wherever the key is to be kept secret. */
export function generateRndcKey(name: string, algorithm: RndcAlgorithm, random: Random): RndcKey {
  return { name: checkedName(name), algorithm, secret: new Redacted(random.bytes(ALGORITHMS[algorithm].bytes)) };
}

/** Checks the parts of a key; what is wrong is said without a word of the secret. */
export function readRndcKey({ name, algorithm, secret }: KeyParts): ReadKey {
  const key = { name: checkedName(name), algorithm: checkedAlgorithm(algorithm), secret: checkedSecret(secret) };
  const { bytes } = ALGORITHMS[key.algorithm];
  const { length } = key.secret.reveal();
  const warnings =
    length < bytes
      ? [`the secret of ${key.name} has ${length * 8} bits; ${key.algorithm} should have ${bytes * 8} or more`]
      : [];
  return { key, warnings };
}

/** The secret as files and Secrets hold it. */
export function secretText(key: RndcKey): Redacted<string> {
  return new Redacted(Buffer.from(key.secret.reveal()).toString("base64"));
}

/** named takes a name for that of a domain; ours have no characters that would have to be escaped there. */
function checkedName(name: string): string {
  const isName = name.length <= LONGEST_NAME && name.split(".").every((label) => LABEL.test(label));
  if (!isName) {
    throw new RndcKeyInvalid(
      "the name of the key must be letters, digits, - and _, in parts of up to 63 with dots between",
    );
  }
  return name;
}

function checkedAlgorithm(text: string): RndcAlgorithm {
  const algorithm = text.toLowerCase();
  if (isRndcAlgorithm(algorithm)) return algorithm;
  const allowed = Object.keys(ALGORITHMS).join(", ");
  if (/^hmac-(md5|sha1)(\b|-)/.test(algorithm)) {
    throw new RndcKeyInvalid(`${algorithm.slice(0, 9)} is too weak: use one of ${allowed}`);
  }
  throw new RndcKeyInvalid(`the algorithm must be one of ${allowed}`);
}

function checkedSecret(secret: Redacted<string>): Redacted<Uint8Array> {
  const text = secret.reveal().replace(/[ \t\r\n]/g, "");
  const bytes = Buffer.from(text, "base64");
  // The host forgives what named does not: other alphabets, missing padding, bits left over.
  if (bytes.toString("base64") !== text) throw new RndcKeyInvalid("the secret is not base64");
  if (bytes.length < SHORTEST_SECRET) {
    throw new RndcKeyInvalid(`the secret has ${bytes.length * 8} bits; at least ${SHORTEST_SECRET * 8} are needed`);
  }
  if (bytes.length > LONGEST_SECRET) throw new RndcKeyInvalid(`the secret has more than ${LONGEST_SECRET} bytes`);
  return new Redacted(bytes);
}
