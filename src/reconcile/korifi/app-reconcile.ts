import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import type { Finding } from "../../korifi/finding.ts";
import { Conflict } from "../../kube/errors.ts";
import type { Outcome, Reconcile } from "../../runtime/workers.ts";
import { addressOf } from "../managed/managed-caches.ts";
import { type AppSecrets, ownFindings } from "./app-secrets.ts";
import type { Strangers } from "./strangers.ts";

export interface AppReconcileOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly apps: Pick<AppSecrets, "look" | "isAsKnown" | "isOver">;
  readonly strangers: Pick<Strangers, "leaveAlone">;
}

/** The watch brings what somebody else wrote; this is for a watch that does not. */
const CONFLICT_MS = 1000;
/** What keeps a name from us is mostly nothing that is watched. */
const TROUBLE_MS = 60_000;
/** Services that change together are written together: so long is waited for others after the first. */
const GATHER_MS = 200;
/** What changes still later is not written before so long has passed since. */
const PAUSE_MS = 1000;

/** An application, by its name: there need not be an object for it. What is wrong is said at its bindings, and in the log. */
export function createAppReconcile({ clock, logger, apps, strangers }: AppReconcileOptions): Reconcile {
  const turns = new AppTurns(clock);
  const told = new Map<string, string>();
  const tell = (key: string, findings: readonly Finding[]): void => {
    const words = findings.map(({ message }) => message).join("; ");
    if (words !== "" && told.get(key) !== words) logger.warn("VCAP_SERVICES is not written", { key, reason: words });
    if (words === "") told.delete(key);
    else told.set(key, words);
  };
  return async (key, signal): Promise<Outcome> => {
    const { namespace, name } = addressOf(key);
    const alone = await strangers.leaveAlone(namespace, signal);
    if (alone) return alone;
    if (!turns.isWaiting(key) && !apps.isAsKnown(namespace, name)) turns.begin(key);
    const waitMs = turns.waitMs(key);
    if (waitMs > 0) return { kind: "recheck", at: clock.now() + waitMs };
    try {
      const look = await apps.look(namespace, name, signal);
      turns.looked(key, look.isWritten);
      const own = ownFindings(look);
      tell(key, own);
      if (own.length > 0) return { kind: "recheck", at: clock.now() + TROUBLE_MS };
      return { kind: "settled", ...(apps.isOver(namespace, name) && { isOver: true }) };
    } catch (error) {
      if (error instanceof Conflict) return { kind: "recheck", at: clock.now() + CONFLICT_MS };
      throw error;
    }
  };
}

/** When it is an application's turn. */
class AppTurns {
  readonly #clock: Clock;
  /** Monotonic, by key: when something else was to be written for the first time since. */
  readonly #changedAt = new Map<string, number>();
  readonly #writtenAt = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  isWaiting(key: string): boolean {
    return this.#changedAt.has(key);
  }

  begin(key: string): void {
    this.#changedAt.set(key, this.#clock.monotonic());
  }

  /** None where nobody waits. */
  waitMs(key: string): number {
    const changedAt = this.#changedAt.get(key);
    if (changedAt === undefined) return 0;
    const nowAt = this.#clock.monotonic();
    return Math.max(changedAt + GATHER_MS - nowAt, this.#pauseMs(key, nowAt));
  }

  looked(key: string, isWritten: boolean): void {
    const nowAt = this.#clock.monotonic();
    this.#changedAt.delete(key);
    if (isWritten) this.#writtenAt.set(key, nowAt);
    else if (this.#pauseMs(key, nowAt) <= 0) this.#writtenAt.delete(key);
  }

  #pauseMs(key: string, nowAt: number): number {
    const writtenAt = this.#writtenAt.get(key);
    return writtenAt === undefined ? 0 : writtenAt + PAUSE_MS - nowAt;
  }
}
