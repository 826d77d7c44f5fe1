import { backoff, KeyturnError } from "../base/errors.ts";
import type { Random } from "../base/random.ts";
import { AlreadyExists, Conflict, NotFound } from "../kube/errors.ts";
import type { KubeObject } from "../kube/objects.ts";
import type { Kube } from "../kube/port.ts";
import { ensureOwnKey, keyIn } from "../publish/own-key.ts";
import { secretType } from "../publish/secret-publisher.ts";
import { type Anchor, type AnchorList, printAnchors, readAnchors, withAnchor } from "./anchor.ts";
import { ChainKey } from "./chain.ts";

/** The operator's own Secrets: what lines are hashed with, and how far chains have come. */
export const KEY_SECRET = "keyturn-audit-key";
export const ANCHOR_SECRET = "keyturn-audit-anchor";
const ANCHORS = "anchors.json";
const REMEDY = "put it back from a backup; without it, what was written cannot be verified any more";
const damaged = (what: string): KeyturnError =>
  new KeyturnError("AuditKeyDamaged", `${what}: ${REMEDY}`, { retry: backoff });
/** Other processes write their anchors too, each now and then. */
const MOST_TRIES = 5;

export interface LedgerOptions {
  readonly kube: Kube;
  /** Where the operator keeps what is its own. */
  readonly namespace: string;
}

interface Stored extends AnchorList {
  /** Undefined: there is no Secret yet. */
  readonly secret: KubeObject | undefined;
}

/**
 * Keeps anchors in a Secret, each written at the version that was read: nobody's is lost. Must not: take an anchor back, or
 * write more than was asked for.
 */
export class AuditLedger {
  readonly #options: LedgerOptions;
  readonly #key: ChainKey;
  /** As last seen; a process that writes alone need not read again. */
  #stored: Stored | undefined;

  private constructor(options: LedgerOptions, key: ChainKey) {
    this.#options = options;
    this.#key = key;
  }

  /** Makes the key where there is none. */
  static async open(options: LedgerOptions & { readonly random: Random }, signal: AbortSignal): Promise<AuditLedger> {
    const key = await ensureOwnKey({ ...options, name: KEY_SECRET, damaged, signal });
    return new AuditLedger(options, new ChainKey(key));
  }

  /** For whoever only verifies. Throws `NotFound` where nothing was ever written. */
  static async find({ kube, namespace }: LedgerOptions): Promise<AuditLedger> {
    const secret = await kube.get(secretType, { namespace, name: KEY_SECRET });
    return new AuditLedger({ kube, namespace }, new ChainKey(keyIn(secret, { damaged })));
  }

  get key(): ChainKey {
    return this.#key;
  }

  async read(signal?: AbortSignal): Promise<AnchorList> {
    const { kube, namespace } = this.#options;
    try {
      const secret = await kube.get(secretType, { namespace, name: ANCHOR_SECRET }, signal ? { signal } : {});
      this.#stored = { ...this.#listIn(secret), secret };
    } catch (error) {
      if (!(error instanceof NotFound)) throw error;
      this.#stored = { anchors: [], damaged: 0, secret: undefined };
    }
    return this.#stored;
  }

  /** What is there besides stays, but for what somebody else has put there. */
  async put(anchor: Anchor, signal: AbortSignal): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      if (!this.#stored) await this.read(signal);
      try {
        return await this.#write(withAnchor(this.#stored?.anchors ?? [], anchor), signal);
      } catch (error) {
        this.#stored = undefined;
        const isOvertaken = error instanceof Conflict || error instanceof AlreadyExists || error instanceof NotFound;
        if (!isOvertaken || attempt === MOST_TRIES) throw error;
      }
    }
  }

  async #write(anchors: readonly Anchor[], signal: AbortSignal): Promise<void> {
    const { kube, namespace } = this.#options;
    const data = { [ANCHORS]: Buffer.from(printAnchors(this.#key, anchors)).toString("base64") };
    const before = this.#stored?.secret;
    const labels = { "app.kubernetes.io/part-of": "keyturn" };
    const secret = before
      ? await kube.replace<KubeObject>(secretType, { ...before, data }, { signal })
      : await kube.create<KubeObject>(
          secretType,
          {
            apiVersion: "v1",
            kind: "Secret",
            metadata: { namespace, name: ANCHOR_SECRET, labels },
            type: "Opaque",
            data,
          },
          { signal },
        );
    this.#stored = { anchors, damaged: 0, secret };
  }

  #listIn(secret: KubeObject): AnchorList {
    const { data } = secret as { readonly data?: Readonly<Record<string, string>> };
    return readAnchors(this.#key, Buffer.from(data?.[ANCHORS] ?? "", "base64").toString());
  }
}
