import { describe } from "node:test";
import { defineFaultConformance } from "./conformance-faults.fixture.ts";
import type { ProviderHarness } from "./conformance-harness.fixture.ts";
import { defineVerbConformance } from "./conformance-verbs.fixture.ts";

export interface ConformanceOptions {
  /** The provider's name, for the report. */
  readonly name: string;
  /** A world of its own for every test. */
  readonly start: () => Promise<ProviderHarness>;
}

/**
 * The suite that every provider passes: the obligations of `contract.ts`, verb by verb and fault by fault, judged by the
 * state of the outside and never by the requests that were made. A fault that a system cannot have is skipped, with its
 * reason in the report. Must not: know any provider.
 */
export function defineProviderConformance({ name, start }: ConformanceOptions): void {
  describe(`${name}: verbs`, () => defineVerbConformance(start));
  describe(`${name}: faults`, () => defineFaultConformance(start));
}
