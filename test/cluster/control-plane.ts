import { execFile } from "node:child_process";
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { auditFlags } from "./audit-log.ts";
import type { ClusterTools } from "./build.ts";
import { ClusterError } from "./cluster-error.ts";
import { ProcessGroup } from "./process-group.ts";

/**
 * A real Kubernetes control plane on loopback: etcd, API server, controller manager, scheduler, and kwok with one
 * node on which pods run at once. Everything lives in a temporary directory and dies with this process. Must not: be
 * used for anything but tests; it keeps nothing and guards nothing.
 */
export interface ControlPlane {
  readonly server: string;
  /** Full rights (system:masters). */
  readonly kubeconfig: string;
  readonly directory: string;
  /** A kubeconfig that speaks as a ServiceAccount; it is made where missing, and given `clusterRole` where named. */
  serviceAccountKubeconfig(account: ServiceAccountAccess): Promise<string>;
  stopApiServer(): Promise<void>;
  /** On the same port and the same etcd as before. */
  startApiServer(): Promise<void>;
  /** Ends every process; the directory stays when `keepLogs` is set. */
  stop(options?: { readonly keepLogs?: boolean }): Promise<void>;
}

export interface ServiceAccountAccess {
  readonly namespace: string;
  readonly name: string;
  readonly clusterRole?: string;
}

const startAttempts = 3;
const readyWithinMs = 60_000;
const execute = promisify(execFile);

export interface ControlPlaneOptions {
  /** As servers before 1.34 are: a watch does not begin with what is there, and a list has to come before it. */
  readonly withoutWatchList?: true;
}

export async function startControlPlane(tools: ClusterTools, options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  for (let attempt = 1; ; attempt++) {
    const cluster = new LoopbackControlPlane(tools, await mkdtemp(path.join(tmpdir(), "keyturn-cluster-")), options);
    try {
      await cluster.start();
      return cluster;
    } catch (error) {
      const isPortTaken = await cluster.mentionsTakenPort();
      await cluster.stop({ keepLogs: !isPortTaken });
      // A free port is only free until somebody else takes it.
      if (!isPortTaken || attempt === startAttempts) throw error;
    }
  }
}

class LoopbackControlPlane implements ControlPlane {
  readonly directory: string;
  readonly kubeconfig: string;
  readonly #tools: ClusterTools;
  readonly #options: ControlPlaneOptions;
  readonly #token = randomBytes(16).toString("hex");
  #ports = { client: 0, peer: 0, api: 0 };
  #processes: ProcessGroup | undefined;

  constructor(tools: ClusterTools, directory: string, options: ControlPlaneOptions) {
    this.#tools = tools;
    this.#options = options;
    this.directory = directory;
    this.kubeconfig = path.join(directory, "admin.kubeconfig");
  }

  get server(): string {
    return `https://127.0.0.1:${this.#ports.api}`;
  }

  async start(): Promise<void> {
    this.#processes = new ProcessGroup(this.directory);
    const [client, peer, api] = await freePorts(3);
    this.#ports = { client: client ?? 0, peer: peer ?? 0, api: api ?? 0 };
    await this.#writeCredentials();
    await this.#startEtcd();
    await this.startApiServer();
    await writeFile(this.kubeconfig, await this.#kubeconfigFor(this.#token), { mode: 0o600 });
    await this.#startControllers();
    await this.#startNode();
  }

  async stop(options: { readonly keepLogs?: boolean } = {}): Promise<void> {
    await this.#processes?.end({ keepDirectory: options.keepLogs ?? false });
  }

  async stopApiServer(): Promise<void> {
    await this.#group().stop("kube-apiserver");
  }

  async startApiServer(): Promise<void> {
    await this.#launch("kube-apiserver", this.#tools.apiServer, [
      `--etcd-servers=http://127.0.0.1:${this.#ports.client}`,
      "--authorization-mode=RBAC",
      // As hardened clusters have it: what is owned asks for a right to its owner.
      "--enable-admission-plugins=OwnerReferencesPermissionEnforcement",
      ...(await auditFlags(this.directory)),
      ...(this.#options.withoutWatchList ? ["--feature-gates=WatchList=false"] : []),
      `--token-auth-file=${this.#file("tokens.csv")}`,
      `--service-account-key-file=${this.#file("service-account.pub")}`,
      `--service-account-signing-key-file=${this.#file("service-account.key")}`,
      "--service-account-issuer=https://kubernetes.default.svc",
      "--service-cluster-ip-range=10.0.0.0/16",
      "--bind-address=127.0.0.1",
      "--advertise-address=127.0.0.1",
      `--secure-port=${this.#ports.api}`,
      `--cert-dir=${this.#file("certificates")}`,
      "--endpoint-reconciler-type=none",
    ]);
    await this.#until("kube-apiserver", () => this.#isReady());
  }

  async serviceAccountKubeconfig(account: ServiceAccountAccess): Promise<string> {
    const { namespace, name, clusterRole } = account;
    const inNamespace = ["--namespace", namespace];
    await this.#kubectlUnlessThere(["create", "namespace", namespace]);
    await this.#kubectlUnlessThere(["create", "serviceaccount", name, ...inNamespace]);
    if (clusterRole !== undefined) {
      const binding = `${namespace}-${name}-${clusterRole}`;
      const grant = [`--clusterrole=${clusterRole}`, `--serviceaccount=${namespace}:${name}`];
      await this.#kubectlUnlessThere(["create", "clusterrolebinding", binding, ...grant]);
    }
    const token = await this.#kubectl(["create", "token", name, ...inNamespace, "--duration=24h"]);
    const file = this.#file(`${namespace}-${name}.kubeconfig`);
    await writeFile(file, await this.#kubeconfigFor(token.trim()), { mode: 0o600 });
    return file;
  }

  async mentionsTakenPort(): Promise<boolean> {
    const logs = await Promise.all(["etcd", "kube-apiserver"].map((name) => this.#log(name)));
    return logs.some((log) => log.includes("address already in use"));
  }

  async #startEtcd(): Promise<void> {
    const [client, peer] = [`http://127.0.0.1:${this.#ports.client}`, `http://127.0.0.1:${this.#ports.peer}`];
    await this.#launch("etcd", this.#tools.etcd, [
      "--unsafe-no-fsync",
      `--data-dir=${this.#file("etcd")}`,
      `--listen-client-urls=${client}`,
      `--advertise-client-urls=${client}`,
      `--listen-peer-urls=${peer}`,
      `--initial-advertise-peer-urls=${peer}`,
      `--initial-cluster=default=${peer}`,
    ]);
    await this.#until("etcd", async () => (await fetch(`${client}/health`)).ok);
  }

  async #startControllers(): Promise<void> {
    // The default limits of 20 requests a second would make the clean-up of hundreds of test namespaces the bottleneck.
    const generous = ["--kube-api-qps=500", "--kube-api-burst=1000", "--leader-elect=false", "--secure-port=0"];
    await this.#launch("kube-controller-manager", this.#tools.controllerManager, [
      `--kubeconfig=${this.kubeconfig}`,
      `--service-account-private-key-file=${this.#file("service-account.key")}`,
      `--root-ca-file=${this.#certificateFile()}`,
      // A node whose heartbeats are late on a busy machine must not make all its pods unready for good.
      "--node-monitor-grace-period=24h",
      ...generous,
    ]);
    await this.#launch("kube-scheduler", this.#tools.scheduler, [`--kubeconfig=${this.kubeconfig}`, ...generous]);
    await this.#launch("kwok", this.#tools.kwok, [
      `--kubeconfig=${this.kubeconfig}`,
      "--manage-all-nodes=true",
      `--config=${this.#tools.kwokStages}`,
    ]);
  }

  async #startNode(): Promise<void> {
    const file = this.#file("node.json");
    await writeFile(file, JSON.stringify(nodeManifest));
    await this.#kubectl(["create", "-f", file]);
    await this.#until("kwok", async () => {
      const ready = '{.status.conditions[?(@.type=="Ready")].status}';
      return (
        (await this.#kubectl(["get", "node", nodeManifest.metadata.name, `--output=jsonpath=${ready}`])) === "True"
      );
    });
    // Pods cannot be made in a namespace before its ServiceAccount is there: the controllers have begun their work.
    await this.#until("kube-controller-manager", async () => {
      return (await this.#kubectl(["get", "serviceaccount", "default", "--ignore-not-found", "--output=name"])) !== "";
    });
  }

  async #writeCredentials(): Promise<void> {
    const { publicKey, privateKey } = generateKeyPairSync("rsa", {
      modulusLength: 2048,
      publicKeyEncoding: { type: "spki", format: "pem" },
      privateKeyEncoding: { type: "pkcs8", format: "pem" },
    });
    await mkdir(this.#file("logs"));
    await writeFile(this.#file("service-account.key"), privateKey, { mode: 0o600 });
    await writeFile(this.#file("service-account.pub"), publicKey);
    await writeFile(this.#file("tokens.csv"), `${this.#token},admin,admin,"system:masters"\n`, { mode: 0o600 });
  }

  async #kubeconfigFor(token: string): Promise<string> {
    const authority = (await readFile(this.#certificateFile())).toString("base64");
    return JSON.stringify({
      apiVersion: "v1",
      kind: "Config",
      "current-context": "keyturn-test",
      clusters: [{ name: "keyturn-test", cluster: { server: this.server, "certificate-authority-data": authority } }],
      users: [{ name: "keyturn-test", user: { token } }],
      contexts: [{ name: "keyturn-test", context: { cluster: "keyturn-test", user: "keyturn-test" } }],
    });
  }

  async #isReady(): Promise<boolean> {
    // The certificate appears with the server; kubectl then checks it as any client would.
    if (!existsSync(this.#certificateFile())) return false;
    await writeFile(this.kubeconfig, await this.#kubeconfigFor(this.#token), { mode: 0o600 });
    return (await this.#kubectl(["get", "--raw", "/readyz"])) === "ok";
  }

  async #launch(name: string, command: string, args: readonly string[]): Promise<void> {
    await this.#group().start(name, command, args, this.#logFile(name));
  }

  /** Asks again until the answer is yes; a refusal counts as no. Gives up when the process died or time is up. */
  async #until(name: string, isThere: () => Promise<boolean>): Promise<void> {
    const deadline = Date.now() + readyWithinMs;
    while (!(await isThere().catch(() => false))) {
      if (!this.#group().isRunning(name)) throw await this.#failure(name, "ended");
      if (Date.now() > deadline) throw await this.#failure(name, `was not ready within ${readyWithinMs / 1000} s`);
      await sleep(50);
    }
  }

  async #failure(name: string, what: string): Promise<ClusterError> {
    const lastLines = (await this.#log(name)).trim().split("\n").slice(-10).join("\n");
    return new ClusterError(`${name} ${what}; its log is ${this.#logFile(name)} and ends:\n${lastLines}`);
  }

  async #kubectl(args: readonly string[]): Promise<string> {
    const { stdout } = await execute(this.#tools.kubectl, ["--kubeconfig", this.kubeconfig, ...args]);
    return stdout;
  }

  async #kubectlUnlessThere(args: readonly string[]): Promise<void> {
    await this.#kubectl(args).catch((error: unknown) => {
      if (!/already exists/.test(String(error))) throw error;
    });
  }

  #group(): ProcessGroup {
    if (this.#processes === undefined) throw new ClusterError("The control plane has not been started.");
    return this.#processes;
  }

  #log(name: string): Promise<string> {
    return readFile(this.#logFile(name), "utf8").catch(() => "");
  }

  #logFile(name: string): string {
    return path.join(this.directory, "logs", `${name}.log`);
  }

  #certificateFile(): string {
    return path.join(this.directory, "certificates", "apiserver.crt");
  }

  #file(name: string): string {
    return path.join(this.directory, name);
  }
}

const capacity = { cpu: "32", memory: "256Gi", pods: "1000" };

const nodeManifest = {
  apiVersion: "v1",
  kind: "Node",
  metadata: {
    name: "node-1",
    annotations: { "kwok.x-k8s.io/node": "fake" },
    labels: { "kubernetes.io/hostname": "node-1", "kubernetes.io/os": "linux", type: "kwok" },
  },
  status: { allocatable: capacity, capacity },
} as const;

/** Ports nobody listened on a moment ago, all different. */
async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer());
  const ports = await Promise.all(
    servers.map(
      (server) =>
        new Promise<number>((resolve, reject) => {
          server.once("error", reject);
          server.listen(0, "127.0.0.1", () => {
            const address = server.address();
            resolve(typeof address === "object" && address ? address.port : 0);
          });
        }),
    ),
  );
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
