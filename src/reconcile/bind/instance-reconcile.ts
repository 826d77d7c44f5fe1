import { fieldAt } from "../../bind/fields.ts";
import { instanceObjects, workloadKindOf } from "../../bind/instance-objects.ts";
import { type KeyPlan, ownSecretName, planKey, ringNameOf } from "../../bind/key-plan.ts";
import type { KeySecrets } from "../../bind/made-anew.ts";
import type { KeyMount } from "../../bind/named-conf.ts";
import { keyChoiceOf, type Resolution, resolveKey } from "../../bind/precedence.ts";
import type { ConfigLimits } from "../../bind/rndc-key-config.ts";
import { ifFound } from "../../kube/if-found.ts";
import { type KubeObject, keyOf } from "../../kube/objects.ts";
import { isOwnedBy } from "../../kube/ownership.ts";
import type { Kube } from "../../kube/port.ts";
import { kindOf } from "../../restart/workload-kinds.ts";
import { fieldsOf, itemsOf, textOf } from "../managed/read-fields.ts";
import { attempt, type Look, type Looker } from "../objects/object-reconcile.ts";
import { type ObjectReport, specTroubles, type Trouble } from "../objects/object-status.ts";
import type { OwnedObjects } from "../objects/owned-objects.ts";
import type { BindCaches, Holders } from "./bind-caches.ts";
import { controllerOf, type WorkloadRecord, type WorkloadRef, workloadRefOf } from "./bind-sources.ts";
import type { FollowingPlan, InstanceRing } from "./instance-ring.ts";
import { isUsed, removeSurplusKeys } from "./key-objects.ts";
import { nextRotationOf } from "./rotation-words.ts";
import type { SecretUses } from "./secret-uses.ts";

interface InstanceLookOptions {
  readonly kube: Kube;
  readonly caches: BindCaches;
  readonly objects: OwnedObjects;
  readonly ring: InstanceRing;
  readonly uses: SecretUses;
  readonly limits: ConfigLimits;
}

type Found = Extract<Holders, { readonly kind: "found" }>;

/** What a step came to: nothing in the way, something that is on its way, or something that is wrong. */
interface Step {
  readonly troubles: readonly Trouble[];
  readonly warnings?: readonly string[];
  /** What is waited for, in words; what comes after is left as it is. */
  readonly waitsFor?: string;
  readonly againAt?: number;
}

const DONE: Step = { troubles: [] };

/**
 * One Bind9Instance: first its key, then what mounts it, last what it needs no more. Where a step cannot be done, all that
 * comes after is left as it is, so that servers go on with what they have. Must not: start pods on a Secret that is not
 * there, or is not the one that is meant.
 */
export class InstanceLook implements Looker {
  readonly #options: InstanceLookOptions;

  constructor(options: InstanceLookOptions) {
    this.#options = options;
  }

  async look(instance: KubeObject, signal: AbortSignal): Promise<Look> {
    const { caches, limits, uses } = this.#options;
    const holders = caches.holdersOfInstance(instance);
    const stays = (troubles: readonly Trouble[], choice: unknown, warnings: readonly string[] = []): Look =>
      this.#report(instance, { troubles, warnings }, choice);
    if (holders.kind === "missing") {
      return stays([{ ...holders.problem, reason: "ReferenceProblem" }], fieldAt(instance, ["status", "rndcKey"]));
    }
    const resolution = resolveKey({ instance, ...holders }, limits);
    const plan = planKey({
      instance,
      cluster: holders.cluster,
      resolution,
      sharers: this.#sharers(instance, resolution),
    });
    if (!plan) return stays(specTroubles(resolution.problems), keyChoiceOf(resolution, undefined), resolution.warnings);
    const { mount } = plan;
    uses.note(keyOf(instance.metadata), secretNamesOf(mount, plan, instance));
    const step = await this.#follow(instance, holders, { resolution, plan, signal });
    const warnings = [...resolution.warnings, ...(step.warnings ?? [])];
    return this.#report(instance, { ...step, warnings }, this.#choice(instance, resolution, plan));
  }

  forget(key: string): void {
    this.#options.ring.forget(key);
    this.#options.uses.forget(key);
  }

  /** Those that the RndcKey is for, as far as it is there: with them it was settled how it is rotated. */
  #sharers(instance: KubeObject, { config }: Resolution): readonly KubeObject[] {
    const { caches } = this.#options;
    const { namespace = "" } = instance.metadata;
    const secretName = config?.mode === "inline" ? config.secret?.name : undefined;
    const rndcKey = secretName === undefined ? undefined : caches.rndcKey(keyOf({ namespace, name: secretName }));
    const others = namesIn(rndcKey).map((name) => caches.instance(keyOf({ namespace, name })));
    return [instance, ...others.filter((other) => other !== undefined)];
  }

  async #follow(
    instance: KubeObject,
    { cluster }: Found,
    what: { readonly resolution: Resolution; readonly plan: KeyPlan; readonly signal: AbortSignal },
  ): Promise<Step> {
    const { plan, signal } = what;
    const key = await this.#key(instance, cluster, what);
    if (isStopped(key)) return key;
    const run = await this.#run(instance, cluster, plan.mount, signal);
    const step = { ...key, troubles: [...key.troubles, ...run.troubles] };
    if (!isStopped(step)) await this.#tidy(instance, plan, signal);
    return step;
  }

  /** The key, up to the Secrets that pods are to mount. */
  async #key(
    instance: KubeObject,
    cluster: KubeObject,
    {
      resolution,
      plan,
      signal,
    }: { readonly resolution: Resolution; readonly plan: KeyPlan; readonly signal: AbortSignal },
  ): Promise<Step> {
    if (plan.kind === "referenced") return this.#followed(instance, plan, { resolution, signal });
    const field = nameField(resolution);
    if (plan.kind === "own") {
      const troubles = await this.#ownKey(instance, cluster, { plan, field, signal });
      if (troubles.length > 0) return { troubles };
    }
    return this.#published(instance, cluster, { plan, field });
  }

  async #ownKey(
    instance: KubeObject,
    cluster: KubeObject,
    what: {
      readonly plan: Extract<KeyPlan, { readonly kind: "own" }>;
      readonly field: string;
      readonly signal: AbortSignal;
    },
  ): Promise<readonly Trouble[]> {
    const { objects, caches } = this.#options;
    const { plan, field, signal } = what;
    // The ring of a key that was followed makes room for the one of the RndcKey.
    const ringKey = keyOf({ namespace: instance.metadata.namespace ?? "", name: ringNameOf(plan.mount.secretName) });
    const ring = caches.secret(ringKey);
    if (ring?.record.maker === `Bind9Instance/${instance.metadata.name}`) await this.#removeSecret(ring, signal);
    const mayTake = (live: KubeObject): boolean => this.#isAlone(instance, cluster, live);
    return attempt(async () => {
      for (const object of plan.objects) await objects.put(object, { owner: instance, signal, mayTake });
    }, field);
  }

  /** The key that the cluster has made for this instance and for no other that there still is. */
  #isAlone(instance: KubeObject, cluster: KubeObject, live: KubeObject): boolean {
    const { caches } = this.#options;
    const { namespace = "", name } = instance.metadata;
    if (controllerOf(live.metadata)?.uid !== cluster.metadata.uid) return false;
    const rndcKey =
      live.kind === "RndcKey" ? live : caches.rndcKey(keyOf({ namespace, name: initialOf(live.metadata.name) }));
    return namesIn(rndcKey).every(
      (user) => user === name || caches.instance(keyOf({ namespace, name: user })) === undefined,
    );
  }

  /** Whether the RndcKey has published what pods mount. */
  #published(
    instance: KubeObject,
    cluster: KubeObject,
    { plan, field }: { readonly plan: Exclude<KeyPlan, FollowingPlan>; readonly field: string },
  ): Step {
    const { caches } = this.#options;
    const { namespace = "", name } = instance.metadata;
    const { mount } = plan;
    const rndcKey = caches.rndcKey(keyOf({ namespace, name: mount.secretName }));
    const owner = plan.kind === "own" ? instance : cluster;
    const isMeant = rndcKey !== undefined && isOwnedBy(rndcKey, owner) && namesIn(rndcKey).includes(name);
    if (!isMeant)
      return { troubles: [], waitsFor: `RndcKey ${mount.secretName} of ${owner.kind} ${owner.metadata.name}` };
    const troubles = troublesOf(rndcKey);
    for (const secretName of mountedNames(mount)) {
      const secret = caches.secret(keyOf({ namespace, name: secretName }));
      if (!secret) return { troubles, waitsFor: `Secret ${secretName} of RndcKey ${mount.secretName}` };
      if (!secret.record.owners.includes(rndcKey.metadata.uid ?? "")) {
        const message = `there is a Secret ${namespace}/${secretName} that somebody else has made: it is left alone; delete it, or choose another name`;
        return { troubles: [{ reason: "ObjectNotOurs", field, message }, ...troubles] };
      }
    }
    return { troubles };
  }

  async #followed(
    instance: KubeObject,
    plan: FollowingPlan,
    { resolution, signal }: { readonly resolution: Resolution; readonly signal: AbortSignal },
  ): Promise<Step> {
    const { caches, ring } = this.#options;
    const { namespace = "" } = instance.metadata;
    const field = referenceField(resolution);
    const publisher = this.#publisherOf(instance, plan);
    // With its RndcKey the Secret that is to be followed would go.
    if (publisher && isOwnedBy(publisher, instance))
      return { troubles: [{ reason: "ReferenceProblem", field, message: ownKeyWords(plan.ref.name) }] };
    const former = caches.rndcKey(keyOf({ namespace, name: ownSecretName(instance) }));
    if (former && isOwnedBy(former, instance)) {
      const trouble = await ring.check(instance, plan, field, signal);
      if (trouble) return { troubles: [trouble] };
      // Its ring has the name that the one of the followed key is to have.
      const options = { ...this.#options, owner: instance, users: [instance], wanted: new Set<string>(), signal };
      await removeSurplusKeys({ ...options, inTheWay: former.metadata.name });
      return { troubles: [], waitsFor: `RndcKey ${former.metadata.name} to be gone` };
    }
    let step: Step = DONE;
    const troubles = await attempt(async () => {
      const { trouble, ...rest } = await ring.follow(instance, plan, field, signal);
      step = { ...rest, troubles: trouble ? [trouble] : [] };
    }, field);
    const warnings = [...(step.warnings ?? []), ...(publisher ? [rotatedHere(field, publisher)] : [])];
    return { ...step, warnings, troubles: [...step.troubles, ...troubles] };
  }

  /** The RndcKey whose Secret it is that is followed as somebody else's. */
  #publisherOf({ metadata }: KubeObject, { ref }: FollowingPlan): KubeObject | undefined {
    return this.#options.caches.publisherOf(keyOf({ namespace: metadata.namespace ?? "", name: ref.name }));
  }

  /** What runs named; or, where somebody else does, whether it can. */
  async #run(instance: KubeObject, cluster: KubeObject, keys: KeyMount, signal: AbortSignal): Promise<Step> {
    const { caches, objects } = this.#options;
    const existing = workloadRefOf(instance);
    if (existing !== undefined) return usability(existing, caches.workload(existing), keys);
    const put = async (): Promise<void> => {
      const secrets = this.#keySecrets(instance, cluster, keys);
      for (const object of instanceObjects({ instance, cluster, keys, secrets })) {
        await objects.put(object, { owner: instance, signal });
      }
      await this.#endFormer(instance, cluster, signal);
    };
    return { troubles: await attempt(put, "metadata.name") };
  }

  #keySecrets(instance: KubeObject, cluster: KubeObject, keys: KeyMount): KeySecrets | undefined {
    if (keys.kind !== "ring" || keys.isFollowed) return undefined;
    const { caches } = this.#options;
    const { namespace = "" } = instance.metadata;
    const identityOf = (name: string) => ({ name, uid: caches.secret(keyOf({ namespace, name }))?.uid ?? "" });
    const live = caches.ownWorkload(instance, workloadKindOf({ instance, cluster }))?.object;
    return { published: identityOf(keys.secretName), ring: identityOf(keys.ringName), live };
  }

  /** What ran the pods before another kind was asked for goes once its successor serves. */
  async #endFormer(instance: KubeObject, cluster: KubeObject, signal: AbortSignal): Promise<void> {
    const { caches, objects } = this.#options;
    const kind = workloadKindOf({ instance, cluster });
    const former = caches.ownWorkload(instance, kind === "Deployment" ? "StatefulSet" : "Deployment")?.object;
    if (!former || former.metadata.deletionTimestamp !== undefined) return;
    const successor = caches.ownWorkload(instance, kind);
    const isReady = successor?.isRolledOut === true && isServing(successor) && (await this.#isThere(successor, signal));
    if (isReady) await objects.remove(former.kind, former.metadata, signal);
  }

  /** Read live: it may be the one that we have just removed ourselves, in the place of this one. */
  async #isThere({ object }: WorkloadRecord, signal: AbortSignal): Promise<boolean> {
    const { namespace = "", name, uid } = object?.metadata ?? { name: "" };
    const type = kindOf(object?.kind ?? "")?.type;
    const live = type && (await ifFound(this.#options.kube.get(type, { namespace, name }, { signal })));
    return live?.metadata.uid === uid && live?.metadata.deletionTimestamp === undefined;
  }

  /** What nothing here uses any more. */
  async #tidy(instance: KubeObject, plan: KeyPlan, signal: AbortSignal): Promise<void> {
    const { caches } = this.#options;
    const wanted = new Set(plan.kind === "referenced" ? [] : [plan.mount.secretName]);
    await removeSurplusKeys({ ...this.#options, owner: instance, users: [instance], wanted, signal });
    if (plan.kind === "referenced") return;
    const { namespace = "", name } = instance.metadata;
    const ringName = ringNameOf(ownSecretName(instance));
    const ring = caches.secret(keyOf({ namespace, name: ringName }));
    const isLeft = ring?.record.maker === `Bind9Instance/${name}`;
    if (ring && isLeft && !isUsed([ringName], [instance], caches)) await this.#removeSecret(ring, signal);
  }

  async #removeSecret(
    { key, uid, resourceVersion }: { readonly key: string; readonly uid: string; readonly resourceVersion: string },
    signal: AbortSignal,
  ): Promise<void> {
    const [namespace = "", name = ""] = key.split("/");
    await this.#options.objects.remove("Secret", { namespace, name, uid, resourceVersion }, signal);
  }

  #choice(instance: KubeObject, resolution: Resolution, plan: KeyPlan): unknown {
    const choice = keyChoiceOf(resolution, plan.mount.secretName);
    if (plan.kind === "referenced") {
      const publisher = this.#publisherOf(instance, plan);
      return { ...choice, ...(publisher && { name: publisher.metadata.name }) };
    }
    const { namespace = "" } = instance.metadata;
    const rndcKey = this.#options.caches.rndcKey(keyOf({ namespace, name: plan.mount.secretName }));
    const isIts = namesIn(rndcKey).includes(instance.metadata.name);
    return {
      ...choice,
      name: plan.mount.secretName,
      nextRotation: rndcKey && isIts ? nextRotationOf(rndcKey) : undefined,
    };
  }

  #report(instance: KubeObject, step: Step, choice: unknown): Look {
    const workload = this.#serving(instance);
    return {
      ready: readyOf(workload, step),
      troubles: step.troubles,
      warnings: step.warnings ?? [],
      fields: {
        replicas: workload?.replicas ?? 0,
        readyReplicas: workload?.readyReplicas ?? 0,
        rndcKey: choice,
      },
      ...(step.againAt !== undefined && { againAt: step.againAt }),
    };
  }

  /** Of the two that there are while one takes the other's place, the one that serves. */
  #serving(instance: KubeObject): WorkloadRecord | undefined {
    const { caches } = this.#options;
    const found = caches.workloadsOf(instance);
    const own = workloadRefOf(instance) ? found : found.filter(({ owner }) => owner === instance.metadata.uid);
    return own.find(isServing) ?? own[0];
  }
}

const isServing = ({ replicas, readyReplicas }: WorkloadRecord): boolean => readyReplicas >= replicas;

/** Whether what somebody else runs can be used. */
function usability({ kind, key }: WorkloadRef, found: WorkloadRecord | undefined, { secretName }: KeyMount): Step {
  const refuse = (message: string): Step => ({
    troubles: [{ reason: "ReferenceProblem", field: "spec.deploymentRef.name", message }],
  });
  if (!found) return refuse(`there is no ${kind} ${key}`);
  if (found.secrets.includes(secretName)) return DONE;
  return refuse(`the ${kind} ${key} does not refer to the Secret ${secretName}: have it mounted there`);
}

/** What stands is served from, whatever is wrong with what is to come. */
function readyOf(workload: WorkloadRecord | undefined, { waitsFor }: Step): ObjectReport["ready"] {
  const wait = waitsFor === undefined ? "" : `waits for ${waitsFor}`;
  if (!workload) return { status: "False", reason: "Creating", ...(wait !== "" && { message: wait }) };
  const { replicas, readyReplicas } = workload;
  if (isServing(workload)) return { status: "True", reason: "Available", ...(wait !== "" && { message: wait }) };
  return { status: "False", reason: "PodsNotReady", message: `${readyReplicas} of ${replicas} pods are ready` };
}

const isStopped = ({ troubles, waitsFor }: Step): boolean => waitsFor !== undefined || troubles.some(isBlocking);

/** Servers that are behind with a key are no reason to leave the rest undone. */
const isBlocking = ({ reason }: Trouble): boolean => reason !== "KeyNotReady";

/** What its own controller says of it, so that nobody has to look there. */
function troublesOf({ metadata, status }: KubeObject): readonly Trouble[] {
  const synced = itemsOf(fieldsOf(status).conditions).find(({ type }) => type === "Synced");
  if (synced?.status !== "False") return [];
  const message = `RndcKey ${metadata.name}: ${textOf(synced.message) ?? textOf(synced.reason) ?? ""}`;
  return [{ reason: "KeyNotReady", field: "status.rndcKey", message }];
}

const nameField = ({ source, config }: Resolution): string =>
  source === undefined || config?.mode !== "inline" ? "metadata.name" : `${source.field}.secret.metadata.name`;

const referenceField = ({ source }: Resolution): string =>
  source === undefined || source.setting === "rndcSecretRef" ? (source?.field ?? "") : `${source.field}.secretRef`;

const ownKeyWords = (name: string): string =>
  `the Secret ${name} is that of this instance's own key, and would go with it: leave secretRef out`;

/** Whoever rotates it asks its own servers alone, so that those here learn of a new key when clients have it already. */
const rotatedHere = (field: string, { metadata }: KubeObject): string =>
  `${field} names the Secret of RndcKey ${metadata.name}, which is rotated here: commands to this instance fail after each rotation until its pods know the new key; share one key by an inline secret at role or global level instead`;

const mountedNames = (mount: KeyMount): readonly string[] =>
  mount.kind === "ring" ? [mount.secretName, mount.ringName] : [mount.secretName];

/** All that a change of leads to another look. */
const secretNamesOf = (mount: KeyMount, plan: KeyPlan, instance: KubeObject): readonly string[] => [
  ...mountedNames(mount),
  ringNameOf(ownSecretName(instance)),
  ...(plan.kind === "own" ? [`${mount.secretName}-initial`] : []),
];

const initialOf = (name: string): string => name.replace(/-initial$/, "");

function namesIn(rndcKey: KubeObject | undefined): readonly string[] {
  const names = fieldAt(rndcKey, ["spec", "instances"]);
  return Array.isArray(names) ? names.map(String) : [];
}
