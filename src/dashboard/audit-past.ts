import { type CredentialLine, readCredentialLine } from "../insight/audit/credential-lines.ts";
import { linesOfFile } from "../insight/audit/read-lines.ts";
import { deletedBars } from "./history.ts";
import type { ViewSource } from "./view-source.ts";
import type { CredentialId, KeyBar } from "./wire.ts";

const YEAR_MS = 366 * 86_400_000;
/** How old what was read of the log may be: the past changes slowly. */
const KEPT_MS = 60_000;
const MAX_KEPT = 2000;
/** Of one credential; more than a timeline draws. */
const MAX_LINES = 2000;
const TOLD = /"action":"Key(?:Published|Deleted)"/;

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
  #reading: Promise<void> = Promise.resolve();

  constructor(source: Pick<ViewSource, "audit" | "clock" | "logger">) {
    this.#source = source;
  }

  /** The newest first. */
  async deletedOf(ids: readonly CredentialId[]): Promise<ReadonlyMap<CredentialId, readonly KeyBar[]>> {
    if (this.#source.audit.paths.length === 0) return new Map();
    // One after the other: whoever comes second mostly finds what the first one has read.
    this.#reading = this.#reading.then(() => this.#read(ids.filter((id) => !this.#isKept(id))));
    await this.#reading;
    return new Map(ids.map((id) => [id, this.#kept.get(id)?.bars ?? []]));
  }

  #isKept(id: CredentialId): boolean {
    const kept = this.#kept.get(id);
    return kept !== undefined && this.#source.clock.monotonic() - kept.tick <= KEPT_MS;
  }

  async #read(ids: readonly CredentialId[]): Promise<void> {
    if (ids.length === 0) return;
    const { audit, clock, logger } = this.#source;
    const lines = new Map<CredentialId, CredentialLine[]>(ids.map((id) => [id, []]));
    for (const path of audit.paths) {
      try {
        await readInto(lines, path, clock.now() - YEAR_MS);
      } catch (error) {
        logger.warn("a file of the audit log cannot be read", { path, error });
      }
    }
    const tick = clock.monotonic();
    for (const [id, own] of lines) {
      this.#kept.delete(id);
      this.#kept.set(id, { tick, bars: deletedBars(own.sort((a, b) => a.at - b.at)).toReversed() });
    }
    while (this.#kept.size > MAX_KEPT) this.#kept.delete(this.#kept.keys().next().value ?? "");
  }
}

async function readInto(
  lines: ReadonlyMap<CredentialId, CredentialLine[]>,
  path: string,
  sinceAt: number,
): Promise<void> {
  for await (const { text } of linesOfFile(path)) {
    if (text === undefined || !TOLD.test(text)) continue;
    const line = readCredentialLine(text);
    if (!line || line.at < sinceAt) continue;
    const { kind, namespace, name } = line;
    const own = lines.get([kind, ...(namespace === undefined ? [] : [namespace]), name].join("/"));
    if (own && own.length < MAX_LINES) own.push(line);
  }
}
