import { DNS_PORT } from "../../bind/named-conf.ts";
import type { Endpoints } from "../../sandbox/named/named-program.ts";

/** Where on this machine a pod has what it has under other paths and on all its addresses. */
export interface Locality {
  /** Folders by the paths that they are mounted under. */
  readonly folders: ReadonlyMap<string, string>;
  readonly endpoints: Endpoints;
}

/** The files of a volume for a named that has neither a file system nor a network of its own. Pure. */
export function localFiles(
  files: Readonly<Record<string, string>>,
  locality: Locality,
): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(files).map(([name, text]) => [name, localText(text, locality)]));
}

/** Paths are quoted, and each address stands in a place of its own: nothing else is touched. */
function localText(text: string, { folders, endpoints: { control, dns } }: Locality): string {
  const moved = text.replaceAll(/"(\/[^"]*)"/g, (quoted, path: string) => {
    const mount = [...folders].find(([from]) => path === from || path.startsWith(`${from}/`));
    return mount ? `"${mount[1]}${path.slice(mount[0].length)}"` : quoted;
  });
  return moved
    .replace(`listen-on port ${DNS_PORT} { any; }`, `listen-on port ${dns.port} { ${dns.address}; }`)
    .replace(`listen-on-v6 port ${DNS_PORT} { any; }`, "listen-on-v6 { none; }")
    .replaceAll(/^\tinet :: .*\n/gm, "")
    .replaceAll(/^\tinet \* /gm, `\tinet ${control.address} `);
}
