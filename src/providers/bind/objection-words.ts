import type { Objection } from "./server-gate.ts";

const MAX_NAMED = 3;
/** A kubelet takes up to a minute and a half to bring a mount up to date. */
const PATIENCE_MS = 2 * 60_000;

/** That a server is starting, ending or behind is how things are, and worth a word only when it lasts. */
export const worthTelling = (objections: readonly Objection[], lastedMs: number): readonly Objection[] =>
  objections.filter(({ kind }) => lastedMs >= PATIENCE_MS || kind === "broken");

/** What servers have against a key, in one line: the same for the same objections, in whatever order they came. */
export function objectionWords(what: string, objections: readonly Objection[]): string {
  const sorted = [...objections].sort((a, b) => (a.server < b.server ? -1 : 1));
  const named = sorted.slice(0, MAX_NAMED).map(({ server, why }) => `${server} (${why})`);
  const more = sorted.length > MAX_NAMED ? ` and ${sorted.length - MAX_NAMED} more` : "";
  return `${what}: ${named.join(", ")}${more}`;
}

/** The same for keys that somebody else has written into the ring. */
export function strangerWords(strangers: readonly string[]): string {
  const names = [...strangers].sort();
  const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : "";
  const what = "keys that nobody here has put there were found in the ring, and are taken out";
  return `${what}: ${names.slice(0, MAX_NAMED).join(", ")}${more}`;
}
