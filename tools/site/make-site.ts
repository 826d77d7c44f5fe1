import { brokenLinks, type SiteFiles } from "./check-links.ts";
import { layout } from "./layout.ts";
import { type Entry, NAVIGATION_FILE, readNavigation } from "./navigation.ts";
import { outputPath } from "./page-paths.ts";
import { type Checkout, type RenderedPage, renderPage } from "./render-page.ts";
import { indexScript, makeSearchIndex } from "./search-index.ts";
import { SiteError } from "./site-error.ts";

/**
 * The pages as a static site: plain files that work from a disk and under any address, and ask no other host for anything.
 * All of it is made in memory and checked before a file is written: a page that is in no part of the navigation, a link that
 * leads nowhere and HTML in a page are errors. Must not: touch the disk.
 */
export interface SiteSource extends Checkout {
  /** Every page, from the root of the checkout. */
  readonly pages: readonly string[];
  /** Style and scripts, by their name. */
  readonly assets: ReadonlyMap<string, string>;
  readonly version: string;
}

export function makeSite(source: SiteSource): SiteFiles {
  const navigation = readNavigation(source.readText(NAVIGATION_FILE));
  const entries = navigation.flatMap((part) => flat(part.entries));
  ensureListed(source.pages, entries);
  const rendered = source.pages.map((file) => renderPage(file, source.readText(file), source));
  const files = new Map<string, string | Uint8Array>(source.assets);
  for (const page of rendered) {
    const at = entries.findIndex(({ file }) => file === page.file);
    const [before, after] = at < 0 ? [] : [entries[at - 1], entries[at + 1]];
    files.set(outputPath(page.file), layout(page, { navigation, version: source.version, before, after }));
    for (const file of page.files) {
      files.set(file, file.endsWith(".png") ? source.readBytes(file) : source.readText(file));
    }
  }
  files.set("search-index.js", indexScript(makeSearchIndex(inOrder(rendered, entries))));
  const broken = brokenLinks(files);
  if (broken.length > 0) throw new SiteError(broken.join("\n"));
  return files;
}

const flat = (entries: readonly Entry[]): readonly Entry[] => entries.flatMap((entry) => [entry, ...flat(entry.below)]);

/** Search results of equal weight stand in the order of the navigation. */
function inOrder(pages: readonly RenderedPage[], entries: readonly Entry[]): readonly RenderedPage[] {
  const places = new Map(entries.map(({ file }, at) => [file, at]));
  return [...pages].sort((a, b) => (places.get(a.file) ?? -1) - (places.get(b.file) ?? -1));
}

/** The page with the list, and no other, is in no list. */
function ensureListed(pages: readonly string[], entries: readonly Entry[]): void {
  const listed = entries.map(({ file }) => file);
  const twice = listed.filter((file, at) => listed.indexOf(file) !== at);
  const unlisted = pages.filter((file) => file !== NAVIGATION_FILE && !listed.includes(file));
  const unknown = listed.filter((file) => !pages.includes(file));
  const faults = [
    ...twice.map((file) => `${file} is listed twice`),
    ...unlisted.map((file) => `${file} is not listed`),
    ...unknown.map((file) => `${file} is listed, and is no page`),
  ];
  if (faults.length > 0) throw new SiteError(faults.map((fault) => `${NAVIGATION_FILE}: ${fault}`).join("\n"));
}
