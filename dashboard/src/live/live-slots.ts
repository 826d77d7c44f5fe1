/**
 * Which of the pages that are in sight at a time may hold a stream. Of six connections to a server, which is what browsers
 * open, two are left for everything else. What a page holds goes with it, however it ends. Must not: keep a page out where the
 * browser has no locks, as on plain HTTP by a name.
 */
export interface Locks {
  request(
    name: string,
    options: { readonly ifAvailable: true },
    hold: (lock: unknown) => Promise<void> | undefined,
  ): Promise<unknown>;
}

const SLOTS = ["keyturn-live-1", "keyturn-live-2", "keyturn-live-3", "keyturn-live-4"];

/** Held until the signal aborts; false where all are taken. */
export async function takeSlot(locks: Locks | undefined, signal: AbortSignal): Promise<boolean> {
  if (!locks) return true;
  for (const name of SLOTS) if (await take(locks, name, signal)) return true;
  return false;
}

function take(locks: Locks, name: string, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const hold = (lock: unknown): Promise<void> | undefined => {
      resolve(lock !== null);
      if (lock === null || signal.aborted) return undefined;
      return new Promise((release) => signal.addEventListener("abort", () => release(), { once: true }));
    };
    // A browser that refuses to lock has no order to keep.
    locks.request(name, { ifAvailable: true }, hold).catch(() => resolve(true));
  });
}
