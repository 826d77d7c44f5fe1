import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import type { RndcKey } from "../../src/rndc/key.ts";
import { printRndcKey } from "../../src/rndc/key-file.ts";
import { RCODE } from "../../src/sandbox/named/dns/numbers.ts";
import { addText, queryText } from "../rndc/dns-client.ts";
import { command } from "../rndc/named-stage.ts";
import { scratchFolder } from "../support/scratch-folder.ts";
import type { BindScene } from "./bind-scene.ts";
import type { NamedPod } from "./named-pod.ts";

export interface LoadOptions {
  readonly scene: BindScene;
  /** Where the key is published. */
  readonly secret: string;
  /** How long a client goes on using a key before it reads the Secret again. */
  readonly holdMs: number;
  /** BIND's own `rndc`, where it is installed. */
  readonly rndc?: string | undefined;
}

/** What clients of one sort have tried. */
export interface Tally {
  readonly tried: number;
  readonly failed: number;
}

export interface Failure {
  readonly sort: LoadSort;
  readonly beganAt: number;
  readonly endedAt: number;
  readonly why: string;
}

export type LoadSort = "rndc, natively" | "rndc, the program" | "signed updates" | "queries";

/** One client's one request; throws where it was not granted. */
type Ask = (pod: NamedPod, key: RndcKey) => Promise<void>;

const PAUSE_MS = 15;
const PROGRAM_PAUSE_MS = 100;
const PATIENCE_MS = 4_000;
const run = promisify(execFile);

/**
 * Clients that never rest: each takes the key from the published Secret as users do, goes on with it for a while, and asks
 * the servers in turns. What is refused, lost or late is written down.
 */
export class BindLoad {
  readonly failures: Failure[] = [];
  readonly #options: LoadOptions;
  readonly #tried = new Map<LoadSort, number>();
  readonly #clients: Promise<void>[];
  #isOver = false;

  constructor(options: LoadOptions) {
    this.#options = options;
    const clients: readonly [LoadSort, Ask, number][] = [
      ["rndc, natively", askStatus, PAUSE_MS],
      ["signed updates", askUpdate, PAUSE_MS],
      ["queries", askQuery, PAUSE_MS],
    ];
    const { rndc } = options;
    const program = rndc === undefined ? [] : [["rndc, the program", programAsk(rndc), PROGRAM_PAUSE_MS] as const];
    this.#clients = [...clients, ...program].map(([sort, ask, pauseMs]) => this.#live(sort, ask, pauseMs));
  }

  async stop(): Promise<Readonly<Record<string, Tally>>> {
    this.#isOver = true;
    await Promise.all(this.#clients);
    const tallyOf = (sort: LoadSort, tried: number): Tally => ({
      tried,
      failed: this.failures.filter((failure) => failure.sort === sort).length,
    });
    return Object.fromEntries(Array.from(this.#tried, ([sort, tried]) => [sort, tallyOf(sort, tried)]));
  }

  async #live(sort: LoadSort, ask: Ask, pauseMs: number): Promise<void> {
    const { scene, secret, holdMs } = this.#options;
    let held: { readonly key: RndcKey; readonly untilAt: number } | undefined;
    for (let turn = 0; !this.#isOver; turn++) {
      if (!held || held.untilAt <= Date.now()) {
        held = { key: await scene.published(secret), untilAt: Date.now() + Math.random() * holdMs };
      }
      const ready = scene.pods(secret).filter(({ isReady }) => isReady);
      const pod = ready[turn % Math.max(1, ready.length)];
      if (pod) await this.#try(sort, () => ask(pod, held?.key as RndcKey));
      await sleep(pauseMs);
    }
  }

  async #try(sort: LoadSort, ask: () => Promise<void>): Promise<void> {
    const beganAt = Date.now();
    this.#tried.set(sort, (this.#tried.get(sort) ?? 0) + 1);
    const late = AbortSignal.timeout(PATIENCE_MS);
    const isLate = new Promise<never>((_, reject) => {
      late.addEventListener("abort", () => reject(new Error(`no answer in ${PATIENCE_MS} ms`)));
    });
    try {
      await Promise.race([ask(), isLate]);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      this.failures.push({ sort, beganAt, endedAt: Date.now(), why });
    }
  }
}

const askStatus: Ask = async ({ place }, key) => {
  await command(place, key, "status");
};

const askUpdate: Ask = async ({ dnsPlace }, key) => {
  const outcome = await addText(dnsPlace, "load", `at ${Date.now() % 10}`, { key });
  if (outcome.rcode !== RCODE.NOERROR || !outcome.isAuthentic) throw new Error(`not taken: ${JSON.stringify(outcome)}`);
};

const askQuery: Ask = async ({ dnsPlace }) => {
  const { rcode, texts } = await queryText(dnsPlace, "www");
  if (rcode !== RCODE.NOERROR || texts.join() !== "hello") throw new Error(`another answer: ${rcode} ${texts.join()}`);
};

/** The program wants the key in a file. */
function programAsk(program: string): Ask {
  const file = join(scratchFolder(), "rndc.key");
  return async ({ place }, key) => {
    writeFileSync(file, printRndcKey(key).reveal(), { mode: 0o600 });
    const words = ["-s", place.host ?? "", "-p", String(place.controlPort), "-k", file, "status"];
    await run(program, words, { timeout: PATIENCE_MS });
  };
}
