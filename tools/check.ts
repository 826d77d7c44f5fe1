import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { root, runCommand } from "./run.ts";

/**
 * `npm run check`: types, format and lint, unused code, layers. Each checker is also checked: a checker that looked at
 * nothing, or a rule that no longer bites, fails here.
 */
interface Check {
  readonly name: string;
  run(): Promise<string | undefined>;
}

const command = (name: string, words: readonly string[], inspect?: (output: string) => string | undefined): Check => ({
  name: [name, ...words].join(" "),
  run: async () => {
    const { code, output } = await runCommand(name, words, true);
    return code === 0 ? inspect?.(output) : output;
  },
});

/** dependency-cruiser answers "no violations" also when it could parse nothing. */
function checkedModules(output: string): string | undefined {
  const modules = Number(/(\d+) modules/.exec(output)?.[1] ?? 0);
  const dependencies = Number(/(\d+) dependencies cruised/.exec(output)?.[1] ?? 0);
  return modules >= 300 && dependencies >= 1500
    ? undefined
    : `only ${modules} modules, ${dependencies} dependencies were checked:\n${output}`;
}

/** Each of these lines must be found by the lint rule; if one is not, the rule has stopped working. */
const forbidden = [
  "Date.now()",
  "new Date()",
  "performance.now()",
  "Math.random()",
  "setTimeout(() => {}, 1)",
  "setInterval(() => {}, 1)",
  "setImmediate(() => {})",
  "crypto.randomUUID()",
  "crypto.getRandomValues(new Uint8Array(1))",
];

const ambientTimeRule: Check = {
  name: "the rule against ambient time and randomness bites",
  run: async () => {
    const folder = await mkdtemp(join(root, "src", "lint-probe-"));
    try {
      const file = join(folder, "probe.ts");
      await writeFile(file, forbidden.map((line, index) => `export const probe${index} = ${line};\n`).join(""));
      const { output } = await runCommand("biome", ["lint", "--max-diagnostics=50", file], true);
      const found = output.match(/Ambient time or randomness/g)?.length ?? 0;
      return found === forbidden.length ? undefined : `found ${found} of ${forbidden.length}:\n${output}`;
    } finally {
      await rm(folder, { recursive: true });
    }
  },
};

const checks: readonly Check[] = [
  command("tsc", ["-p", "."]),
  command("tsc", ["-p", "dashboard"]),
  command("biome", ["ci", "--colors=off", "--error-on-warnings", "."]),
  ambientTimeRule,
  command("depcruise", ["--config", ".dependency-cruiser.cjs", "src", "dashboard", "test", "tools"], checkedModules),
  command("knip", []),
];

let failures = 0;
for (const check of checks) {
  const startedAt = Date.now();
  const problem = await check.run();
  const seconds = ((Date.now() - startedAt) / 1000).toFixed(1);
  console.log(`${problem === undefined ? "ok  " : "FAIL"} ${check.name} (${seconds} s)`);
  if (problem !== undefined) {
    failures++;
    console.log(problem);
  }
}
process.exitCode = failures > 0 ? 1 : 0;
