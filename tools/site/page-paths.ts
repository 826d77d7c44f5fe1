import { posix } from "node:path";

/** Where a file of the checkout stands in the site, and how one page of it refers to another. Pure. */
export const outputPath = (file: string): string =>
  isPage(file) ? file.replace(/(^|\/)README\.md$/, "$1index.html").replace(/\.md$/, ".html") : file;

export const isPage = (file: string): boolean => file.endsWith(".md");

/** From one file of the site to another, so that it works under any address, and from a folder on a disk. */
export const relativeUrl = (from: string, to: string): string => posix.relative(posix.dirname(from), to);

/** Back from a file of the site to its root; empty, or with a slash at the end. */
export const rootUrl = (from: string): string => "../".repeat(from.split("/").length - 1);
