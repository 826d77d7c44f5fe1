import { posix } from "node:path";
import { unescapeHtml } from "./escape.ts";

/** The files of a built site by their path; pages as HTML. */
export type SiteFiles = ReadonlyMap<string, string | Uint8Array>;

const REFERENCES = /\s(href|src)="([^"]*)"/g;
const idsIn = (html: string): ReadonlySet<string> =>
  new Set([...html.matchAll(/\sid="([^"]*)"/g)].map(([, id = ""]) => unescapeHtml(id)));

/** What is wrong with the links of a built site, one line for each: files and anchors that are not there. Pure. */
export function brokenLinks(files: SiteFiles): readonly string[] {
  const ids = new Map<string, ReadonlySet<string>>();
  for (const [path, text] of files) if (typeof text === "string" && path.endsWith(".html")) ids.set(path, idsIn(text));
  return [...ids.keys()].flatMap((path) => linksIn(files, path).flatMap((link) => faultOf(path, link, { files, ids })));
}

/** Every page that somebody gets to from the first one, by following links. */
export function reachablePages(files: SiteFiles, first: string): ReadonlySet<string> {
  const reached = new Set([first]);
  for (const path of reached) {
    for (const link of linksIn(files, path)) {
      const target = targetOf(path, link)?.file;
      if (target?.endsWith(".html") && files.has(target)) reached.add(target);
    }
  }
  return reached;
}

/** What a browser would ask another host for by itself: everything but links, which people follow. */
export function requestsElsewhere(files: SiteFiles): readonly string[] {
  return [...files].flatMap(([path, text]) => {
    if (typeof text !== "string" || !/\.(html|css|js)$/.test(path)) return [];
    const html = path.endsWith(".html") ? text.replace(/<a [^>]*>/g, "").replace(/<code[\s\S]*?<\/code>/g, "") : "";
    const asked = [
      ...[...html.matchAll(REFERENCES)].map(([, , url = ""]) => url),
      ...(path.endsWith(".css")
        ? [...text.matchAll(/(?:url\(|@import\s+)["']?([^"')]+)/g)].map(([, url = ""]) => url)
        : []),
      ...(path.endsWith(".js") && !path.includes("index")
        ? (text.match(/https?:\/\/[^\s"'`]+|\bfetch\(|XMLHttpRequest|WebSocket/g) ?? [])
        : []),
    ];
    return asked
      .filter((url) => /^(?:[a-z]+:)?\/\//i.test(url) || /fetch|XML|WebSocket/.test(url))
      .map((url) => `${path}: ${url}`);
  });
}

const linksIn = (files: SiteFiles, path: string): readonly string[] => {
  const text = files.get(path);
  return typeof text === "string" ? [...text.matchAll(REFERENCES)].map(([, , url = ""]) => unescapeHtml(url)) : [];
};

/** Undefined for what is outside of the site. */
function targetOf(
  path: string,
  link: string,
): { readonly file: string; readonly anchor: string | undefined } | undefined {
  if (/^[a-z]+:/i.test(link)) return undefined;
  const [to = "", anchor] = link.split("#");
  return { file: to === "" ? path : posix.join(posix.dirname(path), to), anchor };
}

function faultOf(
  path: string,
  link: string,
  { files, ids }: { readonly files: SiteFiles; readonly ids: ReadonlyMap<string, ReadonlySet<string>> },
): readonly string[] {
  const target = targetOf(path, link);
  if (!target) return [];
  if (!files.has(target.file)) return [`${path}: ${link}: there is no such file`];
  if (target.anchor === undefined) return [];
  const known = ids.get(target.file)?.has(decodeURIComponent(target.anchor)) ?? false;
  return known ? [] : [`${path}: ${link}: there is no such heading`];
}
