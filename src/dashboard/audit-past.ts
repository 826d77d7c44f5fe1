import { scheduler } from "node:timers/promises";
import { readCredentialLine } from "../insight/audit/credential-lines.ts";
import { linesOfFile } from "../insight/audit/read-lines.ts";
import { deletedBars, type KeyLine } from "./history.ts";
import type { ViewSource } from "./view-source.ts";
import { type CredentialId, type KeyBar, MAX_FUTURES, MAX_PAST_KEYS } from "./wire.ts";

const YEAR_MS = 366 * 86_400_000;
/** How old what was read of the log may be: the past changes slowly. */
const KEPT_MS = 60_000;
const MAX_KEPT = 2000;
/** What one request may ask for. */
const MAX_KEPT_BARS = MAX_FUTURES * MAX_PAST_KEYS;
/** Of one credential: a key is intended, published and deleted. */
const MAX_LINES = 3 * MAX_PAST_KEYS;
/** Before what is too much is sorted out. */
const SPARE_LINES = 300;
const TOLD = /"action":"Key(?:Intended|Published|Deleted)"/;

interface Kept {
  readonly tick: number;
  readonly bars: readonly KeyBar[];
}

/**
 * The keys of the last year that are no more, by the audit log of this machine: one walk through its files for all that is
 * asked for at a time, and none for what was asked for a moment ago. Must not: keep more of the log than bars.
 */
export class AuditPast {
  readonly #source: Pick<ViewSource, "audit" | "clock" | "logger">;
  readonly #kept = new Map<CredentialId, Kept>();
  #keptBars = 0;
  #reading: Promise<void> = Promise.resolve();

  constructor(source: Pick<ViewSource, "audit" | "clock" | "logger">) {
    this.#source = source;
  }

  /** The newest first, and of many the newest alone. */
  async deletedOf(ids: readonly CredentialId[]): Promise<ReadonlyMap<CredentialId, readonly KeyBar[]>> {
    if (this.#source.audit.paths.length === 0) return new Map();
    // One after the other: whoever comes second mostly finds what the first one has read.
    this.#reading = this.#reading.then(() => this.#read(ids.filter((id) => !this.#touch(id))));
    await this.#reading;
    return new Map(ids.map((id) => [id, this.#kept.get(id)?.bars ?? []]));
  }

  /** Whether what was read of it is still good. It goes last then: who asks for it now must not lose it to what is read. */
  #touch(id: CredentialId): boolean {
    const kept = this.#kept.get(id);
    if (!kept || this.#source.clock.monotonic() - kept.tick > KEPT_MS) return false;
    this.#kept.delete(id);
    this.#kept.set(id, kept);
    return true;
  }

  async #read(ids: readonly CredentialId[]): Promise<void> {
    if (ids.length === 0) return;
    const { audit, clock, logger } = this.#source;
    const lines = new Map(ids.map((id) => [id, new NewestLines()]));
    for (const path of audit.paths) {
      try {
        await readInto(lines, path, clock.now() - YEAR_MS);
      } catch (error) {
        logger.warn("a file of the audit log cannot be read", { path, error });
      }
    }
    const tick = clock.monotonic();
    for (const [id, own] of lines) {
      this.#keep(id, { tick, bars: deletedBars(own.inOrder()).slice(-MAX_PAST_KEYS).toReversed() });
      lines.delete(id);
      await scheduler.yield();
    }
  }

  #keep(id: CredentialId, kept: Kept): void {
    this.#forget(id);
    this.#kept.set(id, kept);
    this.#keptBars += kept.bars.length;
    for (const other of this.#kept.keys()) {
      if (this.#kept.size <= MAX_KEPT && this.#keptBars <= MAX_KEPT_BARS) break;
      this.#forget(other);
    }
  }

  #forget(id: CredentialId): void {
    this.#keptBars -= this.#kept.get(id)?.bars.length ?? 0;
    this.#kept.delete(id);
  }
}

/** The newest lines of one credential, in whatever order they come. */
class NewestLines {
  #lines: KeyLine[] = [];

  take(line: KeyLine): void {
    if (this.#lines.push(line) > MAX_LINES + SPARE_LINES) this.#lines = this.inOrder().slice(-MAX_LINES);
  }

  inOrder(): KeyLine[] {
    return this.#lines.sort((a, b) => a.at - b.at);
  }
}

async function readInto(lines: ReadonlyMap<CredentialId, NewestLines>, path: string, sinceAt: number): Promise<void> {
  for await (const { text } of linesOfFile(path)) {
    if (text === undefined || !TOLD.test(text)) continue;
    const line = readCredentialLine(text);
    if (!line || line.at < sinceAt) continue;
    const { kind, namespace, name, at, action, keyId, keyName, cause } = line;
    const own = lines.get([kind, ...(namespace === undefined ? [] : [namespace]), name].join("/"));
    // The note of a line is long, and no bar needs it.
    own?.take({ at, action, keyId, keyName, cause });
  }
}
