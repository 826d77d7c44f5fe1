import { parseDuration } from "../../base/duration.ts";
import { InvalidValue } from "../../base/errors.ts";
import { SpecProblem } from "./spec-problem.ts";

/** Readers for objects whose shape a schema promises but nobody guarantees: a status is written by whoever may. */
export type Fields = Readonly<Record<string, unknown>>;

export const fieldsOf = (value: unknown): Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};

export const itemsOf = (value: unknown): readonly Fields[] => (Array.isArray(value) ? value.map(fieldsOf) : []);

export const textOf = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined;

export const countOf = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;

/** A duration that a person wrote; a mistake names the field. */
export function durationOf(field: string, value: unknown): number {
  try {
    return parseDuration(String(value), { positive: true });
  } catch (error) {
    if (error instanceof InvalidValue) throw new SpecProblem(field, error.message, error);
    throw error;
  }
}

/** A duration that was written by us; undefined when somebody has damaged it. */
export function savedDurationOf(value: unknown): number | undefined {
  try {
    return typeof value === "string" ? parseDuration(value) : undefined;
  } catch {
    return undefined;
  }
}
