import { providerCluster } from "../../bind/provider-objects.ts";
import type { ConfigLimits } from "../../bind/rndc-key-config.ts";
import { type KubeObject, keyOf } from "../../kube/objects.ts";
import { isOwnedBy } from "../../kube/ownership.ts";
import { attempt, type Look, type Looker } from "../objects/object-reconcile.ts";
import { isReadyObject, type ObjectReport, specTroubles } from "../objects/object-status.ts";
import type { OwnedObjects } from "../objects/owned-objects.ts";
import type { BindCaches } from "./bind-caches.ts";
import { levelFindings } from "./level-findings.ts";

interface ProviderLookOptions {
  readonly caches: BindCaches;
  readonly objects: OwnedObjects;
  readonly operatorNamespace: string;
  readonly limits: ConfigLimits;
}

/**
 * One ClusterBind9Provider: its Bind9Cluster, where it says. One that it made in another namespace before is left, since
 * servers run in it, and named. Must not: write a key into the cluster.
 */
export class ProviderLook implements Looker {
  readonly #options: ProviderLookOptions;

  constructor(options: ProviderLookOptions) {
    this.#options = options;
  }

  async look(provider: KubeObject, signal: AbortSignal): Promise<Look> {
    const { caches, objects, operatorNamespace, limits } = this.#options;
    const wanted = providerCluster(provider, operatorNamespace);
    const key = keyOf(wanted.metadata);
    const findings = levelFindings(provider, limits);
    const troubles = await attempt(() => objects.put(wanted, { owner: provider, signal }), "spec.namespace");
    const cluster = caches.cluster(key);
    const isOurs = cluster !== undefined && isOwnedBy(cluster, provider);
    return {
      ready: readyOf(isOurs ? cluster : undefined, key),
      troubles: [...troubles, ...specTroubles(findings.problems)],
      warnings: [...findings.warnings, ...formerWarnings(caches.clustersOf(provider), provider, key)],
      fields: isOurs ? { cluster: key } : {},
    };
  }
}

function readyOf(cluster: KubeObject | undefined, key: string): ObjectReport["ready"] {
  if (cluster && isReadyObject(cluster)) return { status: "True", reason: "Available" };
  const message = cluster ? `Bind9Cluster ${key} is not ready` : `Bind9Cluster ${key} is not there yet`;
  return { status: "False", reason: "Creating", message };
}

const formerWarnings = (clusters: readonly KubeObject[], provider: KubeObject, key: string): readonly string[] =>
  clusters
    .filter((cluster) => cluster.metadata.name === provider.metadata.name && keyOf(cluster.metadata) !== key)
    .map(
      ({ metadata }) =>
        `Bind9Cluster ${keyOf(metadata)} was made before spec.namespace was changed and runs on as it is: delete it when nobody needs it`,
    );
