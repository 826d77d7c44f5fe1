import { textOf, type UnknownRecord } from "../rest/wire.ts";
import { garbled } from "./answer.ts";
import { isBindingId } from "./binding.ts";
import type { ServiceManagerClient } from "./client.ts";

/** What an instance is an instance of, in the broker's own words. */
export interface ServicePlan {
  readonly plan: string;
  readonly offering: string;
  readonly tags: readonly string[];
}

/**
 * The plans of one Service Manager and their offerings, each read once: an id never comes to mean another plan. Must not:
 * remember what is not there; an offering may be added the next minute.
 */
export class Catalog {
  readonly #client: ServiceManagerClient;
  readonly #plans = new Map<string, ServicePlan>();

  constructor(client: ServiceManagerClient) {
    this.#client = client;
  }

  async plan(id: string, signal: AbortSignal): Promise<ServicePlan> {
    const known = this.#plans.get(id);
    if (known) return known;
    const plan = await this.#read("/v1/service_plans", id, signal);
    const offering = await this.#read("/v1/service_offerings", textOf(plan.service_offering_id), signal);
    const { tags } = offering;
    const found: ServicePlan = {
      plan: nameIn(plan),
      offering: nameIn(offering),
      tags: Array.isArray(tags) ? tags.flatMap((tag) => textOf(tag) ?? []) : [],
    };
    this.#plans.set(id, found);
    return found;
  }

  async #read(folder: string, id: string | undefined, signal: AbortSignal): Promise<UnknownRecord> {
    if (id === undefined || !isBindingId(id)) throw garbled();
    const body = await this.#client.read({ method: "GET", path: `${folder}/${id}`, purpose: "read" }, signal);
    if (textOf(body.id) !== id) throw garbled();
    return body;
  }
}

/** What the broker calls it; the Service Manager's own name differs where two brokers offer the same. */
function nameIn({ catalog_name, name }: UnknownRecord): string {
  const found = textOf(catalog_name) ?? textOf(name);
  if (found === undefined) throw garbled();
  return found;
}
