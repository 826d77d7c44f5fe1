import { execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { ClusterError } from "./cluster-error.ts";

/**
 * Builds the pinned Kubernetes binaries from the Go module beside this file into a cache outside the checkout. A binary
 * appears under its final name only when it is whole, so two builds at once do no harm and an interrupted one goes on
 * where it stopped. Must not: write into the checkout, or build what is already there.
 */
export interface ClusterTools {
  readonly etcd: string;
  readonly apiServer: string;
  readonly controllerManager: string;
  readonly scheduler: string;
  readonly kubectl: string;
  readonly kwok: string;
  /** The stages that make kwok's nodes ready and its pods run. */
  readonly kwokStages: string;
}

const moduleDirectory = import.meta.dirname;
/** Built against other versions of Kubernetes' libraries, and so from a module of its own. */
const helmDirectory = path.join(moduleDirectory, "helm");
const kubernetesVersion = "v1.36.3";

interface Tool {
  readonly name: string;
  readonly package: string;
  /** Where its module is. */
  readonly module: string;
}

const tools = {
  etcd: { name: "etcd", package: "go.etcd.io/etcd/server/v3", module: moduleDirectory },
  kubectl: { name: "kubectl", package: "k8s.io/kubernetes/cmd/kubectl", module: moduleDirectory },
  apiServer: { name: "kube-apiserver", package: "k8s.io/kubernetes/cmd/kube-apiserver", module: moduleDirectory },
  controllerManager: {
    name: "kube-controller-manager",
    package: "k8s.io/kubernetes/cmd/kube-controller-manager",
    module: moduleDirectory,
  },
  scheduler: { name: "kube-scheduler", package: "k8s.io/kubernetes/cmd/kube-scheduler", module: moduleDirectory },
  kwok: { name: "kwok", package: "sigs.k8s.io/kwok/cmd/kwok", module: moduleDirectory },
} as const satisfies Record<string, Tool>;
const helm: Tool = { name: "helm", package: "helm.sh/helm/v3/cmd/helm", module: helmDirectory };

interface GoEnvironment {
  readonly GOVERSION: string;
  readonly GOOS: string;
  readonly GOARCH: string;
}

const run = promisify(execFile);

/** An aborted `signal` ends the build; what was built so far stays. */
export async function buildClusterTools(report: (line: string) => void, signal?: AbortSignal): Promise<ClusterTools> {
  const directory = await prepareCache(moduleDirectory);
  const missing = Object.values(tools).filter((tool) => !existsSync(path.join(directory, tool.name)));
  if (missing.length > 0) {
    report(`Building ${missing.length} of ${Object.keys(tools).length} cluster binaries into ${directory}`);
    report("The first build takes five to ten minutes; later runs find them there.");
  }
  for (const [index, tool] of missing.entries()) {
    await buildTool(tool, directory, { position: `${index + 1} of ${missing.length}`, report, signal });
  }
  const kwokStages = path.join(directory, "kwok-stages.yaml");
  if (!existsSync(kwokStages)) await writeKwokStages(kwokStages);
  return {
    etcd: path.join(directory, tools.etcd.name),
    apiServer: path.join(directory, tools.apiServer.name),
    controllerManager: path.join(directory, tools.controllerManager.name),
    scheduler: path.join(directory, tools.scheduler.name),
    kubectl: path.join(directory, tools.kubectl.name),
    kwok: path.join(directory, tools.kwok.name),
    kwokStages,
  };
}

/** Helm, which renders the chart; with what this version of Kubernetes can do. */
export async function buildHelm(report: (line: string) => void, signal?: AbortSignal): Promise<string> {
  const directory = await prepareCache(helmDirectory);
  await buildTool(helm, directory, { position: "1 of 1", report, signal });
  return path.join(directory, helm.name);
}

/** A kubectl that some earlier build left in the cache, the newest first; needs no Go. */
export async function findBuiltKubectl(): Promise<string | undefined> {
  const root = cacheRoot();
  const builds = await readdir(root).catch(() => []);
  const found: { readonly file: string; readonly builtAt: number }[] = [];
  for (const build of builds) {
    const file = path.join(root, build, tools.kubectl.name);
    const stats = await stat(file).catch(() => undefined);
    if (stats?.isFile()) found.push({ file, builtAt: stats.mtimeMs });
  }
  return found.sort((a, b) => b.builtAt - a.builtAt)[0]?.file;
}

/** The only environment that is read here: where caches live, by the XDG convention. */
function cacheRoot(): string {
  const base = process.env.XDG_CACHE_HOME || path.join(homedir(), ".cache");
  return path.join(base, "keyturn", "cluster");
}

async function prepareCache(module: string): Promise<string> {
  const go = await goEnvironment();
  const hash = createHash("sha256");
  for (const file of ["go.mod", "go.sum"]) hash.update(await readFile(path.join(module, file)));
  hash.update(`${go.GOVERSION} ${go.GOOS} ${go.GOARCH}`);
  const directory = path.join(cacheRoot(), hash.digest("hex").slice(0, 16));
  await mkdir(directory, { recursive: true });
  return directory;
}

async function goEnvironment(): Promise<GoEnvironment> {
  const wanted = /^go (\S+)$/m.exec(await readFile(path.join(moduleDirectory, "go.mod"), "utf8"))?.[1] ?? "";
  try {
    const { stdout } = await run("go", ["env", "-json", "GOVERSION", "GOOS", "GOARCH"], { cwd: moduleDirectory });
    const environment = JSON.parse(stdout) as GoEnvironment;
    // Go before 1.21 does not look at the version a module asks for, and would fail later and less clearly.
    if (isOlder(environment.GOVERSION, wanted)) throw new Error(`requires go >= ${wanted}`);
    return environment;
  } catch (error) {
    throw new ClusterError(explainGoFailure(error, wanted), error);
  }
}

function explainGoFailure(error: unknown, wanted: string): string {
  const missing = error instanceof Error && "code" in error && error.code === "ENOENT";
  if (missing) return `Go is not installed: the test cluster is built with Go ${wanted} or newer (https://go.dev/dl).`;
  const text = String(error);
  if (/requires go >=/.test(text)) return `Go is too old: install ${wanted} or newer (https://go.dev/dl).`;
  return `Go does not work here (go env): ${lastLine(text)}`;
}

function isOlder(version: string, wanted: string): boolean {
  const parts = (text: string): number[] => (text.match(/\d+/g) ?? []).map(Number);
  const [have, want] = [parts(version), parts(wanted)];
  for (let i = 0; i < want.length; i++) {
    const difference = (have[i] ?? 0) - (want[i] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}

interface Progress {
  readonly position: string;
  readonly report: (line: string) => void;
  readonly signal: AbortSignal | undefined;
}

async function buildTool(tool: Tool, directory: string, progress: Progress): Promise<void> {
  const target = path.join(directory, tool.name);
  // Another process may have built it meanwhile.
  if (existsSync(target)) return;
  const partial = `${target}.${process.pid}.partial`;
  const startedAt = Date.now();
  const seconds = (): string => `${Math.round((Date.now() - startedAt) / 1000)} s`;
  progress.report(`[${progress.position}] ${tool.name} …`);
  const heartbeat = setInterval(() => progress.report(`[${progress.position}] ${tool.name} … ${seconds()}`), 30_000);
  try {
    await compile(tool, partial, progress.signal);
    await rename(partial, target);
  } finally {
    clearInterval(heartbeat);
    await rm(partial, { force: true });
  }
  progress.report(`[${progress.position}] ${tool.name} built in ${seconds()}`);
}

function compile(tool: Tool, output: string, signal: AbortSignal | undefined): Promise<void> {
  const flags = ["-trimpath", "-buildvcs=false", "-ldflags", linkerFlags(), "-o", output, tool.package];
  return new Promise((resolve, reject) => {
    const child = spawn("go", ["build", ...flags], {
      cwd: tool.module,
      env: { ...process.env, CGO_ENABLED: "0" },
      stdio: ["ignore", "ignore", "pipe"],
      signal,
    });
    let errors = "";
    child.stderr.on("data", (chunk: Buffer) => {
      errors = (errors + chunk.toString()).slice(-4000);
    });
    child.on("error", reject);
    child.on("exit", (code, signal) => {
      if (code === 0) resolve();
      else reject(new ClusterError(`go build ${tool.package} failed (${signal ?? code}):\n${errors.trim()}`));
    });
  });
}

/** Unstamped binaries call themselves v0.0.0, which kubectl and discovery then show. */
function linkerFlags(): string {
  const [major, minor] = kubernetesVersion.slice(1).split(".");
  const stamps = [
    ["gitVersion", kubernetesVersion],
    ["gitMajor", major],
    ["gitMinor", minor],
    ["gitTreeState", "clean"],
  ];
  const packages = ["k8s.io/component-base/version", "k8s.io/client-go/pkg/version"];
  const defines = packages.flatMap((name) => stamps.map(([key, value]) => `-X ${name}.${key}=${value}`));
  return ["-s", "-w", ...defines].join(" ");
}

/** kwok's own stage files, joined into the one file that its `--config` takes. */
async function writeKwokStages(target: string): Promise<void> {
  const { stdout } = await run("go", ["list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/kwok"], { cwd: moduleDirectory });
  const stages = path.join(stdout.trim(), "kustomize", "stage");
  const documents: string[] = [];
  for (const folder of [path.join(stages, "pod", "fast"), path.join(stages, "node", "fast")]) {
    for (const file of (await readdir(folder)).sort()) {
      if (!file.endsWith(".yaml") || file === "kustomization.yaml") continue;
      documents.push(await readFile(path.join(folder, file), "utf8"));
    }
  }
  const partial = `${target}.${process.pid}.partial`;
  await writeFile(partial, documents.join("\n---\n"));
  await rename(partial, target);
}

const lastLine = (text: string): string => text.trim().split("\n").at(-1) ?? "";
