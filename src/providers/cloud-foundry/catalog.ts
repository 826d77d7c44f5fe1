import type { DescribedInstance } from "../contract.ts";
import { textOf, type UnknownRecord } from "../rest/wire.ts";
import { garbled } from "./answer.ts";
import { isGuid, relatedGuid } from "./binding.ts";
import type { CloudFoundryClient } from "./client.ts";

interface Plan {
  readonly plan: string;
  readonly offering: string;
  readonly tags: readonly string[];
}

const USER_PROVIDED: Plan = { plan: "user-provided", offering: "user-provided", tags: [] };

/** What instances are instances of. Plans and offerings are read once each: an id never comes to mean another one. */
export class Catalog {
  readonly #client: CloudFoundryClient;
  readonly #plans = new Map<string, Plan>();

  constructor(client: CloudFoundryClient) {
    this.#client = client;
  }

  async describe(instance: UnknownRecord, signal: AbortSignal): Promise<DescribedInstance> {
    const [id, name] = [textOf(instance.guid), textOf(instance.name)];
    if (id === undefined || name === undefined) throw garbled();
    const isManaged = instance.type !== "user-provided";
    const { tags, ...plan } = isManaged
      ? await this.#plan(relatedGuid(instance, "service_plan"), signal)
      : USER_PROVIDED;
    return { id, name, ...plan, tags: [...new Set([...tags, ...textsIn(instance.tags)])] };
  }

  async #plan(id: string | undefined, signal: AbortSignal): Promise<Plan> {
    const known = this.#plans.get(id ?? "");
    if (known) return known;
    const plan = await this.#read("/v3/service_plans", id, signal);
    const offering = await this.#read("/v3/service_offerings", relatedGuid(plan, "service_offering"), signal);
    const names = [textOf(plan.name), textOf(offering.name)] as const;
    if (id === undefined || names[0] === undefined || names[1] === undefined) throw garbled();
    const found: Plan = { plan: names[0], offering: names[1], tags: textsIn(offering.tags) };
    this.#plans.set(id, found);
    return found;
  }

  async #read(folder: string, id: string | undefined, signal: AbortSignal): Promise<UnknownRecord> {
    if (id === undefined || !isGuid(id)) throw garbled();
    const body = await this.#client.read({ method: "GET", path: `${folder}/${id}`, purpose: "read" }, signal);
    if (textOf(body.guid) !== id) throw garbled();
    return body;
  }
}

const textsIn = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.flatMap((item) => textOf(item) ?? []) : [];
