import { ProviderError } from "../provider-error.ts";
import type { Answer } from "../rest/answer.ts";
import { isRecord, type UnknownRecord } from "../rest/wire.ts";
import { garbled, refusesQuery } from "./answer.ts";
import { type Binding, decodeBinding } from "./binding.ts";
import type { Call, CloudFoundryClient } from "./client.ts";

const PAGE_ITEMS = 1_000;
const MAX_PAGES = 200;

export interface BindingListOptions {
  readonly client: CloudFoundryClient;
  /** Told of every service instance that comes along with its bindings. */
  readonly sawInstance: (instance: UnknownRecord) => void;
}

/** Lists of bindings, with their service instances where the foundation sends them along. */
export class BindingList {
  readonly #options: BindingListOptions;
  #canInclude = true;

  constructor(options: BindingListOptions) {
    this.#options = options;
  }

  /**
   * All bindings that match, page by page, oldest first: what is made meanwhile comes last. Whole or an error: what a page
   * lacks would look deleted. A binding that is deleted while the pages are read moves others to a page that was read
   * already, so the most that there ever were have to be found.
   */
  async read(filter: Readonly<Record<string, string>>, signal: AbortSignal): Promise<readonly Binding[]> {
    const found = new Map<string, Binding>();
    let most = 0;
    for (let page = 1, pages = 1; page <= pages; page += 1) {
      const query = { ...filter, order_by: "created_at", page: String(page), per_page: String(PAGE_ITEMS) };
      const seen = this.#collect(await this.#page(query, signal), found);
      pages = seen.pages;
      most = Math.max(most, seen.total);
      if (page === MAX_PAGES) break;
    }
    if (found.size >= most) return [...found.values()];
    throw new ProviderError("ProviderUnavailable", "Cloud Foundry's list of keys is not complete");
  }

  async #page(query: Readonly<Record<string, string>>, signal: AbortSignal): Promise<UnknownRecord> {
    const { client } = this.#options;
    const hasIncluded = this.#canInclude;
    let answer = await client.call(listCall(hasIncluded ? { ...query, include: "service_instance" } : query), signal);
    if (hasIncluded && refusesQuery(answer)) {
      answer = await client.call(listCall(query), signal);
      if (answer.status === 200) this.#canInclude = false;
    }
    return this.#bodyOf(answer);
  }

  #bodyOf(answer: Answer): UnknownRecord {
    if (answer.status !== 200) throw this.#options.client.refusal(answer, { purpose: "read" });
    const body = answer.body?.reveal();
    if (!body) throw garbled();
    return body;
  }

  #collect(
    { pagination, resources, included }: UnknownRecord,
    found: Map<string, Binding>,
  ): { readonly pages: number; readonly total: number } {
    const { total_pages: pages, total_results: total } = isRecord(pagination) ? pagination : {};
    if (typeof pages !== "number" || typeof total !== "number" || !Array.isArray(resources)) throw garbled();
    for (const resource of resources) {
      const binding = decodeBinding(resource);
      if (!binding) throw garbled();
      found.set(binding.id, binding);
    }
    const instances = isRecord(included) ? included.service_instances : undefined;
    for (const instance of Array.isArray(instances) ? instances : []) {
      if (isRecord(instance)) this.#options.sawInstance(instance);
    }
    return { pages, total };
  }
}

const listCall = (query: Readonly<Record<string, string>>): Call => ({
  method: "GET",
  path: "/v3/service_credential_bindings",
  query,
  purpose: "read",
});
