import type { Clock } from "../base/clock.ts";
import type { Random } from "../base/random.ts";
import { apiVersionOf, type KubeObject, keyOf, type ObjectRef } from "../kube/objects.ts";
import type { Admission } from "./admission/admission.ts";
import { applyConfiguration } from "./apply/server-side-apply.ts";
import { beginDeletion, checkPreconditions } from "./deletion.ts";
import { isObject, type Json } from "./json.ts";
import { generateName, metadataForCreate, sameContent } from "./metadata.ts";
import type {
  Deleted,
  DeleteRequest,
  ListQuery,
  ListResult,
  ObjectApi,
  PatchRequest,
  WatchFeed,
  WatchQuery,
  WriteContext,
  Written,
} from "./object-api.ts";
import { decodePageToken, encodePageToken } from "./paging.ts";
import { patchedBody } from "./patch/patched-body.ts";
import { alreadyExists, conflict, forbidden, modified, notFound, versionRequired } from "./refusals.ts";
import type { ResourceDefinition } from "./registry.ts";
import { listRevision, parseRevision, tooLarge } from "./revisions.ts";
import { fieldSelector, labelSelector, type Predicate } from "./selectors.ts";
import { badRequest, StatusError } from "./status-error.ts";
import type { Store } from "./store.ts";
import { StoreFeed } from "./watch-feed.ts";
import {
  type Decoded,
  decodeApplied,
  decodeBody,
  decodePatched,
  ownershipOf,
  prepareCreate,
  prepareUpdate,
} from "./write-path.ts";

/**
 * The verbs of the API on the store: what a request must pass on its way in, and what a reader sees on the way out. One
 * call is one turn of the event loop, so a read and the write that follows from it cannot be interleaved. Must not: know
 * HTTP, or do the work of controllers (garbage collection, rollouts, namespaces).
 */
export class Operations implements ObjectApi {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #admission: Admission | undefined;
  readonly #feeds = new Map<string, Set<StoreFeed>>();

  constructor(options: {
    readonly store: Store;
    readonly clock: Clock;
    readonly random: Random;
    /** Absent: nobody objects to what is valid. */
    readonly admission?: Admission;
  }) {
    this.#store = options.store;
    this.#clock = options.clock;
    this.#random = options.random;
    this.#admission = options.admission;
  }

  get(definition: ResourceDefinition, ref: ObjectRef, notOlderThan?: string): KubeObject {
    const wanted = parseRevision(notOlderThan ?? "");
    if (wanted > this.#store.revision) throw tooLarge(wanted, this.#store.revision);
    return present(definition, this.#stored(definition, ref));
  }

  list(definition: ResourceDefinition, query: ListQuery): ListResult {
    const selects = this.#selection(definition, query);
    const { revision, after } = this.#readFrom(query);
    const at = revision ?? this.#store.revision;
    const all =
      revision === undefined
        ? this.#store.list(definition.storageKey, query.namespace)
        : this.#store.listAt(definition.storageKey, revision, query.namespace);
    const rest = after === undefined ? all : all.slice(firstAfter(all, after));
    const matching = rest.filter(selects);
    const page = query.limit ? matching.slice(0, query.limit) : matching;
    const result = { items: page.map((object) => present(definition, object)), resourceVersion: String(at) };
    const last = page.at(-1);
    if (page.length === matching.length || !last) return result;
    const isFiltered = Boolean(query.labelSelector) || Boolean(query.fieldSelector);
    return {
      ...result,
      continue: encodePageToken({ revision: at, after: keyOf(last.metadata) }),
      ...(!isFiltered && { remainingItemCount: matching.length - page.length }),
    };
  }

  watch(definition: ResourceDefinition, query: WatchQuery): WatchFeed {
    const selects = this.#selection(definition, query);
    const wanted = query.resourceVersion === undefined ? 0 : parseRevision(query.resourceVersion);
    if (wanted > this.#store.revision) throw tooLarge(wanted, this.#store.revision);
    const withState = query.sendInitialEvents ?? wanted === 0;
    const startsNow = withState || wanted === 0;
    const from = startsNow ? this.#store.revision : wanted;
    if (!startsNow) this.#store.changesAfter(definition.storageKey, from);
    const initial = withState ? this.#store.list(definition.storageKey, query.namespace).filter(selects) : [];
    const feeds = this.#feeds.get(definition.storageKey) ?? new Set();
    this.#feeds.set(definition.storageKey, feeds);
    const feed: StoreFeed = new StoreFeed({
      store: this.#store,
      storageKey: definition.storageKey,
      namespace: query.namespace,
      selects,
      from,
      initial,
      present: (object) => present(definition, object),
      onClose: () => feeds.delete(feed),
    });
    feeds.add(feed);
    return feed;
  }

  /** A kind that is no longer served has nothing more to tell: its watches end, and who asks again hears why. */
  endFeeds(storageKey: string): void {
    for (const feed of [...(this.#feeds.get(storageKey) ?? [])]) feed.end();
  }

  create(definition: ResourceDefinition, namespace: string | undefined, body: Json, context: WriteContext): Written {
    const decoded = decodeBody(definition, body, context);
    const object = this.#prepareNew(definition, namespace, decoded, context);
    // Only a create asks this, and not a dry one; what makes no number is no version.
    const { resourceVersion = "" } = decoded.object.metadata;
    if (!context.dryRun && /^\d*[1-9]\d*$/.test(resourceVersion)) {
      throw new StatusError(500, "", "resourceVersion should not be set on objects to be created");
    }
    return this.#insert(definition, object, decoded, context);
  }

  update(definition: ResourceDefinition, ref: ObjectRef, body: Json, context: WriteContext): Written {
    const decoded = decodeBody(definition, body, context);
    checkAddress(decoded.object, ref);
    const creates = definition.strategy.createsOnUpdate && !context.subresource;
    const old = creates ? this.#store.get(definition.storageKey, keyOf(ref)) : this.#stored(definition, ref);
    const { uid } = decoded.object.metadata;
    if (uid && uid !== old?.metadata.uid) {
      const why = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${old?.metadata.uid ?? ""}`;
      throw conflict(definition, ref.name, why);
    }
    if (!old) return this.#create(definition, ref.namespace, decoded, context);
    return this.#replace(definition, old, decoded, context);
  }

  patch(definition: ResourceDefinition, ref: ObjectRef, patch: PatchRequest, context: WriteContext): Written {
    const old = this.#store.get(definition.storageKey, keyOf(ref));
    if (patch.type === "apply") return this.#apply(definition, ref, patch, { old, context });
    if (!old) throw notFound(definition, ref.name);
    const body = patchedBody(definition, present(definition, old), patch);
    const decoded = decodePatched(definition, body, context);
    checkAddress(decoded.object, ref);
    return this.#replace(definition, old, decoded, context);
  }

  delete(definition: ResourceDefinition, ref: ObjectRef, request: DeleteRequest): Deleted {
    const stored = this.#stored(definition, ref);
    checkPreconditions(definition, stored, request);
    const warnings = this.#admit(definition, { old: present(definition, stored) }, request);
    const deletion = beginDeletion(definition, stored, { request, clock: this.#clock });
    const { gone } = deletion;
    if (request.dryRun) return { object: present(definition, deletion.object), gone, warnings };
    const key = keyOf(ref);
    const written = gone
      ? this.#store.write(definition.storageKey, key, undefined)
      : deletion.object === stored
        ? stored
        : this.#store.write(definition.storageKey, key, deletion.object);
    return { object: present(definition, written), gone, warnings };
  }

  /** Asks those who may still object; gives what the writer is to be told. */
  #admit(
    definition: ResourceDefinition,
    { object, old }: { readonly object?: KubeObject; readonly old?: KubeObject },
    { dryRun, bypassesAdmission, ...context }: Pick<WriteContext, "dryRun" | "bypassesAdmission" | "subresource">,
  ): readonly string[] {
    if (!this.#admission || bypassesAdmission) return [];
    const { name, namespace } = (object ?? old)?.metadata ?? { name: "" };
    return this.#admission.review({
      operation: object === undefined ? "DELETE" : old === undefined ? "CREATE" : "UPDATE",
      definition,
      name,
      namespace,
      subresource: context.subresource,
      isDryRun: dryRun ?? false,
      object,
      oldObject: old,
    });
  }

  #stored(definition: ResourceDefinition, ref: ObjectRef): KubeObject {
    const object = this.#store.get(definition.storageKey, keyOf(ref));
    if (!object) throw notFound(definition, ref.name);
    return object;
  }

  #selection(definition: ResourceDefinition, query: { labelSelector?: string; fieldSelector?: string }): Predicate {
    const byLabel = labelSelector(query.labelSelector);
    if (!query.fieldSelector) return byLabel;
    const byField = fieldSelector(query.fieldSelector, definition.selectableFields);
    // The fields are those of the version that is asked for, and objects may be stored in another one.
    return (object) => byLabel(object) && byField(present(definition, object));
  }

  /** Which state a list reads; `revision` undefined means the present one. */
  #readFrom(query: ListQuery): { revision: number | undefined; after: string | undefined } {
    if (query.continue !== undefined) {
      if (query.resourceVersion !== undefined && query.resourceVersion !== "0") {
        throw badRequest("specifying resource version is not allowed when using continue");
      }
      const token = decodePageToken(query.continue);
      return { revision: token.revision, after: token.after };
    }
    if (query.resourceVersion === undefined) return { revision: undefined, after: undefined };
    const wanted = listRevision(query.resourceVersion);
    if (wanted > this.#store.revision) throw tooLarge(wanted, this.#store.revision);
    return { revision: query.resourceVersionMatch === "Exact" ? wanted : undefined, after: undefined };
  }

  /** For writes that may find nothing to change: a version they name that is not there is none of their concern. */
  #create(
    definition: ResourceDefinition,
    namespace: string | undefined,
    decoded: Decoded,
    context: WriteContext,
  ): Written {
    parseRevision(decoded.object.metadata.resourceVersion ?? "");
    const object = this.#prepareNew(definition, namespace, decoded, context);
    return this.#insert(definition, object, decoded, context);
  }

  #prepareNew(
    definition: ResourceDefinition,
    namespace: string | undefined,
    decoded: Decoded,
    context: WriteContext,
  ): KubeObject {
    checkNamespaceOf(decoded.object, namespace);
    const named = this.#named(definition, namespace, decoded.object);
    if (namespace !== undefined) this.#checkNamespace(definition, namespace, named.metadata.name);
    const metadata = metadataForCreate(named.metadata, {
      definition,
      namespace,
      clock: this.#clock,
      random: this.#random,
    });
    const given: Decoded = { ...decoded, object: { ...named, metadata } };
    return prepareCreate(definition, given, { context, nowAt: this.#clock.now() });
  }

  #insert(definition: ResourceDefinition, object: KubeObject, decoded: Decoded, context: WriteContext): Written {
    const warnings = this.#admit(definition, { object }, context);
    const key = keyOf(object.metadata);
    const existing = this.#store.get(definition.storageKey, key);
    if (existing) throw alreadyExists(definition, existing);
    const stored = toStorage(definition, object);
    const written = context.dryRun ? stored : this.#store.write(definition.storageKey, key, stored);
    return {
      object: present(definition, written),
      created: true,
      warnings: [...warningsOf(definition, decoded, object), ...warnings],
    };
  }

  /** The object under a name that is free: its own, or one made from generateName. */
  #named(definition: ResourceDefinition, namespace: string | undefined, object: KubeObject): KubeObject {
    const { name, generateName: prefix } = object.metadata;
    if (name || !prefix) return object;
    for (let attempt = 0; ; attempt++) {
      const candidate = generateName(prefix, this.#random);
      const key = keyOf({ ...(namespace !== undefined && { namespace }), name: candidate });
      if (!this.#store.get(definition.storageKey, key) || attempt === 7) {
        return { ...object, metadata: { ...object.metadata, name: candidate } };
      }
    }
  }

  #checkNamespace(definition: ResourceDefinition, namespace: string, name: string): void {
    const owner = this.#store.get("namespaces", namespace);
    if (!owner) throw notFound({ group: "", plural: "namespaces" }, namespace);
    if (owner.metadata.deletionTimestamp === undefined) return;
    const refusal = forbidden(
      definition,
      name,
      `unable to create new content in namespace ${namespace} because it is being terminated`,
    );
    throw new StatusError(refusal.status, refusal.reason, refusal.message, {
      ...refusal.details,
      causes: [
        {
          reason: "NamespaceTerminating",
          message: `namespace ${namespace} is being terminated`,
          field: "metadata.namespace",
        },
      ],
    });
  }

  #apply(
    definition: ResourceDefinition,
    ref: ObjectRef,
    patch: Extract<PatchRequest, { type: "apply" }>,
    { old, context }: { old: KubeObject | undefined; context: WriteContext },
  ): Written {
    if (!old && context.subresource) throw notFound(definition, ref.name);
    if (!isObject(patch.body)) throw badRequest("error decoding YAML: the applied configuration must be an object");
    const merged = applyConfiguration({
      live: old && present(definition, old),
      applied: patch.body,
      manager: context.fieldManager,
      force: patch.force,
      apiVersion: apiVersionOf(definition),
      kind: definition.kind,
      ...ownershipOf(definition, context),
      nowAt: this.#clock.now(),
    });
    const decoded = decodeApplied(definition, merged, context);
    const { uid } = merged.metadata;
    if (!old && uid) {
      const why = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`;
      throw conflict(definition, ref.name, why);
    }
    checkAddress(decoded.object, ref);
    return old
      ? this.#replace(definition, old, decoded, context)
      : this.#create(definition, ref.namespace, decoded, context);
  }

  #replace(definition: ResourceDefinition, old: KubeObject, decoded: Decoded, context: WriteContext): Written {
    const { metadata } = decoded.object;
    const { name } = old.metadata;
    const replaced = parseRevision(metadata.resourceVersion ?? "");
    if (replaced === 0 && definition.strategy.updatesNeedVersion) throw versionRequired(definition, name);
    if (replaced !== 0 && replaced !== Number(old.metadata.resourceVersion)) throw modified(definition, name);
    const live = present(definition, old);
    const object = prepareUpdate(definition, decoded, { old: live, context, nowAt: this.#clock.now() });
    const objections = this.#admit(definition, { object, old: live }, context);
    const stored = toStorage(definition, object);
    const answer = { created: false, warnings: [...warningsOf(definition, decoded, object, live), ...objections] };
    if (sameContent(stored, old)) return { ...answer, object: live };
    const key = keyOf(old.metadata);
    if (context.dryRun) return { ...answer, object: present(definition, stored) };
    if (isReleased(definition, stored)) {
      this.#store.write(definition.storageKey, key, undefined);
      return { ...answer, object: present(definition, stored) };
    }
    return { ...answer, object: present(definition, this.#store.write(definition.storageKey, key, stored)) };
  }
}

const warningsOf = (
  { strategy }: ResourceDefinition,
  { warnings }: Decoded,
  object: KubeObject,
  old?: KubeObject,
): readonly string[] => [...warnings, ...(strategy.warningsFor?.(object, old) ?? [])];

/** A deleted object that nothing holds any longer goes with the write that released it. */
function isReleased(definition: ResourceDefinition, object: KubeObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds, finalizers } = object.metadata;
  return (
    deletionTimestamp !== undefined &&
    (deletionGracePeriodSeconds ?? 0) === 0 &&
    (finalizers ?? []).length === 0 &&
    !definition.strategy.holdsDeletion?.(object)
  );
}

function present(definition: ResourceDefinition, object: KubeObject): KubeObject {
  if (definition.conversion) return definition.conversion.fromStored(object);
  const apiVersion = apiVersionOf(definition);
  return object.apiVersion === apiVersion ? object : { ...object, apiVersion };
}

function toStorage(definition: ResourceDefinition, object: KubeObject): KubeObject {
  if (definition.conversion) return definition.conversion.toStored(object);
  const apiVersion = apiVersionOf({ group: definition.group, version: definition.storageVersion });
  return object.apiVersion === apiVersion ? object : { ...object, apiVersion };
}

function firstAfter(sorted: readonly KubeObject[], key: string): number {
  const index = sorted.findIndex((object) => keyOf(object.metadata) > key);
  return index < 0 ? sorted.length : index;
}

function checkAddress(object: KubeObject, ref: ObjectRef): void {
  checkNamespaceOf(object, ref.namespace);
  const { name } = object.metadata;
  if (!name) {
    throw badRequest(`the name of the object (${ref.name} based on URL) was undeterminable: name must be provided`);
  }
  if (name !== ref.name) {
    throw badRequest(`the name of the object (${name}) does not match the name on the URL (${ref.name})`);
  }
}

/** An object that says no namespace goes where the request says. */
function checkNamespaceOf({ metadata }: KubeObject, namespace: string | undefined): void {
  if (metadata.namespace && metadata.namespace !== namespace) {
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  }
}
