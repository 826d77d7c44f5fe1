import { type Clock, delay } from "../../base/clock.ts";
import { formatDuration } from "../../base/duration.ts";
import { KeyturnError, never } from "../../base/errors.ts";
import type { Unseen } from "../../insight/resources/list-all.ts";
import { Conflict, NotFound, NotServed, TooManyRequests, Unavailable, Unreachable } from "../../kube/errors.ts";
import type { Kube } from "../../kube/port.ts";
import { inParallel } from "../../providers/bind/in-parallel.ts";
import type { Wish } from "./wish.ts";

/** What the steps of an uninstallation are done with. */
export interface Work {
  readonly kube: Kube;
  readonly clock: Clock;
  /** Where the operator is installed. */
  readonly namespace: string;
  readonly wish: Wish;
  /** How long anything is waited for. */
  readonly timeoutMs: number;
  /** Somebody wants it to end: what is under way is finished, and nothing else is begun. */
  readonly signal: AbortSignal;
  /** Says what was done. */
  readonly tell: (line: string) => void;
}

/** It ended before its end; what was done stays done, and the next call goes on from there. */
export class NotTakenAway extends KeyturnError {
  constructor(message: string) {
    super("NotTakenAway", message, { retry: never });
  }
}

const [FIRST_PAUSE_MS, LONGEST_PAUSE_MS] = [100, 1_000];
/** Writes at a time. */
const WRITERS = 8;

/** Looks until it is done. `unfinished` says what is not, when the time is up. */
export async function until(work: Work, look: () => Promise<boolean>, unfinished: () => string): Promise<void> {
  const { clock, timeoutMs } = work;
  const startedAt = clock.monotonic();
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 1.5, LONGEST_PAUSE_MS)) {
    goOn(work);
    if (await unlessPassing(look)) return;
    if (clock.monotonic() - startedAt >= timeoutMs) {
      throw new NotTakenAway(`not within ${formatDuration(timeoutMs)}: ${unfinished()}`);
    }
    await delay(clock, pauseMs, work.signal);
  }
}

/** Throws where somebody has had enough. */
export function goOn({ signal }: Work): void {
  if (signal.aborted) throw new NotTakenAway("interrupted; call it again, and it goes on from here");
}

async function unlessPassing(look: () => Promise<boolean>): Promise<boolean> {
  try {
    return await look();
  } catch (error) {
    const isPassing = [Unreachable, Unavailable, TooManyRequests].some((kind) => error instanceof kind);
    if (!isPassing) throw error;
    return false;
  }
}

/** Writes to each of them. What has gone, or is another one by now, is looked at again by whoever calls. */
export async function toEach<T>(work: Work, items: readonly T[], write: (item: T) => Promise<void>): Promise<void> {
  await inParallel(items, WRITERS, async (item) => {
    goOn(work);
    try {
      await write(item);
    } catch (error) {
      if (!(error instanceof NotFound || error instanceof NotServed || error instanceof Conflict)) throw error;
    }
  });
}

/** What a look shows. Throws where a right is missing: what is not seen is not gone, and not free of finalizers. */
export async function seeing<T>(look: (unseen: Unseen[]) => Promise<T>): Promise<T> {
  const unseen: Unseen[] = [];
  const seen = await look(unseen);
  const [blind] = unseen;
  if (blind) throw new NotTakenAway(`${blind.what} may not be listed: ${blind.why}`);
  return seen;
}
