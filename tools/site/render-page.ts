import { posix } from "node:path";
import { Marked, type Token, type Tokens } from "marked";
import { anchorsOf, plainHeading } from "../reference/anchor.ts";
import { escapeHtml } from "./escape.ts";
import { inlineFigure, pictureFigure } from "./figure.ts";
import { isPage, outputPath, relativeUrl } from "./page-paths.ts";
import { SiteError } from "./site-error.ts";

/** What a page may refer to. */
export interface Checkout {
  /** Whether there is such a file; folders are none. */
  hasFile(file: string): boolean;
  hasFolder(folder: string): boolean;
  readText(file: string): string;
  readBytes(file: string): Uint8Array;
}

export interface Heading {
  readonly depth: number;
  readonly text: string;
  readonly anchor: string;
}

export interface RenderedPage {
  readonly file: string;
  readonly title: string;
  readonly html: string;
  readonly headings: readonly Heading[];
  /** What stands under each heading, as plain text; of the first, also what stands before it. */
  readonly texts: readonly string[];
  /** Files that are no pages and that the page leads to: they are part of the site. */
  readonly files: readonly string[];
}

/**
 * One page of Markdown as HTML: headings with anchors, links between pages as links between files of the site, figures
 * within. Raw HTML is refused, but for a line break in a cell, which Markdown has no word for. Throws `SiteError` for what
 * leads nowhere. Pure, but for what it is handed.
 */
export function renderPage(file: string, source: string, checkout: Checkout): RenderedPage {
  const marked = new Marked({ gfm: true });
  const tokens = marked.lexer(source);
  const headings = headingsOf(tokens);
  const files = new Set<string>();
  let seen = 0;
  const link = (href: string): string => siteLink(file, href, { checkout, files });
  marked.use({
    renderer: {
      heading({ tokens: inline, depth }) {
        const { anchor } = headings[seen++] ?? { anchor: "" };
        const text = this.parser.parseInline(inline);
        return `<h${depth} id="${anchor}">${text} <a class="anchor" href="#${anchor}" aria-label="Link to this heading">#</a></h${depth}>\n`;
      },
      link({ href, tokens: inline }) {
        const isOutside = /^[a-z]+:/i.test(href);
        return `<a href="${escapeHtml(link(href))}"${isOutside ? ' rel="noreferrer"' : ""}>${this.parser.parseInline(inline)}</a>`;
      },
      image({ href, text, title }) {
        const target = posix.join(posix.dirname(file), href);
        if (!/\.(svg|png)$/.test(href) || !checkout.hasFile(target))
          throw new SiteError(`${file}: ${href} is no figure`);
        if (href.endsWith(".svg")) return inlineFigure(target, checkout.readText(target), escapeHtml(text));
        const bytes = checkout.readBytes(target);
        return pictureFigure({ file: target, url: link(href), bytes, alt: text, caption: title ?? undefined });
      },
      html({ text }) {
        if (text.trim() === "<br>") return "<br>";
        throw new SiteError(`${file}: HTML is not allowed in a page: ${text.trim().slice(0, 60)}`);
      },
      table(token) {
        return `<div class="table" tabindex="0">${tableHtml(token, (cell) => this.parser.parseInline(cell.tokens))}</div>\n`;
      },
      code({ text, lang }) {
        const language = /^[\w-]+/.exec(lang ?? "")?.[0] ?? "text";
        return `<pre tabindex="0"><code class="language-${language}">${escapeHtml(text)}</code></pre>\n`;
      },
      // A figure is a block: a paragraph around it would be closed by the browser.
      paragraph({ tokens: inline }) {
        const html = this.parser.parseInline(inline);
        return html.startsWith("<figure>") ? `${html}\n` : `<p>${html}</p>\n`;
      },
    },
  });
  const html = marked.parser(tokens);
  const title = headings[0]?.depth === 1 ? headings[0].text : undefined;
  if (title === undefined) throw new SiteError(`${file}: a page begins with a heading of the first level`);
  return { file, title, html, headings, texts: textsOf(tokens), files: [...files] };
}

function headingsOf(tokens: readonly Token[]): readonly Heading[] {
  const found = tokens.filter((token): token is Tokens.Heading => token.type === "heading");
  const anchors = anchorsOf(found.map(({ text }) => text));
  return found.map(({ depth, text }, index) => ({ depth, text: plainHeading(text), anchor: anchors[index] ?? "" }));
}

function tableHtml({ header, rows, align }: Tokens.Table, inner: (cell: Tokens.TableCell) => string): string {
  const row = (cells: readonly Tokens.TableCell[], tag: "th" | "td"): string =>
    `<tr>${cells.map((cell, at) => `<${tag}${align[at] ? ` class="${align[at]}"` : ""}>${inner(cell)}</${tag}>`).join("")}</tr>`;
  const body = rows.map((cells) => row(cells, "td")).join("\n");
  return `<table><thead>${row(header, "th")}</thead><tbody>\n${body}\n</tbody></table>`;
}

interface LinkWorld {
  readonly checkout: Checkout;
  readonly files: Set<string>;
}

/** Where a link of a page leads within the site. */
function siteLink(file: string, href: string, { checkout, files }: LinkWorld): string {
  if (/^[a-z]+:/i.test(href) || href.startsWith("#")) return href;
  const [path = "", anchor] = href.split("#");
  const named = posix.join(posix.dirname(file), path);
  const target = path.endsWith("/") || checkout.hasFolder(named) ? posix.join(named, "README.md") : named;
  if (target.startsWith("..") || !checkout.hasFile(target)) throw new SiteError(`${file}: ${href} leads nowhere`);
  if (!isPage(target)) files.add(target);
  return `${relativeUrl(outputPath(file), outputPath(target))}${anchor === undefined ? "" : `#${anchor}`}`;
}

/** Plain text by heading. */
function textsOf(tokens: readonly Token[]): readonly string[] {
  const texts: string[][] = [[]];
  let headings = 0;
  for (const token of tokens) {
    if (token.type === "heading" && headings++ > 0) texts.push([]);
    else if (token.type !== "heading") texts.at(-1)?.push(plainText(token));
  }
  return texts.map((parts) => parts.join(" ").replace(/\s+/g, " ").trim());
}

function plainText(token: Token): string {
  if (isTable(token)) {
    return [token.header, ...token.rows].map((cells) => cells.map((cell) => plain(cell.tokens)).join(" ")).join(" ");
  }
  if (isList(token)) return token.items.map((item) => plain(item.tokens)).join(" ");
  if ("tokens" in token && token.tokens && token.tokens.length > 0) return plain(token.tokens);
  return token.type === "html" || token.type === "space" || !("text" in token) ? " " : String(token.text);
}

const isTable = (token: Token): token is Tokens.Table => token.type === "table";
const isList = (token: Token): token is Tokens.List => token.type === "list";

/** Code and words stand close within a line; blocks do not. */
const plain = (tokens: readonly Token[]): string =>
  tokens.map(plainText).join(tokens.some(({ type }) => type === "paragraph" || type === "list") ? " " : "");
