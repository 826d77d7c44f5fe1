import { isIP } from "node:net";
import { InvalidValue } from "../base/errors.ts";
import { Redacted } from "../base/redacted.ts";
import type { RndcKey } from "../rndc/key.ts";
import { printRndcKey } from "../rndc/key-file.ts";
import { acceptableKeys, type KeyRing, ringToJson } from "./key-ring.ts";

/**
 * What named includes, made from a ring: the keys that it is to accept, its control channel, and the list that zones name
 * for updates. The same ring always gives the same text. Must not: let anything into the text but words of a known shape;
 * names and addresses are checked here once more, whoever has checked them before.
 */
export const KEYS_FILE = "keys.conf";
export const CONTROLS_FILE = "controls.conf";
export const ACL_FILE = "acl.conf";
export const RING_FILE = "ring.json";

/** What zones point their `allow-update` at: never at a key, whose name changes. */
const UPDATERS_ACL = "keyturn-updaters";

/** Above what needs a privilege; the same everywhere, since instances may share a ring. */
export const CONTROL_PORT = 9953;

export interface ControlChannel {
  readonly port: number;
  /** Addresses of the server; `*` is every IPv4 one and `::` every IPv6 one. */
  readonly listen: readonly string[];
  /** Who may connect, as addresses or networks; `any` leaves it to the keys. */
  readonly allow: readonly string[];
}

export const CONTROL_CHANNEL: ControlChannel = { port: CONTROL_PORT, listen: ["*", "::"], allow: ["any"] };

/** The data of the ring Secret, as texts. */
export function renderRing(
  ring: KeyRing,
  channel: ControlChannel = CONTROL_CHANNEL,
): Redacted<Readonly<Record<string, string>>> {
  const keys = acceptableKeys(ring)
    .map(({ key }) => key)
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  return new Redacted({
    [RING_FILE]: ringToJson(ring).reveal(),
    [KEYS_FILE]: keys.map(keyStatement).join(""),
    [CONTROLS_FILE]: controlsStatement(
      keys.map(({ name }) => name),
      channel,
    ),
    [ACL_FILE]: aclStatement(keys.map(({ name }) => name)),
  });
}

const keyStatement = (key: RndcKey): string => {
  quoted(key.name);
  return printRndcKey(key).reveal();
};

/** Without a key there is no channel: an empty statement, so that named does not open one of its own. */
export function controlsStatement(names: readonly string[], { port, listen, allow }: ControlChannel): string {
  if (names.length === 0) return "controls { };\n";
  if (!Number.isInteger(port) || port < 1 || port > 65_535) throw new InvalidValue("the control port is none");
  const clients = allow.map((client) => `${clientOf(client)};`).join(" ");
  const keys = names.map((name) => `${quoted(name)};`).join(" ");
  const channels = listen.map(
    (address) => `\tinet ${listenAddress(address)} port ${port} allow { ${clients} } keys { ${keys} };\n`,
  );
  return `controls {\n${channels.join("")}};\n`;
}

export function aclStatement(names: readonly string[]): string {
  const entries = names.length === 0 ? ["none;"] : names.map((name) => `key ${quoted(name)};`);
  return `acl "${UPDATERS_ACL}" { ${entries.join(" ")} };\n`;
}

const KEY_NAME = /^[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_])?$/;

function quoted(name: string): string {
  if (name.length > 253 || !KEY_NAME.test(name)) throw new InvalidValue("that cannot be the name of a key");
  return `"${name}"`;
}

/** Where it listens: an address, not a network. */
const listenAddress = (text: string): string => (text === "*" ? text : checkedAddress(text));

const CLIENTS = ["any", "none", "localhost", "localnets"];

function clientOf(text: string): string {
  if (CLIENTS.includes(text)) return text;
  const [address = "", length, ...rest] = text.split("/");
  const bits = isIP(address) === 6 ? 128 : 32;
  const isLength = length === undefined || (/^\d{1,3}$/.test(length) && Number(length) <= bits);
  if (!isLength || rest.length > 0) throw new InvalidValue("that is no network");
  return length === undefined ? checkedAddress(address) : `${checkedAddress(address)}/${length}`;
}

function checkedAddress(text: string): string {
  // A zone (fe80::1%eth0) is allowed in an address, but in none that is written here.
  if (isIP(text) === 0 || !/^[0-9A-Fa-f.:]+$/.test(text)) throw new InvalidValue("that is no address");
  return text;
}
