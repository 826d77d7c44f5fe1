import { formatInstant, parseInstant } from "../../../src/base/instant.ts";

/**
 * What stands in the sentences of the server, and is drawn otherwise than as letters: instants, which the page writes in one
 * form and never breaks, and keys with their ids. Pure; a sentence without any stays as it is.
 */
export type SentencePart =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "instant"; readonly text: string; readonly at: number }
  | { readonly kind: "key"; readonly text: string; readonly id: string };

/** `2026-11-18 10:21:05Z`: the one form in which the page writes an instant. */
export const instantText = (at: number): string =>
  Number.isFinite(at) ? formatInstant(at).replace("T", " ") : "never";

/** An instant as the commands write it, or a word with another one, which is no instant, in brackets behind it. */
const FOUND = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z|(?<!\S)(\S+) \(([^():\s]+)\)/g;

/** `names`: those of keys, by id. What is in brackets is only an id if it is one of these. */
export function sentenceParts(text: string, names?: ReadonlyMap<string, string>): readonly SentencePart[] {
  const parts: SentencePart[] = [];
  let end = 0;
  for (const found of text.matchAll(FOUND)) {
    const part = partOf(found, names);
    if (!part) continue;
    if (found.index > end) parts.push({ kind: "text", text: text.slice(end, found.index) });
    parts.push(part);
    end = found.index + found[0].length;
  }
  if (end < text.length || parts.length === 0) parts.push({ kind: "text", text: text.slice(end) });
  return parts;
}

function partOf(
  [whole, name, id]: RegExpExecArray,
  names: ReadonlyMap<string, string> | undefined,
): SentencePart | undefined {
  if (id !== undefined) {
    return name !== undefined && names?.get(id) === name ? { kind: "key", text: name, id } : undefined;
  }
  const at = parseInstant(whole);
  return at === undefined ? undefined : { kind: "instant", text: whole.replace("T", " "), at };
}
