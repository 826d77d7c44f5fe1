import type { Clock } from "../../base/clock.ts";
import { Redacted } from "../../base/redacted.ts";
import type {
  Connection,
  Created,
  CreateRequest,
  Credentials,
  DescribedInstance,
  MarkFilter,
  Marks,
  OutsideKey,
} from "../contract.ts";
import type { HttpPort } from "../http-port.ts";
import { matchesFilter } from "../mark-filter.ts";
import { ProviderError } from "../provider-error.ts";
import type { Answer } from "../rest/answer.ts";
import { RecentMap } from "../rest/recent-map.ts";
import { textOf, type UnknownRecord } from "../rest/wire.ts";
import { garbled, saysNotFound } from "./answer.ts";
import { type Binding, decodeBinding, isBindingId, keyOf, parseOperationAddress, type Trust } from "./binding.ts";
import { readBindings } from "./binding-list.ts";
import { Catalog } from "./catalog.ts";
import { type Call, type ServiceManagerClient, serviceManagerClient } from "./client.ts";
import type { ServiceManagerCredentials } from "./credentials.ts";
import { encodeMarks, type LabelChange, labelChanges, markCriteria } from "./marks.ts";
import { readOperation } from "./operation.ts";
import { isQueryable } from "./query.ts";
import type { TrackedOperation } from "./tracked-operation.ts";

export interface ServiceManagerOptions {
  readonly credentials: ServiceManagerCredentials;
  readonly http: HttpPort;
  readonly clock: Clock;
  /** For how long an operation is believed to be under way without news of it. */
  readonly operationTrustMs?: number;
}

/**
 * Service bindings of one SAP Service Manager as keys: a request per verb where the service allows it, its answers read
 * with suspicion, its surprises (see each method) kept from the caller. Must not: retry, decide what to make or delete,
 * or let anything that the service wrote into a message.
 */
export function connectServiceManager(options: ServiceManagerOptions): Connection {
  return new ServiceManagerConnection(options);
}

const BINDINGS = "/v1/service_bindings";
const INSTANCES = "/v1/service_instances";
const DEFAULT_TRUST_MS = 3_600_000;
/** How long a finished create may take to become visible. */
const VISIBILITY_MS = 120_000;

class ServiceManagerConnection implements Connection {
  readonly #client: ServiceManagerClient;
  readonly #clock: Clock;
  readonly #trustMs: number;
  readonly #operations: RecentMap<TrackedOperation>;
  readonly #catalog: Catalog;

  constructor(options: ServiceManagerOptions) {
    this.#client = serviceManagerClient(options);
    this.#clock = options.clock;
    this.#trustMs = options.operationTrustMs ?? DEFAULT_TRUST_MS;
    this.#operations = new RecentMap(options.clock, this.#trustMs);
    this.#catalog = new Catalog(this.#client);
  }

  async listMarked(filter: MarkFilter, signal: AbortSignal): Promise<readonly OutsideKey[]> {
    const bindings = await readBindings(this.#client, { labels: markCriteria(filter) }, signal);
    return this.#keys(bindings).filter(({ marks }) => matchesFilter(marks, filter));
  }

  /** A name that the query language cannot say is looked for among all bindings of the instance. */
  async findByName(instanceId: string, name: string, signal: AbortSignal): Promise<readonly OutsideKey[]> {
    const ofInstance = { key: "service_instance_id", value: instanceId };
    const fields = isQueryable(name) ? [{ key: "name", value: name }, ofInstance] : [ofInstance];
    const bindings = await readBindings(this.#client, { fields }, signal);
    return this.#keys(bindings).filter((key) => key.name === name && key.instanceId === instanceId);
  }

  async observe(id: string, signal: AbortSignal): Promise<OutsideKey | undefined> {
    const binding = await this.#get(id, signal);
    const tracked = this.#operations.get(id);
    if (tracked?.kind === "create") return this.#observeMade(binding, { id, ...tracked }, signal);
    if (tracked?.kind === "delete") return this.#observeDeleted(binding, { id, ...tracked }, signal);
    return binding && keyOf(binding, this.#trust());
  }

  async create(request: CreateRequest, signal: AbortSignal): Promise<Created> {
    const parameters = request.parameters.reveal();
    const call: Call = {
      method: "POST",
      path: BINDINGS,
      purpose: "make the binding",
      body: new Redacted({
        name: request.name,
        service_instance_id: request.instanceId,
        ...(Object.keys(parameters).length > 0 && { parameters }),
        labels: encodeMarks(request.marks),
      }),
    };
    const answer = await this.#client.call(call, signal);
    if (answer.status === 201) return this.#created(answer);
    if (answer.status === 202) return this.#accepted(answer, request);
    throw this.#client.refusal(answer, call);
  }

  async readCredentials(id: string, signal: AbortSignal): Promise<Credentials> {
    const binding = await this.#get(id, signal);
    if (!binding) throw new ProviderError("ProviderUnavailable", "the binding is not at the Service Manager (yet)");
    const { state } = keyOf(binding, this.#trust());
    if (state === "creating") throw new ProviderError("ProviderBusy", "the binding is still being made");
    if (state === "failed" || !binding.credentials) {
      throw new ProviderError("CredentialsUnavailable", "the Service Manager has no credentials for the binding");
    }
    return binding.credentials;
  }

  /**
   * While the broker has not answered a create, a delete is a 404 and the binding appears later, alive: where this
   * process knows of such a create, it does not call the key gone.
   */
  async delete(id: string, signal: AbortSignal): Promise<"gone" | "accepted"> {
    if (!isBindingId(id)) return "gone";
    const call: Call = { method: "DELETE", path: `${BINDINGS}/${id}`, purpose: "delete the binding" };
    const answer = await this.#client.call(call, signal);
    const address = parseOperationAddress(answer.headers.location);
    if (answer.status === 202 && (answer.body || address)) {
      if (address) this.#operations.set(id, { kind: "delete", operationId: address.operationId });
      return "accepted";
    }
    if (saysNotFound(answer)) {
      const tracked = this.#operations.get(id);
      const made = tracked?.kind === "create" && (await this.#observeMade(undefined, { id, ...tracked }, signal));
      if (made && made.state === "creating") {
        throw new ProviderError("ProviderBusy", "the binding is still being made and cannot be deleted yet");
      }
    } else if (answer.status !== 200) {
      throw this.#client.refusal(answer, call);
    } else if (!answer.body) {
      throw garbled();
    }
    this.#operations.forget(id);
    return "gone";
  }

  async mark(id: string, marks: Marks | undefined, signal: AbortSignal): Promise<void> {
    const binding = await this.#get(id, signal);
    if (!binding) {
      if (marks === undefined) return;
      throw new ProviderError("ProviderRefused", "the binding to be marked is not at the Service Manager");
    }
    const { add, remove } = labelChanges(binding.labels, marks);
    if (add.length > 0) await this.#changeLabels(id, add, signal);
    if (remove.length > 0) await this.#changeLabels(id, remove, signal);
  }

  async observeInstance(instanceId: string, signal: AbortSignal): Promise<"present" | "gone"> {
    if (await this.#getInstance(instanceId, signal)) return "present";
    await readBindings(this.#client, { maxItems: 1 }, signal);
    return "gone";
  }

  /** Three requests for the first instance of a plan, one for the others. */
  async describeInstance(instanceId: string, signal: AbortSignal): Promise<DescribedInstance | undefined> {
    const instance = await this.#getInstance(instanceId, signal);
    if (!instance) return undefined;
    const [name, planId] = [textOf(instance.name), textOf(instance.service_plan_id)];
    if (name === undefined || planId === undefined) throw garbled();
    return { id: instanceId, name, ...(await this.#catalog.plan(planId, signal)) };
  }

  #trust(): Trust {
    return { now: this.#clock.now(), trustMs: this.#trustMs };
  }

  #keys(bindings: readonly Binding[]): readonly OutsideKey[] {
    const trust = this.#trust();
    return bindings.map((binding) => keyOf(binding, trust));
  }

  /** No request for what cannot be an id: it would address something else, and the service never gave it out. */
  async #get(id: string, signal: AbortSignal): Promise<Binding | undefined> {
    if (!isBindingId(id)) return undefined;
    const call: Call = { method: "GET", path: `${BINDINGS}/${id}`, purpose: "read" };
    const answer = await this.#client.call(call, signal);
    if (saysNotFound(answer)) return undefined;
    if (answer.status !== 200) throw this.#client.refusal(answer, call);
    const binding = decodeBinding(answer.body?.reveal());
    if (binding?.id !== id) throw garbled();
    return binding;
  }

  async #getInstance(id: string, signal: AbortSignal): Promise<UnknownRecord | undefined> {
    if (!isBindingId(id)) {
      throw new ProviderError("ProviderRefused", "the service instance's id cannot be one of the Service Manager");
    }
    const call: Call = { method: "GET", path: `${INSTANCES}/${id}`, purpose: "read" };
    const answer = await this.#client.call(call, signal);
    if (saysNotFound(answer)) return undefined;
    if (answer.status !== 200) throw this.#client.refusal(answer, call);
    const instance = answer.body?.reveal();
    if (textOf(instance?.id) !== id) throw garbled();
    return instance;
  }

  #created(answer: Answer): Created {
    const binding = decodeBinding(answer.body?.reveal());
    if (!binding) throw garbled();
    const key = keyOf(binding, this.#trust());
    const { credentials } = binding;
    return key.state === "ready" && credentials
      ? { kind: "ready", key, credentials }
      : { kind: "accepted", id: key.id };
  }

  #accepted(answer: Answer, { name, instanceId, marks }: CreateRequest): Created {
    const address = parseOperationAddress(answer.headers.location);
    if (!address) throw garbled();
    const { bindingId: id, operationId } = address;
    this.#operations.set(id, { kind: "create", operationId, key: { id, name, instanceId, marks } });
    return { kind: "accepted", id };
  }

  async #observeMade(
    binding: Binding | undefined,
    made: { readonly id: string; readonly operationId: string; readonly key: Omit<OutsideKey, "state"> },
    signal: AbortSignal,
  ): Promise<OutsideKey | undefined> {
    const seen = binding && keyOf(binding, this.#trust());
    if (seen && (binding.isReady || binding.lastOperation)) {
      if (seen.state !== "creating") this.#operations.forget(made.id);
      return seen;
    }
    const key = seen ?? made.key;
    const operation = await readOperation(this.#client, { bindingId: made.id, operationId: made.operationId }, signal);
    if (operation?.state === "under way") return { ...key, state: "creating" };
    if (operation?.state === "failed") return { ...key, state: "failed" };
    const isFresh = operation?.updatedAt === undefined || this.#clock.now() - operation.updatedAt < VISIBILITY_MS;
    if (operation && isFresh) return { ...key, state: "creating" };
    this.#operations.forget(made.id);
    return seen;
  }

  async #observeDeleted(
    binding: Binding | undefined,
    deleted: { readonly id: string; readonly operationId: string },
    signal: AbortSignal,
  ): Promise<OutsideKey | undefined> {
    const key = binding && keyOf(binding, this.#trust());
    if (!binding || !key) {
      this.#operations.forget(deleted.id);
      return undefined;
    }
    if (binding.lastOperation?.type === "delete") return key;
    const address = { bindingId: deleted.id, operationId: deleted.operationId };
    const operation = await readOperation(this.#client, address, signal);
    if (operation?.state !== "failed") return { ...key, state: "deleting" };
    this.#operations.forget(deleted.id);
    return key;
  }

  async #changeLabels(id: string, labels: readonly LabelChange[], signal: AbortSignal): Promise<void> {
    await this.#client.read(
      {
        method: "PATCH",
        path: `${BINDINGS}/${id}`,
        purpose: "change the labels of the binding",
        body: new Redacted({ labels }),
      },
      signal,
    );
  }
}
