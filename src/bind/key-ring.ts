import { Buffer } from "node:buffer";
import { InvalidValue } from "../base/errors.ts";
import { parseInstant } from "../base/instant.ts";
import { Redacted } from "../base/redacted.ts";
import { RndcKeyInvalid } from "../rndc/errors.ts";
import { type RndcKey, readRndcKey, secretText } from "../rndc/key.ts";
import { type Fields, isFields } from "./fields.ts";

/**
 * The keys that the named servers of one RndcKey know or are to know, as a value: what `ring.json` of the ring Secret
 * holds. Steps that do not apply leave the ring as it is (the very same value), so that whoever reads it again after a
 * conflict can take the step again. Must not: decide when a step is taken.
 */
export interface RingKey {
  readonly id: string;
  readonly key: RndcKey;
  readonly createdAt: number;
  /** Who it belongs to; undefined for one that was found. */
  readonly marks: RingMarks | undefined;
  readonly phase: RingPhase;
  /** Somebody else has written it there. Not stored: whoever reads the ring finds it out. */
  readonly isStrange?: boolean;
}

/** `adding`: to be accepted by all servers. `accepted`: all of them do. `removing`: none is to accept it any more. */
type RingPhase = "adding" | "accepted" | "removing";

/** As `Marks` of the provider contract. */
export interface RingMarks {
  readonly clusterId: string;
  readonly ownerUid: string;
  readonly ownerKind: string;
  readonly ownerNamespace?: string;
  readonly ownerName: string;
  readonly sequence: number;
}

export interface KeyRing {
  readonly keys: readonly RingKey[];
}

export const EMPTY_RING: KeyRing = { keys: [] };

const MAX_KEYS = 32;
const MAX_BYTES = 262_144;
const FORMAT = 1;
const PHASES: readonly RingPhase[] = ["adding", "accepted", "removing"];

export const findKey = (ring: KeyRing, id: string): RingKey | undefined => ring.keys.find((key) => key.id === id);

export const findKeysByName = (ring: KeyRing, name: string): readonly RingKey[] =>
  ring.keys.filter(({ key }) => sameName(key.name, name));

/** The keys that servers are to accept. */
export const acceptableKeys = (ring: KeyRing): readonly RingKey[] =>
  ring.keys.filter(({ phase }) => phase !== "removing");

/** Puts a key in as `adding`. Throws `InvalidValue` where its id or its name is taken: named knows no two of a name. */
export function addKey(ring: KeyRing, key: Omit<RingKey, "phase">): KeyRing {
  return checked({ keys: [...ring.keys, { ...key, phase: "adding" }] });
}

export const acceptKey = (ring: KeyRing, id: string): KeyRing =>
  changed(ring, id, (key) => (key.phase === "adding" ? { ...key, phase: "accepted" } : key));

export const removeKey = (ring: KeyRing, id: string): KeyRing =>
  changed(ring, id, (key) => (key.phase === "removing" ? key : { ...key, phase: "removing" }));

export const markKey = (ring: KeyRing, id: string, marks: RingMarks | undefined): KeyRing =>
  changed(ring, id, (key) => ({ ...key, marks }));

/** Only one that no server is to accept any more: else nothing would tell that it has to be removed there. */
export const dropKey = (ring: KeyRing, id: string): KeyRing =>
  findKey(ring, id)?.phase === "removing" ? { keys: ring.keys.filter((key) => key.id !== id) } : ring;

function changed(ring: KeyRing, id: string, change: (key: RingKey) => RingKey): KeyRing {
  const key = findKey(ring, id);
  const next = key && change(key);
  return next === undefined || next === key ? ring : { keys: ring.keys.map((each) => (each === key ? next : each)) };
}

/** named takes names for those of domains: capitals mean nothing there. */
const sameName = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

function checked(ring: KeyRing): KeyRing {
  if (ring.keys.length > MAX_KEYS) throw new InvalidValue(`a ring has at most ${MAX_KEYS} keys`);
  ring.keys.forEach(({ id, key }, index) => {
    for (const other of ring.keys.slice(0, index)) {
      if (other.id === id) throw new InvalidValue(`there are two keys with the id ${id} in the ring`);
      if (sameName(other.key.name, key.name)) {
        throw new InvalidValue(`there are two keys with the name ${key.name} in the ring`);
      }
    }
  });
  return ring;
}

export const ringToJson = (ring: KeyRing): Redacted<string> =>
  new Redacted(
    JSON.stringify({
      format: FORMAT,
      keys: ring.keys.map(({ id, key, createdAt, marks, phase }) => ({
        id,
        name: key.name,
        algorithm: key.algorithm,
        secret: secretText(key).reveal(),
        createdAt: new Date(createdAt).toISOString(),
        phase,
        ...(marks && { marks: inOrder(marks) }),
      })),
    }),
  );

/** The same text for the same marks: one that differed from what is read back would be put right with a write. */
const inOrder = ({ clusterId, ownerUid, ownerKind, ownerNamespace, ownerName, sequence }: RingMarks): RingMarks => ({
  clusterId,
  ownerUid,
  ownerKind,
  ...(ownerNamespace !== undefined && { ownerNamespace }),
  ownerName,
  sequence,
});

/** Throws `InvalidValue` for whatever `ringToJson` would not have written. */
export function ringFromJson(text: Redacted<string>): KeyRing {
  const json = text.reveal();
  if (Buffer.byteLength(json) > MAX_BYTES) throw new InvalidValue("the ring is larger than any that is meant");
  const value = parsed(json);
  expectNames(value, ["format", "keys"], "the ring");
  if (value.format !== FORMAT) throw new InvalidValue("the ring is of a format that is not known");
  if (!Array.isArray(value.keys)) throw new InvalidValue("the ring has no list of keys");
  return checked({ keys: value.keys.map((each: unknown, index) => ringKey(each, `key ${index + 1} of the ring`)) });
}

function parsed(json: string): Fields {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    // What the parser says would repeat a part of the text.
    throw new InvalidValue("the ring is not JSON");
  }
  if (!isFields(value)) throw new InvalidValue("the ring is not an object");
  return value;
}

function expectNames(value: Fields, names: readonly string[], what: string): void {
  const strange = Object.keys(value).find((name) => !names.includes(name));
  if (strange !== undefined) throw new InvalidValue(`${what} has a field that is not known`);
}

function ringKey(value: unknown, what: string): RingKey {
  if (!isFields(value)) throw new InvalidValue(`${what} is not an object`);
  expectNames(value, ["id", "name", "algorithm", "secret", "createdAt", "phase", "marks"], what);
  const { id, name, algorithm, secret } = value;
  if (![id, name, algorithm, secret].every((text) => typeof text === "string" && text !== "")) {
    throw new InvalidValue(`${what} lacks its id, name, algorithm or secret`);
  }
  const createdAt = parseInstant(value.createdAt);
  const phase = PHASES.find((known) => known === value.phase);
  if (createdAt === undefined) throw new InvalidValue(`${what} does not say when it was created`);
  if (phase === undefined) throw new InvalidValue(`${what} is in no phase that is known`);
  const parts = { name: String(name), algorithm: String(algorithm), secret: new Redacted(String(secret)) };
  return { id: String(id), key: keyFrom(parts, what), createdAt, marks: marksOf(value.marks, what), phase };
}

function keyFrom(parts: Parameters<typeof readRndcKey>[0], what: string): RndcKey {
  try {
    return readRndcKey(parts).key;
  } catch (error) {
    if (error instanceof RndcKeyInvalid) throw new InvalidValue(`${what}: ${error.message}`, error);
    throw error;
  }
}

const MARK_NAMES = ["clusterId", "ownerUid", "ownerKind", "ownerName", "ownerNamespace", "sequence"];

function marksOf(value: unknown, what: string): RingMarks | undefined {
  if (value === undefined) return undefined;
  const refuse = (): InvalidValue => new InvalidValue(`${what} has marks that cannot be read`);
  if (!isFields(value)) throw refuse();
  expectNames(value, MARK_NAMES, `the marks of ${what}`);
  const { clusterId, ownerUid, ownerKind, ownerName, ownerNamespace, sequence } = value;
  const isText = (one: unknown): one is string => typeof one === "string";
  if (!isText(clusterId) || !isText(ownerUid) || !isText(ownerKind) || !isText(ownerName)) throw refuse();
  if (ownerNamespace !== undefined && !isText(ownerNamespace)) throw refuse();
  if (typeof sequence !== "number" || !Number.isSafeInteger(sequence) || sequence < 0) throw refuse();
  const place = ownerNamespace === undefined ? {} : { ownerNamespace };
  return inOrder({ clusterId, ownerUid, ownerKind, ...place, ownerName, sequence });
}
