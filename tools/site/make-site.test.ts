import assert from "node:assert/strict";
import { test } from "node:test";
import { createContext, runInContext } from "node:vm";
import { reachablePages, requestsElsewhere } from "./check-links.ts";
import { makeSite, type SiteSource } from "./make-site.ts";
import { filesIn, PARTS, readNavigation } from "./navigation.ts";
import { outputPath } from "./page-paths.ts";
import { siteSource } from "./site-source.ts";

const source = siteSource();
const site = makeSite(source);
const htmlOf = (file: string): string => String(site.get(outputPath(file)) ?? assert.fail(`${file} has no page`));

interface Found {
  readonly url: string;
  readonly title: string;
  readonly heading: string;
}

/** The very scripts that a browser gets. */
const search = ((): ((query: string) => readonly Found[]) => {
  const context = createContext({});
  for (const name of ["search.js", "search-index.js"]) runInContext(String(site.get(name)), context);
  return (query) => {
    const found: unknown = runInContext(
      `JSON.stringify(keyturnSearch(keyturnIndex, ${JSON.stringify(query)}))`,
      context,
    );
    return JSON.parse(String(found)) as readonly Found[];
  };
})();

test("every page is reached from the first one, and every link and anchor leads somewhere", () => {
  const pages = [...site.keys()].filter((path) => path.endsWith(".html"));
  assert.ok(pages.length > 60, `only ${pages.length} pages`);
  assert.deepEqual([...reachablePages(site, "index.html")].sort(), pages.sort());
});

test("no page asks another host for anything", () => {
  assert.deepEqual(requestsElsewhere(site), []);
  const spoilt = new Map([
    ["a.html", '<a href="https://a.example">a</a><script src="https://b.example/x.js"></script>'],
  ]);
  assert.deepEqual(requestsElsewhere(spoilt), ["a.html: https://b.example/x.js"]);
});

test("addresses are relative, so that it works from a disk and under any path", () => {
  for (const [path, text] of site) {
    if (!path.endsWith(".html")) continue;
    const absolute = [...String(text).matchAll(/\s(?:href|src)="(\/[^"]*)"/g)].map(([, url]) => url);
    assert.deepEqual(absolute, [], path);
  }
});

for (const [query, page] of [
  ["max-hold", "docs/reference/annotations.html"],
  ["AfterConsumers", "docs/restarts.html"],
  ["KeyturnKeyHeld", "docs/runbook.html"],
  ["keyturn_rotations_total", "docs/reference/metrics.html"],
  ["--min-frequency", "docs/reference/cli.html"],
  ["QuotaExceeded", "docs/errors.html"],
  ["threat model", "docs/security.html"],
  ["clock jumps", "docs/explanation/what-happens-when.html"],
  ["VCAP_SERVICES", "docs/korifi.html"],
  ["rndckeyconf", "docs/api.html"],
] as const) {
  test(`search finds ${query}`, () => {
    assert.ok(
      search(query).some(({ url }) => url.startsWith(page)),
      JSON.stringify(search(query).map(({ url }) => url)),
    );
  });
}

test("search finds every page by its title, and nothing for a word that is nowhere", () => {
  const navigation = readNavigation(source.readText("docs/README.md")).flatMap(({ entries }) => filesIn(entries));
  assert.ok(navigation.length > 60);
  for (const file of navigation) {
    const [, title = ""] = /<h1 id="[^"]*">(.*?) <a class="anchor"/.exec(htmlOf(file)) ?? [];
    const plain = title.replace(/<[^>]+>/g, "").replace(/&[a-z#\d]+;/g, " ");
    assert.ok(
      search(plain).some(({ url }) => url.startsWith(`${outputPath(file)}#`)),
      `${file}: ${plain}`,
    );
  }
  assert.deepEqual(search("zzyzx"), []);
  assert.deepEqual(search(""), []);
});

test("a figure stands within its page, in the colour of the text", () => {
  const html = htmlOf("docs/explanation/rotation.md");
  assert.match(html, /<figure><svg role="img" class="fig-rotation"[^>]*>[\s\S]*<\/svg><figcaption>/);
  assert.doesNotMatch(html, /<p><figure>/);
});

test("a picture is a file of the site, and has the room that it takes", () => {
  const pages = { "README.md": README, "docs/a.md": '# A\n\n![what "it" shows](x/y.png "Said")' };
  const made = siteOf({ ...pages, "docs/x/y.png": PNG }, Object.keys(pages));
  assert.deepEqual(made.get("docs/x/y.png"), Buffer.from(PNG, "latin1"));
  assert.match(
    String(made.get("docs/a.html")),
    /^<figure><img src="x\/y\.png" alt="what &quot;it&quot; shows" width="3" height="2" loading="lazy"><figcaption>Said<\/figcaption><\/figure>$/m,
  );
});

test("a page has one heading of the first level, a way on, and its contents", () => {
  for (const file of source.pages) assert.equal(htmlOf(file).match(/<h1 /g)?.length, 1, file);
  const html = htmlOf("docs/bind.md");
  assert.match(html, /aria-current="page">Rotate RNDC keys of BIND 9</);
  assert.match(html, /<li class="level-2"><a href="#quick-start">/);
  assert.match(html, /rel="prev"[\s\S]*rel="next"/);
});

/** A site of these pages and of one that lists them; parts that are of no interest have a page each. */
function siteOf(pages: Readonly<Record<string, string>>, list = Object.keys(pages)): ReadonlyMap<string, unknown> {
  const others = PARTS.filter((part) => part !== "How-to");
  const fillers = Object.fromEntries(others.map((part, at) => [`docs/filler-${at}.md`, `# ${part}\n`]));
  const listOf = (part: string): readonly string[] =>
    part === "How-to" ? list : [`docs/filler-${(others as readonly string[]).indexOf(part)}.md`];
  const sections = PARTS.map(
    (part) =>
      `## ${part}\n\n${listOf(part)
        .map((file) => `- [${file}](../${file})\n`)
        .join("")}`,
  );
  const navigation = `# Pages\n\n${sections.join("\n")}`;
  const files: Readonly<Record<string, string>> = { "docs/README.md": navigation, ...fillers, ...pages };
  const small: SiteSource = {
    pages: Object.keys(files).filter((file) => file.endsWith(".md")),
    assets: source.assets,
    version: "1",
    hasFile: (file) => file in files,
    hasFolder: () => false,
    readText: (file) => files[file] ?? assert.fail(file),
    readBytes: (file) => Buffer.from(files[file] ?? assert.fail(file), "latin1"),
  };
  return makeSite(small);
}

const README = "# Home\n\n[a](docs/a.md) [pages](docs/README.md)\n";
/** The beginning of one that is 3 wide and 2 high, a character for each byte. */
const PNG = "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x03\0\0\0\x02";
const SVG = '<svg viewBox="0 0 1 1"><title>t</title></svg>';

for (const { reason, a, more = {}, says } of [
  { reason: "a link to nowhere", a: "# A\n\n[b](b.md)", says: /docs\/a\.md: b\.md leads nowhere/ },
  { reason: "a link out of the checkout", a: "# A\n\n[b](../../b.md)", says: /leads nowhere/ },
  { reason: "an anchor that is not there", a: "# A\n\n[b](#b)", says: /docs\/a\.html: #b: there is no such heading/ },
  { reason: "HTML within a line", a: "# A\n\nan <b>odd</b> one", says: /HTML is not allowed in a page: <b>/ },
  { reason: "HTML as a block", a: "# A\n\n<div>odd</div>\n", says: /HTML is not allowed in a page: <div>/ },
  { reason: "a page without a title", a: "no heading", says: /begins with a heading/ },
  { reason: "a picture that is not there", a: "# A\n\n![x](x.png)", says: /x\.png is no figure/ },
  { reason: "a picture of another kind", a: "# A\n\n![x](x.gif)", more: { "docs/x.gif": "GIF" }, says: /no figure/ },
  {
    reason: "a picture that is none",
    a: "# A\n\n![x](x.png)",
    more: { "docs/x.png": "PNG" },
    says: /x\.png is no PNG/,
  },
  {
    reason: "a picture without words",
    a: "# A\n\n![](x.png)",
    more: { "docs/x.png": PNG },
    says: /says in words what it shows/,
  },
  {
    reason: "a figure with a script",
    a: "# A\n\n![x](x.svg)",
    more: { "docs/x.svg": SVG.replace("<title>", "<script></script><title>") },
    says: /must not have a script/,
  },
  {
    reason: "a figure with a handler",
    a: "# A\n\n![x](x.svg)",
    more: { "docs/x.svg": SVG.replace(" viewBox", ' onload="x" viewBox') },
    says: /a handler of events/,
  },
  {
    reason: "a figure that asks elsewhere",
    a: "# A\n\n![x](x.svg)",
    more: { "docs/x.svg": SVG.replace("</svg>", '<image href="https://x.example/a.png"/></svg>') },
    says: /a reference to something else/,
  },
  {
    reason: "a figure without a title",
    a: "# A\n\n![x](x.svg)",
    more: { "docs/x.svg": '<svg viewBox="0 0 1 1"></svg>' },
    says: /has a <title>/,
  },
]) {
  test(`refused: ${reason}`, () => {
    assert.throws(() => siteOf({ "README.md": README, "docs/a.md": a, ...more }, ["README.md", "docs/a.md"]), says);
  });
}

test("a page that is in no list, or in two, is refused", () => {
  const pages = { "README.md": README, "docs/a.md": "# A" };
  assert.throws(() => siteOf(pages, ["README.md"]), /docs\/a\.md is not listed/);
  assert.throws(() => siteOf(pages, ["README.md", "docs/a.md", "docs/a.md"]), /docs\/a\.md is listed twice/);
  assert.throws(() => siteOf(pages, ["README.md", "docs/a.md", "docs/b.md"]), /docs\/b\.md is listed, and is no page/);
});

test("text is text: what looks like HTML in code and headings is shown as it is written", () => {
  const html = String(
    siteOf({ "README.md": README, "docs/a.md": '# A `<b>`\n\n`<script>` & "x"\n\n```html\n<i>&amp;</i>\n```\n' }).get(
      "docs/a.html",
    ),
  );
  assert.match(html, /<h1 id="a-b">A <code>&lt;b&gt;<\/code>/);
  assert.match(html, /<code>&lt;script&gt;<\/code> &amp; &quot;x&quot;/);
  assert.match(html, /&lt;i&gt;&amp;amp;&lt;\/i&gt;/);
  assert.match(html, /<title>A &lt;b&gt; · Keyturn<\/title>/);
});
