import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SandboxPlace } from "../../src/cli/sandbox/sandbox-place.ts";
import type { KubeObject } from "../../src/kube/objects.ts";
import type { Kube } from "../../src/kube/port.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import type { IssuedLogin } from "../../src/sandbox/cloud-foundry/tokens.ts";
import { namespaces } from "../conformance/kinds.ts";
import type { Family } from "../families/family.ts";
import { installDefinitions } from "../operator/bindings.ts";
import { connect } from "../support/connect.ts";
import { eventually } from "../support/eventually.ts";
import type { KeyturnOperator } from "../support/keyturn-operator.ts";
import { type KeyturnProcess, SOURCE_MAIN, startKeyturn } from "../support/keyturn-process.ts";
import { BenchOperator } from "./bench-operator.ts";
import { takeLease } from "./foreign-lease.ts";
import { BENCH } from "./many-bindings.ts";

/** What the ready file of `keyturn sandbox` says. */
interface Places {
  readonly sandbox: SandboxPlace;
  readonly cloudFoundry: IssuedLogin;
}

export interface RotationWorldOptions {
  readonly kubeconfig: string;
  /** Whose keys are rotated. */
  readonly family: Family;
  /** The way to the external system for operators, where it is not the straight one. */
  readonly wayOutside?: (url: string) => Promise<string>;
  /** The way to the server for operators, where it is not the straight one. */
  readonly operatorKubeconfig?: string;
  /** Which `keyturn` is measured; that of the source where absent. */
  readonly main?: string;
}

/**
 * What rotation is measured on: an API server that somebody else started, a sandbox and an operator, each a process of its
 * own, and a ProviderConfig that leads from the one to the other. Must not: help the operator in any way.
 */
export class RotationWorld {
  readonly kube: Kube;
  readonly family: Family;
  readonly #options: RotationWorldOptions;
  readonly #folder: string;
  readonly #sandboxProcess: KeyturnProcess<Places>;
  readonly #operator: BenchOperator;
  readonly #ends = new AsyncDisposableStack();

  static async open(options: RotationWorldOptions): Promise<RotationWorld> {
    const folder = mkdtempSync(join(tmpdir(), "keyturn-bench-"));
    const sandboxProcess = await startKeyturn<Places>({
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
    own: { readonly folder: string; readonly sandboxProcess: KeyturnProcess<Places> },
  ) {
    this.kube = kube;
    this.family = options.family;
    this.#options = options;
    this.#operator = new BenchOperator(options.main ?? SOURCE_MAIN);
    this.#folder = own.folder;
    this.#sandboxProcess = own.sandboxProcess;
  }

  get operator(): KeyturnOperator {
    return this.#operator.running;
  }

  /** Ends the operator that is there, if any, and starts another one; resolves when it is ready. */
  async startOperator(flags: readonly string[]): Promise<KeyturnOperator> {
    const { kubeconfig, operatorKubeconfig = kubeconfig } = this.#options;
    return this.#operator.start(operatorKubeconfig, flags);
  }

  /** One that has all its watches open and works on nothing, because the Lease is somebody else's. */
  async startStandby(flags: readonly string[]): Promise<void> {
    await this.startOperator([...flags, ...(await takeLease(this.kube))]);
  }

  async stopOperator(): Promise<void> {
    await this.#operator.stop();
  }

  /** Waits until the operator looks after so many credentials, and all of them are in order. */
  async untilHealthy(count: number, patienceMs: number): Promise<void> {
    const kind = `{kind="${this.family.type.kind}"}`;
    await this.untilMetrics(`${count} bindings to be in order`, patienceMs, (metrics) => {
      const isAll = metrics.get(`keyturn_credentials${kind}`) === count;
      return isAll && metrics.get(`keyturn_credentials_unhealthy${kind}`) === 0;
    });
  }

  /** Waits until nothing is left to do now. */
  async untilIdle(patienceMs: number): Promise<void> {
    await this.#operator.untilIdle(patienceMs);
  }

  async untilMetrics(
    what: string,
    patienceMs: number,
    isSo: (metrics: ReadonlyMap<string, number>) => boolean,
  ): Promise<void> {
    await this.#operator.untilMetrics(what, patienceMs, isSo);
  }

  /** A control of the sandbox, for people with curl; what it answers. */
  async control(method: string, path: string, json?: unknown): Promise<Readonly<Record<string, unknown>>> {
    const answer = await fetch(`${this.#sandboxUrl()}/sandbox/${path}`, {
      method,
      ...(json !== undefined && { body: JSON.stringify(json) }),
    });
    if (!answer.ok) throw new Error(`${method} ${path} at the sandbox: ${answer.status}`);
    return (await answer.json()) as Readonly<Record<string, unknown>>;
  }

  /** The names of the keys that exist at the sandbox. */
  async keysOutside(): Promise<readonly string[]> {
    const { bindings } = await this.control("GET", "state");
    return (bindings as readonly { readonly name: string }[]).map(({ name }) => name);
  }

  async close(): Promise<void> {
    await this.stopOperator();
    await this.#ends.disposeAsync();
    await this.kube.close();
    await this.#sandboxProcess.stop("SIGTERM");
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #populate(): Promise<void> {
    const { kube, family } = this;
    await installDefinitions(kube);
    await kube.create<KubeObject>(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: BENCH } });
    const metadata = { namespace: BENCH, name: "credentials" };
    const stringData = { credentials: JSON.stringify(await this.#login()) };
    await kube.create<KubeObject>(secretType, { apiVersion: "v1", kind: "Secret", metadata, stringData });
    const config = family.config(BENCH, { ...metadata, key: "credentials" });
    await eventually("the kinds to be served", () =>
      kube.create<KubeObject>(family.configType, config).catch(() => undefined),
    );
    const { cloudFoundry: login } = this.#sandboxProcess.ready;
    const end = await family.surround?.({ kube, namespace: BENCH, login, operator: undefined });
    if (end) this.#ends.defer(end);
  }

  /** A log-in of its own, at the address that the operator is to use. */
  async #login(): Promise<object> {
    const { wayOutside } = this.#options;
    const issued = await this.control("POST", LOGINS[this.family.standIn], {});
    if (!wayOutside) return issued;
    const url = this.#sandboxUrl();
    return JSON.parse(JSON.stringify(issued).replaceAll(url, await wayOutside(url))) as object;
  }

  #sandboxUrl(): string {
    const { sandbox, cloudFoundry } = this.#sandboxProcess.ready;
    return this.family.standIn === "serviceManager" ? sandbox.url : cloudFoundry.apiEndpoint;
  }
}

/** Where a sandbox gives out log-ins. */
const LOGINS = { serviceManager: "clients", cloudFoundry: "logins" } as const;
