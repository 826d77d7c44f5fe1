import { parseInstant } from "../../base/instant.ts";
import { isRecord, recordOf } from "../../kube/record.ts";
import type { RawLine } from "./read-lines.ts";

/** What the audit log says of one resource. Whether its lines are as they were written, `keyturn audit verify` says. */
export interface CredentialLine {
  readonly kind: string;
  readonly namespace: string | undefined;
  readonly name: string;
  readonly at: number;
  readonly action: string;
  readonly note: string;
  readonly keyId: string | undefined;
  readonly keyName: string | undefined;
  readonly cause: string | undefined;
  readonly outcome: string | undefined;
}

export interface WantedLines {
  readonly kind: string;
  readonly namespace: string | undefined;
  readonly name: string;
  readonly sinceAt: number;
  /** The latest ones; older ones are left out. */
  readonly most: number;
}

/** In the order in which they were written. Lines of others, and what is no line, are passed over. */
export async function credentialLines(
  lines: AsyncIterable<RawLine>,
  wanted: WantedLines,
): Promise<readonly CredentialLine[]> {
  const found: CredentialLine[] = [];
  // Most lines are about something else, and to look for a name is much less work than to read them.
  const needle = `"name":${JSON.stringify(wanted.name)}`;
  for await (const { text } of lines) {
    if (text === undefined || !text.includes(needle)) continue;
    const line = readCredentialLine(text);
    if (line && isWanted(line, wanted) && found.push(line) >= 2 * wanted.most)
      found.splice(0, found.length - wanted.most);
  }
  return found.slice(-wanted.most);
}

const isWanted = (line: CredentialLine, { kind, namespace, name, sinceAt }: WantedLines): boolean =>
  line.kind === kind && line.name === name && line.namespace === namespace && line.at >= sinceAt;

/** Undefined of a line that is about no resource, or is none. */
export function readCredentialLine(text: string): CredentialLine | undefined {
  const fields = parsed(text);
  const object = recordOf(fields?.object);
  const [kind, name] = [textOf(object.kind), textOf(object.name)];
  const at = parseInstant(fields?.at);
  if (!fields || kind === undefined || name === undefined || at === undefined) return undefined;
  const key = recordOf(fields.key);
  return {
    kind,
    namespace: textOf(object.namespace),
    name,
    at,
    action: textOf(fields.action) ?? "",
    note: textOf(fields.note) ?? "",
    keyId: textOf(key.id),
    keyName: textOf(key.name),
    cause: textOf(fields.cause),
    outcome: textOf(fields.outcome),
  };
}

/** A log may have something before each line. */
function parsed(text: string): Readonly<Record<string, unknown>> | undefined {
  const start = text.indexOf("{");
  try {
    const value: unknown = start < 0 ? undefined : JSON.parse(text.slice(start));
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const textOf = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);
