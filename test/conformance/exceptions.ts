import type { ServerName } from "./target.ts";

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
