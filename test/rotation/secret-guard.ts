import { NotFound } from "../../src/kube/errors.ts";
import type { KubeObject } from "../../src/kube/objects.ts";
import type { Kube } from "../../src/kube/port.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { bindingOf, readConnectionSecret } from "./connection-secret.ts";
import type { Mirror } from "./mirror.ts";

const EVERY_MS = 25;

type LetsIn = (credentials: Readonly<Record<string, unknown>>) => boolean;

/**
 * Stands in for every workload: at each change of a connection Secret, and all the time in between, somebody logs in
 * with what it holds. A Secret that is not whole, or whose key is dead while the Secret stays as it is, is written down.
 * Must not: take a watch that lags behind for a dead key; what looks dead is read live before it counts.
 */
export class SecretGuard {
  readonly #kube: Kube;
  readonly #letsIn: LetsIn;
  readonly #problems = new Map<string, string[]>();
  /** Whose Secrets workloads use; those of children that somebody else makes are not among them. */
  readonly #expected = new Set<string>();
  readonly #excused = new Set<string>();
  readonly #beingConfirmed = new Map<string, Promise<void>>();
  #rounds: NodeJS.Timeout | undefined;
  /** How often somebody logged in successfully. */
  logins = 0;

  constructor(kube: Kube, letsIn: LetsIn) {
    this.#kube = kube;
    this.#letsIn = letsIn;
  }

  /** Goes its rounds over all Secrets. */
  start(secrets: Mirror): void {
    this.#rounds = setInterval(() => {
      for (const secret of secrets.list()) this.#logIn(secret);
    }, EVERY_MS);
  }

  async stop(): Promise<void> {
    clearInterval(this.#rounds);
    await Promise.all(this.#beingConfirmed.values());
  }

  /** A state that a Secret was in, however briefly. */
  see(secret: KubeObject): void {
    const owner = this.#ownerOf(secret);
    if (owner === undefined) return;
    if (readConnectionSecret(secret).credentials === undefined) this.#note(owner, `${nameOf(secret)} is not whole`);
    this.#logIn(secret);
  }

  /** From now on workloads use the Secrets of this binding. */
  expectOf(binding: string): void {
    this.#expected.add(binding);
  }

  /** From now on nothing is expected of the Secrets of this binding: somebody has damaged them, or is taking them away. */
  excuse(binding: string): void {
    this.#excused.add(binding);
  }

  expectAgain(binding: string): void {
    this.#excused.delete(binding);
  }

  problemsOf(binding: string): readonly string[] {
    return this.#problems.get(binding) ?? [];
  }

  #logIn(secret: KubeObject): void {
    const owner = this.#ownerOf(secret);
    if (owner === undefined || this.#beingConfirmed.has(nameOf(secret))) return;
    if (this.#lets(secret)) this.logins++;
    else this.#beingConfirmed.set(nameOf(secret), this.#confirm(secret, owner));
  }

  /** The binding of which something is expected; undefined where nothing is. */
  #ownerOf(secret: KubeObject): string | undefined {
    const owner = bindingOf(secret);
    return owner !== undefined && this.#expected.has(owner) && !this.#excused.has(owner) ? owner : undefined;
  }

  #lets(secret: KubeObject): boolean {
    const { credentials } = readConnectionSecret(secret);
    return credentials !== undefined && this.#letsIn(credentials);
  }

  /** Dead is a key that does not let in between two reads that show the same Secret. */
  async #confirm(secret: KubeObject, owner: string): Promise<void> {
    try {
      const before = await this.#read(secret);
      const isDead = before !== undefined && !this.#lets(before);
      const after = isDead ? await this.#read(secret) : undefined;
      const isUnchanged = after?.metadata.resourceVersion === before?.metadata.resourceVersion;
      if (!isDead || !isUnchanged || this.#excused.has(owner)) return;
      this.#note(owner, `${nameOf(secret)} holds the key ${readConnectionSecret(before).keyId}, which is dead`);
    } finally {
      this.#beingConfirmed.delete(nameOf(secret));
    }
  }

  async #read(secret: KubeObject): Promise<KubeObject | undefined> {
    const { namespace = "", name } = secret.metadata;
    try {
      return await this.#kube.get(secretType, { namespace, name });
    } catch (error) {
      if (error instanceof NotFound) return undefined;
      throw error;
    }
  }

  #note(owner: string, problem: string): void {
    const known = this.#problems.get(owner) ?? [];
    if (!known.includes(problem)) this.#problems.set(owner, [...known, problem]);
  }
}

const nameOf = ({ metadata }: KubeObject): string => `the Secret ${metadata.namespace}/${metadata.name}`;
