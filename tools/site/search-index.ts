import { outputPath } from "./page-paths.ts";
import type { RenderedPage } from "./render-page.ts";

/**
 * What the search of the site looks things up in, made when it is built: a record for each heading, and for each word the
 * records that it stands in. As a script and not as JSON, since a page from a disk may load no other file but that. The
 * script that reads it is `search.js`. Pure.
 */
export interface SearchIndex {
  /** Address and title. */
  readonly pages: readonly (readonly [url: string, title: string])[];
  /** Page, heading, anchor, and how its text begins. */
  readonly sections: readonly (readonly [page: number, heading: string, anchor: string, text: string])[];
  /** Sorted, so that what begins alike stands together. */
  readonly words: readonly string[];
  /** For each word: number of the section times four, plus where it stands (0 text, 1 heading, 2 title of the page). */
  readonly hits: readonly (readonly number[])[];
}

const EXCERPT_CHARS = 160;
const LONGEST_WORD = 60;
const [IN_TEXT, IN_HEADING, IN_TITLE] = [0, 1, 2];

export function makeSearchIndex(pages: readonly RenderedPage[]): SearchIndex {
  const sections: SearchIndex["sections"][number][] = [];
  const places = new Map<string, Map<number, number>>();
  const note = (text: string, section: number, place: number): void => {
    for (const word of wordsOf(text)) {
      const found = places.get(word) ?? new Map<number, number>();
      found.set(section, Math.max(found.get(section) ?? IN_TEXT, place));
      places.set(word, found);
    }
  };
  for (const [number, { headings, texts }] of pages.entries()) {
    for (const [at, heading] of headings.entries()) {
      const text = texts[at] ?? "";
      const section = sections.push([number, heading.text, heading.anchor, excerptOf(text)]) - 1;
      note(text, section, IN_TEXT);
      note(heading.text, section, at === 0 ? IN_TITLE : IN_HEADING);
    }
  }
  const words = [...places.keys()].sort();
  return {
    pages: pages.map(({ file, title }) => [outputPath(file), title]),
    sections,
    words,
    hits: words.map((word) => [...(places.get(word) ?? [])].map(([section, place]) => section * 4 + place)),
  };
}

export const indexScript = (index: SearchIndex): string => `globalThis.keyturnIndex = ${JSON.stringify(index)};\n`;

/** Whole words, and the parts of those that are put together: `--min-frequency`, `keyturn.dev/freeze`, `AfterConsumers`. */
function wordsOf(text: string): ReadonlySet<string> {
  const found = new Set<string>();
  for (const [whole] of text.matchAll(/[\p{L}\p{N}][\p{L}\p{N}_./-]*/gu)) {
    const word = whole.replace(/[./-]+$/, "");
    const pieces = word.split("/").flatMap((piece) => [piece, ...piece.split(".")]);
    const parts = word.split(/[_./-]/).flatMap((part) => [part, ...part.split(/(?<=[a-z])(?=[A-Z])/)]);
    for (const each of [word, ...pieces, ...parts]) {
      if (each.length > 1 && each.length <= LONGEST_WORD) found.add(each.toLowerCase());
    }
  }
  return found;
}

function excerptOf(text: string): string {
  if (text.length <= EXCERPT_CHARS) return text;
  const cut = text.slice(0, EXCERPT_CHARS);
  return `${cut.slice(0, cut.lastIndexOf(" "))} …`;
}
