import { parseArgs } from "node:util";
import { Cluster } from "../src/simulation/cluster.ts";
import { type Disturbance, type Origin, originOf, replay } from "../src/simulation/explore.ts";

/**
 * `npm run simulate -- --seed N`: one schedule again, call by call. `--story S`, `--climate C` and `--disturb JSON` (the
 * list that a finding shows) replay one that was not drawn. A star marks calls that write; no line holds key material.
 */
const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    story: { type: "string" },
    climate: { type: "string" },
    disturb: { type: "string" },
  },
});
const drawn = originOf(Number(values.seed));
const origin: Origin = {
  ...drawn,
  ...(values.story !== undefined && { story: values.story, climate: "calm" }),
  ...(values.climate !== undefined && { climate: values.climate }),
  ...(values.disturb !== undefined && { disturbances: JSON.parse(values.disturb) as readonly Disturbance[] }),
};
console.log(JSON.stringify(origin));
const { violations, reconciles } = await replay({
  origin,
  cluster: new Cluster(),
  onTrace: (line) => console.log(line),
});
console.log(violations.length === 0 ? `every promise was kept, in ${reconciles} reconciles` : violations.join("\n"));
process.exitCode = violations.length > 0 ? 1 : 0;
