import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { KeyRing } from "../../src/bind/key-ring.ts";
import { DNS_PORT, namedConf, PATHS } from "../../src/bind/named-conf.ts";
import { renderRing } from "../../src/bind/render-ring.ts";
import { HOST, type NamedPlace } from "../rndc/named-stage.ts";

/** A pod's files on loopback: what stands under other paths and ports there is put where this one has them. */
export function mountConfig({ folder, dnsPort }: NamedPlace): void {
  const text = namedConf({ recursion: false, keys: { kind: "ring", secretName: "k", ringName: "k-ring" } })
    .replaceAll(`"${PATHS.ring}`, `"${join(folder, "ring")}`)
    .replaceAll(`"${PATHS.work}`, `"${folder}`)
    .replace(`listen-on port ${DNS_PORT} { any; }`, `listen-on port ${dnsPort} { ${HOST}; }`)
    .replace(`listen-on-v6 port ${DNS_PORT} { any; }`, "listen-on-v6 { none; }");
  writeFileSync(join(folder, "named.conf"), text);
}

/** All files at once, as the kubelet does it. */
export function mountRing({ folder, controlPort }: NamedPlace, ring: KeyRing): void {
  const [next, mounted] = [join(folder, "ring-next"), join(folder, "ring")];
  mkdirSync(next);
  const files = renderRing(ring, { port: controlPort, listen: [HOST], allow: [HOST] }).reveal();
  for (const [name, text] of Object.entries(files)) writeFileSync(join(next, name), text, { mode: 0o600 });
  rmSync(mounted, { recursive: true, force: true });
  renameSync(next, mounted);
}
