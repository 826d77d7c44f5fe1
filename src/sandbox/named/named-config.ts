import type { ConfBlock, ConfPart, ConfStatement } from "../../rndc/conf-statements.ts";
import { parseStatements } from "../../rndc/conf-statements.ts";
import { RndcKeyInvalid } from "../../rndc/errors.ts";
import type { RndcKey } from "../../rndc/key.ts";
import { keyFromStatement } from "../../rndc/key-file.ts";
import type { ConfigFiles } from "./config-files.ts";
import { checkMatchList, type MatchList, matchListFrom } from "./match-list.ts";
import { NamedFailure, RESULT } from "./named-failure.ts";

/**
 * What named.conf says, as far as the stand-in knows it: keys, one control channel, lists, primary zones and where to
 * listen. Fails where named fails, with the same result; and on what it does not know, rather than to pass over it. Must
 * not: change anything, so that a bad configuration leaves the old one at work.
 */
export interface NamedConfig {
  /** By their names in lower case. */
  readonly keys: ReadonlyMap<string, RndcKey>;
  readonly acls: ReadonlyMap<string, MatchList>;
  readonly controls?: ControlsConfig;
  readonly listenOn?: Endpoint;
  readonly zones: ReadonlyMap<string, ZoneConfig>;
}

export interface Endpoint {
  readonly address: string;
  readonly port: number;
}

interface ControlsConfig extends Endpoint {
  readonly allow: MatchList;
  readonly keyNames: readonly string[];
}

interface ZoneConfig {
  readonly file: string;
  readonly updaters: MatchList;
}

/** What is under construction while the statements are read. */
interface Draft {
  readonly files: ConfigFiles;
  readonly keys: Map<string, RndcKey>;
  readonly acls: Map<string, MatchList>;
  readonly zones: Map<string, ZoneConfig>;
  controls?: ControlsConfig;
  listenOn?: Endpoint;
}

const MAX_INCLUDES = 8;

/** Allowed, and without effect here. */
const PASSED_OVER = new Set([
  ...["directory", "pid-file", "session-keyfile", "key-directory", "managed-keys-directory", "lock-file"],
  ...["recursion", "dnssec-validation", "allow-new-zones", "listen-on-v6", "allow-query", "allow-transfer"],
  ...["allow-recursion", "notify", "version", "hostname", "minimal-responses", "querylog", "forwarders"],
]);

export function readNamedConfig(files: ConfigFiles, path: string): NamedConfig {
  const draft: Draft = { files, keys: new Map(), acls: new Map(), zones: new Map() };
  readFile(draft, path, 0);
  for (const name of draft.controls?.keyNames ?? []) {
    if (!draft.keys.has(name)) throw failure(`unknown key '${name}'`);
  }
  const lists = [draft.controls?.allow ?? [], ...draft.acls.values()];
  for (const list of [...lists, ...[...draft.zones.values()].map(({ updaters }) => updaters)]) {
    checkMatchList(list, draft.acls);
  }
  return draft;
}

function readFile(draft: Draft, path: string, depth: number): void {
  const text = draft.files.read(path);
  if (text === undefined) throw new NamedFailure(RESULT.FILE_NOT_FOUND, `open: ${path}: file not found`);
  if (depth > MAX_INCLUDES) throw failure(`includes within includes, deeper than ${MAX_INCLUDES}`);
  try {
    for (const statement of parseStatements(text)) readStatement(draft, statement, depth);
  } catch (error) {
    throw error instanceof RndcKeyInvalid ? failure(`${path}: ${error.message}`) : error;
  }
}

type StatementReader = (draft: Draft, statement: ConfStatement, depth: number) => void;

const READERS: Readonly<Record<string, StatementReader>> = {
  include: (draft, statement, depth) => readIncluded(draft, nameOf(statement), depth),
  key: readKey,
  acl: (draft, statement) => define(draft.acls, nameOf(statement), matchListFrom(blockOf(statement)), "acl"),
  controls: (draft, statement) => readControls(draft, blockOf(statement)),
  options: (draft, statement) => readOptions(draft, blockOf(statement)),
  zone: (draft, statement) => readZone(draft, nameOf(statement), blockOf(statement)),
  logging: () => {},
  "statistics-channels": () => {},
};

function readStatement(draft: Draft, statement: ConfStatement, depth: number): void {
  const keyword = (wordsOf(statement.parts)[0] ?? "").toLowerCase();
  const read = Object.hasOwn(READERS, keyword) ? READERS[keyword] : undefined;
  if (!read) throw failure(`line ${statement.line}: unknown option`);
  read(draft, statement, depth);
}

function readIncluded(draft: Draft, pattern: string, depth: number): void {
  const paths = draft.files.match(pattern);
  if (paths.length === 0) throw new NamedFailure(RESULT.FILE_NOT_FOUND, `include ${pattern}: file not found`);
  for (const path of paths) readFile(draft, path, depth + 1);
}

function readKey(draft: Draft, statement: ConfStatement): void {
  const { key } = keyFromStatement(statement);
  define(draft.keys, key.name.toLowerCase(), key, "key");
}

function readControls(draft: Draft, block: ConfBlock): void {
  const [statement, second] = block.statements;
  if (second || draft.controls) throw failure("the stand-in has one control channel");
  if (!statement) return;
  const [kind, address = "", portWord, port] = wordsOf(statement.parts);
  if (kind !== "inet" || portWord !== "port") throw failure("a control channel is inet ADDRESS port NUMBER");
  const keys = blockAfter(statement.parts, "keys");
  draft.controls = {
    address,
    port: portFrom(port),
    allow: matchListFrom(blockAfter(statement.parts, "allow")),
    keyNames: keys.statements.map(({ parts }) => (wordsOf(parts)[0] ?? "").toLowerCase()),
  };
}

function readOptions(draft: Draft, block: ConfBlock): void {
  for (const { parts, line } of block.statements) {
    const [option = "", portWord, port] = wordsOf(parts);
    if (option !== "listen-on") {
      if (!PASSED_OVER.has(option)) throw failure(`line ${line}: unknown option`);
      continue;
    }
    const [address, second] = blockAfter(parts, undefined).statements;
    if (portWord !== "port" || !address || second) throw failure(`line ${line}: the stand-in listens on one address`);
    draft.listenOn = { address: wordsOf(address.parts)[0] ?? "", port: portFrom(port) };
  }
}

function readZone(draft: Draft, name: string, block: ConfBlock): void {
  const fields = new Map(block.statements.map((statement) => [wordsOf(statement.parts)[0] ?? "", statement]));
  const wordOf = (field: string): string => wordsOf(fields.get(field)?.parts ?? [])[1] ?? "";
  const updates = fields.get("allow-update");
  if (!["primary", "master"].includes(wordOf("type"))) throw failure("the stand-in has primary zones alone");
  for (const field of fields.keys()) {
    if (!["type", "file", "allow-update"].includes(field) && !PASSED_OVER.has(field)) throw failure("unknown option");
  }
  const updaters = updates ? matchListFrom(blockOf(updates)) : [];
  define(draft.zones, name.toLowerCase().replace(/\.$/, ""), { file: wordOf("file"), updaters }, "zone");
}

function define<T>(into: Map<string, T>, name: string, value: T, what: string): void {
  if (into.has(name)) throw failure(`${what} '${name}': already exists`);
  into.set(name, value);
}

const failure = (reason: string): NamedFailure => new NamedFailure(RESULT.FAILURE, reason);

const wordsOf = (parts: readonly ConfPart[]): readonly string[] =>
  parts.flatMap((part) => (part.kind === "word" ? [part.text] : []));

const nameOf = ({ parts }: ConfStatement): string => wordsOf(parts)[1] ?? "";

const blockOf = ({ parts }: ConfStatement): ConfBlock => blockAfter(parts, undefined);

/** The block behind a word; the first one without a word. */
function blockAfter(parts: readonly ConfPart[], word: string | undefined): ConfBlock {
  const block = parts.find((part, index) => {
    const before = parts[index - 1];
    return part.kind === "block" && (word === undefined || (before?.kind === "word" && before.text === word));
  });
  if (block?.kind !== "block") throw failure(`a block is missing${word === undefined ? "" : ` after ${word}`}`);
  return block;
}

function portFrom(text: string | undefined): number {
  const port = /^\d{1,5}$/.test(text ?? "") ? Number(text) : -1;
  if (port < 0 || port > 65_535) throw failure("there is no port of that number");
  return port;
}
