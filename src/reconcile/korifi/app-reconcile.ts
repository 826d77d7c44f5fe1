import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import type { Finding } from "../../korifi/finding.ts";
import { Conflict } from "../../kube/errors.ts";
import type { Outcome, Reconcile } from "../../runtime/workers.ts";
import { addressOf } from "../managed/managed-caches.ts";
import type { AppSecrets } from "./app-secrets.ts";
import type { Strangers } from "./strangers.ts";

export interface AppReconcileOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly apps: AppSecrets;
  readonly strangers: Strangers;
}

/** The watch brings what somebody else wrote; this is for a watch that does not. */
const CONFLICT_MS = 1000;
/** What keeps a name from us is mostly nothing that is watched. */
const TROUBLE_MS = 60_000;
/** Services that change together are written together: the first at once, the others when so long has passed. */
const PAUSE_MS = 1000;

/** An application, by its name: there need not be an object for it, so what is wrong is told in the log. */
export function createAppReconcile({ clock, logger, apps, strangers }: AppReconcileOptions): Reconcile {
  const pausedUntil = new Map<string, number>();
  const told = new Map<string, string>();
  const tell = (key: string, findings: readonly Finding[]): void => {
    const words = findings.map(({ message }) => message).join("; ");
    if (words !== "" && told.get(key) !== words) logger.warn("VCAP_SERVICES is not written", { key, reason: words });
    if (words === "") told.delete(key);
    else told.set(key, words);
  };
  return async (key, signal): Promise<Outcome> => {
    const alone = await strangers.leaveAlone(signal);
    if (alone) return alone;
    const { namespace, name } = addressOf(key);
    const pauseAt = pausedUntil.get(key);
    if (pauseAt !== undefined && clock.monotonic() < pauseAt) {
      return { kind: "recheck", at: clock.now() + pauseAt - clock.monotonic() };
    }
    pausedUntil.delete(key);
    try {
      const { findings, isWritten } = await apps.look(namespace, name, signal);
      if (isWritten) pausedUntil.set(key, clock.monotonic() + PAUSE_MS);
      // What is said at the bindings themselves is not said again.
      const own = findings.filter(({ reason }) => reason !== "BindingNotReady");
      tell(key, own);
      if (own.length > 0) return { kind: "recheck", at: clock.now() + TROUBLE_MS };
      return { kind: "settled", ...(apps.isOver(namespace, name) && { isOver: true }) };
    } catch (error) {
      if (error instanceof Conflict) return { kind: "recheck", at: clock.now() + CONFLICT_MS };
      throw error;
    }
  };
}
