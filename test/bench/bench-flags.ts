/** Drift checks and sweeps are left out, so that what is counted belongs to rotations; the rest is as in production. */
export const ROTATIONS_ONLY = ["--min-frequency", "1s", "--drift-check", "800000h", "--sweep-every", "800000h"];

export const PATIENCE_MS = 600_000;
