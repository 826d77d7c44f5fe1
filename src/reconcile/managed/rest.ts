import type { Clock } from "../../base/clock.ts";
import { keyOf, type ObjectMeta } from "../../kube/objects.ts";
import { compareResourceVersions, isOlder } from "../../kube/resource-version.ts";
import type { SecretAddress, SecretContent } from "../../publish/secret-publisher.ts";
import type { Outcome } from "../../runtime/workers.ts";
import type { ManagedSpec } from "./managed-kind.ts";

/**
 * What the watches know, which may be behind. Only ever a reason to look again or not to: whatever is written is decided
 * on live reads.
 */
export interface Known {
  /** The resourceVersion of a resource; undefined when none was seen. */
  resource(key: string): string | undefined;
  /** The resourceVersion of a published Secret; undefined when none was seen. */
  secret(address: SecretAddress): string | undefined;
  /** Up to where the watch of Secrets has come. */
  secretPosition(): string;
  /** False where Secrets are not watched: one is read in every pass, and left alone until the next. */
  readonly seesSecrets?: boolean;
  /** Differs when anything else that the resource is made from may have changed: its ProviderConfig, its instance. */
  inputs(key: string): string;
}

interface Rest {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly inputs: string;
  /** On the clock that never jumps: what a wrong clock said must not last longer than it was wrong. */
  readonly untilTick: number;
  readonly address: SecretAddress | undefined;
  readonly secret: SecretContent | undefined;
  readonly isSure: boolean;
}

export interface Rested {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly spec: ManagedSpec;
  readonly secret: SecretContent | undefined;
  readonly outcome: Outcome;
  /** As it was before the pass looked at anything. */
  readonly inputs: string;
  /**
   * The pass has looked outside and could act on what it saw, or went on from one that had: the status that it left is not
   * from the past.
   */
  readonly isSure: boolean;
}

export interface RestsOptions {
  readonly clock: Clock;
  /** No rest is longer. */
  readonly longestMs: number;
  /** Absent: nothing is remembered. */
  readonly known: Known | undefined;
}

/**
 * Where resources came to rest, so that the echo of our own writes costs no request and a Secret that nobody touched is not
 * read again. Forgetting is always safe. Must not: be trusted for a write.
 */
export class Rests {
  readonly #clock: Clock;
  readonly #longestMs: number;
  readonly #known: Known | undefined;
  readonly #rests = new Map<string, Rest>();

  constructor({ clock, longestMs, known }: RestsOptions) {
    this.#clock = clock;
    this.#longestMs = longestMs;
    this.#known = known;
  }

  inputs(key: string): string {
    return this.#known?.inputs(key) ?? "";
  }

  /** The outcome of the last pass if nothing has happened since, as far as the watches know. */
  outcome(key: string): Outcome | undefined {
    const rest = this.#rests.get(key);
    const seen = this.#known?.resource(key);
    const leftMs = rest ? rest.untilTick - this.#clock.monotonic() : 0;
    if (!this.#known || !rest || seen === undefined || leftMs <= 0) return undefined;
    const isUndisturbed =
      isUpTo(seen, rest.resourceVersion) &&
      rest.inputs === this.#known.inputs(key) &&
      (rest.address === undefined || this.#isUntouched(rest.address, rest.secret));
    return isUndisturbed ? { kind: "recheck", at: this.#clock.now() + leftMs } : undefined;
  }

  /** What the Secret holds if it is the one of the last pass; undefined when it has to be read. */
  secret(key: string, uid: string, address: SecretAddress): SecretContent | undefined {
    const rest = this.#rests.get(key);
    if (this.#known?.seesSecrets === false) return undefined;
    if (!rest?.secret || rest.uid !== uid || !rest.address || keyOf(rest.address) !== keyOf(address)) return undefined;
    return this.#isUntouched(address, rest.secret) ? rest.secret : undefined;
  }

  /** Whether the last pass left the resource in exactly this state, and knew it to be the latest. */
  isContinued(key: string, { uid, resourceVersion }: ObjectMeta): boolean {
    const rest = this.#rests.get(key);
    return rest?.isSure === true && rest.uid === uid && rest.resourceVersion === resourceVersion;
  }

  remember(key: string, rested: Rested): void {
    if (!this.#known) return;
    const { uid, resourceVersion, spec, secret, outcome, inputs, isSure } = rested;
    const wantedMs = outcome.kind === "recheck" ? outcome.at - this.#clock.now() : Infinity;
    const untilTick = this.#clock.monotonic() + Math.min(wantedMs, this.#longestMs);
    const address = spec.secret && { namespace: spec.secret.namespace, name: spec.secret.name };
    this.#rests.set(key, { uid, resourceVersion, inputs, untilTick, address, secret, isSure });
  }

  forget(key: string): void {
    this.#rests.delete(key);
  }

  #isUntouched(address: SecretAddress, secret: SecretContent | undefined): boolean {
    const known = this.#known;
    if (!known) return false;
    if (known.seesSecrets === false) return true;
    const seen = known.secret(address);
    if (!secret) return seen === undefined;
    // Missing from a watch that has come past it means that it is gone.
    if (seen === undefined) return isOlder(known.secretPosition(), secret.resourceVersion);
    return isUpTo(seen, secret.resourceVersion);
  }
}

/** What the watch shows is what the pass left, or still older; versions that cannot be compared must be the same. */
const isUpTo = (seen: string, left: string): boolean => seen === left || (compareResourceVersions(seen, left) ?? 1) < 0;
