import type { Environment } from "@marcbachmann/cel-js";
import { Duration } from "@marcbachmann/cel-js/evaluator";
import { OVERRIDE_PREFIX } from "./override-prefix.ts";

/**
 * The list and set functions of the Kubernetes CEL libraries. Lists of a type that cannot be ordered or summed have no
 * such function, so that the type checker refuses the rule.
 */
export function registerLists(env: Environment): void {
  for (const type of ["int", "double", "string", "bool", TIMESTAMP, DURATION]) {
    env.registerFunction(`list<${type}>.isSorted(): bool`, (list: readonly unknown[]) =>
      list.every((item, index) => index === 0 || order(list[index - 1], item) <= 0),
    );
    env.registerFunction(`list<${type}>.min(): ${type}`, (list: readonly unknown[]) => extreme(list, -1));
    env.registerFunction(`list<${type}>.max(): ${type}`, (list: readonly unknown[]) => extreme(list, 1));
    env.registerFunction(`list<${type}>.sort(): list<${type}>`, (list: readonly unknown[]) => list.toSorted(order));
  }
  env.registerFunction("list<int>.sum(): int", (list: readonly bigint[]) => list.reduce((sum, item) => sum + item, 0n));
  env.registerFunction("list<double>.sum(): double", (list: readonly number[]) =>
    list.reduce((sum, item) => sum + item, 0),
  );
  env.registerFunction(`list<${DURATION}>.sum(): ${DURATION}`, (list: readonly Duration[]) =>
    list.reduce((sum, item) => sum.addDuration(item), new Duration(0n, 0)),
  );
  env.registerFunction(`list<T>.${OVERRIDE_PREFIX}indexOf(T): int`, (list: readonly unknown[], item: unknown) =>
    BigInt(list.findIndex((one) => sameCel(one, item))),
  );
  env.registerFunction(`list<T>.${OVERRIDE_PREFIX}lastIndexOf(T): int`, (list: readonly unknown[], item: unknown) =>
    BigInt(list.findLastIndex((one) => sameCel(one, item))),
  );
  env.registerFunction("list<T>.reverse(): list<T>", (list: readonly unknown[]) => list.toReversed());
  env.registerFunction("list<T>.slice(int, int): list<T>", slice);
  env.registerFunction("list<T>.distinct(): list<T>", (list: readonly unknown[]) =>
    list.filter((item, index) => list.findIndex((one) => sameCel(one, item)) === index),
  );
  registerSets(env);
}

const TIMESTAMP = "google.protobuf.Timestamp";
const DURATION = "google.protobuf.Duration";

function registerSets(env: Environment): void {
  class SetsNamespace {}
  const contains = (list: readonly unknown[], part: readonly unknown[]): boolean =>
    part.every((item) => list.some((one) => sameCel(one, item)));
  env.registerType("SetsNamespace", SetsNamespace);
  env.registerConstant("sets", "SetsNamespace", new SetsNamespace());
  env.registerFunction(
    "SetsNamespace.contains(list<T>, list<T>): bool",
    (_: unknown, list: readonly unknown[], part: readonly unknown[]) => contains(list, part),
  );
  env.registerFunction(
    "SetsNamespace.intersects(list<T>, list<T>): bool",
    (_: unknown, list: readonly unknown[], other: readonly unknown[]) =>
      list.some((item) => other.some((one) => sameCel(one, item))),
  );
  env.registerFunction(
    "SetsNamespace.equivalent(list<T>, list<T>): bool",
    (_: unknown, list: readonly unknown[], other: readonly unknown[]) => contains(list, other) && contains(other, list),
  );
}

function slice(list: readonly unknown[], from: bigint, to: bigint): readonly unknown[] {
  if (from < 0n || to < from || to > BigInt(list.length))
    throw new Error(`cannot slice(${from}, ${to}), list is length ${list.length}`);
  return list.slice(Number(from), Number(to));
}

function extreme(list: readonly unknown[], direction: 1 | -1): unknown {
  if (list.length === 0) throw new Error(`${direction === 1 ? "max" : "min"} called on empty list`);
  return list.reduce((best, item) => (order(item, best) * direction > 0 ? item : best));
}

/** Instants, lengths of time, numbers and booleans by their number; strings by code point. */
function order(a: unknown, b: unknown): number {
  const [left, right] = [comparable(a), comparable(b)];
  return left < right ? -1 : left > right ? 1 : 0;
}

function comparable(value: unknown): number | bigint | string {
  if (typeof value === "string" || typeof value === "number" || typeof value === "bigint") return value;
  return Number(value);
}

/** Equality of CEL values as these functions need it: scalars, instants, and whatever carries JSON behind it. */
function sameCel(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== typeof b)
    return typeof a !== "object" && typeof b !== "object" && isNumber(a) && isNumber(b) && Number(a) === Number(b);
  if (typeof a !== "object" || a === null || b === null || typeof b !== "object") return false;
  if (Array.isArray(a))
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => sameCel(item, b[index]));
  if (a.constructor !== b.constructor) return false;
  if ("raw" in a && "raw" in b) return JSON.stringify(a.raw) === JSON.stringify(b.raw);
  if (a instanceof Map && b instanceof Map) {
    return a.size === b.size && [...a].every(([key, value]) => b.has(key) && sameCel(value, b.get(key)));
  }
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b) === 0;
  return Number(a) === Number(b);
}

const isNumber = (value: unknown): boolean => typeof value === "number" || typeof value === "bigint";
