import { escapeHtml } from "./escape.ts";
import type { Entry, NavigationPart } from "./navigation.ts";
import { outputPath, relativeUrl, rootUrl } from "./page-paths.ts";
import type { Heading, RenderedPage } from "./render-page.ts";

/** What stands around every page. */
export interface Surroundings {
  readonly navigation: readonly NavigationPart[];
  readonly version: string;
  /** The pages before and after in the navigation. */
  readonly before: Entry | undefined;
  readonly after: Entry | undefined;
}

/** The deepest heading in the table of contents; pages with fewer have none. */
const DEEPEST = 3;
const FEWEST = 3;

/** A page of the site as a file: its text, and navigation, contents and search around it. Pure. */
export function layout(page: RenderedPage, around: Surroundings): string {
  const { file, title, html, headings } = page;
  const here = outputPath(file);
  const root = rootUrl(here);
  const name = file === "README.md" ? "Keyturn" : `${title} · Keyturn`;
  return `<!doctype html>
<html lang="en" data-root="${root}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(name)}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${root}style.css">
<script src="${root}search.js"></script>
<script src="${root}site.js"></script>
</head>
<body>
<a class="skip" href="#content">To the text</a>
<header>
<button class="menu" type="button" aria-expanded="false" aria-controls="navigation">Pages</button>
<a class="home" href="${root}index.html">Keyturn</a>
<div class="search" role="search">
<input type="search" id="search" placeholder="Search ( / )" aria-label="Search the pages" role="combobox" aria-expanded="false" aria-controls="results" aria-autocomplete="list" autocomplete="off" spellcheck="false">
<ul id="results" role="listbox" aria-label="Found" hidden></ul>
</div>
<button class="theme" type="button" aria-label="Light or dark">◐</button>
</header>
<div class="columns">
<nav id="navigation" aria-label="Pages">
${around.navigation.map((part) => partHtml(part, here)).join("\n")}
</nav>
<main id="content" tabindex="-1">
${html}<footer>
${turn("before", "Before", around.before, here)}${turn("after", "Next", around.after, here)}
<p class="version">Keyturn ${escapeHtml(around.version)}</p>
</footer>
</main>
${contents(headings)}
</div>
</body>
</html>
`;
}

const partHtml = ({ title, entries }: NavigationPart, here: string): string =>
  `<h2>${escapeHtml(title)}</h2>\n${listHtml(entries, here)}`;

const listHtml = (entries: readonly Entry[], here: string): string =>
  `<ul>${entries.map((entry) => `<li>${entryHtml(entry, here)}</li>`).join("\n")}</ul>`;

function entryHtml({ title, file, below }: Entry, here: string): string {
  const to = outputPath(file);
  const current = to === here ? ' aria-current="page"' : "";
  const link = `<a href="${relativeUrl(here, to)}"${current}>${escapeHtml(title)}</a>`;
  return below.length === 0 ? link : `${link}${listHtml(below, here)}`;
}

const turn = (side: string, word: string, entry: Entry | undefined, here: string): string =>
  entry === undefined
    ? ""
    : `<a class="${side}" rel="${side === "before" ? "prev" : "next"}" href="${relativeUrl(here, outputPath(entry.file))}"><span class="word">${word}</span> ${escapeHtml(entry.title)}</a>`;

function contents(headings: readonly Heading[]): string {
  const shown = headings.filter(({ depth }) => depth > 1 && depth <= DEEPEST);
  if (shown.length < FEWEST) return "";
  const items = shown.map(
    ({ depth, text, anchor }) => `<li class="level-${depth}"><a href="#${anchor}">${escapeHtml(text)}</a></li>`,
  );
  return `<aside aria-label="On this page"><h2>On this page</h2>\n<ul>${items.join("\n")}</ul></aside>`;
}
