import { createHash } from "node:crypto";
import type { HistoryEntry, Reason, RetiredKey, State } from "../../src/engine/model.ts";
import { MAX_HISTORY } from "../../src/engine/rotation-history.ts";
import type { Credential } from "./cast.ts";

const HOUR_MS = 3_600_000;
const LETTERS = "bcdfghjklmnpqrstvwxz2456789";
/** What a rotation takes. */
const MAKING_MS = 7000;

/** A key that a credential has, or had. */
export interface CastKey {
  readonly id: string;
  readonly name: string;
  readonly createdAt: number;
  readonly replacedAt: number | undefined;
  /** When it goes, or went; undefined for the active one. */
  readonly deletedAt: number | undefined;
  readonly reason: Reason;
}

/** The keys of a credential up to now, the newest first, of about a year. Pure: the same now gives the same keys. */
export function castKeys({ name, every, ttl, age, reasons = {} }: Credential, now: number): readonly CastKey[] {
  const activeAt = Math.floor((now - age * HOUR_MS) / 1000) * 1000;
  const everyMs = (every ?? 0) * HOUR_MS;
  const ttlMs = (ttl ?? 0) * HOUR_MS;
  const count = every === undefined ? 1 : Math.min(200, Math.ceil((360 * 24 - age) / every));
  return Array.from({ length: count }, (_, back) => {
    const createdAt = activeAt - back * everyMs;
    const replacedAt = back === 0 ? undefined : createdAt + everyMs + MAKING_MS;
    const isCompromised = back > 0 && reasons[back - 1] === "Compromised";
    return {
      id: idOf(name, back),
      name: `${name}-${suffixOf(name, back)}`,
      createdAt,
      replacedAt,
      deletedAt: replacedAt === undefined ? undefined : isCompromised ? replacedAt : createdAt + ttlMs,
      reason: reasons[back] ?? (back === count - 1 ? "FirstKey" : "RotationDue"),
    };
  });
}

/** As an operator would have left it. */
export function castState(credential: Credential, keys: readonly CastKey[], now: number): State {
  const [active, ...before] = keys;
  if (!active) throw new Error(`${credential.name} has no key`);
  const { id, name, createdAt } = active;
  const sequence = before.length + 1;
  const retired = before
    .filter(({ deletedAt = 0 }, index) => deletedAt > now || (index === 0 && credential.heldFor !== undefined))
    .map((key, index) => retiredKey(key, credential, index === 0))
    .toReversed();
  return {
    isDeleting: false,
    hasFinalizer: true,
    externalName: id,
    active: { id, name, createdAt, sequence, madeFrom: "0" },
    sequence: credential.makingFor === undefined ? sequence : sequence + 1,
    pending:
      credential.makingFor === undefined
        ? undefined
        : {
            name: `${credential.name}-${suffixOf(credential.name, -1)}`,
            sequence: sequence + 1,
            since: now - credential.makingFor * 1000,
            id: undefined,
            madeFrom: "0",
            reason: "RotationDue",
            fulfils: undefined,
          },
    retired,
    request: undefined,
    fulfilled: undefined,
    postponedUntil: undefined,
    history: keys.slice(0, MAX_HISTORY).map(historyEntry),
  };
}

function retiredKey(key: CastKey, { heldFor, every = 0, ttl = 0 }: Credential, isLatest: boolean): RetiredKey {
  const { id, name, createdAt, replacedAt, deletedAt = 0 } = key;
  return {
    id,
    name,
    createdAt,
    retiredAt: (replacedAt ?? createdAt) - MAKING_MS,
    replacedAt,
    overlapMs: (ttl - every) * HOUR_MS,
    deletionAt: deletedAt,
    cause: "rotated",
    ...(isLatest && heldFor !== undefined && { heldFor }),
  };
}

const historyEntry = ({ id, createdAt, reason }: CastKey): HistoryEntry => ({
  keyId: id,
  startedAt: createdAt - 2000,
  endedAt: createdAt + MAKING_MS - 2000,
  reason,
  outcome: "Succeeded",
});

const digestOf = (name: string, back: number): Buffer => createHash("sha256").update(`${name} ${back}`).digest();

function idOf(name: string, back: number): string {
  const hex = digestOf(name, back).toString("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    "-",
  );
}

const suffixOf = (name: string, back: number): string =>
  [...digestOf(name, back).subarray(0, 8)].map((byte) => LETTERS[byte % LETTERS.length]).join("");
