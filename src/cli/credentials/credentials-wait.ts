import { delay } from "../../base/clock.ts";
import { formatDuration } from "../../base/duration.ts";
import { messageOf } from "../../base/errors.ts";
import { TooManyRequests, Unavailable, Unreachable } from "../../kube/errors.ts";
import { EXIT_CODES, type ExitCode } from "../command.ts";
import type { ClusterCall } from "../open-cluster.ts";
import { type BindingTaker, type Glance, type GlanceOptions, lookAtBindings, type Taker } from "./look-at-bindings.ts";

/** An operator is done with a change within a second or two. */
const PATIENCE_MS = 15_000;
/** What a condition says before this may be of the credentials before. */
const BELIEVED_AFTER_MS = 3_000;
const [FIRST_PAUSE_MS, LONGEST_PAUSE_MS] = [100, 2_000];
/** As shells have it for what Ctrl-C ended. */

export interface WaitResult {
  readonly code: ExitCode;
  /** As they were seen last. */
  readonly bindings: readonly BindingTaker[];
  readonly isTakenUp: boolean;
}

export interface WaitOptions extends Omit<GlanceOptions, "done" | "kube"> {
  readonly call: ClusterCall;
  readonly timeoutMs: number;
  readonly say: (title: string, line: string) => void;
}

/**
 * Looks again and again, until the instance and all its bindings have taken up what was set, the time is up, or somebody
 * has seen enough. What is under way goes on without it. Must not: change anything.
 */
export class CredentialsWait {
  readonly #options: WaitOptions;
  readonly #ended = new AbortController();
  readonly #done = new Set<string>();
  readonly #problems = new Map<string, string>();
  #bindings: readonly BindingTaker[] = [];
  #open: readonly string[] = [];
  #trouble = "";
  #end: { readonly why: string; readonly code: ExitCode } | undefined;

  constructor(options: WaitOptions) {
    this.#options = options;
  }

  async run(): Promise<WaitResult> {
    const { call, timeoutMs } = this.#options;
    const { clock, stderr, onStop } = call.world;
    const startedAt = clock.monotonic();
    const timers = [
      clock.setTimer(() => this.#giveUp(`not finished after ${formatDuration(timeoutMs)}`, 1), timeoutMs),
      clock.setTimer(() => this.#wonder(), PATIENCE_MS),
    ];
    onStop(() => this.#giveUp("interrupted", EXIT_CODES.interrupted));
    try {
      for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 1.5, LONGEST_PAUSE_MS)) {
        const isOver = await this.#look(clock.monotonic() - startedAt >= BELIEVED_AFTER_MS);
        if (isOver !== undefined) return { code: isOver ? 0 : 1, bindings: this.#bindings, isTakenUp: isOver };
        await delay(clock, pauseMs, this.#ended.signal);
        if (this.#end === undefined) continue;
        const { why, code } = this.#end;
        const whose = this.#open.length === 0 ? "" : `: ${some(this.#open)}`;
        stderr.write(`keyturn: ${why}${whose}; the credentials are set, and what is made from them goes on\n`);
        return { code, bindings: this.#bindings, isTakenUp: false };
      }
    } finally {
      for (const timer of timers) timer.cancel();
    }
  }

  /** True: all have taken it up; false: they never will. */
  async #look(isBelieved: boolean): Promise<boolean | undefined> {
    const { call, at, set } = this.#options;
    const { stderr } = call.world;
    let glance: Glance;
    try {
      glance = await lookAtBindings({ kube: call.kube, at, set, done: this.#done });
    } catch (error) {
      const isPassing = [Unreachable, Unavailable, TooManyRequests].some((kind) => error instanceof kind);
      if (!isPassing) throw error;
      const trouble = messageOf(error);
      if (trouble !== this.#trouble) stderr.write(`keyturn: cannot look; trying on: ${trouble}\n`);
      this.#trouble = trouble;
      return undefined;
    }
    if (glance.kind !== "seen") {
      stderr.write(`keyturn: ${glance.kind === "gone" ? "the instance was deleted" : CHANGED}\n`);
      return false;
    }
    const { instance, bindings } = glance;
    const all: readonly Taker[] = [instance, ...bindings];
    this.#bindings = bindings;
    this.#open = all.filter(({ isDone }) => !isDone).map(({ title }) => title);
    for (const taker of all) this.#tell(taker, isBelieved);
    return this.#open.length === 0 || undefined;
  }

  #tell({ uid, title, isDone, where, problem }: Taker, isBelieved: boolean): void {
    const { say } = this.#options;
    if (isDone) {
      if (!this.#done.has(uid)) say(title, `taken up${where}`);
      this.#done.add(uid);
    } else if (isBelieved && this.#problems.get(uid) !== problem) {
      this.#problems.set(uid, problem ?? "");
      if (problem !== undefined) say(title, `problem: ${problem}`);
    }
  }

  #giveUp(why: string, code: ExitCode): void {
    this.#end ??= { why, code };
    this.#ended.abort();
  }

  /** Nothing at all has begun: most likely nobody is there to begin it. */
  #wonder(): void {
    if (this.#done.size > 0) return;
    const { stderr } = this.#options.call.world;
    stderr.write("keyturn: nothing has begun yet: does an operator look after these kinds (--korifi)?\n");
  }
}

const CHANGED = "other credentials have been set meanwhile, and what is made from those is not waited for";

const MAX_NAMED = 5;

function some(titles: readonly string[]): string {
  const named = titles.slice(0, MAX_NAMED).join(", ");
  return titles.length > MAX_NAMED ? `${named} and ${titles.length - MAX_NAMED} more` : named;
}
