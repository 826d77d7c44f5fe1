import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { root } from "../run.ts";
import type { SiteSource } from "./make-site.ts";

const ASSETS = ["style.css", "search.js", "site.js"];

/** The pages of this checkout. */
export function siteSource(): SiteSource {
  const stat = (path: string) => (existsSync(join(root, path)) ? statSync(join(root, path)) : undefined);
  const readText = (file: string): string => readFileSync(join(root, file), "utf8");
  const manifest = JSON.parse(readText("package.json")) as { readonly version: string };
  return {
    pages: globSync(["*.md", "docs/**/*.md", "examples/*.md"], { cwd: root }).sort(),
    assets: new Map(ASSETS.map((name) => [name, readText(`tools/site/${name}`)])),
    version: manifest.version,
    hasFile: (file) => stat(file)?.isFile() ?? false,
    hasFolder: (folder) => stat(folder)?.isDirectory() ?? false,
    readText,
    readBytes: (file) => readFileSync(join(root, file)),
  };
}
