import { parseArgs } from "node:util";
import { measureChanges, ServiceWorld } from "../test/bench/credentials-changes.ts";
import { type Figure, reportFigures } from "../test/bench/figures.ts";
import { inRealWorld } from "../test/bench/real-server.ts";
import { buildDist } from "./build-dist.ts";
import { writeEvidence } from "./evidence.ts";

/**
 * `npm run bench:korifi [-- --only FORM] [--instances N] [--rounds N]`: how soon changed credentials have reached every
 * binding and every application, on a real control plane, beside what the same server takes from a plain client in the
 * same run. Only a whole one is held against the goal and kept.
 */
const FORMS = ["shared", "own"] as const;
const [INSTANCES, ROUNDS] = [500, 3];
const { values } = parseArgs({
  options: {
    only: { type: "string" },
    instances: { type: "string", default: String(INSTANCES) },
    rounds: { type: "string", default: String(ROUNDS) },
  },
});
const forms = FORMS.filter((form) => values.only === undefined || values.only === form);
const [instances, rounds] = [Number(values.instances), Number(values.rounds)];
if (forms.length === 0 || !(instances > 0) || !(rounds > 0)) {
  console.error(`--only is one of ${FORMS.join(", ")}; --instances and --rounds are numbers`);
  process.exit(2);
}

const isWhole = instances === INSTANCES && rounds === ROUNDS && values.only === undefined;
await buildDist();
const all: Figure[] = [];
const found: Record<string, unknown> = {};
for (const apps of forms) {
  console.log(`── apps: ${apps}`);
  // The other form has no goal: once is enough to tell.
  const sizes = { instances, apps, rounds: apps === "shared" ? rounds : 1, restMs: isWhole ? 5_000 : 1_000 };
  const { figures, details } = await inRealWorld(ServiceWorld.open, (world) => measureChanges(world, sizes));
  console.log(JSON.stringify(details, null, 2));
  found[apps] = details;
  all.push(...figures);
}
if (isWhole) writeEvidence("bench-korifi", { machine: "2 cores, shared", figures: all, ...found });
reportFigures("korifi", isWhole ? all : all.map(({ name, value }) => ({ name, value })));
