import { type KubeObject, keyOf } from "../../kube/objects.ts";
import type { Stranger } from "../../providers/bind/ports.ts";
import type { ManagedControllerOptions } from "../managed/managed-controller.ts";
import { writeDown } from "../write-down.ts";

type ForeignKeysOptions = Pick<ManagedControllerOptions, "clock" | "events" | "audit" | "logger">;

/** How many are remembered; past that all are forgotten, and told once more. */
const MOST = 1_000;
/** So long a condition tells of one that may have been there for a moment. */
const TOLD_MS = 3_600_000;

const REASON = "ForeignKey";

/**
 * Tells people, the log and the audit log of keys that somebody has written into a ring, each once. Must not: say more of
 * them than their names, which are such that BIND could read them.
 */
export class ForeignKeys {
  readonly #options: ForeignKeysOptions;
  /** By the UID of the RndcKey: when which one was told of. */
  readonly #told = new Map<string, Map<string, { readonly name: string; readonly at: number }>>();

  constructor(options: ForeignKeysOptions) {
    this.#options = options;
  }

  /** The names of those that were there within the hour. */
  async tell(object: KubeObject, keys: readonly Stranger[], signal: AbortSignal): Promise<readonly string[]> {
    const { uid = "" } = object.metadata;
    const now = this.#options.clock.now();
    for (const { id, name } of keys) {
      const told = this.#told.get(uid) ?? new Map();
      if (!told.has(id)) await this.#tellOf(object, { id, name }, signal);
      if (this.#told.size >= MOST) this.#told.clear();
      this.#told.set(uid, told.set(id, { name, at: now }));
    }
    const recent = [...(this.#told.get(uid)?.values() ?? [])].filter(({ at }) => now - at < TOLD_MS);
    if (recent.length === 0) this.#told.delete(uid);
    return [...new Set(recent.map(({ name }) => name))];
  }

  async #tellOf(object: KubeObject, { id, name }: Stranger, signal: AbortSignal): Promise<void> {
    const { events, audit, logger } = this.#options;
    const note = `Somebody has written the key ${name} into the ring, where it is taken out again. Whoever could do that could read the other keys: consider --compromised.`;
    logger.warn("somebody has written a key into a ring", { kind: object.kind, key: keyOf(object.metadata), name });
    writeDown(audit, object, { action: REASON, outcome: "refused", key: { name }, note });
    await events?.record(object, { type: "Warning", reason: REASON, action: "Remove", note, id }, signal);
  }
}
