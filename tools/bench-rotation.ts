import { parseArgs } from "node:util";
import { type Findings, reportFigures } from "../test/bench/figures.ts";
import { measureServiceBindings } from "../test/bench/service-bindings.ts";
import { measureRotatingKeys, measureRotatingResources, measureServiceKeys } from "../test/bench/service-keys.ts";
import { buildDist } from "./build-dist.ts";
import { writeEvidence } from "./evidence.ts";

/** `npm run bench:rotation [-- --only PART]`: what rotation takes, on a real control plane, kind by kind. */
interface Part {
  readonly name: string;
  readonly evidence: string;
  measure(): Promise<Findings>;
}

const parts: readonly Part[] = [
  { name: "btp", evidence: "bench-rotation", measure: measureServiceBindings },
  { name: "cloudfoundry", evidence: "bench-rotation-cloudfoundry", measure: measureServiceKeys },
  { name: "cloudfoundry-rotating", evidence: "bench-rotation-parents", measure: measureRotatingKeys },
  { name: "rotating-resource", evidence: "bench-rotation-any", measure: measureRotatingResources },
];

const { values } = parseArgs({ options: { only: { type: "string", multiple: true, default: [] } } });
const unknown = values.only.find((name) => !parts.some((part) => part.name === name));
if (unknown !== undefined) {
  console.error(`there is no part "${unknown}": ${parts.map(({ name }) => name).join(", ")}`);
  process.exit(2);
}

await buildDist();
for (const { name, evidence, measure } of parts) {
  if (values.only.length > 0 && !values.only.includes(name)) continue;
  console.log(`── ${name}`);
  const { figures, details } = await measure();
  writeEvidence(evidence, { machine: "2 cores, shared", figures, ...details });
  console.log(JSON.stringify(details, null, 2));
  reportFigures(`rotation ${name}`, figures);
}
