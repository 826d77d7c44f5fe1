import { globSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join, relative } from "node:path";
import { run } from "node:test";
import { pathToFileURL } from "node:url";
import { inspect } from "node:util";
import { ensureDashboard } from "./dashboard-build.ts";
import { browserStories, longTests } from "./long-tests.ts";
import { missingParts } from "./missing-parts.ts";
import { root } from "./run.ts";

/**
 * `npm test [-- PATTERN…]`: every test that needs nothing but this checkout. One line per file as it finishes, failures
 * in full, then what could not be tested here and how to test it, then the count. Where all are run, those beside the code
 * share a few processes: they are pure, and to start one for each takes longer than the tests.
 */
interface FileResult {
  passed: number;
  failed: number;
  skipped: number;
  durationMs: number;
}

/** So many files are named at the end, for whoever wants them quicker. */
const SLOWEST = 5;

const patterns = process.argv.slice(2);
const all = globSync(["{src,test,tools}/**/*.test.ts", "dashboard/src/**/*.test.ts"], { cwd: root }).sort();
const files = all.filter((file) =>
  patterns.length === 0 ? !longTests.includes(file) : patterns.some((pattern) => file.includes(pattern)),
);
if (files.length === 0) {
  console.error(`no test file matches ${patterns.join(" ")}`);
  process.exit(2);
}

/** More than there are cores on a small machine: processes that are tested are waited for more than they work. */
const CONCURRENCY = 5;
/** How many processes the tests beside the code share. */
const GROUPS = 4;

// Every file is a process, and so is much of what they start: what one of them has compiled, the next one need not.
process.env.NODE_COMPILE_CACHE ??= join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "keyturn", "compile");

// Once for all that need it: they run beside each other.
if (files.some((file) => browserStories.includes(file))) await ensureDashboard();

const startedAt = Date.now();
const results = new Map<string, FileResult>();
const failures: string[] = [];
const skips: string[] = [];
const directory = mkdtempSync(join(tmpdir(), "keyturn-test-"));
const fileOf = ({ file = "?" }: { file?: string | undefined }): string =>
  relative(file.startsWith(directory) ? directory : root, file);
const resultOf = (file: string): FileResult => {
  const known = results.get(file) ?? { passed: 0, failed: 0, skipped: 0, durationMs: 0 };
  results.set(file, known);
  return known;
};

const isUnit = (file: string): boolean => patterns.length === 0 && /^(?:dashboard\/)?src\//.test(file);
const units = files.filter(isUnit);
const groups = Array.from({ length: Math.min(GROUPS, units.length) }, (_, group) => {
  const path = join(directory, `src-${group + 1}-of-${GROUPS}.test.mjs`);
  const members = units.filter((_, index) => index % GROUPS === group);
  writeFileSync(
    path,
    members.map((file) => `import ${JSON.stringify(pathToFileURL(`${root}${file}`).href)};\n`).join(""),
  );
  return path;
});
const alone = files.filter((file) => !isUnit(file)).map((file) => `${root}${file}`);
const stream = run({ files: [...groups, ...alone], concurrency: CONCURRENCY, forceExit: false });
stream.on("test:pass", (data) => {
  if (data.details.type === "suite") return;
  const result = resultOf(fileOf(data));
  if (data.skip !== undefined || data.todo !== undefined) {
    result.skipped++;
    skips.push(`${data.name}: ${data.skip === true ? "no reason given" : (data.skip ?? data.todo)}`);
  } else result.passed++;
});
stream.on("test:fail", (data) => {
  const { error } = data.details;
  if ("failureType" in error && error.failureType === "subtestsFailed") return;
  resultOf(fileOf(data)).failed++;
  const cause = error.cause ?? error;
  failures.push(`${fileOf(data)} › ${data.name}\n${cause instanceof Error ? cause.stack : inspect(cause)}`);
});
stream.on("test:stderr", (data) => process.stderr.write(data.message));
stream.on("test:summary", (data) => {
  if (data.file === undefined) return;
  const file = fileOf(data);
  // Tests may be defined in another file than the one that was run, so the file's own count comes from here.
  const { passed } = data.counts;
  const result = resultOf(file);
  const { failed } = result;
  result.durationMs = data.duration_ms;
  const mark = failed > 0 || !data.success ? "✗" : "✓";
  console.log(
    `${mark} ${file}  ${passed} passed${failed > 0 ? `, ${failed} FAILED` : ""}  ${seconds(data.duration_ms)}`,
  );
  if (!data.success && passed === data.counts.tests - data.counts.skipped - data.counts.todo) {
    failures.push(
      `${file}: every test passed, and yet the file failed: something was left open, or threw outside a test`,
    );
  }
});
stream.on("data", () => {});
await new Promise((resolve) => stream.on("end", resolve));
rmSync(directory, { recursive: true });

for (const failure of failures) console.log(`\n✗ ${failure}`);
for (const skip of skips) console.log(`skipped: ${skip}`);
const missing = await missingParts();
if (missing.length > 0) {
  console.log("\nNot tested by this command:");
  for (const part of missing) console.log(`  ${part.what}\n    ${part.command}`);
}
const sum = (key: "passed" | "failed" | "skipped"): number =>
  [...results.values()].reduce((total, result) => total + result[key], 0);
const failed = Math.max(sum("failed"), failures.length);
const slowest = [...results].sort(([, a], [, b]) => b.durationMs - a.durationMs).slice(0, SLOWEST);
console.log(`\nSlowest: ${slowest.map(([file, { durationMs }]) => `${file} ${seconds(durationMs)}`).join(", ")}`);
console.log(`${files.length} files in ${seconds(Date.now() - startedAt)}`);
console.log(`${sum("passed")} passed, ${failed} failed, ${sum("skipped")} skipped`);
process.exitCode = failed > 0 || sum("passed") === 0 ? 1 : 0;

function seconds(durationMs: number): string {
  return `${(durationMs / 1000).toFixed(1)} s`;
}
