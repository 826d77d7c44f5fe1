import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { root } from "./run.ts";
import { makeSite } from "./site/make-site.ts";
import { SiteError } from "./site/site-error.ts";
import { siteSource } from "./site/site-source.ts";

/** `npm run site [-- --out DIR]`: the pages as a static site, by default in `.site/`, which is made anew. */
const { values } = parseArgs({ options: { out: { type: "string", default: join(root, ".site") } } });
const folder = resolve(values.out);
try {
  const files = makeSite(siteSource());
  // A folder that somebody named is only added to: what else is in it is theirs.
  if (folder === join(root, ".site")) rmSync(folder, { recursive: true, force: true });
  for (const [path, text] of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const pages = [...files.keys()].filter((path) => path.endsWith(".html")).length;
  console.log(`${join(folder, "index.html")}: ${pages} pages`);
} catch (error) {
  if (!(error instanceof SiteError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
