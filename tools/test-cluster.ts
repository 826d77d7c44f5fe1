import { once } from "node:events";
import { globSync } from "node:fs";
import path from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { parseArgs } from "node:util";
import { buildClusterTools, buildHelm, type ClusterTools } from "../test/cluster/build.ts";
import { ClusterError } from "../test/cluster/cluster-error.ts";
import { type ControlPlane, startControlPlane } from "../test/cluster/control-plane.ts";
import { longTests } from "./long-tests.ts";

/**
 * `npm run test:cluster`: builds a real control plane, starts it, runs against it the suites that need one, and takes
 * it down again, whatever happens. A suite is told where the cluster is by its environment.
 */
interface Suite {
  readonly name: string;
  readonly files: readonly string[];
  /** What is for both servers runs against the embedded one. */
  readonly isEmbedded?: true;
}

const root = path.join(import.meta.dirname, "..");
/** Each of them has a server of its own, and mostly waits. */
const EMBEDDED_AT_A_TIME = 3;
/** Everything that a binding can go through. */
const rotationStories = globSync("test/rotation/*.test.ts", { cwd: root }).sort();

const suites: readonly Suite[] = [
  { name: "conformance", files: ["test/conformance/conformance.test.ts"] },
  { name: "operator", files: ["test/operator/operator.test.ts", "test/operator/operator-outage.test.ts"] },
  {
    name: "install",
    files: ["test/install/manifests.test.ts", "test/install/check.test.ts", "test/install/uninstall.test.ts"],
  },
  { name: "chart", files: ["test/install/chart.test.ts", "test/install/uninstall-hook.test.ts"] },
  { name: "upgrade", files: ["test/install/upgrade.test.ts"] },
  { name: "examples", files: ["test/examples/examples.test.ts"] },
  { name: "rights", files: ["test/rights/rotating-resource.test.ts"] },
  { name: "rotation", files: rotationStories },
  { name: "restart", files: ["test/restart/restart.test.ts"] },
  { name: "bind", files: globSync("test/bind-cluster/*.test.ts", { cwd: root }).sort() },
  { name: "korifi", files: ["test/korifi/korifi.test.ts", "test/korifi/upgrade.test.ts"] },
  { name: "import", files: ["test/import/keys.test.ts", "test/import/bindy.test.ts", "test/import/korifi.test.ts"] },
  { name: "failover", files: ["test/failover/failover.test.ts"] },
  { name: "soak", files: ["test/soak/soak.test.ts"] },
  // Told on the real server already, in minutes that are waited for.
  { name: "long", files: longTests.filter((file) => file !== "test/install/uninstall.test.ts"), isEmbedded: true },
  { name: "control-plane", files: ["test/cluster/control-plane.test.ts"] },
];

interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

const help = `Usage: npm run test:cluster -- [--only SUITE] [--filter PATTERN] [--keep]

Builds Kubernetes (cached outside the checkout), starts it on loopback and runs the suites that need it.

  --only SUITE      only this suite (${suites.map((suite) => suite.name).join(", ")}); may be given several times
  --filter PATTERN  only tests whose name matches this pattern; may be given several times
  --keep            leave the control plane running afterwards, until Ctrl-C, and print its kubeconfig
`;

function readArguments() {
  try {
    const { values } = parseArgs({
      options: {
        only: { type: "string", multiple: true, default: [] },
        filter: { type: "string", multiple: true, default: [] },
        keep: { type: "boolean", default: false },
        help: { type: "boolean", default: false },
      },
    });
    const unknown = values.only.find((name) => !suites.some((suite) => suite.name === name));
    if (unknown !== undefined) throw new Error(`there is no suite "${unknown}"`);
    return values;
  } catch (error) {
    throw new ClusterError(`${error instanceof Error ? error.message : error}; see --help`);
  }
}

type Arguments = ReturnType<typeof readArguments>;

async function main(args: Arguments): Promise<number> {
  const stopRequested = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stopRequested.abort());
  const tools = await buildTools(stopRequested.signal).catch((error: unknown) => {
    if (!stopRequested.signal.aborted) throw error;
    return undefined;
  });
  if (tools === undefined || stopRequested.signal.aborted) return 130;
  const startedAt = Date.now();
  const cluster = await startControlPlane(tools);
  let hasFailed = true;
  try {
    console.log(`Kubernetes is ready after ${((Date.now() - startedAt) / 1000).toFixed(1)} s at ${cluster.server}`);
    const counts = await runSuites(args, environmentFor(cluster, tools), stopRequested.signal);
    const wasStopped = stopRequested.signal.aborted;
    hasFailed = counts.failed > 0 && !wasStopped;
    if (args.keep) await keep(cluster, stopRequested.signal);
    console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
    if (wasStopped) return 130;
    return hasFailed ? 1 : 0;
  } finally {
    await cluster.stop({ keepLogs: hasFailed });
    if (hasFailed) console.log(`The cluster's logs are in ${path.join(cluster.directory, "logs")}`);
  }
}

async function buildTools(signal: AbortSignal): Promise<ClusterTools & { readonly helm: string }> {
  const report = (line: string): void => console.log(line);
  return { ...(await buildClusterTools(report, signal)), helm: await buildHelm(report, signal) };
}

function environmentFor(
  cluster: ControlPlane,
  tools: ClusterTools & { readonly helm: string },
): Readonly<Record<string, string>> {
  return {
    KEYTURN_TEST_CLUSTER: "yes",
    KEYTURN_CONFORMANCE_KUBECONFIG: cluster.kubeconfig,
    KEYTURN_CONFORMANCE_KUBECTL: tools.kubectl,
    KEYTURN_HELM: tools.helm,
  };
}

async function runSuites(args: Arguments, environment: Readonly<Record<string, string>>, signal: AbortSignal) {
  const total: Counts = { passed: 0, failed: 0, skipped: 0 };
  for (const suite of suites) {
    if (signal.aborted) break;
    if (args.only.length > 0 && !args.only.includes(suite.name)) continue;
    const counts = await runSuite(suite, { environment, patterns: args.filter, signal });
    total.passed += counts.passed;
    total.failed += counts.failed;
    total.skipped += counts.skipped;
  }
  if (total.passed + total.failed === 0) {
    console.log("No test ran: nothing matches.");
    total.failed++;
  }
  return total;
}

interface RunOptions {
  readonly environment: Readonly<Record<string, string>>;
  readonly patterns: readonly string[];
  readonly signal: AbortSignal;
}

/** Each file runs in a process of its own, so that a suite that hangs or crashes is only a failure. */
async function runSuite(suite: Suite, options: RunOptions): Promise<Counts> {
  Object.assign(process.env, options.environment);
  if (suite.isEmbedded) delete process.env.KEYTURN_CONFORMANCE_KUBECONFIG;
  const stream = run({
    files: suite.files.map((file) => path.join(root, file)),
    cwd: root,
    // One after the other: they share the cluster, and a controller of one would work on the objects of another.
    concurrency: suite.isEmbedded ? EMBEDDED_AT_A_TIME : 1,
    signal: options.signal,
    ...(options.patterns.length > 0 && { testNamePatterns: [...options.patterns] }),
  });
  const counts: Counts = { passed: 0, failed: 0, skipped: 0 };
  stream.on("test:pass", (result) => {
    if (!isTest(result)) return;
    if (result.skip !== undefined || result.todo !== undefined) counts.skipped++;
    else counts.passed++;
  });
  stream.on("test:fail", (result) => {
    if (isTest(result)) counts.failed++;
  });
  stream.on("test:summary", (summary) => {
    if (summary.file === undefined && !summary.success && counts.failed === 0) counts.failed++;
  });
  const report = stream.compose(spec);
  report.pipe(process.stdout, { end: false });
  await once(report, "end");
  return counts;
}

/** Suites are no tests, and neither is a file, which node:test reports as one when nothing in it ran. */
function isTest(result: {
  readonly name: string;
  readonly file?: string | undefined;
  readonly details: object;
}): boolean {
  const isSuite = "type" in result.details && result.details.type === "suite";
  return !isSuite && (result.file === undefined || !result.file.endsWith(path.basename(result.name)));
}

async function keep(cluster: ControlPlane, signal: AbortSignal): Promise<void> {
  console.log(`Still running; Ctrl-C ends it.\n  export KUBECONFIG=${cluster.kubeconfig}`);
  const alive = setInterval(() => {}, 60_000);
  if (!signal.aborted) await once(signal, "abort");
  clearInterval(alive);
}

try {
  const args = readArguments();
  if (args.help) console.log(help);
  else process.exitCode = await main(args);
} catch (error) {
  if (!(error instanceof ClusterError)) throw error;
  console.error(`test:cluster: ${error.message}`);
  process.exitCode = 1;
}
