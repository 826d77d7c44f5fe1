import { spawn } from "node:child_process";
import type { Clock } from "../base/clock.ts";
import { UsageError } from "../base/errors.ts";
import { Redacted } from "../base/redacted.ts";
import type { ExecPlugin } from "./kubeconfig.ts";
import { isRecord } from "./record.ts";

export interface ExecOptions {
  readonly plugin: ExecPlugin;
  /** Told to the plugin where it asked for it. */
  readonly clusterInfo: Readonly<Record<string, unknown>>;
  /** What the plugin inherits, PATH above all. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly timeoutMs?: number;
}

/** What a plugin printed. */
export interface ExecCredential {
  readonly token?: Redacted<string>;
  readonly clientCertificate?: Redacted<string>;
  readonly clientKey?: Redacted<string>;
  readonly expiresAt?: number;
}

const MAX_OUTPUT_BYTES = 1024 * 1024;
/** A plugin whose answers are refused is not run more often than this. */
const MIN_RERUN_MS = 5000;

/**
 * Credentials from an exec plugin: run when first needed, kept until they expire or are refused, never run twice at once.
 * The plugin's standard error goes where ours goes, as with kubectl; its output goes into no message.
 */
export class ExecCredentials {
  readonly #options: ExecOptions;
  #current: ExecCredential | undefined;
  #ranAt = Number.NEGATIVE_INFINITY;
  #running: Promise<ExecCredential> | undefined;

  constructor(options: ExecOptions) {
    this.#options = options;
  }

  async read(): Promise<ExecCredential> {
    const kept = this.#current;
    if (kept && (kept.expiresAt === undefined || this.#options.clock.now() < kept.expiresAt)) return kept;
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  /** The server refused what the plugin gave: run it again, though not in a tight loop. */
  recheck(): void {
    if (this.#options.clock.monotonic() - this.#ranAt >= MIN_RERUN_MS) this.#current = undefined;
  }

  async #run(): Promise<ExecCredential> {
    this.#ranAt = this.#options.clock.monotonic();
    const output = await runPlugin(this.#options);
    this.#current = readCredential(this.#options.plugin, output);
    return this.#current;
  }
}

function runPlugin(options: ExecOptions): Promise<string> {
  const { plugin, clock, timeoutMs = 60_000 } = options;
  return new Promise((resolve, reject) => {
    const child = spawn(plugin.command, plugin.args, {
      env: { ...options.environment, ...plugin.env, KUBERNETES_EXEC_INFO: JSON.stringify(execInfo(options)) },
      stdio: ["ignore", "pipe", "inherit"],
      windowsHide: true,
    });
    const chunks: Buffer[] = [];
    let size = 0;
    const fail = (problem: string, cause?: unknown): void => {
      timer.cancel();
      child.kill("SIGKILL");
      reject(new UsageError(explain(plugin, problem), cause));
    };
    const timer = clock.setTimer(() => fail(`did not finish within ${timeoutMs / 1000} s`), timeoutMs);
    child.on("error", (error: NodeJS.ErrnoException) =>
      fail(error.code === "ENOENT" ? "is not installed" : `cannot be run (${error.code ?? "unknown error"})`, error),
    );
    child.stdout.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > MAX_OUTPUT_BYTES) fail("printed too much");
      else chunks.push(chunk);
    });
    child.on("close", (code, signal) => {
      if (code === 0) {
        timer.cancel();
        resolve(Buffer.concat(chunks).toString("utf8"));
      } else fail(signal ? `was ended by ${signal}` : `failed with exit code ${code}`);
    });
  });
}

function execInfo({ plugin, clusterInfo }: ExecOptions): unknown {
  const spec = { interactive: false, ...(plugin.provideClusterInfo && { cluster: clusterInfo }) };
  return { kind: "ExecCredential", apiVersion: plugin.apiVersion, spec };
}

function readCredential(plugin: ExecPlugin, output: string): ExecCredential {
  let value: unknown;
  try {
    value = JSON.parse(output);
  } catch {
    throw new UsageError(explain(plugin, "printed something that is not JSON"));
  }
  if (!isRecord(value) || value.kind !== "ExecCredential" || !isRecord(value.status)) {
    throw new UsageError(explain(plugin, "printed no ExecCredential with a status"));
  }
  if (value.apiVersion !== plugin.apiVersion) {
    throw new UsageError(explain(plugin, `answered in another version than the ${plugin.apiVersion} it was asked for`));
  }
  const { token, clientCertificateData, clientKeyData, expirationTimestamp } = value.status;
  const hasToken = typeof token === "string" && token !== "";
  const hasCertificate = typeof clientCertificateData === "string" && typeof clientKeyData === "string";
  if (!hasToken && !hasCertificate) {
    throw new UsageError(explain(plugin, "gave neither a token nor a certificate with its key"));
  }
  const expiresAt = typeof expirationTimestamp === "string" ? Date.parse(expirationTimestamp) : Number.NaN;
  return {
    ...(hasToken && { token: new Redacted(token) }),
    ...(hasCertificate && {
      clientCertificate: new Redacted(clientCertificateData),
      clientKey: new Redacted(clientKeyData),
    }),
    ...(!Number.isNaN(expiresAt) && { expiresAt }),
  };
}

function explain(plugin: ExecPlugin, problem: string): string {
  const hint = plugin.installHint ? `; ${plugin.installHint}` : "";
  return `the log-in plugin ${plugin.command} ${problem}${hint}`;
}
