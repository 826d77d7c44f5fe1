import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { eventually } from "./eventually.ts";
import { SOURCE_MAIN } from "./keyturn-process.ts";
import type { OperatorAccess } from "./operator-access.ts";

export interface LogLine {
  readonly level: string;
  readonly msg: string;
  readonly [field: string]: unknown;
}

export interface Ended {
  /** The exit code, or the name of the signal that ended it. */
  readonly code: number | string;
  readonly tookMs: number;
}

/** A `keyturn operator` process, seen from outside: its log, its endpoints, its end. */
export class KeyturnOperator {
  readonly #child: ChildProcess;
  readonly #ended: Promise<[number | null, string | null]>;
  #text = "";

  constructor(child: ChildProcess) {
    this.#child = child;
    this.#ended = once(child, "close") as Promise<[number | null, string | null]>;
    child.stderr?.on("data", (chunk: Buffer) => {
      this.#text += chunk;
    });
  }

  /** Everything it has printed, word for word. */
  get text(): string {
    return this.#text;
  }

  get processId(): number {
    return this.#child.pid ?? 0;
  }

  get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  lines(message: string | RegExp): readonly LogLine[] {
    const isMeant = (line: LogLine): boolean =>
      typeof message === "string" ? line.msg === message : message.test(line.msg);
    return this.#wholeLines().filter(isMeant);
  }

  /** Waits for a log line, of this key where one is given; at least so many of them. */
  async logs(message: string | RegExp, want: { readonly key?: string; readonly count?: number } = {}): Promise<void> {
    const { key, count = 1 } = want;
    await this.until(`${count} × "${message}"${key === undefined ? "" : ` of ${key}`}`, async () => {
      return this.lines(message).filter((line) => key === undefined || line.key === key).length >= count;
    });
  }

  /** Waits until something holds; one that has ended by then is shown with its log. */
  async until(what: string, holds: () => Promise<boolean>): Promise<void> {
    try {
      await eventually(what, async () => {
        if (this.hasEnded) throw new Error(`the operator has ended, waiting for ${what}`);
        return (await holds()) || undefined;
      });
    } catch (error) {
      throw new Error(`${error instanceof Error ? error.message : error}\n${this.#text}`, { cause: error });
    }
  }

  /** Waits for `/readyz` to say so. */
  async ready(): Promise<void> {
    await this.until("to be ready", () => this.isReady());
  }

  async isReady(): Promise<boolean> {
    return (await this.#fetch("/readyz"))?.status === 200;
  }

  /** The value of a metric as it is now; undefined where it, or the operator, is not there. */
  async metric(name: string): Promise<number | undefined> {
    return (await this.metrics()).get(name);
  }

  /** All metrics as they are now, by their names with labels. */
  async metrics(): Promise<ReadonlyMap<string, number>> {
    const text = (await this.#rendered()) ?? "";
    const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
    return new Map(
      lines.map((line) => {
        const space = line.lastIndexOf(" ");
        return [line.slice(0, space), Number(line.slice(space + 1))];
      }),
    );
  }

  /** Its metrics as Prometheus gets them, as soon as it gives any; undefined where it has ended. */
  async renderedMetrics(): Promise<string | undefined> {
    if (this.hasEnded) return undefined;
    let text: string | undefined;
    await this.until("to give its metrics", async () => {
      text = await this.#rendered();
      return text !== undefined;
    });
    return text;
  }

  async stop(signal: NodeJS.Signals): Promise<Ended> {
    const startedAt = performance.now();
    this.#child.kill(signal);
    return { code: await this.ended(), tookMs: performance.now() - startedAt };
  }

  /** Waits for it to end by itself. */
  async ended(): Promise<number | string> {
    const [code, signal] = await this.#ended;
    return code ?? signal ?? "unknown";
  }

  async #rendered(): Promise<string | undefined> {
    return (await this.#fetch("/metrics"))?.text();
  }

  async #fetch(path: string): Promise<Response | undefined> {
    const [start] = this.lines("starting");
    if (typeof start?.endpoints !== "string") return undefined;
    return fetch(`${start.endpoints}${path}`).catch(() => undefined);
  }

  #wholeLines(): readonly LogLine[] {
    const whole = this.#text.slice(0, this.#text.lastIndexOf("\n") + 1).split("\n");
    return whole.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line) as LogLine);
  }
}

export interface KeyturnOperatorOptions extends OperatorAccess {
  readonly flags?: readonly string[];
  /** Which `keyturn`; that of the source where absent. */
  readonly main?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** For when the test is over: a process that is still there then is killed. */
  readonly after: (end: () => Promise<void>) => void;
}

/** Starts `keyturn operator` as a user would, with its endpoints on a free port. */
export function startKeyturnOperator(options: KeyturnOperatorOptions): KeyturnOperator {
  const { kubeconfig, namespace, flags = [], main = SOURCE_MAIN, environment, after } = options;
  const place = namespace === undefined ? [] : ["--lease-namespace", namespace];
  const words = [main, "operator", "--kubeconfig", kubeconfig, "--metrics-bind", "127.0.0.1:0", ...place, ...flags];
  const env = { PATH: process.env.PATH ?? "", HOME: "/nonexistent", ...environment };
  const child = spawn(process.execPath, words, { stdio: ["ignore", "ignore", "pipe"], env });
  const operator = new KeyturnOperator(child);
  after(async () => {
    if (!operator.hasEnded) await operator.stop("SIGKILL");
  });
  return operator;
}
