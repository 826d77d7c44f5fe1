import { posix } from "node:path";
import { Marked, type Token, type Tokens } from "marked";
import { isPage } from "./page-paths.ts";
import { SiteError } from "./site-error.ts";

/** A page in the navigation, and those below it. */
export interface Entry {
  readonly title: string;
  readonly file: string;
  readonly below: readonly Entry[];
}

export interface NavigationPart {
  readonly title: string;
  readonly entries: readonly Entry[];
}

/** Where the list of pages is, and the heading at which it ends. */
export const NAVIGATION_FILE = "docs/README.md";
export const PARTS = ["Tutorials", "How-to", "Reference", "Explanation", "The project"] as const;

/**
 * The navigation, from the page that lists all pages: a part for each of its headings, an entry for each item of its lists,
 * by the first link of the item. So there is one order of pages, for whoever reads it in an editor and in the site. Pure.
 */
export function readNavigation(source: string): readonly NavigationPart[] {
  const tokens = new Marked({ gfm: true }).lexer(source);
  const parts: { readonly title: string; readonly entries: Entry[] }[] = [];
  let title = "";
  for (const token of tokens) {
    if (token.type === "heading") title = (token as Tokens.Heading).text;
    const isPart = (PARTS as readonly string[]).includes(title);
    if (token.type === "list" && isPart) parts.push({ title, entries: [...entriesOf(token as Tokens.List)] });
  }
  const found = parts.map((part) => part.title);
  if (found.join() !== PARTS.join()) throw new SiteError(`${NAVIGATION_FILE}: its parts are ${found}, not ${PARTS}`);
  return parts;
}

/** All files in the navigation, in its order. */
export const filesIn = (entries: readonly Entry[]): readonly string[] =>
  entries.flatMap(({ file, below }) => [file, ...filesIn(below)]);

function entriesOf({ items }: Tokens.List): readonly Entry[] {
  return items.map((item) => {
    const link = firstLink(item.tokens);
    if (!link) throw new SiteError(`${NAVIGATION_FILE}: an item without a link: ${item.text.slice(0, 60)}`);
    const path = posix.join(posix.dirname(NAVIGATION_FILE), link.href);
    const file = isPage(path) ? path : posix.join(path, "README.md");
    const lists = item.tokens.filter((token): token is Tokens.List => token.type === "list");
    return { title: link.text.replaceAll("`", ""), file, below: lists.flatMap(entriesOf) };
  });
}

function firstLink(tokens: readonly Token[]): Tokens.Link | undefined {
  for (const token of tokens) {
    if (token.type === "link") return token as Tokens.Link;
    if (token.type === "list") continue;
    const inner = "tokens" in token && token.tokens ? firstLink(token.tokens) : undefined;
    if (inner) return inner;
  }
  return undefined;
}
