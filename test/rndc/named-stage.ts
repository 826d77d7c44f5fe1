import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../../src/base/clock.ts";
import { systemRandom } from "../../src/base/random.ts";
import type { RndcReply } from "../../src/rndc/dialogue.ts";
import type { RndcKey } from "../../src/rndc/key.ts";
import { printRndcKey } from "../../src/rndc/key-file.ts";
import { sendCommand } from "../../src/rndc/send-command.ts";
import { eventually } from "../support/eventually.ts";
import { scratchFolder } from "../support/scratch-folder.ts";
import { claimPort } from "./claimed-port.ts";

/** A named, or what stands in for it, with a folder of its own on ports of its own. */
export interface NamedPlace {
  readonly folder: string;
  readonly controlPort: number;
  readonly dnsPort: number;
  /** Where not on the usual one. */
  readonly host?: string;
}

export interface NamedStage {
  readonly name: string;
  /** Starts on what stands in the folder. */
  start(place: NamedPlace): Promise<{ stop(): Promise<void> }>;
}

export interface Configured {
  readonly keys: readonly RndcKey[];
  /** By their names; all of them when left out. */
  readonly controlKeys?: readonly string[];
  readonly updaters?: readonly string[];
  /** Changes the text before it is written. */
  readonly edit?: (text: string) => string;
}

export const ZONE = "example.test";
export const HOST = "127.0.0.1";

const ZONE_FILE = `$TTL 60
@ IN SOA ns hostmaster 1 3600 600 86400 60
@ IN NS ns
ns IN A 127.0.0.1
www 30 IN TXT "hello" ; a comment
`;

/** The file of the zone; its path. */
export function writeZone(folder: string): string {
  const path = join(folder, "example.db");
  writeFileSync(path, ZONE_FILE);
  return path;
}

export async function newPlace(): Promise<NamedPlace> {
  const folder = scratchFolder();
  writeZone(folder);
  const [control, dns] = [await claimPort(), await claimPort()];
  return { folder, controlPort: control.port, dnsPort: dns.port };
}

/** Writes the files as an operator would: each key in one of its own, and lists that name them. */
export function configure({ folder, controlPort, dnsPort }: NamedPlace, configured: Configured): void {
  const { keys, edit = (text) => text } = configured;
  const names = keys.map(({ name }) => name);
  const listed = (list: readonly string[], prefix = ""): string => list.map((name) => `${prefix}"${name}"; `).join("");
  const keyFolder = join(folder, "keys");
  rmSync(keyFolder, { recursive: true, force: true });
  mkdirSync(keyFolder);
  for (const key of keys)
    writeFileSync(join(keyFolder, `${key.name}.conf`), printRndcKey(key).reveal(), { mode: 0o600 });
  const text = `include "${keyFolder}/*.conf";
acl "updaters" { ${listed(configured.updaters ?? names, "key ")}};
controls {
  inet ${HOST} port ${controlPort} allow { ${HOST}; } keys { ${listed(configured.controlKeys ?? names)}};
};
options {
  directory "${folder}"; pid-file "${folder}/named.pid"; session-keyfile "${folder}/session.key";
  listen-on port ${dnsPort} { ${HOST}; }; listen-on-v6 { none; };
  recursion no; dnssec-validation no; notify no;
};
zone "${ZONE}" { type primary; file "${folder}/example.db"; allow-update { updaters; }; };
`;
  writeFileSync(join(folder, "named.conf"), edit(text));
}

/** One command of our own client; `aheadMs` is how far its clock goes before. */
export function command(place: NamedPlace, key: RndcKey, text: string, aheadMs = 0): Promise<RndcReply> {
  const clock = { ...systemClock, now: () => systemClock.now() + aheadMs };
  const { controlPort: port, host = HOST } = place;
  return sendCommand({ host, port, key, command: text, timeoutMs: 20_000, clock, random: systemRandom });
}

export async function untilUp(place: NamedPlace, key: RndcKey): Promise<void> {
  const ask = (): Promise<boolean | undefined> =>
    command(place, key, "status").then(
      () => true,
      () => undefined,
    );
  await eventually("named answers", ask, 20_000);
}
