import type { Clock } from "../../base/clock.ts";
import { Redacted } from "../../base/redacted.ts";
import type { CreateRequest, KeyMetadata } from "../contract.ts";
import type { Answer } from "../rest/answer.ts";
import type { UnknownRecord } from "../rest/wire.ts";
import { errorOf, knowsNoMetadata, refusesMetadata } from "./answer.ts";
import type { Call, CloudFoundryClient } from "./client.ts";
import { encodeMarks } from "./marks.ts";
import { checkedMetadata } from "./metadata.ts";

export const BINDINGS = "/v3/service_credential_bindings";

/** No instance of any foundation has it. */
const NOWHERE = "00000000-0000-4000-8000-000000000000";

/** A foundation that was upgraded takes metadata some day: so often it is tried again. */
const TRY_AGAIN_MS = 3_600_000;

/**
 * Asks for keys, with their metadata where the foundation takes it then. Whether it does is found out by the keys that are
 * asked for, and remembered for a while.
 */
export class KeyRequests {
  readonly #client: CloudFoundryClient;
  readonly #clock: Clock;
  #takesMetadata: boolean | undefined;
  /** On the clock that never jumps: when metadata was refused last; undefined when it never was. */
  #refusedTick: number | undefined;

  constructor(client: CloudFoundryClient, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  /** The answer, and whether the metadata still has to be put on the key. */
  async send(
    request: CreateRequest,
    signal: AbortSignal,
  ): Promise<{ readonly answer: Answer; readonly isUnmarked: boolean }> {
    const [body, metadata] = [bodyOf(request), metadataOf(request)];
    if (this.#takesMetadata !== false || this.#isToBeTriedAgain()) {
      const answer = await this.#post({ ...body, metadata }, signal);
      // Where metadata was taken before, a refusal of it may be one of a single label.
      const isRefused = (this.#takesMetadata ? knowsNoMetadata : refusesMetadata)(answer);
      if (!isRefused) {
        if (answer.status < 300) this.#takesMetadata = true;
        return { answer, isUnmarked: false };
      }
      this.#refused();
    }
    return { answer: await this.#post(body, signal), isUnmarked: true };
  }

  /**
   * Whether keys are, or were once, made without metadata here. Where no key was asked for yet, one is asked for that
   * cannot be made, of an instance that is nowhere: what is wrong with it first tells.
   */
  async leavesUnmarked(signal: AbortSignal): Promise<boolean> {
    if (this.#takesMetadata === undefined) {
      const relationships = { service_instance: { data: { guid: NOWHERE } } };
      const metadata: KeyMetadata = { labels: {}, annotations: {} };
      const call = callOf({ type: "key", name: "nobody", relationships, metadata });
      const answer = await this.#client.call(call, signal);
      if (refusesMetadata(answer)) this.#refused();
      else if (errorOf(answer) && answer.status === 422) this.#takesMetadata = true;
      // Whoever took any other refusal for a no would give a key of ours up as somebody else's.
      else throw this.#client.refusal(answer, call);
    }
    return this.#refusedTick !== undefined;
  }

  #refused(): void {
    this.#takesMetadata = false;
    this.#refusedTick = this.#clock.monotonic();
  }

  #isToBeTriedAgain(): boolean {
    return this.#refusedTick !== undefined && this.#clock.monotonic() - this.#refusedTick >= TRY_AGAIN_MS;
  }

  #post(body: UnknownRecord, signal: AbortSignal): Promise<Answer> {
    return this.#client.call(callOf(body), signal);
  }
}

const callOf = (body: UnknownRecord): Call => ({
  method: "POST",
  path: BINDINGS,
  purpose: "make the key",
  body: new Redacted(body),
});

export function metadataOf({ marks, metadata = { labels: {}, annotations: {} } }: CreateRequest): KeyMetadata {
  const [theirs, ours] = [checkedMetadata(metadata), encodeMarks(marks)];
  return {
    labels: { ...theirs.labels, ...ours.labels },
    annotations: { ...theirs.annotations, ...ours.annotations },
  };
}

function bodyOf({ name, instanceId, appId, parameters }: CreateRequest): UnknownRecord {
  const given = parameters.reveal();
  return {
    type: appId === undefined ? "key" : "app",
    name,
    relationships: {
      service_instance: { data: { guid: instanceId } },
      ...(appId !== undefined && { app: { data: { guid: appId } } }),
    },
    ...(Object.keys(given).length > 0 && { parameters: given }),
  };
}
