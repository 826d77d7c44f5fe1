import { createHash, timingSafeEqual } from "node:crypto";
import type { Clock } from "../base/clock.ts";
import type { Random } from "../base/random.ts";
import type { Gate, Guest } from "./gate.ts";
import { NotAdmitted } from "./refusals.ts";
import type { SessionAnswer } from "./wire.ts";

export interface LinkGateOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Whoever has the link is the one who has the kubeconfig. */
  readonly guest: Guest;
  /** A link was used, and there is another one now. */
  readonly onUsed?: (token: string) => void;
}

const TOKEN_BYTES = 32;
/** A page that asks nothing for so long is a page that nobody looks at. */
const IDLE_MS = 12 * 3_600_000;
/** More browsers than one person has. */
const MAX_SESSIONS = 64;

const USED = "this link was used already, or is not from this server: the terminal shows a fresh one";
const OVER = "this session is over: open the link that the terminal shows";

/**
 * Lets in whoever has a link that this process has printed, once; from then on a token counts that only that page has. All
 * of it is in memory: when the process ends, nothing opens anything any more. Must not: write a token anywhere, or take
 * longer for one that is nearly right.
 */
export class LinkGate implements Gate {
  readonly by = "link";
  readonly #options: LinkGateOptions;
  /** By the digest of its token: when it was last used, on the clock that never goes back. */
  readonly #sessions = new Map<string, number>();
  #link: string;

  constructor(options: LinkGateOptions) {
    this.#options = options;
    this.#link = this.#newToken();
  }

  /** The token of the link that has not been used yet. */
  get link(): string {
    return this.#link;
  }

  exchange(linkToken: string): SessionAnswer {
    if (!isSame(linkToken, this.#link)) throw new NotAdmitted(USED);
    this.#link = this.#newToken();
    const token = this.#newToken();
    this.#forgetIdle();
    if (this.#sessions.size >= MAX_SESSIONS) this.#sessions.delete(this.#sessions.keys().next().value ?? "");
    this.#sessions.set(digestOf(token), this.#options.clock.monotonic());
    this.#options.onUsed?.(this.#link);
    return { token };
  }

  async admit(token: string): Promise<Guest> {
    this.#forgetIdle();
    const digest = digestOf(token);
    if (!this.#sessions.has(digest)) throw new NotAdmitted(OVER);
    // Last, so that the first ones are those that were not used for longest.
    this.#sessions.delete(digest);
    this.#sessions.set(digest, this.#options.clock.monotonic());
    return this.#options.guest;
  }

  #forgetIdle(): void {
    const now = this.#options.clock.monotonic();
    for (const [digest, usedAt] of this.#sessions) if (now - usedAt > IDLE_MS) this.#sessions.delete(digest);
  }

  #newToken(): string {
    return Buffer.from(this.#options.random.bytes(TOKEN_BYTES)).toString("base64url");
  }
}

/** Of a digest nobody can find out byte by byte how much of it was right. */
const digestOf = (token: string): string => createHash("sha256").update(token).digest("base64url");

const isSame = (given: string, wanted: string): boolean =>
  timingSafeEqual(Buffer.from(digestOf(given)), Buffer.from(digestOf(wanted)));
