import type { Clock } from "../../base/clock.ts";
import { KeyturnError } from "../../base/errors.ts";
import type { Random } from "../../base/random.ts";
import { RndcCommandFailed, RndcRefused } from "../../rndc/errors.ts";
import type { RndcKey } from "../../rndc/key.ts";
import { ProviderError } from "../provider-error.ts";
import { inParallel } from "./in-parallel.ts";
import type { NamedServer, SendCommand } from "./ports.ts";

/**
 * Asks every server whether it accepts a key, and tells those that are behind to read their configuration again. All are
 * asked at once, each for a bounded time: one that does not answer keeps nobody from being asked. Must not: decide what
 * follows from it, or take silence for an answer.
 */
export interface GateOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly send: SendCommand;
  /** For each command. */
  readonly timeoutMs: number;
}

/** What stands against a key at one server, in words. */
export interface Objection {
  readonly server: string;
  readonly why: string;
  readonly kind: ObjectionKind;
}

type ObjectionKind =
  /** It has no address yet. */
  | "unborn"
  | "unreached"
  /** It was told, and what it reads is older: time will tell. */
  | "behind"
  /** It cannot follow, however long one waits. */
  | "broken";

/** By their names. */
export interface Acceptance {
  readonly accepting: ReadonlySet<string>;
  /** They have no address, or do not answer. */
  readonly silent: ReadonlySet<string>;
}

export interface Question {
  readonly key: RndcKey;
  /** Keys that a server may know, the likeliest first: whoever is to read its configuration again is told with one. */
  readonly signers: readonly RndcKey[];
  readonly signal: AbortSignal;
}

type Answer = Pick<Objection, "kind" | "why"> | undefined;

/** As long as a server that answers at all could take. */
export const COMMAND_TIMEOUT_MS = 5_000;
const MAX_AT_ONCE = 32;
const MAX_SIGNERS = 8;
const MAX_WORDS = 200;

export class ServerGate {
  readonly #options: GateOptions;

  constructor(options: GateOptions) {
    this.#options = options;
  }

  /** What keeps the key from being accepted everywhere. */
  notAccepting(servers: readonly NamedServer[], question: Question): Promise<readonly Objection[]> {
    return this.#askAll(servers, question, async (server) => {
      if (await this.#isAccepted(server, question.key, question.signal)) return undefined;
      if (!(await this.#isToldAgain(server, question))) return KNOWS_NONE;
      const isAccepted = await this.#isAccepted(server, question.key, question.signal);
      return isAccepted ? undefined : { kind: "behind", why: "does not know it yet: what it reads is older" };
    });
  }

  /** What keeps the key from being refused everywhere. Hanging up proves nothing unless another key is accepted. */
  stillAccepting(servers: readonly NamedServer[], question: Question): Promise<readonly Objection[]> {
    return this.#askAll(servers, question, async (server) => {
      const { key, signers } = question;
      const before = await this.#whyAccepted(server, question);
      if (before !== STILL_ACCEPTED) return before;
      if (!(await this.#isToldAgain(server, { ...question, signers: [...signers, key] }))) return KNOWS_NONE;
      return this.#whyAccepted(server, question);
    });
  }

  /** Refused before and after another key was accepted: whoever hangs up on everybody for a while has refused nothing. */
  async #whyAccepted(server: ReachableServer, { key, signers, signal }: Question): Promise<Answer> {
    if (await this.#isAccepted(server, key, signal)) return STILL_ACCEPTED;
    const answer = await this.#knowsOneOf(server, signers, signal);
    if (answer) return answer;
    return (await this.#isAccepted(server, key, signal)) ? STILL_ACCEPTED : undefined;
  }

  /** Which servers accept one of these keys, and of which nobody can tell. */
  async accepting(servers: readonly NamedServer[], keys: readonly RndcKey[], signal: AbortSignal): Promise<Acceptance> {
    const accepting = new Set<string>();
    const silent = new Set<string>();
    await inParallel(servers, MAX_AT_ONCE, async (server) => {
      const objection = await objectionOf(server, (reachable) => this.#knowsOneOf(reachable, keys, signal));
      if (!objection) accepting.add(server.name);
      else if (objection.kind !== "broken") silent.add(server.name);
    });
    throwIfBrokenOff(signal);
    return { accepting, silent };
  }

  async #askAll(
    servers: readonly NamedServer[],
    { signal }: Question,
    ask: (server: ReachableServer) => Promise<Answer>,
  ): Promise<readonly Objection[]> {
    const objections = await inParallel(servers, MAX_AT_ONCE, (server) => objectionOf(server, ask));
    throwIfBrokenOff(signal);
    return objections.filter((one) => one !== undefined);
  }

  async #knowsOneOf(server: ReachableServer, signers: readonly RndcKey[], signal: AbortSignal): Promise<Answer> {
    for (const key of signers.slice(0, MAX_SIGNERS)) {
      if (await this.#isAccepted(server, key, signal)) return undefined;
    }
    return KNOWS_NONE;
  }

  /** False when it accepts none of the keys; throws what else goes wrong. */
  async #isToldAgain(server: ReachableServer, { signers, signal }: Question): Promise<boolean> {
    for (const key of signers.slice(0, MAX_SIGNERS)) {
      try {
        await this.#send(server, key, "reconfig", signal);
        return true;
      } catch (error) {
        if (!(error instanceof RndcRefused)) throw error;
      }
    }
    return false;
  }

  async #isAccepted(server: ReachableServer, key: RndcKey, signal: AbortSignal): Promise<boolean> {
    try {
      await this.#send(server, key, "status", signal);
      return true;
    } catch (error) {
      if (error instanceof RndcRefused) return false;
      // Whatever has failed there, the answer is signed with the key.
      if (error instanceof RndcCommandFailed) return true;
      throw error;
    }
  }

  async #send({ host, port }: ReachableServer, key: RndcKey, command: string, signal: AbortSignal): Promise<void> {
    const { send, clock, random, timeoutMs } = this.#options;
    await send({ host, port, key, command, timeoutMs, signal, clock, random });
  }
}

interface ReachableServer {
  readonly host: string;
  readonly port: number;
}

/** What was broken off says nothing of anybody. */
function throwIfBrokenOff({ aborted }: AbortSignal): void {
  if (aborted) throw new ProviderError("ProviderUnavailable", "asking the servers was broken off");
}

const STILL_ACCEPTED: Answer = { kind: "behind", why: "still accepts it: what it reads is older" };
const KNOWS_NONE: Answer = {
  kind: "broken",
  why: "hangs up on every key that it should know: its keys, its clock or its allow list is wrong",
};

async function objectionOf(
  { name, host, port }: NamedServer,
  ask: (server: ReachableServer) => Promise<Answer>,
): Promise<Objection | undefined> {
  if (host === undefined) return { server: name, why: "has no address yet", kind: "unborn" };
  try {
    const answer = await ask({ host, port });
    return answer && { server: name, ...answer };
  } catch (error) {
    if (!(error instanceof KeyturnError)) throw error;
    const why = error.message.replace(/\s+/g, " ").slice(0, MAX_WORDS);
    return { server: name, why, kind: error instanceof RndcCommandFailed ? "broken" : "unreached" };
  }
}
