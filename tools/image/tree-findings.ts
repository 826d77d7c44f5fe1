import { lstat, readdir, readFile, readlink } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative } from "node:path";
import { isLicence } from "./needless.ts";

/** One file, folder or link of a tree; `path` is relative to it. */
export interface TreeEntry {
  readonly path: string;
  readonly kind: "file" | "folder" | "link";
  readonly mode: number;
  readonly bytes: number;
  /** Of a link: where it points, relative to the tree. */
  readonly target?: string;
  /** Of a package.json. */
  readonly manifest?: Readonly<Record<string, unknown>>;
}

/** A package by the lock file. */
export interface LockedPackage {
  readonly name: string;
  readonly version: string;
}

const MOST_BYTES = 60 * 1000 * 1000;
const TOP = ["LICENSE", "NOTICE", "bin", "dist", "node_modules", "package.json"];
const INSTALL_SCRIPTS = ["preinstall", "install", "postinstall"];
/** By their names, what only those need who work on a program. */
const DEVELOPMENT: readonly (readonly [what: string, pattern: RegExp])[] = [
  ["source", /\.[cm]?tsx?$/],
  ["a map", /\.map$/],
  ["a test", /\.(test|spec|fixture)\.|(^|\/)(tests?|specs?|__tests__|recorded|simulation)(\/|$)/],
  // But for the page that the operator serves.
  ["words", /^(?!dist\/page\/index\.html$).*\.(md|markdown|html)$|(^|\/)(docs|examples?|benchmarks?)(\/|$)/],
  ["settings", /(^|\/)(\.[^/]+|tsconfig[^/]*|package-lock\.json|Makefile|gruntfile\.js)$/],
  ["native code, which is not the same everywhere", /\.(node|gyp|so|dylib|dll|exe)$/],
];

/** What is in the tree and should not be, or is not and should. Pure. */
export function treeFindings(entries: readonly TreeEntry[], locked: readonly LockedPackage[]): readonly string[] {
  return [
    ...topFindings(entries),
    ...entries.flatMap((entry) => entryFindings(entry)),
    ...packageFindings(entries, locked),
    ...sizeFindings(entries),
  ];
}

export const bytesOf = (entries: readonly TreeEntry[]): number => entries.reduce((sum, { bytes }) => sum + bytes, 0);

function topFindings(entries: readonly TreeEntry[]): readonly string[] {
  const top = entries.map(({ path }) => path).filter((path) => !path.includes("/"));
  return [
    ...TOP.filter((name) => !top.includes(name)).map((name) => `${name} is missing`),
    ...top.filter((name) => !TOP.includes(name)).map((name) => `${name} does not belong there`),
  ];
}

function entryFindings({ path, kind, mode, target, manifest }: TreeEntry): readonly string[] {
  const found = isLicence(path) ? [] : DEVELOPMENT.filter(([, pattern]) => pattern.test(path)).map(([what]) => what);
  if (kind === "link" && (target === undefined || target.startsWith(".."))) found.push("a link that leads out");
  if (kind !== "link" && (mode & 0o022) !== 0) found.push("writable by others");
  if ((mode & 0o7000) !== 0) found.push("a set-id or sticky bit");
  const scripts = (manifest?.scripts ?? {}) as Readonly<Record<string, unknown>>;
  for (const name of INSTALL_SCRIPTS) if (scripts[name] !== undefined) found.push(`an install script (${name})`);
  if (path === "package.json" && manifest?.devDependencies !== undefined) found.push("packages that are not there");
  if (path === "bin/keyturn" && (mode & 0o111) !== 0o111) found.push("not executable");
  return found.map((what) => `${path}: ${what}`);
}

function packageFindings(entries: readonly TreeEntry[], locked: readonly LockedPackage[]): readonly string[] {
  const inTree = entries.filter(
    ({ path, manifest }) => manifest?.version !== undefined && path.startsWith("node_modules"),
  );
  const found = inTree.map(({ manifest }) => `${manifest?.name}@${manifest?.version}`);
  const wanted = locked.map(({ name, version }) => `${name}@${version}`);
  const licensed = new Set(entries.filter(({ path }) => isLicence(path)).map(({ path }) => dirname(path)));
  return [
    ...wanted.filter((name) => !found.includes(name)).map((name) => `${name} is missing`),
    ...found.filter((name) => !wanted.includes(name)).map((name) => `${name}: not in the lock file as needed`),
    ...inTree
      .map(({ path }) => dirname(path))
      .filter((folder) => !licensed.has(folder))
      .map((folder) => `${folder}: no licence`),
  ];
}

function sizeFindings(entries: readonly TreeEntry[]): readonly string[] {
  const bytes = bytesOf(entries);
  return bytes > MOST_BYTES ? [`${bytes} bytes, which is more than ${MOST_BYTES}`] : [];
}

export async function readTree(folder: string): Promise<readonly TreeEntry[]> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  return Promise.all(found.map((entry) => readEntry(folder, join(entry.parentPath, entry.name))));
}

async function readEntry(folder: string, file: string): Promise<TreeEntry> {
  const stats = await lstat(file);
  const entry = { path: relative(folder, file), mode: stats.mode & 0o7777 };
  if (stats.isDirectory()) return { ...entry, kind: "folder", bytes: 0 };
  if (stats.isSymbolicLink()) return { ...entry, kind: "link", bytes: 0, target: await targetOf(folder, file) };
  const isManifest = basename(file) === "package.json";
  return {
    ...entry,
    kind: "file",
    bytes: stats.size,
    ...(isManifest && { manifest: JSON.parse(await readFile(file, "utf8")) as Readonly<Record<string, unknown>> }),
  };
}

/** A path that is absolute means another file once the tree is elsewhere. */
async function targetOf(folder: string, link: string): Promise<string> {
  const target = await readlink(link);
  return isAbsolute(target) ? join("..", target) : relative(folder, join(dirname(link), target));
}
