const NEVER = "800000h";

/**
 * Looks at what is at rest are left out, so that what is counted belongs to rotations; the rest is as in production.
 */
export const ROTATIONS_ONLY: readonly string[] = [
  ...["--min-frequency", "1s"],
  ...["--drift-check", NEVER, "--child-check", NEVER, "--sweep-every", NEVER],
];

export const PATIENCE_MS = 600_000;
