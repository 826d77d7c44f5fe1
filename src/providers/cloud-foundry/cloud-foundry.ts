import { type Clock, delay } from "../../base/clock.ts";
import { Redacted } from "../../base/redacted.ts";
import type {
  Connection,
  Created,
  CreateRequest,
  Credentials,
  DescribedInstance,
  KeyMetadata,
  MarkFilter,
  Marks,
  OutsideKey,
} from "../contract.ts";
import { matchesFilter } from "../mark-filter.ts";
import { ProviderError } from "../provider-error.ts";
import { RecentMap } from "../rest/recent-map.ts";
import { isRecord } from "../rest/wire.ts";
import { garbled, refusalOf, saysNotFound } from "./answer.ts";
import { type Binding, decodeBinding, isGuid, keyOf } from "./binding.ts";
import { BindingList } from "./binding-list.ts";
import { Catalog } from "./catalog.ts";
import { type Call, type ClientOptions, type CloudFoundryClient, cloudFoundryClient } from "./client.ts";
import { BINDINGS, KeyRequests, metadataOf } from "./create-key.ts";
import { type Job, jobIdIn, readJob } from "./job.ts";
import { isTouched, markChange, markSelector } from "./marks.ts";
import { ownWords } from "./own-words.ts";
import { lookAgainMs } from "./pace.ts";
import { Sight } from "./sight.ts";

export interface CloudFoundryOptions extends ClientOptions {
  /** For how long a call to delete a key stays with the job before it says that it was accepted. */
  readonly deleteWaitMs?: number;
}

/**
 * Service keys, and bindings of apps, of one Cloud Foundry as keys. It works by jobs: what is under way is told by the job,
 * by the key itself where the job is forgotten, and "not there" is believed only where it could be seen. Must not: retry,
 * decide what to make or delete, or let anything that the service wrote into a message.
 */
export function connectCloudFoundry(options: CloudFoundryOptions): Connection {
  return new CloudFoundryConnection(options);
}

type TrackedJob =
  | { readonly kind: "create"; readonly jobId: string; readonly key: Omit<OutsideKey, "state"> }
  | { readonly kind: "delete"; readonly jobId: string };

const DELETE_WAIT_MS = 5_000;
const JOB_TRUST_MS = 3_600_000;
const LIST_LAG_MS = 600_000;

class CloudFoundryConnection implements Connection {
  readonly #client: CloudFoundryClient;
  readonly #clock: Clock;
  readonly #deleteWaitMs: number;
  readonly #sight: Sight;
  readonly #list: BindingList;
  readonly #catalog: Catalog;
  readonly #requests: KeyRequests;
  readonly #jobs: RecentMap<TrackedJob>;
  /** Keys that this connection made and could not put its marks on yet. */
  readonly #unmarked: RecentMap<CreateRequest>;
  /** Keys that are gone, and that lists may still show as they were. */
  readonly #deleted: RecentMap<true>;

  constructor(options: CloudFoundryOptions) {
    const { clock, deleteWaitMs = DELETE_WAIT_MS } = options;
    const client = cloudFoundryClient(options);
    this.#client = client;
    this.#clock = clock;
    this.#deleteWaitMs = deleteWaitMs;
    this.#sight = new Sight(client, clock);
    this.#list = new BindingList({ client, sawInstance: (instance) => this.#sight.sawInstance(instance) });
    this.#catalog = new Catalog(client);
    this.#requests = new KeyRequests(client, clock);
    this.#jobs = new RecentMap(clock, JOB_TRUST_MS);
    this.#unmarked = new RecentMap(clock, Infinity);
    this.#deleted = new RecentMap(clock, LIST_LAG_MS);
  }

  /** An empty list is what a caller without a role gets too. */
  async listMarked(filter: MarkFilter, signal: AbortSignal): Promise<readonly OutsideKey[]> {
    const listed = this.#keys(await this.#list.read({ label_selector: markSelector(filter) }, signal));
    const unmarked: OutsideKey[] = [];
    for (const id of this.#unmarked.ids()) {
      const isMeant = matchesFilter(this.#unmarked.get(id)?.marks, filter) && !listed.some((key) => key.id === id);
      const key = isMeant ? await this.observe(id, signal) : undefined;
      if (key) unmarked.push(key);
    }
    const keys = [...listed, ...unmarked].filter(({ marks }) => matchesFilter(marks, filter));
    if (keys.length === 0) await this.#sight.ensureEmpty(signal);
    return keys;
  }

  async findByName(instanceId: string, name: string, signal: AbortSignal): Promise<readonly OutsideKey[]> {
    const bindings = await this.#named(instanceId, name, signal);
    if (bindings.length === 0) await this.#sight.readInstance(instanceId, signal);
    const keys = this.#keys(bindings);
    const isBare = ({ id }: OutsideKey): boolean =>
      !this.#unmarked.get(id) && bindings.some((binding) => binding.id === id && !isTouched(binding.metadata));
    if (!keys.some(isBare) || !(await this.#requests.leavesUnmarked(signal))) return keys;
    return keys.map((key) => (isBare(key) ? { ...key, isUnmarkedYet: true } : key));
  }

  /** The job tells while a key is being made, the key itself afterwards: one request a look. */
  async observe(id: string, signal: AbortSignal): Promise<OutsideKey | undefined> {
    const tracked = this.#jobs.get(id);
    if (tracked?.kind === "create") {
      const job = await readJob(this.#client, tracked.jobId, signal);
      if (job?.state === "under way") return { ...tracked.key, state: "creating" };
      this.#jobs.forget(id);
    }
    const binding = await this.#get(id, signal);
    const key = binding && this.#keyOf(binding);
    if (tracked?.kind !== "delete" || key?.state !== "ready") return key;
    // Until the broker has answered, a key that is to be deleted looks as it did before.
    const job = await readJob(this.#client, tracked.jobId, signal);
    if (job && job.state !== "failed") return { ...key, state: "deleting" };
    this.#jobs.forget(id);
    return key;
  }

  async create(request: CreateRequest, signal: AbortSignal): Promise<Created> {
    this.#ensureGuids(request);
    const { answer, isUnmarked } = await this.#requests.send(request, signal);
    if (answer.status !== 202 && answer.status !== 201) {
      const quote = (detail: string): string | undefined => ownWords(detail, request.parameters);
      const refusal = refusalOf(answer, "make the key", this.#clock.now(), quote);
      // An instance that may not be seen is refused in the same words.
      if (refusal.code === "InstanceNotFound") await this.#sight.readInstance(request.instanceId, signal);
      throw refusal;
    }
    const made = decodeBinding(answer.body?.reveal());
    const jobId = jobIdIn(answer.headers);
    const job = jobId === undefined ? undefined : await readJob(this.#client, jobId, signal);
    const id = made?.id ?? job?.keyId ?? (await this.#idByName(request, signal));
    const { name, instanceId, marks } = request;
    this.#sight.sawKey({ id, instanceId });
    if (isUnmarked) await this.#markLate(id, request, signal);
    if (jobId !== undefined && job?.state === "under way") {
      this.#jobs.set(id, { kind: "create", jobId, key: { id, name, instanceId, marks } });
    }
    return made || job?.state === "complete" ? this.#finished(id, signal) : { kind: "accepted", id };
  }

  async readCredentials(id: string, signal: AbortSignal): Promise<Credentials> {
    const request = this.#unmarked.get(id);
    if (request) await this.#putMetadata(id, request, signal);
    const call: Call = { method: "GET", path: `${BINDINGS}/${checked(id)}/details`, purpose: "read" };
    const answer = await this.#client.call(call, signal);
    if (saysNotFound(answer)) throw await this.#whyNoCredentials(id, signal);
    if (answer.status !== 200) throw this.#client.refusal(answer, call);
    const credentials = answer.body?.reveal().credentials;
    if (!isRecord(credentials)) throw garbled();
    if (Object.keys(credentials).length > 0) return new Redacted(credentials);
    throw new ProviderError("CredentialsUnavailable", "Cloud Foundry has no credentials for the key");
  }

  async delete(id: string, signal: AbortSignal): Promise<"gone" | "accepted"> {
    if (!isGuid(id)) return "gone";
    const begun = this.#jobs.get(id);
    if (begun?.kind === "delete") {
      const job = await readJob(this.#client, begun.jobId, signal);
      if (job?.state === "under way") return this.#awaitDeletion(id, { jobId: begun.jobId, job }, signal);
      this.#jobs.forget(id);
      if (job?.state === "complete") return this.#gone(id);
    }
    const call: Call = { method: "DELETE", path: `${BINDINGS}/${id}`, purpose: "delete the key" };
    const answer = await this.#client.call(call, signal);
    if (answer.status === 204) return this.#gone(id);
    if (saysNotFound(answer)) {
      await this.#sight.ensureKeyIsGone(id, signal);
      return this.#gone(id);
    }
    if (answer.status !== 202) return this.#refusedDeletion(id, this.#client.refusal(answer, call), signal);
    const jobId = jobIdIn(answer.headers);
    if (jobId === undefined) return this.#deletionByKey(id, signal);
    this.#jobs.set(id, { kind: "delete", jobId });
    return this.#awaitDeletion(id, { jobId, job: await readJob(this.#client, jobId, signal) }, signal);
  }

  async mark(id: string, marks: Marks | undefined, signal: AbortSignal, metadata?: KeyMetadata): Promise<void> {
    const request = marks && this.#unmarked.get(id);
    const change = request ? metadataOf({ ...request, marks }) : markChange(marks, metadata);
    const isThere = isGuid(id) && (await this.#patch(id, change, signal));
    this.#unmarked.forget(id);
    if (!isThere && marks !== undefined) {
      throw new ProviderError("ProviderRefused", "the key to be marked is not at Cloud Foundry");
    }
  }

  async observeInstance(instanceId: string, signal: AbortSignal): Promise<"present" | "gone"> {
    return (await this.#sight.readInstance(checked(instanceId), signal)) ? "present" : "gone";
  }

  async describeInstance(instanceId: string, signal: AbortSignal): Promise<DescribedInstance | undefined> {
    const instance = await this.#sight.readInstance(checked(instanceId), signal);
    return instance && this.#catalog.describe(instance, signal);
  }

  #keys(bindings: readonly Binding[]): readonly OutsideKey[] {
    return bindings.map((binding) => this.#keyOf(binding));
  }

  /** What this connection made and could not mark yet is known to it all the same, and so is what it has deleted. */
  #keyOf(binding: Binding): OutsideKey {
    const key = keyOf(binding);
    const isDeleted = this.#deleted.get(key.id) !== undefined;
    if (!isDeleted) this.#sight.sawKey(binding);
    const promised = key.marks ? undefined : this.#unmarked.get(key.id)?.marks;
    return {
      ...key,
      ...(isDeleted && { state: "deleting" }),
      ...(promised && { marks: promised, isUnmarkedYet: true }),
    };
  }

  /** No request for what cannot be an id: it would address something else, and the service never gave it out. */
  async #get(id: string, signal: AbortSignal): Promise<Binding | undefined> {
    if (!isGuid(id)) return undefined;
    const call: Call = { method: "GET", path: `${BINDINGS}/${id}`, purpose: "read" };
    const answer = await this.#client.call(call, signal);
    if (saysNotFound(answer)) {
      await this.#sight.ensureKeyIsGone(id, signal);
      this.#gone(id);
      return undefined;
    }
    if (answer.status !== 200) throw this.#client.refusal(answer, call);
    const binding = decodeBinding(answer.body?.reveal());
    if (binding?.id !== id) throw garbled();
    this.#deleted.forget(id);
    return binding;
  }

  /**
   * Values of filters are unescaped once more by some foundations, and not by others: what would have to be escaped is
   * looked for among all keys of the instance.
   */
  async #named(instanceId: string, name: string, signal: AbortSignal): Promise<readonly Binding[]> {
    const isPlain = name !== "" && encodeURIComponent(name) === name;
    const filter = { service_instance_guids: checked(instanceId), ...(isPlain && { names: name }) };
    const bindings = await this.#list.read(filter, signal);
    return bindings.filter((binding) => binding.name === name && binding.instanceId === instanceId);
  }

  async #idByName({ instanceId, name }: CreateRequest, signal: AbortSignal): Promise<string> {
    const [only, ...others] = await this.#named(instanceId, name, signal);
    if (!only || others.length > 0) throw garbled();
    return only.id;
  }

  /** From here on the id is worth more than an error: whatever is wrong shows itself when the key is looked at. */
  async #finished(id: string, signal: AbortSignal): Promise<Created> {
    try {
      const key = await this.observe(id, signal);
      if (key?.state === "ready") return { kind: "ready", key, credentials: await this.readCredentials(id, signal) };
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error;
    }
    return { kind: "accepted", id };
  }

  /** What cannot be marked now is marked before its credentials are given out, so that nothing unmarked is ever published. */
  async #markLate(id: string, request: CreateRequest, signal: AbortSignal): Promise<void> {
    this.#unmarked.set(id, request);
    try {
      await this.#putMetadata(id, request, signal);
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error;
    }
  }

  async #putMetadata(id: string, request: CreateRequest, signal: AbortSignal): Promise<void> {
    if (await this.#patch(id, metadataOf(request), signal)) this.#unmarked.forget(id);
  }

  /** False when the key is not there. */
  async #patch(id: string, metadata: object, signal: AbortSignal): Promise<boolean> {
    const call: Call = {
      method: "PATCH",
      path: `${BINDINGS}/${id}`,
      purpose: "change the metadata of the key",
      body: new Redacted({ metadata }),
    };
    const answer = await this.#client.call(call, signal);
    if (saysNotFound(answer)) {
      await this.#sight.ensureKeyIsGone(id, signal);
      return false;
    }
    if (answer.status !== 200) throw this.#client.refusal(answer, call);
    return true;
  }

  /** The details of a key are "not found" for many reasons, and its own state tells which. */
  async #whyNoCredentials(id: string, signal: AbortSignal): Promise<ProviderError> {
    const binding = await this.#get(id, signal);
    if (!binding) return new ProviderError("ProviderUnavailable", "the key is not at Cloud Foundry (yet)");
    if (binding.state === "creating") return new ProviderError("ProviderBusy", "the key is still being made");
    return binding.state === "ready" && !binding.isHalfDeleted
      ? new ProviderError(
          "ProviderForbidden",
          "Cloud Foundry shows these credentials the key, but not what is in it: they need the role Space Developer",
        )
      : new ProviderError(
          "CredentialsUnavailable",
          "Cloud Foundry does not give the credentials of a key that failed or is being deleted",
        );
  }

  #gone(id: string): "gone" {
    this.#jobs.forget(id);
    this.#unmarked.forget(id);
    this.#sight.lostKey(id);
    this.#deleted.set(id, true);
    return "gone";
  }

  /** Stays with the job for a while: most are done within seconds, and whoever comes back later has to look at more. */
  async #awaitDeletion(
    id: string,
    { jobId, job }: { readonly jobId: string; readonly job: Job | undefined },
    signal: AbortSignal,
  ): Promise<"gone" | "accepted"> {
    const startedTick = this.#clock.monotonic();
    let seen = job;
    while (seen?.state === "under way") {
      const waitedMs = this.#clock.monotonic() - startedTick;
      const pauseMs = lookAgainMs(waitedMs);
      if (waitedMs + pauseMs > this.#deleteWaitMs) return "accepted";
      await delay(this.#clock, pauseMs, signal);
      seen = await readJob(this.#client, jobId, signal);
    }
    if (seen?.state === "complete") return this.#gone(id);
    this.#jobs.forget(id);
    if (seen?.state === "failed") throw failedDeletion();
    return this.#deletionByKey(id, signal);
  }

  /** Where there is no job to ask, the key's own last operation tells. */
  async #deletionByKey(id: string, signal: AbortSignal): Promise<"gone" | "accepted"> {
    const binding = await this.#get(id, signal);
    if (!binding) return "gone";
    if (binding.isHalfDeleted) throw failedDeletion();
    return "accepted";
  }

  /** Refused because it is on its way out already: that is what was wanted. */
  async #refusedDeletion(id: string, refusal: ProviderError, signal: AbortSignal): Promise<"accepted" | "gone"> {
    if (refusal.code !== "ProviderBusy") throw refusal;
    const binding = await this.#get(id, signal);
    if (!binding) return "gone";
    if (binding.state === "deleting") return "accepted";
    throw refusal;
  }

  #ensureGuids({ instanceId, appId }: CreateRequest): void {
    checked(instanceId);
    if (appId !== undefined) checked(appId);
  }
}

/** Whatever else it is, it is not the id of anything at Cloud Foundry. */
function checked(id: string): string {
  if (isGuid(id)) return id;
  throw new ProviderError("ProviderRefused", "an id cannot be one of Cloud Foundry: check service instance and app");
}

const failedDeletion = (): ProviderError =>
  new ProviderError(
    "ProviderRefused",
    "the service's broker failed to delete the key: it is still there, and is deleted again",
  );
