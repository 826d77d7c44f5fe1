import { spawn } from "node:child_process";
import type { Random } from "../../src/base/random.ts";
import { AlreadyExists, NotServed } from "../../src/kube/errors.ts";
import type { KubeObject, ResourceType } from "../../src/kube/objects.ts";
import type { Kube, WatchOptions } from "../../src/kube/port.ts";
import { eventually } from "../support/eventually.ts";
import { at } from "./expectations.ts";
import { customResourceDefinitions, namespaces, serviceAccounts } from "./kinds.ts";
import { type KindOptions, kindManifest } from "./manifests.ts";
import { Watching } from "./watching.ts";
import type { Wire } from "./wire.ts";

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface KubectlOptions {
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Called with the whole lines printed so far; returning true ends the command. For the ones that never end. */
  readonly until?: (stdout: string) => boolean;
}

export interface WorldOptions {
  readonly kube: Kube;
  readonly wire: Wire;
  readonly stranger: Wire;
  readonly random: Random;
  readonly kubectl?: { readonly command: string; readonly env: Readonly<Record<string, string>> };
  /** Kinds that several behaviours share, made once per run. */
  readonly sharedKinds: Map<string, Promise<ResourceType>>;
  /** Everything to take away at the end of the run. */
  readonly made: { readonly type: ResourceType; readonly name: string }[];
}

const kubectlPatienceMs = 30_000;

/**
 * What one behaviour works with: the server through the port, over the wire and over kubectl, a namespace and names of
 * its own. Must not: be shared by two behaviours.
 */
export class World {
  readonly kube: Kube;
  readonly wire: Wire;
  /** Speaks with a token that the server does not know. */
  readonly stranger: Wire;
  readonly #options: WorldOptions;
  readonly #watches: Watching[] = [];
  #namespace: Promise<string> | undefined;

  constructor(options: WorldOptions) {
    this.kube = options.kube;
    this.wire = options.wire;
    this.stranger = options.stranger;
    this.#options = options;
  }

  /** A name nobody else has. */
  unique(prefix: string): string {
    const digits = Math.floor(this.#options.random.next() * 36 ** 6).toString(36);
    return `${prefix}-${digits.padStart(6, "0")}`;
  }

  /** The behaviour's own namespace, made when it is first asked for. */
  namespace(): Promise<string> {
    this.#namespace ??= this.#makeNamespace();
    return this.#namespace;
  }

  /** The namespace once pods can be made in it: the server refuses them before the ServiceAccount is there. */
  async podNamespace(): Promise<string> {
    const namespace = await this.namespace();
    await eventually("the default ServiceAccount", async () => {
      const { items } = await this.kube.list(serviceAccounts, { namespace });
      return items.some((account) => account.metadata.name === "default") || undefined;
    });
    return namespace;
  }

  watch(type: ResourceType, options: WatchOptions): Watching {
    const watching = new Watching(this.kube, type, options);
    this.#watches.push(watching);
    return watching;
  }

  /** Installs a kind of the behaviour's own and waits until it is served. */
  defineKind(options: KindOptions): Promise<ResourceType> {
    return this.#define(this.unique("k"), options);
  }

  /** A kind that is made once per run and shared by all who ask for it under this name. */
  sharedKind(name: string, options: KindOptions): Promise<ResourceType> {
    const known = this.#options.sharedKinds.get(name);
    if (known) return known;
    const made = this.#define(this.unique(name), options);
    this.#options.sharedKinds.set(name, made);
    return made;
  }

  /** A group for a CRD of the behaviour's own. */
  group(): string {
    return `${this.unique("g")}.conformance.keyturn.dev`;
  }

  /** Takes the cluster-scoped object away at the end of the run, also where the behaviour failed. */
  removeAtEnd(type: ResourceType, name: string): void {
    this.#options.made.push({ type, name });
  }

  /** Runs kubectl in the behaviour's namespace. */
  async kubectl(args: readonly string[], options: KubectlOptions = {}): Promise<Finished> {
    const kubectl = this.#options.kubectl;
    if (!kubectl) throw new Error("this behaviour needs kubectl; its group must say so");
    const command = ["--namespace", await this.namespace(), ...args];
    return runToEnd(kubectl.command, command, { ...options, env: { ...kubectl.env, ...options.env } });
  }

  close(): void {
    for (const watching of this.#watches) watching.close();
  }

  async #makeNamespace(): Promise<string> {
    const name = this.unique("conformance");
    this.removeAtEnd(namespaces, name);
    await this.kube.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
    return name;
  }

  async #define(unique: string, options: KindOptions): Promise<ResourceType> {
    const group = options.group ?? `${unique}.conformance.keyturn.dev`;
    const { manifest, type } = kindManifest(group, options);
    this.removeAtEnd(customResourceDefinitions, manifest.metadata.name);
    await this.kube.create(customResourceDefinitions, manifest).catch((error: unknown) => {
      if (!(error instanceof AlreadyExists)) throw error;
    });
    await this.untilServed(type);
    return type;
  }

  async untilServed(type: ResourceType): Promise<void> {
    await eventually(`${type.kind} to be established`, async () => {
      const definition = await this.kube.get(customResourceDefinitions, { name: `${type.plural}.${type.group}` });
      return isTrue(definition, "Established") || undefined;
    });
    await eventually(`${type.kind} to be served`, async () => {
      return this.kube.list(type, { limit: 1 }).catch((error: unknown) => {
        if (error instanceof NotServed) return undefined;
        throw error;
      });
    });
  }
}

/** Whether a condition of the object is True. */
export function isTrue(object: KubeObject, condition: string): boolean {
  const conditions = at(object, "status", "conditions");
  return Array.isArray(conditions) && conditions.some((c) => at(c, "type") === condition && at(c, "status") === "True");
}

function runToEnd(command: string, args: readonly string[], options: KubectlOptions): Promise<Finished> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { env: { ...options.env }, stdio: ["pipe", "pipe", "pipe"] });
    const timer = setTimeout(() => child.kill("SIGKILL"), kubectlPatienceMs);
    let [stdout, stderr] = ["", ""];
    child.stdout.on("data", (chunk: Buffer) => {
      stdout += chunk.toString();
      if (options.until?.(stdout.slice(0, stdout.lastIndexOf("\n") + 1))) child.kill("SIGTERM");
    });
    child.stderr.on("data", (chunk: Buffer) => {
      stderr += chunk.toString();
    });
    child.on("error", reject);
    child.on("close", (code) => {
      clearTimeout(timer);
      resolve({ code, stdout, stderr });
    });
    child.stdin.on("error", () => {});
    child.stdin.end(options.input ?? "");
  });
}
