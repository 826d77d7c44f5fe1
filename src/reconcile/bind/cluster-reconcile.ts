import { clusterInstances, surplusInstances } from "../../bind/cluster-objects.ts";
import { fieldAt } from "../../bind/fields.ts";
import { describeSource, resolveKey } from "../../bind/precedence.ts";
import type { ConfigLimits } from "../../bind/rndc-key-config.ts";
import { type SharedKeys, sharedKeyObjects, sharedKeys } from "../../bind/shared-keys.ts";
import { type KubeObject, keyOf } from "../../kube/objects.ts";
import { isOwnedBy } from "../../kube/ownership.ts";
import { attempt, type Look, type Looker } from "../objects/object-reconcile.ts";
import { isReadyObject, type ObjectReport, specTroubles, type Trouble } from "../objects/object-status.ts";
import type { OwnedObjects } from "../objects/owned-objects.ts";
import type { BindCaches, Holders } from "./bind-caches.ts";
import { controllerOf } from "./bind-sources.ts";
import { removeSurplusKeys } from "./key-objects.ts";
import { levelFindings } from "./level-findings.ts";
import { nextRotationOf } from "./rotation-words.ts";

interface ClusterLookOptions {
  readonly caches: BindCaches;
  readonly objects: OwnedObjects;
  readonly limits: ConfigLimits;
}

type Found = Extract<Holders, { readonly kind: "found" }>;

/**
 * One Bind9Cluster: its instances, as many as it says, and the keys that instances share. Instances of others are left,
 * and share what is theirs as well. Must not: take a server away for a spec that cannot be followed.
 */
export class ClusterLook implements Looker {
  readonly #options: ClusterLookOptions;

  constructor(options: ClusterLookOptions) {
    this.#options = options;
  }

  async look(cluster: KubeObject, signal: AbortSignal): Promise<Look> {
    const { caches, limits } = this.#options;
    const holders = caches.holdersOfCluster(cluster);
    const findings = levelFindings(cluster, limits);
    const { instances: wanted, problems } = clusterInstances(cluster);
    const rest = (troubles: readonly Trouble[], shared?: SharedKeys): Look => ({
      ready: readyOf(wanted, caches),
      troubles: [...troubles, ...specTroubles([...problems, ...findings.problems])],
      warnings: findings.warnings,
      fields: this.#fields(cluster, shared),
    });
    if (holders.kind === "missing") return rest([{ ...holders.problem, reason: "ReferenceProblem" }]);
    const made = await this.#scale(cluster, wanted, signal);
    const shared = sharedKeys({ ...holders, instances: this.#members(cluster, wanted) }, limits);
    const kept = await this.#share(holders, shared, signal);
    return rest([...made, ...specTroubles(shared.problems), ...kept], shared);
  }

  async #scale(cluster: KubeObject, wanted: readonly KubeObject[], signal: AbortSignal): Promise<readonly Trouble[]> {
    const { caches, objects } = this.#options;
    const troubles: Trouble[] = [];
    for (const instance of wanted) {
      const field = `spec.${fieldAt(instance, ["spec", "role"])}.replicas`;
      troubles.push(...(await attempt(() => objects.put(instance, { owner: cluster, signal }), field)));
    }
    const there = caches.instancesOf(keyOf(cluster.metadata));
    for (const instance of surplusInstances(cluster, there)) {
      // The last ones go first: what is left is numbered from 0.
      await objects.remove(instance.kind, instance.metadata, signal);
    }
    return troubles;
  }

  /** All that name the cluster, and those that are about to be there. */
  #members(cluster: KubeObject, wanted: readonly KubeObject[]): readonly KubeObject[] {
    const there = this.#options.caches.instancesOf(keyOf(cluster.metadata));
    const surplus = new Set(surplusInstances(cluster, there));
    const names = new Set(there.map(({ metadata }) => metadata.name));
    const isFree = ({ metadata }: KubeObject): boolean =>
      !names.has(metadata.name) && this.#options.caches.instance(keyOf(metadata)) === undefined;
    return [...there.filter((instance) => !surplus.has(instance)), ...wanted.filter(isFree)];
  }

  async #share({ cluster, provider }: Found, shared: SharedKeys, signal: AbortSignal): Promise<readonly Trouble[]> {
    const { caches, objects, limits } = this.#options;
    const troubles: Trouble[] = [];
    const mayTake = (live: KubeObject): boolean => this.#isFormersInstance(live, cluster);
    for (const key of shared.keys) {
      const put = async (): Promise<void> => {
        for (const object of sharedKeyObjects(cluster, { keys: [key], problems: [] })) {
          await objects.put(object, { owner: cluster, signal, mayTake });
        }
      };
      troubles.push(...(await attempt(put, `${key.source.field}.secret.metadata.name`)));
    }
    const members = caches.instancesOf(keyOf(cluster.metadata));
    const resolutions = members.map((instance) => resolveKey({ instance, cluster, provider }, limits));
    // Who cannot be told what to use goes on with what it has.
    const isClear = shared.problems.length === 0 && resolutions.every(({ config }) => config !== undefined);
    if (!isClear || troubles.length > 0) return troubles;
    const ownNames = resolutions.flatMap(({ level, config }) =>
      level === "instance" && config !== undefined && config.mode !== "referenced" ? [config.secret?.name ?? ""] : [],
    );
    const wanted = new Set([...shared.keys.map(({ secretName }) => secretName), ...ownNames]);
    await removeSurplusKeys({ caches, objects, owner: cluster, users: members, wanted, signal });
    return troubles;
  }

  /** The key that one of its instances had of its own is now one of several: it goes on, under another owner. */
  #isFormersInstance({ metadata }: KubeObject, cluster: KubeObject): boolean {
    const owner = controllerOf(metadata);
    if (owner?.kind !== "Bind9Instance") return false;
    const members = this.#options.caches.instancesOf(keyOf(cluster.metadata));
    return members.some((instance) => instance.metadata.uid === owner.uid);
  }

  #fields(cluster: KubeObject, shared: SharedKeys | undefined): Readonly<Record<string, unknown>> {
    const { caches } = this.#options;
    const { namespace = "" } = cluster.metadata;
    const members = caches.instancesOf(keyOf(cluster.metadata));
    const keys = shared?.keys.map(({ secretName, source, instances }) => {
      const rndcKey = caches.rndcKey(keyOf({ namespace, name: secretName }));
      const isOurs = rndcKey !== undefined && isOwnedBy(rndcKey, cluster);
      return {
        name: secretName,
        secretName,
        why: describeSource(source),
        instances: instances.map(({ metadata }) => metadata.name),
        nextRotation: isOurs ? nextRotationOf(rndcKey) : undefined,
      };
    });
    return {
      instances: members.length,
      readyInstances: members.filter(isReadyObject).length,
      // While nothing can be told, what was said stays.
      sharedKeys: keys === undefined ? fieldAt(cluster, ["status", "sharedKeys"]) : keys.length > 0 ? keys : undefined,
    };
  }
}

function readyOf(wanted: readonly KubeObject[], caches: BindCaches): ObjectReport["ready"] {
  const behind = wanted
    .filter(({ metadata }) => {
      const instance = caches.instance(keyOf(metadata));
      return !instance || !isReadyObject(instance);
    })
    .map(({ metadata }) => metadata.name);
  if (behind.length === 0) return { status: "True", reason: "Available" };
  return { status: "False", reason: "Creating", message: `not ready: ${behind.sort().join(", ")}` };
}
