import type { Clock } from "../../base/clock.ts";
import { RecentMap } from "../rest/recent-map.ts";
import { textOf, type UnknownRecord } from "../rest/wire.ts";
import { garbled, outOfSight, saysNotFound } from "./answer.ts";
import { isGuid, relatedGuid } from "./binding.ts";
import type { Call, CloudFoundryClient } from "./client.ts";

/**
 * Whether "not there" can be believed. Cloud Foundry says it of everything that the caller may not see, so a lost role looks
 * like a deletion of all there is. It is believed of a key while its service instance can be read, and of an instance while
 * its space can; where neither was ever seen, while there is any space at all. Must not: be asked before something is missing.
 */
export class Sight {
  readonly #client: CloudFoundryClient;
  readonly #instanceOf: RecentMap<string>;
  readonly #spaceOf: RecentMap<string>;

  constructor(client: CloudFoundryClient, clock: Clock) {
    this.#client = client;
    this.#instanceOf = new RecentMap(clock, Infinity);
    this.#spaceOf = new RecentMap(clock, Infinity);
  }

  sawKey({ id, instanceId }: { readonly id: string; readonly instanceId: string }): void {
    this.#instanceOf.set(id, instanceId);
  }

  /** It is gone, and that was believed: nobody asks where it was any more. */
  lostKey(id: string): void {
    this.#instanceOf.forget(id);
  }

  sawInstance(instance: UnknownRecord): void {
    const [id, space] = [textOf(instance.guid), relatedGuid(instance, "space")];
    if (id !== undefined && space !== undefined && isGuid(space)) this.#spaceOf.set(id, space);
  }

  /** An instance, or undefined when it is not there and that can be believed. */
  async readInstance(id: string, signal: AbortSignal): Promise<UnknownRecord | undefined> {
    const instance = await this.#find(`/v3/service_instances/${id}`, signal);
    if (!instance) {
      await this.#ensureSpace(this.#spaceOf.get(id), signal);
      return undefined;
    }
    if (textOf(instance.guid) !== id) throw garbled();
    this.sawInstance(instance);
    return instance;
  }

  /** Throws unless it can be believed that a key is not there. */
  async ensureKeyIsGone(id: string, signal: AbortSignal): Promise<void> {
    const instanceId = this.#instanceOf.get(id);
    if (instanceId === undefined) return this.#ensureSpace(undefined, signal);
    await this.readInstance(instanceId, signal);
  }

  /** Throws unless it can be believed that there is nothing. */
  ensureEmpty(signal: AbortSignal): Promise<void> {
    return this.#ensureSpace(undefined, signal);
  }

  async #ensureSpace(id: string | undefined, signal: AbortSignal): Promise<void> {
    if (id !== undefined) {
      if (!(await this.#find(`/v3/spaces/${id}`, signal))) throw outOfSight();
      return;
    }
    const call: Call = { method: "GET", path: "/v3/spaces", query: { per_page: "1" }, purpose: "read" };
    const { resources } = await this.#client.read(call, signal);
    if (!Array.isArray(resources)) throw garbled();
    if (resources.length === 0) throw outOfSight();
  }

  async #find(path: string, signal: AbortSignal): Promise<UnknownRecord | undefined> {
    const call: Call = { method: "GET", path, purpose: "read" };
    const answer = await this.#client.call(call, signal);
    if (saysNotFound(answer)) return undefined;
    if (answer.status !== 200) throw this.#client.refusal(answer, call);
    const body = answer.body?.reveal();
    if (!body) throw garbled();
    return body;
  }
}
