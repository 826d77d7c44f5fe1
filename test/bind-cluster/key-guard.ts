import { Buffer } from "node:buffer";
import { Redacted } from "../../src/base/redacted.ts";
import { readKeyFields } from "../../src/bind/key-fields.ts";
import { ifFound } from "../../src/kube/if-found.ts";
import { type KubeObject, keyOf, type ObjectRef } from "../../src/kube/objects.ts";
import type { ObjectReader } from "../../src/kube/port.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { RndcKeyInvalid } from "../../src/rndc/errors.ts";
import type { RndcKey } from "../../src/rndc/key.ts";
import type { Mirror } from "../rotation/mirror.ts";

const EVERY_MS = 60;
const PUBLISHED_LABEL = "keyturn.dev/owner-uid";

/** A pod that somebody logs in at. */
export interface GuardedPod {
  readonly name: string;
  readonly secretRef: ObjectRef;
  readonly isReady: boolean;
  readonly restarts: number;
  accepts(key: RndcKey): Promise<boolean | undefined>;
}

export interface KeyGuardOptions {
  readonly kube: ObjectReader;
  readonly kubelet: { readonly ready: readonly GuardedPod[] };
  readonly secrets: Pick<Mirror, "get">;
}

/**
 * Stands in for everybody who takes a key from a published Secret: again and again, at every named that is ready. A key
 * that one of them refuses while the Secret stays as it is, is written down. Must not: take a watch that lags behind for a
 * lock-out; what looks like one is read live before it counts.
 */
export class KeyGuard {
  /** How often somebody was let in. */
  logins = 0;
  readonly problems: string[] = [];
  readonly #options: KeyGuardOptions;
  readonly #excused = new Set<string>();
  readonly #underWay = new Map<GuardedPod, Promise<void>>();
  readonly #rounds: NodeJS.Timeout;

  constructor(options: KeyGuardOptions) {
    this.#options = options;
    this.#rounds = setInterval(() => this.#goRound(), EVERY_MS);
  }

  /** From now on nothing is expected of this Secret, as `namespace/name`. */
  excuse(secret: string): void {
    this.#excused.add(secret);
  }

  async stop(): Promise<void> {
    clearInterval(this.#rounds);
    await Promise.all(this.#underWay.values());
  }

  #goRound(): void {
    const { kubelet, secrets } = this.#options;
    for (const pod of kubelet.ready) {
      const secret = secrets.get(pod.secretRef);
      if (!secret || this.#underWay.has(pod) || !this.#isExpected(secret)) continue;
      const note = (error: unknown): void => void this.problems.push(`the guard itself: ${error}`);
      const round = this.#logIn(pod, secret).catch(note);
      this.#underWay.set(
        pod,
        round.finally(() => this.#underWay.delete(pod)),
      );
    }
  }

  #isExpected({ metadata }: KubeObject): boolean {
    return metadata.labels?.[PUBLISHED_LABEL] !== undefined && !this.#excused.has(keyOf(metadata));
  }

  async #logIn(pod: GuardedPod, secret: KubeObject): Promise<void> {
    const isLet = await lets(pod, secret);
    if (isLet === true) this.logins++;
    if (isLet === false) await this.#confirm(pod);
  }

  /** Locked out is who is refused between two reads that show the same Secret, by one and the same named. */
  async #confirm(pod: GuardedPod): Promise<void> {
    const { restarts } = pod;
    const before = await this.#read(pod);
    const isRefused = before !== undefined && (await lets(pod, before)) === false;
    const after = isRefused ? await this.#read(pod) : undefined;
    const isUnchanged = after !== undefined && after.metadata.resourceVersion === before?.metadata.resourceVersion;
    if (!isRefused || !isUnchanged || !this.#isExpected(after) || !pod.isReady || pod.restarts !== restarts) return;
    this.problems.push(
      `${pod.name} refuses the key in ${keyOf(after.metadata)}, version ${after.metadata.resourceVersion}`,
    );
  }

  #read({ secretRef }: GuardedPod): Promise<KubeObject | undefined> {
    return ifFound(this.#options.kube.get(secretType, secretRef));
  }
}

async function lets(pod: GuardedPod, secret: KubeObject): Promise<boolean | undefined> {
  const key = keyIn(secret);
  return key === undefined ? undefined : pod.accepts(key);
}

/** The key of a published Secret; undefined where there is none to be read. */
export function keyIn({ data }: KubeObject): RndcKey | undefined {
  try {
    return readKeyFields(new Redacted((data ?? {}) as Readonly<Record<string, string>>)).key;
  } catch (error) {
    if (error instanceof RndcKeyInvalid) return undefined;
    throw error;
  }
}

/** What must not be seen anywhere but in Secrets. */
export function secretIn({ data }: KubeObject): string | undefined {
  const { secret } = (data ?? {}) as Readonly<Record<string, string>>;
  return secret === undefined ? undefined : Buffer.from(secret, "base64").toString();
}
