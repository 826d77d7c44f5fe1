import { AuditLedger } from "../audit/audit-ledger.ts";
import type { FileFindings } from "../audit/file-check.ts";
import { judge } from "../audit/verdict.ts";
import { messageOf, UsageError } from "../base/errors.ts";
import { parseInstant } from "../base/instant.ts";
import { checkLines } from "../insight/audit/check-lines.ts";
import { linesOfFile, type RawLine } from "../insight/audit/read-lines.ts";
import { faultLine, verdictHead } from "../insight/audit/verdict-words.ts";
import { Forbidden, KubeError, NotFound } from "../kube/errors.ts";
import type { Kube } from "../kube/port.ts";
import type { ViewSource } from "./view-source.ts";
import type { AuditView } from "./wire.ts";

/** More than anybody reads. */
const MAX_WORDS = 50;

const none = (words: string): AuditView => ({ kind: "none", words });

/** The audit log of this machine, checked with a key that the viewer must be allowed to read. The key itself stays here. */
export async function auditView(
  { audit: { paths, namespace } }: Pick<ViewSource, "audit">,
  kube: Kube,
): Promise<AuditView> {
  if (paths.length === 0) return none("No file of the audit log was named (--audit-log FILE): nothing was verified.");
  try {
    return await verified(paths, await AuditLedger.find({ kube, namespace }));
  } catch (error) {
    if (error instanceof NotFound) return none(`There is no key of an audit log in namespace ${namespace}.`);
    if (error instanceof Forbidden) return none("You may not read the key of the audit log, so it was not verified.");
    if (error instanceof KubeError || error instanceof UsageError) return none(`Not verified: ${messageOf(error)}`);
    throw error;
  }
}

async function verified(paths: readonly string[], ledger: AuditLedger): Promise<AuditView> {
  // Read first: what is written meanwhile is after its anchor then, and not cut off.
  const anchors = await ledger.read();
  const files: FileFindings[] = [];
  const times = new Times();
  for (const file of paths) {
    files.push(await checkLines({ file, lines: times.of(linesOfFile(file)), key: ledger.key, isMixed: false }));
  }
  const verdict = judge({ files, anchors, sinceAt: -Infinity });
  const words = [verdictHead(verdict), ...verdict.faults.map(faultLine), ...verdict.notes];
  const { isSound, lines } = verdict;
  return { kind: "verified", isSound, words: words.slice(0, MAX_WORDS), lines, ...times.told() };
}

/** When the first and the last of the lines that pass were written, as they say themselves. */
class Times {
  #first: number | undefined;
  #last: number | undefined;

  async *of(lines: AsyncIterable<RawLine>): AsyncIterable<RawLine> {
    for await (const line of lines) {
      const at = parseInstant(/"at":"([^"]{1,40})"/.exec(line.text ?? "")?.[1]);
      if (at !== undefined) {
        this.#first = Math.min(this.#first ?? at, at);
        this.#last = Math.max(this.#last ?? at, at);
      }
      yield line;
    }
  }

  told(): { readonly from?: number; readonly until?: number } {
    return {
      ...(this.#first !== undefined && { from: this.#first }),
      ...(this.#last !== undefined && { until: this.#last }),
    };
  }
}
