/**
 * JSON as text, taken apart and put together without being turned into values: what a number of JavaScript cannot hold
 * keeps every digit, and what was escaped, or was not, stays so. JSON.parse is the judge of what is JSON. Must not: show a
 * word of the text, not even in an error.
 */

/** Without the white space between its tokens; undefined where it is no JSON. */
export function compactJson(text: string): string | undefined {
  if (!isJson(text)) return undefined;
  const pieces: string[] = [];
  let from = 0;
  let at = 0;
  while (at < text.length) {
    if (text[at] === '"') at = endOfString(text, at);
    else if (isSpace(text[at])) {
      if (at > from) pieces.push(text.slice(from, at));
      at++;
      from = at;
    } else at++;
  }
  pieces.push(text.slice(from));
  return pieces.join("");
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    // The error repeats a part of the text.
    return false;
  }
}

const isSpace = (char: string | undefined): boolean => char === " " || char === "\n" || char === "\r" || char === "\t";

/** Where the string that begins at `start` is over. */
export function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return at + 1;
}

export const isObjectText = (compact: string): boolean => compact.startsWith("{");

/** The values of an object by name, in their order; of two with one name the last, as JSON.parse has it. */
export function membersOf(compact: string): ReadonlyMap<string, string> {
  const members = new Map<string, string>();
  for (const item of itemsOf(compact)) {
    const end = endOfString(item, 0);
    members.set(JSON.parse(item.slice(0, end)) as string, item.slice(end + 1));
  }
  return members;
}

/** The elements of an array; the members of an object, each with its name. */
export function itemsOf(compact: string): readonly string[] {
  const items: string[] = [];
  const end = compact.length - 1;
  let from = 1;
  let depth = 0;
  for (let at = 1; at < end; ) {
    const char = compact[at];
    if (char === '"') {
      at = endOfString(compact, at);
      continue;
    }
    if (char === "{" || char === "[") depth++;
    else if (char === "}" || char === "]") depth--;
    else if (char === "," && depth === 0) {
      items.push(compact.slice(from, at));
      from = at + 1;
    }
    at++;
  }
  return from < end ? [...items, compact.slice(from, end)] : items;
}

/** What a string says; undefined where it is something else. */
export const stringIn = (compact: string | undefined): string | undefined =>
  compact?.startsWith('"') ? (JSON.parse(compact) as string) : undefined;

/** An object of values that are JSON already. */
export const objectText = (members: Iterable<readonly [string, string]>): string =>
  `{${Array.from(members, ([name, value]) => `${JSON.stringify(name)}:${value}`).join(",")}}`;
