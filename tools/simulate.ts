import { parseArgs } from "node:util";
import { Cluster } from "../src/simulation/cluster.ts";
import { type Origin, originOf, replay } from "../src/simulation/explore.ts";
import type { Disturbance } from "../src/simulation/perturbation.ts";
import { REPERTOIRES } from "../src/simulation/repertoires.ts";
import { exploreInShares, tellFindings } from "./simulation-shares.ts";

const help = `Usage: npm run simulate -- [--seed N] [--family F] [--story S] [--climate C] [--disturb JSON]
       npm run simulate -- --ci [--family F]

Plays one schedule of the simulation, call by call; a star marks calls that write. No line holds key material.

  --seed N        the schedule that this seed draws (1 when nothing is said)
  --story S       another story than the seed's; what disturbs it is still drawn
  --climate C     how the outside behaves (calm when only a story is named)
  --disturb JSON  what happens at which call: the list that a finding prints, [] for nothing
  --family F      whose story it is: with --story, btp when nothing is said
  --ci            more than 20,000 schedules, always the same ones, and every mutant, on both cores;
                  with --family, those of this family alone

Families, their climates and their stories:
${REPERTOIRES.map(({ name, climates, stories }) => `  ${name} (${climates.join(", ")})\n    ${stories.join(" ")}`).join("\n")}
`;

const { values } = parseArgs({
  options: {
    help: { type: "boolean", short: "h", default: false },
    ci: { type: "boolean", default: false },
    seed: { type: "string", default: "1" },
    family: { type: "string" },
    story: { type: "string" },
    climate: { type: "string" },
    disturb: { type: "string" },
  },
});
if (values.help) console.log(help);
else process.exitCode = (values.ci ? await exploreFixed() : await replayOne()) ? 0 : 1;

async function exploreFixed(): Promise<boolean> {
  const { findings, ...figures } = await exploreInShares({
    workers: 2,
    firstSeed: 1,
    drawn: 10_000,
    everySingle: 307,
    everyPair: 13,
    withMutants: true,
    family: values.family,
  });
  tellFindings(findings);
  const { schedules, singles, pairs, drawn, seconds, perSecondAndWorker, mutants } = figures;
  const unnoticed = Object.keys(mutants).filter((name) => mutants[name] === null);
  for (const name of unnoticed) console.log(`✗ not noticed: ${name}`);
  console.log(
    `${schedules} schedules (${singles} single disturbances, ${pairs} pairs, ${drawn} drawn) in ${seconds} s, ` +
      `${perSecondAndWorker} a second and core: ${findings.length} broke a promise; ` +
      `${Object.keys(mutants).length} rules switched off, ${unnoticed.length} not noticed`,
  );
  const isEnough = values.family !== undefined || schedules >= 20_000;
  return findings.length === 0 && unnoticed.length === 0 && isEnough;
}

async function replayOne(): Promise<boolean> {
  const drawn = originOf(Number(values.seed));
  const origin: Origin = {
    ...drawn,
    ...(values.story !== undefined && { family: "btp", story: values.story, climate: "calm" }),
    ...(values.family !== undefined && { family: values.family }),
    ...(values.climate !== undefined && { climate: values.climate }),
    ...(values.disturb !== undefined && { disturbances: JSON.parse(values.disturb) as readonly Disturbance[] }),
  };
  console.log(JSON.stringify(origin));
  const { violations, reconciles, disturbances } = await replay({
    origin,
    cluster: new Cluster(),
    onTrace: (line) => console.log(line),
  });
  console.log(`disturbed by ${JSON.stringify(disturbances)}`);
  console.log(violations.length === 0 ? `every promise was kept, in ${reconciles} reconciles` : violations.join("\n"));
  return violations.length === 0;
}
