import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { providerConfig } from "../../src/api/btp/provider-config.ts";
import { serviceBinding } from "../../src/api/btp/service-binding.ts";
import type { SandboxPlace } from "../../src/cli/sandbox/sandbox-place.ts";
import { NODE_OPTIONS } from "../../src/install/deployment.ts";
import { apiVersionOf, type KubeObject } from "../../src/kube/objects.ts";
import type { Kube } from "../../src/kube/port.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { namespaces } from "../conformance/kinds.ts";
import { installDefinitions } from "../operator/bindings.ts";
import { connect } from "../support/connect.ts";
import { eventually } from "../support/eventually.ts";
import { type KeyturnOperator, startKeyturnOperator } from "../support/keyturn-operator.ts";
import { type KeyturnProcess, SOURCE_MAIN, startKeyturn } from "../support/keyturn-process.ts";
import { SandboxClient } from "../support/sandbox-client.ts";
import { takeLease } from "./foreign-lease.ts";

/** Where the Secrets of the bench are, and the name of its ProviderConfig. */
export const BENCH = "bench";
const LOOK_EVERY_MS = 500;

export interface RotationWorldOptions {
  readonly kubeconfig: string;
  /** The way to the server for operators, where it is not the straight one. */
  readonly operatorKubeconfig?: string;
  /** Which `keyturn` is measured; that of the source where absent. */
  readonly main?: string;
}

/**
 * What rotation is measured on: an API server that somebody else started, a sandbox Service Manager and an operator, each
 * a process of its own, and a ProviderConfig that leads from the one to the other. Must not: help the operator in any way.
 */
export class RotationWorld {
  readonly kube: Kube;
  readonly sandbox: SandboxClient;
  readonly #options: RotationWorldOptions;
  readonly #folder: string;
  readonly #sandboxProcess: KeyturnProcess<{ readonly sandbox: SandboxPlace }>;
  #operator: KeyturnOperator | undefined;

  static async open(options: RotationWorldOptions): Promise<RotationWorld> {
    const folder = mkdtempSync(join(tmpdir(), "keyturn-bench-"));
    const sandboxProcess = await startKeyturn<{ readonly sandbox: SandboxPlace }>({
      words: ["sandbox"],
      readyFile: join(folder, "sandbox.json"),
      main: options.main ?? SOURCE_MAIN,
    });
    const world = new RotationWorld(options, await connect(options.kubeconfig, BENCH), { folder, sandboxProcess });
    await world.#populate();
    return world;
  }

  private constructor(
    options: RotationWorldOptions,
    kube: Kube,
    own: { readonly folder: string; readonly sandboxProcess: KeyturnProcess<{ readonly sandbox: SandboxPlace }> },
  ) {
    this.kube = kube;
    this.#options = options;
    this.#folder = own.folder;
    this.#sandboxProcess = own.sandboxProcess;
    this.sandbox = new SandboxClient(own.sandboxProcess.ready.sandbox);
  }

  get operator(): KeyturnOperator {
    if (this.#operator === undefined) throw new Error("no operator is running");
    return this.#operator;
  }

  /** Ends the operator that is there, if any, and starts another one; resolves when it is ready. */
  async startOperator(flags: readonly string[]): Promise<KeyturnOperator> {
    await this.stopOperator();
    const { kubeconfig, operatorKubeconfig = kubeconfig, main = SOURCE_MAIN } = this.#options;
    // As `keyturn manifests` has it run.
    const environment = { NODE_OPTIONS };
    const after = (): void => {};
    const operator = startKeyturnOperator({ kubeconfig: operatorKubeconfig, flags, main, environment, after });
    this.#operator = operator;
    await operator.ready();
    return operator;
  }

  /** One that has all its watches open and works on nothing, because the Lease is somebody else's. */
  async startStandby(flags: readonly string[]): Promise<void> {
    await this.startOperator([...flags, ...(await takeLease(this.kube))]);
  }

  async stopOperator(): Promise<void> {
    const operator = this.#operator;
    this.#operator = undefined;
    if (operator && !operator.hasEnded) await operator.stop("SIGTERM");
  }

  /** Waits until the operator looks after so many credentials, and all of them are in order. */
  async untilHealthy(count: number, patienceMs: number): Promise<void> {
    const kind = `{kind="${serviceBinding.kind}"}`;
    await this.untilMetrics(`${count} bindings to be in order`, patienceMs, (metrics) => {
      const isAll = metrics.get(`keyturn_credentials${kind}`) === count;
      return isAll && metrics.get(`keyturn_credentials_unhealthy${kind}`) === 0;
    });
  }

  /** Waits until nothing is left to do now. */
  async untilIdle(patienceMs: number): Promise<void> {
    const states = ["person", "drift", "running"].map(
      (state) => `keyturn_queue_depth{controller="btp",state="${state}"}`,
    );
    await this.untilMetrics("the operator to be idle", patienceMs, (metrics) =>
      states.every((state) => metrics.get(state) === 0),
    );
  }

  /** Looks seldom: to tell of thousands of credentials takes the operator a while, too. */
  async untilMetrics(
    what: string,
    patienceMs: number,
    isSo: (metrics: ReadonlyMap<string, number>) => boolean,
  ): Promise<void> {
    const probe = async () => {
      if (isSo(await this.operator.metrics())) return true;
      await sleep(LOOK_EVERY_MS);
      return undefined;
    };
    await eventually(what, probe, patienceMs);
  }

  async close(): Promise<void> {
    await this.stopOperator();
    await this.kube.close();
    await this.#sandboxProcess.stop("SIGTERM");
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #populate(): Promise<void> {
    const { kube } = this;
    await installDefinitions(kube);
    await kube.create<KubeObject>(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: BENCH } });
    const { body: credentials } = await this.sandbox.control("POST", "clients");
    const secretRef = { namespace: BENCH, name: "service-manager" };
    const stringData = { credentials: JSON.stringify(credentials) };
    await kube.create<KubeObject>(secretType, { apiVersion: "v1", kind: "Secret", metadata: secretRef, stringData });
    const config = {
      apiVersion: apiVersionOf(providerConfig),
      kind: providerConfig.kind,
      metadata: { name: BENCH },
      spec: { serviceManagerSecret: { source: "Secret", secretRef: { ...secretRef, key: "credentials" } } },
    };
    await eventually("the kinds to be served", () =>
      kube.create<KubeObject>(providerConfig, config).catch(() => undefined),
    );
  }
}
