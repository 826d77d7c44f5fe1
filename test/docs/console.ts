import { readPage } from "./markdown.ts";

/** A command of a page, and what the page says that it prints. */
export interface ConsoleStep {
  readonly command: string;
  readonly prints: readonly string[];
  /** Of the command, from 1. */
  readonly line: number;
}

/** The commands of all `console` blocks of a page, in their order: lines that begin with `$ `, each with what follows it. */
export function consoleSteps(source: string): readonly ConsoleStep[] {
  const blocks = readPage(source).blocks.filter(({ language }) => language === "console");
  return blocks.flatMap(({ text, line: first }) => {
    const steps: { readonly command: string; readonly prints: string[]; readonly line: number }[] = [];
    for (const [index, line] of text.split("\n").entries()) {
      if (line.startsWith("$ ")) steps.push({ command: line.slice(2), prints: [], line: first + index });
      else if (steps.length > 0) steps.at(-1)?.prints.push(line);
      else throw new Error(`line ${first + index}: a block begins with a command`);
    }
    return steps;
  });
}

/** What differs from run to run, and what stands for it. */
const MASKS: readonly (readonly [what: RegExp, mask: string])[] = [
  [/\b[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\b/g, "ID"],
  [/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, "INSTANT"],
  // Of a pod: its template, and itself.
  [/-[a-z\d]{8,10}-[a-z\d]{5}\b/g, "-POD"],
  // Of a key: eight letters and digits without vowels.
  [/-[b-df-hj-np-tv-z\d]{8}\b/g, "-KEY"],
  [/\b(?:\d+[dhms])+\b/g, "DURATION"],
];

/** A line without what differs; how wide columns are depends on that too. */
export const masked = (line: string): string =>
  MASKS.reduce((text, [what, mask]) => text.replace(what, mask), line)
    .replace(/ +/g, " ")
    .trim();

/** Where a page and the world disagree; undefined: nowhere. A line `…` stands for any number of lines. */
export function disagreement(page: readonly string[], printed: readonly string[]): string | undefined {
  const [said, is] = [trimmed(page), trimmed(printed)];
  const gap = said.indexOf("…");
  const [head, tail] = gap < 0 ? [said, []] : [said.slice(0, gap), said.slice(gap + 1)];
  const isLong = gap < 0 ? is.length === said.length : is.length >= head.length + tail.length;
  const isSame =
    isLong &&
    head.every((line, at) => line === is[at]) &&
    tail.every((line, at) => line === is[is.length - tail.length + at]);
  return isSame ? undefined : `the page says\n${said.join("\n")}\n\nand it printed\n${is.join("\n")}`;
}

/** Blank lines at the ends say nothing. */
function trimmed(lines: readonly string[]): readonly string[] {
  const text = lines.map(masked);
  const first = text.findIndex((line) => line !== "");
  const last = text.findLastIndex((line) => line !== "");
  return first < 0 ? [] : text.slice(first, last + 1);
}
