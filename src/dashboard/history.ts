import { type HistoryEntry, REASONS, type RotationOutcome } from "../engine/model.ts";
import { type CredentialLine, credentialLines } from "../insight/audit/credential-lines.ts";
import { linesOfFile } from "../insight/audit/read-lines.ts";
import { whyIntended } from "../insight/explain/history-facts.ts";
import type { ManagedResource } from "../insight/resources/managed-resource.ts";
import { formerBars, reasonMark } from "./key-bars.ts";
import type { ViewSource } from "./view-source.ts";
import type { HistoryLine, KeyBar, KeyMark } from "./wire.ts";

const YEAR_MS = 366 * 86_400_000;
const MAX_LINES = 500;
/** The status tells of the end of a rotation in whole seconds, the audit log of the moment. */
const SAME_MS = 3000;

const OUTCOMES: Readonly<Record<RotationOutcome, string>> = {
  Succeeded: "The key became the active one.",
  Abandoned: "The key was given up for another one.",
  Ineffective: "The key brought the old credentials again.",
};

/** The past of a resource: what was said of it, and keys that are no more. */
export interface Past {
  readonly history: readonly HistoryLine[];
  /** The newest first. */
  readonly deleted: readonly KeyBar[];
}

/** What has happened to a resource, the latest first: from its status, and from the audit log where there is one. */
export async function pastOf(source: ViewSource, resource: ManagedResource): Promise<Past> {
  const { state } = resource;
  const lines = await auditLinesOf(source, resource);
  const written = lines.map(auditLine);
  const isWritten = ({ at, keyId }: HistoryLine): boolean =>
    written.some((line) => line.keyId === keyId && Math.abs(line.at - at) <= SAME_MS);
  const said = state.history.map(statusLine).filter((line) => !isWritten(line));
  return {
    history: [...said, ...written].sort((a, b) => b.at - a.at).slice(0, MAX_LINES),
    deleted: goneBars(resource, deletedBars(lines)),
  };
}

/** Keys that are no more, the newest first: as the audit log has them, and else as the status does. */
export function goneBars(resource: ManagedResource, written: readonly KeyBar[]): readonly KeyBar[] {
  const { state } = resource;
  const isThere = new Set([...state.retired, ...(state.active ? [state.active] : [])].map(({ id }) => id));
  const isWritten = new Set(written.map(({ id }) => id));
  const said = formerBars(resource);
  const marks = new Map(said.map(({ id, mark }) => [id, mark]));
  const former = said.filter(({ id }) => !isWritten.has(id));
  const gone = written.filter(({ id }) => !isThere.has(id));
  return [...gone.map((bar) => marked(bar, marks.get(bar.id))), ...former].sort((a, b) => b.createdAt - a.createdAt);
}

const marked = (bar: KeyBar, mark: KeyMark | undefined): KeyBar => (bar.mark || !mark ? bar : { ...bar, mark });

async function auditLinesOf(
  { audit, clock, logger }: ViewSource,
  { kind, object }: ManagedResource,
): Promise<readonly CredentialLine[]> {
  const { namespace, name } = object.metadata;
  const wanted = { kind: kind.type.kind, namespace, name, sinceAt: clock.now() - YEAR_MS, most: MAX_LINES };
  const lines: CredentialLine[] = [];
  for (const path of audit.paths) {
    try {
      lines.push(...(await credentialLines(linesOfFile(path), wanted)));
    } catch (error) {
      logger.warn("a file of the audit log cannot be read", { path, error });
    }
  }
  return lines.sort((a, b) => a.at - b.at).slice(-MAX_LINES);
}

function statusLine({ keyId, endedAt, reason, outcome }: HistoryEntry): HistoryLine {
  return {
    at: endedAt,
    what: OUTCOMES[outcome],
    keyId,
    ...(reason !== undefined && { reason: whyIntended(reason) }),
    outcome,
    from: "status",
  };
}

function auditLine({ at, action, note, keyId, cause, outcome }: CredentialLine): HistoryLine {
  return {
    at,
    what: note === "" ? action : note,
    ...(keyId !== undefined && { keyId }),
    ...(cause !== undefined && { reason: cause }),
    ...(outcome !== undefined && { outcome }),
    from: "audit",
  };
}

/** What bars are made from, of a line of the log. */
export type KeyLine = Pick<CredentialLine, "at" | "action" | "keyId" | "keyName" | "cause">;

/** Keys of which the log tells both that they were published and that they were deleted; its lines come in order. */
export function deletedBars(lines: readonly KeyLine[]): readonly KeyBar[] {
  const publications = publicationsIn(lines);
  return lines.flatMap(({ action, keyId, keyName, at: deletedAt }) => {
    const first = action === "KeyDeleted" && keyId !== undefined && publications.get(keyId);
    if (!first) return [];
    const { publishedAt, replacedAt, mark } = first;
    return [
      {
        id: keyId,
        name: keyName ?? keyId,
        state: "deleted" as const,
        createdAt: publishedAt,
        ...(replacedAt !== undefined && { replacedAt }),
        deletedAt,
        ...(mark && { mark }),
      },
    ];
  });
}

interface Publication {
  readonly publishedAt: number;
  /** When another key was, after it. */
  replacedAt?: number;
  readonly mark: KeyMark | undefined;
}

/** By the id of a key: when it was published first, and why it was wanted by what was written down before that. */
function publicationsIn(lines: readonly KeyLine[]): ReadonlyMap<string, Publication> {
  const causes = new Map<string, string | undefined>();
  const found = new Map<string, Publication>();
  let waiting: Publication[] = [];
  let last: string | undefined;
  for (const { action, at, keyId, keyName = "", cause } of lines) {
    if (action === "KeyIntended") causes.set(keyName, cause);
    if (action !== "KeyPublished" || keyId === undefined) continue;
    if (keyId !== last) {
      for (const publication of waiting) publication.replacedAt = at;
      waiting = [];
      last = keyId;
    }
    if (found.has(keyId)) continue;
    const publication = { publishedAt: at, mark: markOf(causes.get(keyName)) };
    found.set(keyId, publication);
    waiting.push(publication);
  }
  return found;
}

function markOf(cause: string | undefined): KeyMark | undefined {
  const reason = REASONS.find((one) => one === cause);
  return reason && reasonMark(reason);
}
