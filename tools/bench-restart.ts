import { parseArgs } from "node:util";
import { type Figure, reportFigures } from "../test/bench/figures.ts";
import { FULL_SIZES, measureRestarts, restartParts, SMALL_SIZES } from "../test/bench/restarts.ts";
import { buildDist } from "./build-dist.ts";
import { writeEvidence } from "./evidence.ts";

/**
 * `npm run bench:restart [-- --only PART] [--small]`: what restarts take on a real control plane, beside what the same
 * server takes from a plain client in the same run. A small one shows within a minute that it works; only a whole one is
 * held against the goals and kept.
 */
const parts = Object.keys(restartParts);
const { values } = parseArgs({
  options: {
    only: { type: "string", multiple: true, default: [] },
    small: { type: "boolean", default: false },
  },
});
const unknown = values.only.find((name) => !parts.includes(name));
if (unknown !== undefined) {
  console.error(`there is no part "${unknown}": ${parts.join(", ")}`);
  process.exit(2);
}

const sizes = values.small ? SMALL_SIZES : FULL_SIZES;
await buildDist();
const all: Figure[] = [];
const found: Record<string, unknown> = {};
for (const part of parts) {
  if (values.only.length > 0 && !values.only.includes(part)) continue;
  console.log(`── ${part}`);
  const { figures, details } = await measureRestarts(part, sizes);
  found[part] = details;
  all.push(...figures);
}
const isWhole = !values.small && values.only.length === 0;
if (isWhole) writeEvidence("bench-restart", { machine: "2 cores, shared", figures: all, ...found });
reportFigures("restart", values.small ? all.map(({ name, value }) => ({ name, value })) : all);
