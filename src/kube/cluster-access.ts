import { Buffer } from "node:buffer";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../base/clock.ts";
import { messageOf, UsageError } from "../base/errors.ts";
import { Redacted } from "../base/redacted.ts";
import { ExecCredentials } from "./exec-credentials.ts";
import type { KubeconfigFile, ResolvedKubeconfig, Source } from "./kubeconfig.ts";
import { RotatingFile } from "./rotating-file.ts";
import type { Transport } from "./transport.ts";
import {
  type CredentialSource,
  type Credentials,
  createUndiciTransport,
  type TlsMaterial,
} from "./undici-transport.ts";

/** Where an API server is and how to be let in. */
export interface ClusterAccess {
  readonly server: string;
  /** The context's namespace, or the one the pod runs in. */
  readonly namespace: string;
  /** It is that of the pod this runs in. */
  readonly isOfPod: boolean;
  /** Where this came from, for people: `context "dev" of ~/.kube/config`. */
  readonly origin: string;
  /** Of a kubeconfig, by its name. */
  readonly context?: string;
  readonly proxyUrl?: string;
  readonly credentials: CredentialSource;
}

export interface KubeconfigAccessOptions {
  /** One explicit file, which must exist, or a list as in KUBECONFIG, of which missing files are skipped. */
  readonly paths: string | readonly string[];
  readonly context?: string;
  readonly clock: Clock;
  /** What exec plugins inherit. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly execTimeoutMs?: number;
}

export interface InClusterAccessOptions {
  /** KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT. */
  readonly host: string;
  readonly port: string;
  readonly clock: Clock;
  readonly directory?: string;
}

export const SERVICE_ACCOUNT_DIRECTORY = "/var/run/secrets/kubernetes.io/serviceaccount";

/**
 * The edge where access to a cluster is made: reads kubeconfig, token and certificate files, runs exec plugins. What
 * rotates is read again; everything that can be found wrong at the start is, as a `UsageError`. Must not: read the
 * environment (the caller hands in what it read), or let a credential into a message.
 */
export async function accessFromKubeconfig(options: KubeconfigAccessOptions): Promise<ClusterAccess> {
  // Loaded only here: inside a cluster the YAML parser would be 12 MB of memory for nothing.
  const { resolveKubeconfig } = await import("./kubeconfig.ts");
  const resolved = resolveKubeconfig(await readKubeconfigs(options.paths), options.context);
  const { cluster, context, path, namespace } = resolved;
  const credentials = new AssembledCredentials(await kubeconfigParts(resolved, options));
  await credentials.current();
  return {
    server: cluster.server,
    namespace,
    isOfPod: false,
    origin: `context "${context}" of ${path}`,
    context,
    ...(cluster.proxyUrl !== undefined && { proxyUrl: cluster.proxyUrl }),
    credentials,
  };
}

/** For a pod: the service account's projected files, read again as the kubelet renews them. */
export async function accessFromCluster(options: InClusterAccessOptions): Promise<ClusterAccess> {
  const { host, port, clock, directory = SERVICE_ACCOUNT_DIRECTORY } = options;
  const tokenFile = new RotatingFile(join(directory, "token"), clock);
  const caFile = new RotatingFile(join(directory, "ca.crt"), clock);
  const credentials = new AssembledCredentials({
    read: async () => {
      const [token, ca] = await Promise.all([tokenFile.read(), caFile.read()]);
      return { token, ca };
    },
    recheck: () => tokenFile.recheck(),
  });
  await credentials.current();
  const namespace = await readFile(join(directory, "namespace"), "utf8").catch(() => "default");
  return {
    server: `https://${host.includes(":") ? `[${host}]` : host}:${port}`,
    namespace: namespace.trim() || "default",
    isOfPod: true,
    origin: "the service account of this pod",
    credentials,
  };
}

/** A transport to what `access` describes. */
export function openTransport(access: ClusterAccess, options: { readonly connectTimeoutMs?: number } = {}): Transport {
  const { server, credentials, proxyUrl } = access;
  return createUndiciTransport({ ...options, server, credentials, ...(proxyUrl !== undefined && { proxyUrl }) });
}

/**
 * The same server for those who bring a token of their own: of our own credentials nothing is left but what tells that it is
 * that server. A client certificate would count before any token.
 */
export function withoutCredentials(access: ClusterAccess): ClusterAccess {
  const { credentials } = access;
  let known: { readonly from: TlsMaterial; readonly bare: Credentials } | undefined;
  const current = async (signal?: AbortSignal): Promise<Credentials> => {
    const { tls: from } = await credentials.current(signal);
    if (known?.from !== from) {
      const { clientCertificate: _certificate, clientKey: _key, ...tls } = from;
      known = { from, bare: { tls } };
    }
    return known.bare;
  };
  return { ...access, credentials: { current, reject: () => {} } };
}

async function readKubeconfigs(paths: string | readonly string[]): Promise<readonly KubeconfigFile[]> {
  const explicit = typeof paths === "string";
  const wanted = explicit ? [paths] : [...new Set(paths.filter((path) => path !== ""))];
  const files: KubeconfigFile[] = [];
  for (const path of wanted) {
    try {
      files.push({ path, text: await readFile(path, "utf8") });
    } catch (error) {
      if (!explicit && isMissing(error)) continue;
      const problem = isMissing(error) ? "there is no such file" : messageOf(error);
      throw new UsageError(`cannot read the kubeconfig ${path}: ${problem}; give another one with --kubeconfig`, error);
    }
  }
  if (files.length === 0) {
    throw new UsageError(`no kubeconfig found (looked for ${wanted.join(", ") || "none"}); give one with --kubeconfig`);
  }
  return files;
}

const isMissing = (error: unknown): boolean => error instanceof Error && "code" in error && error.code === "ENOENT";

/** The pieces credentials are made of. A piece keeps its identity for as long as its content is the same. */
interface Parts {
  readonly ca?: Redacted<string>;
  readonly clientCertificate?: Redacted<string>;
  readonly clientKey?: Redacted<string>;
  readonly token?: Redacted<string>;
  readonly basic?: Redacted<string>;
}

interface PartsSource {
  read(): Promise<Parts>;
  /** The server refused what was read: look again at what may have changed. */
  recheck(): void;
  readonly serverName?: string;
  readonly skipVerify?: boolean;
}

/** Turns pieces into credentials, with the same object for the same pieces, so that connections outlive a look. */
class AssembledCredentials implements CredentialSource {
  readonly #source: PartsSource;
  #parts: Parts | undefined;
  #credentials: Credentials | undefined;

  constructor(source: PartsSource) {
    this.#source = source;
  }

  async current(): Promise<Credentials> {
    const parts = await this.#source.read();
    const old = this.#parts;
    if (this.#credentials && old && sameTls(old, parts) && old.token === parts.token && old.basic === parts.basic) {
      return this.#credentials;
    }
    const tls = this.#credentials && old && sameTls(old, parts) ? this.#credentials.tls : this.#tls(parts);
    const authorization = authorizationOf(parts);
    this.#parts = parts;
    this.#credentials = { tls, ...(authorization && { authorization }) };
    return this.#credentials;
  }

  reject(credentials: Credentials): void {
    if (credentials === this.#credentials) this.#source.recheck();
  }

  #tls(parts: Parts): TlsMaterial {
    const { serverName, skipVerify } = this.#source;
    return {
      ...(parts.ca && { ca: parts.ca.reveal() }),
      ...(parts.clientCertificate && { clientCertificate: parts.clientCertificate.reveal() }),
      ...(parts.clientKey && { clientKey: parts.clientKey }),
      ...(serverName !== undefined && { serverName }),
      ...(skipVerify && { skipVerify }),
    };
  }
}

const sameTls = (a: Parts, b: Parts): boolean =>
  a.ca === b.ca && a.clientCertificate === b.clientCertificate && a.clientKey === b.clientKey;

function authorizationOf({ token, basic }: Parts): Redacted<string> | undefined {
  if (token) return new Redacted(`Bearer ${token.reveal()}`);
  return basic && new Redacted(`Basic ${Buffer.from(basic.reveal()).toString("base64")}`);
}

async function kubeconfigParts(resolved: ResolvedKubeconfig, options: KubeconfigAccessOptions): Promise<PartsSource> {
  const { cluster, user } = resolved;
  const files: RotatingFile[] = [];
  const reader = (source: Source | undefined): (() => Promise<Redacted<string> | undefined>) => {
    if (source?.kind !== "file") return async () => source?.value;
    const file = new RotatingFile(source.path, options.clock);
    files.push(file);
    return () => file.read();
  };
  const readCa = reader(cluster.ca);
  // As with kubectl, nothing secret is ever sent over plain HTTP.
  const isSecure = cluster.server.startsWith("https:");
  const readToken = reader(isSecure ? user.token : undefined);
  const readCertificate = reader(isSecure ? user.clientCertificate : undefined);
  const readKey = reader(isSecure ? user.clientKey : undefined);
  const basic =
    isSecure && user.basic ? new Redacted(`${user.basic.username}:${user.basic.password.reveal()}`) : undefined;
  const exec = isSecure ? await execSource(resolved, options, readCa) : undefined;
  return {
    skipVerify: cluster.skipVerify,
    ...(cluster.serverName !== undefined && { serverName: cluster.serverName }),
    async read() {
      const fromPlugin = await exec?.read();
      const parts = {
        ca: await readCa(),
        clientCertificate: fromPlugin?.clientCertificate ?? (await readCertificate()),
        clientKey: fromPlugin?.clientKey ?? (await readKey()),
        token: fromPlugin?.token ?? (await readToken()),
        basic,
      };
      return Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== undefined));
    },
    recheck() {
      exec?.recheck();
      for (const file of files) file.recheck();
    },
  };
}

async function execSource(
  { cluster, user }: ResolvedKubeconfig,
  options: KubeconfigAccessOptions,
  readCa: () => Promise<Redacted<string> | undefined>,
): Promise<ExecCredentials | undefined> {
  if (!user.exec) return undefined;
  const ca = (await readCa())?.reveal();
  const clusterInfo = {
    server: cluster.server,
    ...(cluster.serverName !== undefined && { "tls-server-name": cluster.serverName }),
    ...(cluster.skipVerify && { "insecure-skip-tls-verify": true }),
    ...(ca !== undefined && { "certificate-authority-data": Buffer.from(ca).toString("base64") }),
    ...(cluster.proxyUrl !== undefined && { "proxy-url": cluster.proxyUrl }),
    config: cluster.execConfig ?? null,
  };
  return new ExecCredentials({
    plugin: user.exec,
    clusterInfo,
    environment: options.environment,
    clock: options.clock,
    ...(options.execTimeoutMs !== undefined && { timeoutMs: options.execTimeoutMs }),
  });
}
