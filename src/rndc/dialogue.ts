import type { Buffer } from "node:buffer";
import type { Clock } from "../base/clock.ts";
import type { Random } from "../base/random.ts";
import { type ControlData, type ControlMessage, contentOf, messageFrom } from "./control-message.ts";
import { RndcClockSkew, RndcCommandFailed, RndcProtocolViolation } from "./errors.ts";
import type { RndcKey } from "./key.ts";
import { signedMessage, verifiedContent } from "./signature.ts";

/**
 * One command, from our side, as messages in and out: a first message that asks for nothing, whose answer brings named's
 * nonce, and then the command with it. Every answer must be signed with our key, answer our serial, carry the nonce and
 * come from about now. Must not: know of sockets, or let what was not verified decide anything.
 */
export interface DialogueOptions {
  readonly key: RndcKey;
  /** As `rndc` takes it: `status`, `reconfig`, `reload example.com`. */
  readonly command: string;
  readonly clock: Pick<Clock, "now">;
  readonly random: Random;
}

export interface RndcReply {
  readonly text: string;
}

type DialogueStep =
  | { readonly kind: "send"; readonly message: Buffer }
  | { readonly kind: "done"; readonly reply: RndcReply };

/** named's own tolerance. */
const MAX_SKEW_MS = 300_000;
/** rndc gives a message a minute, and so does not work where its clock is more than that behind named's. */
const LIFETIME_MS = MAX_SKEW_MS;
const LONGEST_COMMAND = 1024;
const LONGEST_QUOTE = 200;

export class RndcDialogue {
  readonly #options: DialogueOptions;
  #serial: number;
  #nonce: number | undefined;

  constructor(options: DialogueOptions) {
    if (options.command.length > LONGEST_COMMAND || !/^[\x21-\x7e][\x20-\x7e]*$/.test(options.command)) {
      throw new RangeError("a command is one line of printable characters");
    }
    this.#options = options;
    this.#serial = new DataView(options.random.bytes(4).slice().buffer).getUint32(0);
  }

  /** Whether the command is out, so that named may act on it whatever becomes of the answer. */
  get isCommandSent(): boolean {
    return this.#nonce !== undefined;
  }

  open(): Buffer {
    return this.#request("null");
  }

  receive(message: Uint8Array): DialogueStep {
    const { nonce, data } = this.#verified(message);
    if (this.#nonce !== undefined) return { kind: "done", reply: this.#reply(data) };
    if (nonce === undefined || nonce === 0) throw this.#violation("the first answer has no nonce");
    this.#reply(data);
    this.#nonce = nonce;
    this.#serial = (this.#serial + 1) >>> 0;
    return { kind: "send", message: this.#request(this.#options.command) };
  }

  #request(type: string): Buffer {
    const { key, clock } = this.#options;
    const sentAt = clock.now();
    const nonce = this.#nonce === undefined ? {} : { nonce: this.#nonce };
    const request = { serial: this.#serial, sentAt, expiresAt: sentAt + LIFETIME_MS, isReply: false, data: { type } };
    return signedMessage(contentOf({ ...request, ...nonce }), key);
  }

  #verified(message: Uint8Array): ControlMessage {
    const answer = this.#read(message);
    if (!answer.isReply) throw this.#violation("what came is a question, not an answer");
    if (answer.serial !== this.#serial) throw this.#violation("the answer is to another question");
    if (this.#nonce !== undefined && answer.nonce !== this.#nonce) {
      throw this.#violation("the answer has another nonce than the first one");
    }
    this.#checkTime(answer);
    return answer;
  }

  #read(message: Uint8Array): ControlMessage {
    try {
      const content = verifiedContent(message, this.#options.key);
      if (content) return messageFrom(content);
    } catch (error) {
      if (!(error instanceof RndcProtocolViolation)) throw error;
      throw this.#violation(error.message);
    }
    throw this.#violation("the answer is not signed with the key that signed the question");
  }

  #checkTime({ sentAt, expiresAt }: ControlMessage): void {
    const now = this.#options.clock.now();
    const aheadMs = sentAt - now;
    if (Math.abs(aheadMs) <= MAX_SKEW_MS && (expiresAt === undefined || expiresAt + MAX_SKEW_MS >= now)) return;
    const seconds = Math.round(Math.abs(aheadMs) / 1000);
    const message = `the clock of named is ${seconds} s ${aheadMs > 0 ? "ahead of" : "behind"} ours; 300 s are the limit`;
    throw new RndcClockSkew(message, { mayHaveRun: this.isCommandSent });
  }

  #reply({ result, err, text = "" }: ControlData): RndcReply {
    if (result === undefined) throw this.#violation("the answer has no result");
    if (result === 0 && err === undefined) return { text };
    const command = this.#options.command.split(" ")[0];
    throw new RndcCommandFailed(`named: ${command} failed: ${quoted(err ?? `result ${result}`)}`, { result, text });
  }

  #violation(message: string): RndcProtocolViolation {
    return new RndcProtocolViolation(`the control channel gave a bad answer: ${message}`, {
      mayHaveRun: this.isCommandSent,
    });
  }
}

/** One line, however long and strange what named says may be. */
function quoted(text: string): string {
  const line = text.replace(/[^\x20-\x7e]+/g, " ").trim();
  return line.length > LONGEST_QUOTE ? `${line.slice(0, LONGEST_QUOTE)}…` : line;
}
