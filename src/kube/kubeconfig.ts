import { Buffer } from "node:buffer";
import { dirname, isAbsolute, resolve } from "node:path";
import { LineCounter, parseDocument } from "yaml";
import { UsageError } from "../base/errors.ts";
import { Redacted } from "../base/redacted.ts";
import { isRecord, type UnknownRecord } from "./record.ts";

/**
 * kubeconfig files → what one context says, with kubectl's rules for merging several files. Pure: reads no file, runs
 * nothing. Every mistake is one line that names the file and the remedy. Must not: quote values, which may be keys.
 */
export interface KubeconfigFile {
  readonly path: string;
  readonly text: string;
}

/** Something given in place, or the absolute path of the file that holds it. */
export type Source =
  | { readonly kind: "inline"; readonly value: Redacted<string> }
  | { readonly kind: "file"; readonly path: string };

interface ResolvedCluster {
  readonly name: string;
  readonly server: string;
  readonly ca?: Source;
  readonly serverName?: string;
  readonly skipVerify: boolean;
  readonly proxyUrl?: string;
  /** The cluster's extension for exec plugins, passed on as it is. */
  readonly execConfig?: unknown;
}

export interface ExecPlugin {
  readonly apiVersion: "client.authentication.k8s.io/v1" | "client.authentication.k8s.io/v1beta1";
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly installHint?: string;
  readonly provideClusterInfo: boolean;
}

interface ResolvedUser {
  readonly token?: Source;
  readonly basic?: { readonly username: string; readonly password: Redacted<string> };
  readonly clientCertificate?: Source;
  readonly clientKey?: Source;
  readonly exec?: ExecPlugin;
}

export interface ResolvedKubeconfig {
  /** The file that defines the context, for messages. */
  readonly path: string;
  readonly context: string;
  readonly namespace: string;
  readonly cluster: ResolvedCluster;
  readonly user: ResolvedUser;
}

/** An entry of one of the named lists, with the file it came from: relative paths are relative to that file. */
interface Entry {
  readonly path: string;
  readonly name: string;
  readonly body: UnknownRecord;
}

interface Merged {
  readonly currentContext: string | undefined;
  readonly contexts: ReadonlyMap<string, Entry>;
  readonly clusters: ReadonlyMap<string, Entry>;
  readonly users: ReadonlyMap<string, Entry>;
}

const EXEC_EXTENSION = "client.authentication.k8s.io/exec";

export function resolveKubeconfig(files: readonly KubeconfigFile[], contextName?: string): ResolvedKubeconfig {
  const merged = mergeFiles(files);
  const paths = files.map((file) => file.path).join(", ");
  const name = contextName ?? merged.currentContext;
  const known = [...merged.contexts.keys()].sort().join(", ") || "none";
  if (!name)
    throw new UsageError(`${paths}: no current-context is set; name one of its contexts (${known}) with --context`);
  const context = merged.contexts.get(name);
  if (!context) throw new UsageError(`${paths}: there is no context "${name}"; its contexts are: ${known}`);
  const clusterName = optionalText(context, "cluster");
  const cluster = clusterName ? merged.clusters.get(clusterName) : undefined;
  if (!cluster)
    throw mistake(context, `context "${name}" names the cluster "${clusterName ?? ""}", which is not defined`);
  const userName = optionalText(context, "user");
  const user = userName ? merged.users.get(userName) : undefined;
  if (userName && !user) throw mistake(context, `context "${name}" names the user "${userName}", who is not defined`);
  return {
    path: context.path,
    context: name,
    namespace: optionalText(context, "namespace") ?? "default",
    cluster: readCluster(cluster),
    user: user ? readUser(user) : {},
  };
}

/** The first file that defines a name, or sets the current context, wins; entries are never mixed. */
function mergeFiles(files: readonly KubeconfigFile[]): Merged {
  const contexts = new Map<string, Entry>();
  const clusters = new Map<string, Entry>();
  const users = new Map<string, Entry>();
  let currentContext: string | undefined;
  for (const file of files) {
    const config = parseFile(file);
    collect(file, config, { list: "contexts", field: "context" }, contexts);
    collect(file, config, { list: "clusters", field: "cluster" }, clusters);
    collect(file, config, { list: "users", field: "user" }, users);
    const current = config["current-context"];
    if (!currentContext && typeof current === "string" && current !== "") currentContext = current;
  }
  return { currentContext, contexts, clusters, users };
}

function parseFile(file: KubeconfigFile): UnknownRecord {
  const lines = new LineCounter();
  // Pretty errors quote the text around the mistake, which may be a token.
  const document = parseDocument(file.text, { prettyErrors: false, lineCounter: lines, logLevel: "silent" });
  const [error] = document.errors;
  if (error)
    throw new UsageError(`${file.path}: line ${lines.linePos(error.pos[0]).line} is not valid YAML; mend the file`);
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: 100 });
  } catch {
    throw new UsageError(`${file.path}: its YAML aliases do not resolve; mend the file`);
  }
  if (value === null || value === undefined) return {};
  if (!isRecord(value)) throw new UsageError(`${file.path}: this is not a kubeconfig file`);
  if (value.kind !== undefined && value.kind !== "Config") {
    throw new UsageError(`${file.path}: this is not a kubeconfig file but a ${String(value.kind)}`);
  }
  return value;
}

function collect(
  file: KubeconfigFile,
  config: UnknownRecord,
  where: { readonly list: string; readonly field: string },
  into: Map<string, Entry>,
): void {
  const items = config[where.list] ?? [];
  if (!Array.isArray(items)) throw new UsageError(`${file.path}: "${where.list}" must be a list`);
  for (const item of items) {
    const name: unknown = isRecord(item) ? item.name : undefined;
    if (!isRecord(item) || typeof name !== "string")
      throw new UsageError(`${file.path}: an entry of "${where.list}" has no name`);
    const body = item[where.field] ?? {};
    if (!isRecord(body))
      throw new UsageError(`${file.path}: "${where.list}" entry "${name}": "${where.field}" must be a map`);
    if (!into.has(name)) into.set(name, { path: file.path, name, body });
  }
}

function readCluster(entry: Entry): ResolvedCluster {
  const server = optionalText(entry, "server");
  if (!server) throw mistake(entry, `cluster "${entry.name}" has no "server"; set it to the API server's URL`);
  if (!isHttpUrl(server)) throw mistake(entry, `cluster "${entry.name}": "server" must be an http(s) URL`);
  if (holdsPassword(server)) {
    throw mistake(entry, `cluster "${entry.name}": "server" holds a user or password; move them to "users"`);
  }
  const ca = source(entry, "certificate-authority", "certificate-authority-data");
  const skipVerify = flag(entry, "insecure-skip-tls-verify");
  if (ca && skipVerify) {
    throw mistake(
      entry,
      `cluster "${entry.name}" has both a certificate-authority and insecure-skip-tls-verify; keep one`,
    );
  }
  const serverName = optionalText(entry, "tls-server-name");
  const proxyUrl = optionalText(entry, "proxy-url");
  if (proxyUrl !== undefined && !isHttpUrl(proxyUrl)) {
    throw mistake(
      entry,
      `cluster "${entry.name}": "proxy-url" must be an http(s) URL; other proxies are not supported`,
    );
  }
  const execConfig = execExtension(entry);
  return {
    name: entry.name,
    server,
    skipVerify,
    ...(ca && { ca }),
    ...(serverName !== undefined && { serverName }),
    ...(proxyUrl !== undefined && { proxyUrl }),
    ...(execConfig !== undefined && { execConfig }),
  };
}

function execExtension(entry: Entry): unknown {
  const extensions = entry.body.extensions;
  if (!Array.isArray(extensions)) return undefined;
  const found: unknown = extensions.find(
    (extension: unknown) => isRecord(extension) && extension.name === EXEC_EXTENSION,
  );
  return isRecord(found) ? found.extension : undefined;
}

function readUser(entry: Entry): ResolvedUser {
  const { body, name } = entry;
  if (body["auth-provider"] !== undefined && body["auth-provider"] !== null) {
    throw mistake(
      entry,
      `user "${name}" logs in with an auth-provider, which Kubernetes removed; use an exec plugin or a token`,
    );
  }
  if (["as", "as-uid", "as-groups", "as-user-extra"].some((field) => body[field] !== undefined)) {
    throw mistake(
      entry,
      `user "${name}" impersonates another, which is not supported; use that user's own credentials`,
    );
  }
  const tokenFile = optionalText(entry, "tokenFile");
  const token = optionalText(entry, "token");
  const username = optionalText(entry, "username");
  const clientCertificate = source(entry, "client-certificate", "client-certificate-data");
  const clientKey = source(entry, "client-key", "client-key-data");
  if (clientCertificate && !clientKey)
    throw mistake(entry, `user "${name}" has a client-certificate but no client-key; add it`);
  if (clientKey && !clientCertificate)
    throw mistake(entry, `user "${name}" has a client-key but no client-certificate; add it`);
  const tokenSource: Source | undefined = tokenFile
    ? { kind: "file", path: against(entry, tokenFile) }
    : token
      ? { kind: "inline", value: new Redacted(token) }
      : undefined;
  if (tokenSource && username) throw mistake(entry, `user "${name}" has both a token and a username; keep one`);
  const exec = isRecord(body.exec) ? readExec(entry, body.exec) : undefined;
  return {
    ...(tokenSource && { token: tokenSource }),
    ...(username && { basic: { username, password: new Redacted(optionalText(entry, "password") ?? "") } }),
    ...(clientCertificate && clientKey && { clientCertificate, clientKey }),
    ...(exec && { exec }),
  };
}

function readExec(entry: Entry, exec: UnknownRecord): ExecPlugin {
  const who = `user "${entry.name}": exec`;
  const { apiVersion, command, args, env, installHint, interactiveMode } = exec;
  if (apiVersion !== "client.authentication.k8s.io/v1" && apiVersion !== "client.authentication.k8s.io/v1beta1") {
    throw mistake(
      entry,
      `${who}.apiVersion must be client.authentication.k8s.io/v1 or v1beta1; update the plugin's entry`,
    );
  }
  if (typeof command !== "string" || command === "")
    throw mistake(entry, `${who}.command is missing; name the plugin to run`);
  if (interactiveMode === "Always") {
    throw mistake(entry, `${who} wants a terminal (interactiveMode: Always), and there is none; log in another way`);
  }
  const list: readonly unknown[] = Array.isArray(args) ? args : [];
  const variables: readonly unknown[] = Array.isArray(env) ? env : [];
  return {
    apiVersion,
    command: /[/\\]/.test(command) ? against(entry, command) : command,
    args: list.map(String),
    env: Object.fromEntries(
      variables.flatMap((item) => (isRecord(item) ? [[String(item.name), String(item.value ?? "")]] : [])),
    ),
    ...(typeof installHint === "string" && installHint !== "" && { installHint: oneLine(installHint) }),
    provideClusterInfo: exec.provideClusterInfo === true,
  };
}

/** What is given in place wins over a file. */
function source(entry: Entry, fileField: string, dataField: string): Source | undefined {
  const data = optionalText(entry, dataField);
  if (data) return { kind: "inline", value: new Redacted(decodeBase64(entry, dataField, data)) };
  const path = optionalText(entry, fileField);
  return path ? { kind: "file", path: against(entry, path) } : undefined;
}

function decodeBase64(entry: Entry, field: string, data: string): string {
  const compact = data.replace(/\s+/g, "");
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(compact) || compact.length % 4 !== 0) {
    throw mistake(entry, `"${entry.name}": "${field}" is not valid base64; write it anew`);
  }
  return Buffer.from(compact, "base64").toString("utf8");
}

function optionalText(entry: Entry, field: string): string | undefined {
  const value = entry.body[field];
  if (value === undefined || value === null || value === "") return undefined;
  // A token of digits is a number to YAML.
  if (typeof value === "number") return String(value);
  if (typeof value !== "string") throw mistake(entry, `"${entry.name}": "${field}" must be text; put it in quotes`);
  return value;
}

function flag(entry: Entry, field: string): boolean {
  const value = entry.body[field];
  if (value === undefined || value === null) return false;
  if (typeof value !== "boolean") throw mistake(entry, `"${entry.name}": "${field}" must be true or false`);
  return value;
}

function isHttpUrl(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && (url.protocol === "https:" || url.protocol === "http:");
}

/** The server's address is shown in logs and messages. */
function holdsPassword(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && (url.username !== "" || url.password !== "");
}

const against = (entry: Entry, path: string): string => (isAbsolute(path) ? path : resolve(dirname(entry.path), path));

/** Hints come from files: no control characters may reach a terminal. */
const oneLine = (text: string): string => text.replace(/\p{Cc}+/gu, " ").trim();

const mistake = (entry: Entry, text: string): UsageError => new UsageError(`${entry.path}: ${text}`);
