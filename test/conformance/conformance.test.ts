import { pickTarget } from "../support/pick-target.ts";
import { defineConformance } from "./define-conformance.ts";

/** KEYTURN_CONFORMANCE_SEED repeats the names of an earlier run. */
const seed = Number(process.env.KEYTURN_CONFORMANCE_SEED ?? Date.now() % 1_000_000_007);
defineConformance(await pickTarget(), seed);
