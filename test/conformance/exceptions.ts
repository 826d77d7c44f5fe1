import assert from "node:assert/strict";
import type { ServerName } from "../support/target.ts";

/**
 * Where a server is known to differ, and why that is accepted. A behaviour listed here is still tried: should it hold
 * after all, or be renamed, the suite fails, so that the list cannot rot.
 */
export interface Exception {
  readonly server: ServerName;
  /** `group: name`, as it is printed. */
  readonly behaviour: string;
  readonly reason: string;
}

export const exceptions: readonly Exception[] = [];

/** Fails when the behaviour was satisfied after all. */
export async function holdToDifference(exception: Exception, attempted: Promise<void>): Promise<void> {
  const isDifferent = await attempted.then(
    () => false,
    () => true,
  );
  assert.ok(isDifferent, `no longer differs ("${exception.reason}"): take it off the list in exceptions.ts`);
}
