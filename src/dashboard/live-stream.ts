import { scheduler } from "node:timers/promises";
import type { Timer } from "../base/clock.ts";
import type { ClusterPulse } from "./cluster-pulse.ts";
import { type Entry, rowOf } from "./entry.ts";
import { type Sight, seesId } from "./sight.ts";
import { type Looker, type SharedOverviews, type ViewSource, viewerOf } from "./view-source.ts";
import type { CredentialId, LiveMessage, Row } from "./wire.ts";

/** Where messages go: to a browser, mostly. */
export interface LiveSink {
  /** Resolves when there is room for more. */
  send(text: string): Promise<void>;
  readonly isOver: boolean;
  end(): void;
}

export interface LiveStreamOptions {
  readonly source: ViewSource;
  readonly overviews: SharedOverviews;
  readonly looker: Looker;
  readonly sink: LiveSink;
  /** Who it is by now, and what they may see; throws when they may see nothing any more. */
  readonly lookAgain: () => Promise<Looker>;
}

const ROWS_AT_ONCE = 250;
/** After the last change of those that come together. */
const SETTLE_MS = 40;
/** With what is gathered before, a change is counted within half a second. */
const OVERVIEW_MS = 250;
const HEARTBEAT_MS = 10_000;
const RIGHTS_MS = 30_000;
const PULSE_MS = 10_000;

/**
 * One page that is kept up to date: everything once, then what changes. What changes while the first rows are on their way is
 * told after them, so that nothing is shown older than it was. Must not: keep what a slow reader has not taken.
 */
export class LiveStream {
  readonly #options: LiveStreamOptions;
  readonly #changed = new Set<CredentialId>();
  readonly #timers = new Map<string, Timer>();
  #looker: Looker;
  #isTelling = false;
  #isStale = false;
  #mustReset = false;
  #isStopped = false;
  #overviewTick = Number.NEGATIVE_INFINITY;
  #heardTick = Number.NEGATIVE_INFINITY;
  #toldSilence: number | undefined;
  #unlisten: () => void = () => {};

  constructor(options: LiveStreamOptions) {
    this.#options = options;
    this.#looker = options.looker;
  }

  async run(): Promise<void> {
    const { source } = this.#options;
    this.#unlisten = source.model.listen((ids) => this.#hear(ids));
    this.#isTelling = true;
    await this.#send({ type: "hello", at: source.clock.now(), viewer: viewerOf(this.#looker, source) });
    await this.#tellAll();
    this.#every("heartbeat", HEARTBEAT_MS, async () => {
      await this.#options.sink.send(":\n\n");
      // Time passes, and the operator's own state changes without a change of any row.
      await this.#tellOverview();
    });
    this.#every("rights", RIGHTS_MS, () => this.#checkRights());
    const { pulse } = source;
    if (pulse) this.#once("pulse", 0, () => this.#feel(pulse));
  }

  /** That a cluster has gone silent, or answers again, is told at once: nothing else changes by it. */
  async #feel(pulse: ClusterPulse): Promise<void> {
    const before = this.#toldSilence;
    await pulse.beat();
    this.#once("pulse", PULSE_MS, () => this.#feel(pulse));
    if (pulse.silentSince === before) return;
    this.#toldSilence = pulse.silentSince;
    await this.#tellOverview();
  }

  stop(): void {
    this.#isStopped = true;
    this.#unlisten();
    for (const timer of this.#timers.values()) timer.cancel();
    this.#timers.clear();
  }

  async #tellAll(): Promise<void> {
    const { source } = this.#options;
    this.#isTelling = true;
    const { sight } = this.#looker;
    await this.#tellOverview();
    const ids = source.model
      .entries()
      .filter((entry) => sight.sees(entry))
      .map(({ id }) => id)
      .toArray();
    for (let start = 0; start === 0 || start < ids.length; start += ROWS_AT_ONCE) {
      if (this.#options.sink.isOver) return;
      const rows = ids.slice(start, start + ROWS_AT_ONCE).flatMap((id) => this.#rowOf(id, sight));
      await this.#send({ type: "rows", rows, isLast: start + ROWS_AT_ONCE >= ids.length, count: ids.length });
      await scheduler.yield();
    }
    await this.#told();
  }

  /** What has come up meanwhile is next. */
  async #told(): Promise<void> {
    this.#isTelling = false;
    if (this.#mustReset) return this.#tellAnew();
    if (this.#changed.size > 0) this.#soon();
  }

  #hear(ids: ReadonlySet<CredentialId>): void {
    for (const id of ids) this.#changed.add(id);
    this.#heardTick = this.#options.source.clock.monotonic();
    if (!this.#isTelling) this.#soon();
  }

  #soon(): void {
    if (!this.#timers.has("changes")) this.#once("changes", SETTLE_MS, () => this.#tellChanges());
  }

  async #tellChanges(): Promise<void> {
    if (this.#isTelling) return;
    this.#isTelling = true;
    const { sight } = this.#looker;
    const ids = [...this.#changed];
    this.#changed.clear();
    for (let start = 0; start < ids.length; start += ROWS_AT_ONCE) {
      const some = ids.slice(start, start + ROWS_AT_ONCE);
      const rows = some.flatMap((id) => this.#rowOf(id, sight));
      const gone = some.filter((id) => this.#options.source.model.get(id) === undefined && seesId(sight, id));
      if (rows.length + gone.length > 0) await this.#send({ type: "changed", rows, gone });
      if (start + ROWS_AT_ONCE < ids.length) await scheduler.yield();
    }
    await this.#told();
    this.#overviewSoon();
  }

  #rowOf(id: CredentialId, sight: Sight): readonly Row[] {
    const { model, clock, logger } = this.#options.source;
    const entry: Entry | undefined = model.get(id);
    if (!entry || !sight.sees(entry)) return [];
    try {
      return [rowOf(entry, clock.now())];
    } catch (error) {
      logger.error("a row of the dashboard could not be made", { id, error });
      return [];
    }
  }

  #overviewSoon(): void {
    if (this.#isStale) return;
    this.#isStale = true;
    const sinceMs = this.#options.source.clock.monotonic() - this.#overviewTick;
    this.#once("overview", Math.max(0, OVERVIEW_MS - sinceMs), () => this.#tellOverview());
  }

  async #tellOverview(): Promise<void> {
    const { overviews, source } = this.#options;
    this.#isStale = false;
    this.#overviewTick = source.clock.monotonic();
    await this.#send({ type: "overview", overview: overviews.of(this.#looker.sight, this.#heardTick) });
  }

  /** Whoever may see something else by now is told everything anew, and what was shown before is forgotten. */
  async #checkRights(): Promise<void> {
    const before = this.#looker.sight.key;
    try {
      this.#looker = await this.#options.lookAgain();
    } catch {
      this.#options.sink.end();
      return;
    }
    if (this.#looker.sight.key === before) return;
    this.#mustReset = true;
    if (!this.#isTelling) await this.#tellAnew();
  }

  async #tellAnew(): Promise<void> {
    this.#mustReset = false;
    await this.#send({ type: "reset", viewer: viewerOf(this.#looker, this.#options.source) });
    await this.#tellAll();
  }

  async #send(message: LiveMessage): Promise<void> {
    if (!this.#options.sink.isOver) await this.#options.sink.send(`data: ${JSON.stringify(message)}\n\n`);
  }

  #once(name: string, delayMs: number, act: () => Promise<void>): void {
    if (this.#isStopped) return;
    const { clock, logger } = this.#options.source;
    const run = (): void => {
      this.#timers.delete(name);
      act().catch((error: unknown) => {
        logger.error("a stream of the dashboard broke off", { error });
        this.#options.sink.end();
      });
    };
    this.#timers.get(name)?.cancel();
    this.#timers.set(name, clock.setTimer(run, delayMs));
  }

  #every(name: string, periodMs: number, act: () => Promise<void>): void {
    this.#once(name, periodMs, async () => {
      await act();
      this.#every(name, periodMs, act);
    });
  }
}
