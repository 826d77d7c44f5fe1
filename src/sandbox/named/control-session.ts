import type { Buffer } from "node:buffer";
import type { Clock } from "../../base/clock.ts";
import type { Random } from "../../base/random.ts";
import { type ControlData, type ControlMessage, contentOf, messageFrom } from "../../rndc/control-message.ts";
import { RndcProtocolViolation } from "../../rndc/errors.ts";
import type { RndcKey } from "../../rndc/key.ts";
import { signedMessage, verifiedContent } from "../../rndc/signature.ts";

/**
 * One connection to the control channel, from named's side: what is not signed with a key of now, too far from our time,
 * expired or seen before, and what lacks the nonce that the first answer gave, is hung up on without a word. Must not:
 * act on a first message, whatever it asks for.
 */
export interface ControlHost {
  readonly clock: Pick<Clock, "now">;
  readonly random: Random;
  /** Those of the configuration at work. */
  controlKeys(): readonly RndcKey[];
  /** True the first time it sees a message. */
  isNew(message: ControlMessage): boolean;
  run(command: string): Omit<ControlData, "type">;
  log(line: string): void;
}

const MAX_SKEW_MS = 300_000;
const LIFETIME_MS = 60_000;

export class ControlSession {
  readonly #host: ControlHost;
  #nonce: number | undefined;

  constructor(host: ControlHost) {
    this.#host = host;
  }

  /** The answer; undefined where named hangs up. */
  receive(bytes: Uint8Array): Buffer | undefined {
    const signed = this.#signed(bytes);
    const problem = signed ? this.#problem(signed.message) : "bad auth";
    if (problem || !signed) {
      this.#host.log(`invalid command: ${problem}`);
      return undefined;
    }
    const { message, key } = signed;
    return signedMessage(contentOf(this.#answer(message)), key);
  }

  #signed(bytes: Uint8Array): { readonly key: RndcKey; readonly message: ControlMessage } | undefined {
    for (const key of this.#host.controlKeys()) {
      try {
        const content = verifiedContent(bytes, key);
        if (content) return { key, message: messageFrom(content) };
      } catch (error) {
        if (!(error instanceof RndcProtocolViolation)) throw error;
        return undefined;
      }
    }
    return undefined;
  }

  #problem(message: ControlMessage): string | undefined {
    const now = this.#host.clock.now();
    if (message.isReply) return "failure";
    if (Math.abs(message.sentAt - Math.floor(now / 1000) * 1000) > MAX_SKEW_MS) return "clock skew";
    if (message.expiresAt !== undefined && now >= message.expiresAt + 1000) return "expired";
    if (!this.#host.isNew(message)) return "duplicate";
    return this.#nonce !== undefined && message.nonce !== this.#nonce ? "bad auth" : undefined;
  }

  #answer({ serial, data: { type } }: ControlMessage): ControlMessage {
    const isFirst = this.#nonce === undefined;
    this.#nonce ??= new DataView(this.#host.random.bytes(4).slice().buffer).getUint32(0) || 1;
    const outcome = isFirst ? { result: 0 } : this.#host.run(type);
    const sentAt = this.#host.clock.now();
    return {
      serial,
      sentAt,
      expiresAt: sentAt + LIFETIME_MS,
      nonce: this.#nonce,
      isReply: true,
      data: { type, ...outcome },
    };
  }
}
