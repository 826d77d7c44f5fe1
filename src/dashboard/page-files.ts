import { readdir, readFile } from "node:fs/promises";
import { extname, join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

/** A file of the page, in the forms in which it is sent. */
export interface PageFile {
  readonly type: string;
  readonly body: Buffer;
  readonly gzip?: Buffer;
  readonly brotli?: Buffer;
  /** Its name changes with what is in it: whoever has it has it for good. */
  readonly isImmutable: boolean;
}

/** By path: `/index.html`. Empty: the page was not built. */
export type PageFiles = ReadonlyMap<string, PageFile>;

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".json": "application/json",
  ".webmanifest": "application/manifest+json",
  ".png": "image/png",
  ".ico": "image/x-icon",
  ".woff2": "font/woff2",
  ".txt": "text/plain; charset=utf-8",
};
const PACKED: ReadonlySet<string> = new Set([".woff2", ".png", ".ico"]);
const HASHED = /-[\w-]{8,}\.\w+$/;
const MAX_PAGE_BYTES = 8 * 1024 * 1024;

/** Where a build leaves the page, seen from the sources and from what is compiled of them alike. */
export const defaultPageFolder = (): string => fileURLToPath(new URL("../../dist/page", import.meta.url));

/** All at once, and never again: what is served cannot be changed by whoever may write to the folder later. */
export async function readPageFiles(folder: string): Promise<PageFiles> {
  const names = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = new Map<string, PageFile>();
  let bytes = 0;
  for (const entry of names) {
    const type = TYPES[extname(entry.name)];
    if (!entry.isFile() || type === undefined) continue;
    const path = join(entry.parentPath, entry.name);
    const body = await readFile(path);
    bytes += body.length;
    if (bytes > MAX_PAGE_BYTES) break;
    const url = path.slice(folder.length).split(sep).join("/");
    files.set(url.startsWith("/") ? url : `/${url}`, pageFile(entry.name, type, body));
  }
  return files;
}

function pageFile(name: string, type: string, body: Buffer): PageFile {
  const isImmutable = HASHED.test(name);
  if (PACKED.has(extname(name))) return { type, body, isImmutable };
  const brotli = brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } });
  return { type, body, gzip: gzipSync(body, { level: 9 }), brotli, isImmutable };
}
