import type { Clock } from "../../base/clock.ts";
import { InvalidValue } from "../../base/errors.ts";
import { Redacted } from "../../base/redacted.ts";
import {
  type FollowedKey,
  followKey,
  heedServers,
  isUnsettled,
  readFollowedKey,
  readFollowingRing,
} from "../../bind/followed-ring.ts";
import type { KeyPlan } from "../../bind/key-plan.ts";
import type { KeyRing } from "../../bind/key-ring.ts";
import { MADE_BY_US } from "../../bind/ownership.ts";
import { renderRing } from "../../bind/render-ring.ts";
import { NotFound } from "../../kube/errors.ts";
import { type KubeObject, keyOf } from "../../kube/objects.ts";
import { ownerReference } from "../../kube/ownership.ts";
import type { Kube } from "../../kube/port.ts";
import { secretType } from "../../publish/secret-publisher.ts";
import { fieldsOf } from "../managed/read-fields.ts";
import type { Trouble } from "../objects/object-status.ts";
import type { OwnedObjects } from "../objects/owned-objects.ts";
import type { BindCaches } from "./bind-caches.ts";
import type { RingGate } from "./ring-gate.ts";

export type FollowingPlan = Extract<KeyPlan, { readonly kind: "referenced" }>;

export interface InstanceRingOptions {
  readonly kube: Kube;
  readonly clock: Clock;
  readonly caches: BindCaches;
  readonly objects: OwnedObjects;
  readonly gate: RingGate;
}

export interface Following {
  /** Why the Secret cannot be followed; the ring then stays as it is. */
  readonly trouble?: Trouble;
  readonly warnings: readonly string[];
  /** While servers are behind. */
  readonly againAt?: number;
}

/** How soon servers are asked again that do not know a key yet: about as long as a kubelet takes to bring it. */
const ASK_AGAIN_MS = 10_000;
/** The watch brings what we wrote; this is for a watch that does not. */
const STEP_MS = 1000;

/**
 * The ring of an instance whose key is somebody else's: made from that Secret, step by step, and each step stored before
 * servers are asked about the next one. Must not: write to that Secret.
 */
export class InstanceRing {
  readonly #options: InstanceRingOptions;
  /** The versions of Secret and ring of instances at rest, by their keys. */
  readonly #settled = new Map<string, { readonly versions: string; readonly following: Following }>();

  constructor(options: InstanceRingOptions) {
    this.#options = options;
  }

  /** Why the Secret cannot be followed; undefined: it can. */
  async check(
    instance: KubeObject,
    plan: FollowingPlan,
    field: string,
    signal: AbortSignal,
  ): Promise<Trouble | undefined> {
    const read = await this.#read(instance, plan, signal);
    return read.kind === "key" ? undefined : { reason: "ReferenceProblem", field, message: read.why };
  }

  async follow(instance: KubeObject, plan: FollowingPlan, field: string, signal: AbortSignal): Promise<Following> {
    const key = keyOf(instance.metadata);
    const versions = this.#versions(instance, plan);
    const known = this.#settled.get(key);
    if (known && known.versions === versions) return known.following;
    const read = await this.#read(instance, plan, signal);
    if (read.kind === "unusable") {
      return { trouble: { reason: "ReferenceProblem", field, message: read.why }, warnings: [] };
    }
    const next = (ring: KeyRing): KeyRing => followKey(ring, read.key, this.#options.clock.now());
    const step = await this.#step(instance, plan, { field, signal, next });
    const following: Following = { ...step, warnings: read.isShort ? [shortKey(field)] : [] };
    if (!following.trouble && following.againAt === undefined) this.#settled.set(key, { versions, following });
    return following;
  }

  forget(key: string): void {
    this.#settled.delete(key);
  }

  async #read({ metadata }: KubeObject, { ref }: FollowingPlan, signal: AbortSignal): Promise<FollowedKey> {
    const { namespace = "" } = metadata;
    const data = await this.#data(namespace, ref.name, signal);
    if (!data) return { kind: "unusable", why: `there is no Secret ${namespace}/${ref.name}` };
    const read = readFollowedKey(new Redacted(data), ref);
    return read.kind === "key" ? read : { kind: "unusable", why: `the Secret ${namespace}/${ref.name}: ${read.why}` };
  }

  async #step(
    instance: KubeObject,
    plan: FollowingPlan,
    {
      field,
      signal,
      next,
    }: { readonly field: string; readonly signal: AbortSignal; readonly next: (ring: KeyRing) => KeyRing },
  ): Promise<Omit<Following, "warnings">> {
    const { gate, clock, objects } = this.#options;
    const { namespace = "", name } = instance.metadata;
    const stored = readFollowingRing((await this.#data(namespace, ringNameOf(plan), signal)) ?? {});
    const refuse = (reason: string, message: string) => ({ trouble: { reason, field, message } });
    const wanted = attempted(() => next(stored));
    // It is full: servers have been behind for long.
    if (wanted instanceof InvalidValue) return refuse("SpecProblem", wanted.message);
    const isWaiting = wanted === stored && isUnsettled(wanted);
    const report = isWaiting ? await gate.ask({ namespace, name }, wanted, signal) : undefined;
    const heard = report ? heedServers(wanted, report) : wanted;
    await objects.put(ringSecret(instance, ringNameOf(plan), heard), { owner: instance, signal });
    const againMs = heard !== stored ? STEP_MS : isWaiting ? ASK_AGAIN_MS : undefined;
    return {
      ...(report?.complaint !== undefined && refuse("KeyNotReady", report.complaint)),
      ...(againMs !== undefined && { againAt: clock.now() + againMs }),
    };
  }

  /** Differs when there is something to look at. */
  #versions({ metadata }: KubeObject, plan: FollowingPlan): string {
    const { namespace = "", uid = "" } = metadata;
    const versions = [plan.ref.name, ringNameOf(plan)].map((name) => {
      const entry = this.#options.caches.secret(keyOf({ namespace, name }));
      return `${entry?.uid} ${entry?.resourceVersion}`;
    });
    return JSON.stringify([uid, plan.ref, ...versions]);
  }

  async #data(
    namespace: string,
    name: string,
    signal: AbortSignal,
  ): Promise<Readonly<Record<string, string>> | undefined> {
    try {
      const { data } = await this.#options.kube.get(secretType, { namespace, name }, { signal });
      return fieldsOf(data) as Readonly<Record<string, string>>;
    } catch (error) {
      if (error instanceof NotFound) return undefined;
      throw error;
    }
  }
}

function attempted<T>(work: () => T): T | InvalidValue {
  try {
    return work();
  } catch (error) {
    if (error instanceof InvalidValue) return error;
    throw error;
  }
}

const shortKey = (field: string): string =>
  `${field} names a Secret with a key that is shorter than its HMAC: make a longer one`;

const ringNameOf = ({ mount }: FollowingPlan): string => (mount.kind === "ring" ? mount.ringName : "");

function ringSecret(instance: KubeObject, name: string, ring: KeyRing): KubeObject {
  const texts = Object.entries(renderRing(ring).reveal());
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      name,
      namespace: instance.metadata.namespace ?? "",
      labels: MADE_BY_US,
      ownerReferences: [ownerReference(instance)],
    },
    type: "Opaque",
    data: Object.fromEntries(texts.map(([file, text]) => [file, Buffer.from(text).toString("base64")])),
  };
}
