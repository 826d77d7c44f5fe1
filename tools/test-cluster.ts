import { once } from "node:events";
import { globSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { parseArgs } from "node:util";
import { buildClusterTools, buildHelm, type ClusterTools } from "../test/cluster/build.ts";
import { ClusterError } from "../test/cluster/cluster-error.ts";
import { type ControlPlane, startControlPlane } from "../test/cluster/control-plane.ts";
import { reportRights } from "./audited-rights.ts";
import { ensureDashboard } from "./dashboard-build.ts";
import { browserStories, longTests } from "./long-tests.ts";

/**
 * `npm run test:cluster`: builds a real control plane, starts two, runs the suites that need one on whichever is free, and
 * takes them down again, whatever happens. A suite is told where its cluster is by its environment.
 */
interface Suite {
  readonly name: string;
  readonly files: readonly string[];
  /** What is for both servers runs against the embedded one. */
  readonly isEmbedded?: true;
  /** Its figures are of time: nothing else runs meanwhile. */
  readonly isAlone?: true;
}

const root = path.join(import.meta.dirname, "..");
/** So many control planes, each with suites of its own one after the other: stories mostly wait. */
const LANES = 2;
/** Each of them has a server of its own, and mostly waits. */
const EMBEDDED_AT_A_TIME = 2;
/** Everything that a binding can go through. */
const rotationStories = globSync("test/rotation/*.test.ts", { cwd: root }).sort();

const OPERATOR_BROWSER = "test/dashboard/operator-browser.test.ts";
const SCOPED = "test/rights/scoped-namespaces.test.ts";
const onRealServer = ["test/install/uninstall.test.ts", OPERATOR_BROWSER, SCOPED];

/** Those that take longest come first, so that no lane is left with one of them at the end. */
const suites: readonly Suite[] = [
  { name: "rotation", files: rotationStories },
  // Without those that are told on the real server, in minutes that are waited for, or because only that asks for rights.
  { name: "long", files: longTests.filter((file) => !onRealServer.includes(file)), isEmbedded: true },
  { name: "bind", files: globSync("test/bind-cluster/*.test.ts", { cwd: root }).sort() },
  { name: "restart", files: ["test/restart/restart.test.ts"] },
  {
    name: "install",
    files: ["manifests", "secret-protection", "check", "uninstall"].map((name) => `test/install/${name}.test.ts`),
  },
  { name: "upgrade", files: ["test/install/upgrade.test.ts"] },
  { name: "uninstall", files: ["test/install/helm-uninstall.test.ts"] },
  { name: "conformance", files: ["test/conformance/conformance.test.ts"] },
  { name: "korifi", files: ["test/korifi/korifi.test.ts", "test/korifi/upgrade.test.ts"] },
  { name: "import", files: ["keys", "bindy", "korifi", "reloader"].map((name) => `test/import/${name}.test.ts`) },
  { name: "dashboard", files: ["test/dashboard/operator-dashboard.test.ts", OPERATOR_BROWSER] },
  { name: "failover", files: ["test/failover/failover.test.ts"] },
  { name: "operator", files: ["test/operator/operator.test.ts", "test/operator/operator-outage.test.ts"] },
  { name: "chart", files: ["test/install/chart.test.ts", "test/install/uninstall-hook.test.ts"] },
  { name: "control-plane", files: ["test/cluster/control-plane.test.ts"] },
  { name: "examples", files: ["test/examples/examples.test.ts"] },
  { name: "rights", files: ["test/rights/rotating-resource.test.ts", SCOPED] },
  { name: "soak", files: ["test/soak/soak.test.ts"], isAlone: true },
];

interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

function addTo(total: Counts, counts: Readonly<Counts>): void {
  total.passed += counts.passed;
  total.failed += counts.failed;
  total.skipped += counts.skipped;
}

const help = `Usage: npm run test:cluster -- [--only SUITE] [--filter PATTERN] [--keep]

Builds Kubernetes (cached outside the checkout), starts it on loopback and runs the suites that need it.

  --only SUITE      only this suite (${suites.map(({ name }) => name).join(", ")}); may be given several times
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
  const planes = new Planes(tools);
  const audit = mkdtempSync(path.join(tmpdir(), "keyturn-audit-"));
  // Of the servers that are started here, and of those that suites start.
  process.env.KEYTURN_TEST_AUDIT = audit;
  let hasFailed = true;
  try {
    const counts = await runSuites(args, planes, stopRequested.signal);
    if (!stopRequested.signal.aborted) {
      const isWhole = args.only.length === 0 && args.filter.length === 0;
      counts.failed += await reportRights(audit, { isWhole });
    }
    const wasStopped = stopRequested.signal.aborted;
    hasFailed = counts.failed > 0 && !wasStopped;
    if (args.keep) await keep(await planes.of(0), stopRequested.signal);
    console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
    if (wasStopped) return 130;
    return hasFailed ? 1 : 0;
  } finally {
    await planes.stop({ keepLogs: hasFailed });
    if (hasFailed) console.log(`What the servers were asked is in ${audit}`);
    else rmSync(audit, { recursive: true, force: true });
  }
}

/** The control plane of each lane, started when a suite needs it. */
class Planes {
  readonly #tools: Tools;
  readonly #planes = new Map<number, Promise<ControlPlane>>();

  constructor(tools: Tools) {
    this.#tools = tools;
  }

  of(lane: number): Promise<ControlPlane> {
    const known = this.#planes.get(lane) ?? this.#start();
    this.#planes.set(lane, known);
    return known;
  }

  async environmentOf(lane: number): Promise<NodeJS.ProcessEnv> {
    const { kubeconfig } = await this.of(lane);
    return { ...this.environment(), KEYTURN_CONFORMANCE_KUBECONFIG: kubeconfig };
  }

  /** Without a cluster. */
  environment(): NodeJS.ProcessEnv {
    const { kubectl, helm } = this.#tools;
    const { KEYTURN_CONFORMANCE_KUBECONFIG: _, ...inherited } = process.env;
    const found = { KEYTURN_CONFORMANCE_KUBECTL: kubectl, KEYTURN_HELM: helm };
    return { ...inherited, KEYTURN_TEST_CLUSTER: "yes", ...found };
  }

  async stop({ keepLogs }: { readonly keepLogs: boolean }): Promise<void> {
    for (const starting of this.#planes.values()) {
      const plane = await starting.catch(() => undefined);
      await plane?.stop({ keepLogs });
      if (plane && keepLogs) console.log(`The cluster's logs are in ${path.join(plane.directory, "logs")}`);
    }
  }

  async #start(): Promise<ControlPlane> {
    const startedAt = Date.now();
    const plane = await startControlPlane(this.#tools);
    console.log(`Kubernetes is ready after ${secondsSince(startedAt)} s at ${plane.server}`);
    return plane;
  }
}

const secondsSince = (startedAt: number): string => ((Date.now() - startedAt) / 1000).toFixed(1);

type Tools = ClusterTools & { readonly helm: string };

async function buildTools(signal: AbortSignal): Promise<Tools> {
  const report = (line: string): void => console.log(line);
  return { ...(await buildClusterTools(report, signal)), helm: await buildHelm(report, signal) };
}

async function runSuites(args: Arguments, planes: Planes, signal: AbortSignal): Promise<Counts> {
  const wanted = suites.filter(({ name }) => args.only.length === 0 || args.only.includes(name));
  // Once for all that need it: they run beside each other.
  if (wanted.some(({ files }) => files.some((file) => browserStories.includes(file)))) await ensureDashboard();
  const total: Counts = { passed: 0, failed: 0, skipped: 0 };
  const runOn = async (lane: number, waiting: Suite[]): Promise<void> => {
    for (let suite = waiting.shift(); suite && !signal.aborted; suite = waiting.shift()) {
      const environment = suite.isEmbedded ? planes.environment() : await planes.environmentOf(lane);
      const counts = await runSuite(suite, { environment, patterns: args.filter, signal });
      addTo(total, counts);
    }
  };
  const together = wanted.filter(({ isAlone }) => !isAlone);
  const lanes = Array.from({ length: Math.min(LANES, together.length) }, (_, lane) => runOn(lane, together));
  await Promise.all(lanes);
  await runOn(
    0,
    wanted.filter(({ isAlone }) => isAlone),
  );
  if (total.passed + total.failed === 0) {
    console.log("No test ran: nothing matches.");
    total.failed++;
  }
  return total;
}

interface RunOptions {
  readonly environment: NodeJS.ProcessEnv;
  readonly patterns: readonly string[];
  readonly signal: AbortSignal;
}

/**
 * Each file runs in a process of its own, so that a suite that hangs or crashes is only a failure. What a suite says is said
 * as a whole when it is over: another one may run beside it.
 */
async function runSuite(suite: Suite, options: RunOptions): Promise<Counts> {
  const startedAt = Date.now();
  console.log(`${suite.name} begins`);
  const stream = run({
    files: suite.files.map((file) => path.join(root, file)),
    cwd: root,
    env: options.environment,
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
  const report = await Array.fromAsync(stream.compose(spec) as AsyncIterable<Buffer>);
  process.stdout.write(Buffer.concat([Buffer.from(`── ${suite.name}: ${secondsSince(startedAt)} s\n`), ...report]));
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
