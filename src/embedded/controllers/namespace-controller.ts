import type { Clock } from "../../base/clock.ts";
import type { KubeObject } from "../../kube/objects.ts";
import type { JsonObject } from "../json.ts";
import { asObject, asTexts } from "../kinds/json-fields.ts";
import { NAMESPACE_FINALIZER } from "../kinds/namespace.ts";
import { timestamp } from "../metadata.ts";
import type { ClusterView } from "./cluster-view.ts";
import { withCondition } from "./conditions.ts";
import type { Controller, ObservedEvent } from "./controller-loop.ts";

const ROOT_CA = "kube-root-ca.crt";

/**
 * Gives every namespace its ServiceAccount and the cluster's CA, and empties deleted ones before letting them go. Must
 * not: force anything: objects with finalizers hold their namespace until somebody releases them.
 */
export class NamespaceController implements Controller {
  readonly name = "namespace";
  readonly #cluster: ClusterView;
  readonly #clock: Clock;
  readonly #rootCertificate: string;

  constructor(options: { cluster: ClusterView; clock: Clock; rootCertificate: string }) {
    this.#cluster = options.cluster;
    this.#clock = options.clock;
    this.#rootCertificate = options.rootCertificate;
  }

  keysFor({ type, definition, object }: ObservedEvent): readonly string[] {
    if (definition.storageKey === "namespaces") return type === "DELETED" ? [] : [object.metadata.name];
    const { namespace, name } = object.metadata;
    if (namespace === undefined || type === "ADDED") return [];
    const isOurs = definition.group === "" && (name === "default" || name === ROOT_CA);
    const isEnding = this.#get(namespace)?.metadata.deletionTimestamp !== undefined;
    return (type === "DELETED" && isEnding) || isOurs ? [namespace] : [];
  }

  reconcile(name: string): undefined {
    const namespace = this.#get(name);
    if (!namespace) return;
    if (namespace.metadata.deletionTimestamp === undefined) this.#furnish(name);
    else this.#empty(namespace);
  }

  #get(name: string): KubeObject | undefined {
    return this.#cluster.get(this.#cluster.kind("/namespaces"), { name });
  }

  #furnish(namespace: string): void {
    const accounts = this.#cluster.kind("/serviceaccounts");
    if (!this.#cluster.get(accounts, { namespace, name: "default" })) {
      this.#cluster.create(accounts, {
        apiVersion: "v1",
        kind: "ServiceAccount",
        metadata: { name: "default", namespace },
      });
    }
    const maps = this.#cluster.kind("/configmaps");
    const existing = this.#cluster.get(maps, { namespace, name: ROOT_CA });
    const data = { "ca.crt": this.#rootCertificate };
    if (!existing) {
      const annotations = {
        "kubernetes.io/description":
          "Contains the certificate of the embedded server, for clients that run in this namespace.",
      };
      const metadata = { name: ROOT_CA, namespace, annotations };
      this.#cluster.create(maps, { apiVersion: "v1", kind: "ConfigMap", metadata, data });
    } else if (asObject(existing.data)["ca.crt"] !== this.#rootCertificate) {
      this.#cluster.update(maps, { ...existing, data });
    }
  }

  #empty(namespace: KubeObject): void {
    const { name } = namespace.metadata;
    if (!asTexts(asObject(namespace.spec).finalizers).includes(NAMESPACE_FINALIZER)) return;
    const remaining = this.#cluster
      .kinds()
      .filter((kind) => kind.namespaced)
      .flatMap((kind) => this.#cluster.list(kind, name).map((object) => ({ kind, object })));
    for (const { kind, object } of remaining) {
      if (object.metadata.deletionTimestamp !== undefined) continue;
      this.#cluster.delete(kind, object, { propagationPolicy: "Background" });
    }
    const left = remaining.filter(({ kind, object }) => {
      const { namespace: ns = "", name: own } = object.metadata;
      return this.#cluster.get(kind, { namespace: ns, name: own }) !== undefined;
    });
    if (left.length === 0) {
      this.#release(namespace);
      return;
    }
    const counts = countBy(left.map(({ kind }) => `${kind.plural}.${kind.group}`));
    const finalizers = countBy(left.flatMap(({ object }) => object.metadata.finalizers ?? []));
    const live = this.#get(name);
    if (live)
      this.#cluster.updateStatus(this.#cluster.kind("/namespaces"), live, this.#status(live, counts, finalizers));
  }

  #release(namespace: KubeObject): void {
    const live = this.#get(namespace.metadata.name);
    if (!live) return;
    const finalizers = asTexts(asObject(live.spec).finalizers).filter((one) => one !== NAMESPACE_FINALIZER);
    this.#cluster.update(this.#cluster.kind("/namespaces"), { ...live, spec: { finalizers } }, "finalize");
  }

  #status(namespace: KubeObject, counts: Counts, finalizers: Counts): JsonObject {
    const now = timestamp(this.#clock);
    const list = (all: Counts, unit: (name: string, count: number) => string): string =>
      [...all]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, count]) => unit(name, count))
        .join(", ");
    const content = list(counts, (name, count) => `${name} has ${count} resource instances`);
    const held = list(finalizers, (name, count) => `${name} in ${count} resource instances`);
    let status: JsonObject = { ...asObject(namespace.status), phase: "Terminating" };
    const conditions: readonly (readonly [string, boolean, string, string])[] = [
      ["NamespaceDeletionDiscoveryFailure", false, "ResourcesDiscovered", "All resources successfully discovered"],
      [
        "NamespaceDeletionGroupVersionParsingFailure",
        false,
        "ParsedGroupVersions",
        "All legacy kube types successfully parsed",
      ],
      [
        "NamespaceDeletionContentFailure",
        false,
        "ContentDeleted",
        "All content successfully deleted, may be waiting on finalization",
      ],
      ["NamespaceContentRemaining", true, "SomeResourcesRemain", `Some resources are remaining: ${content}`],
      finalizers.size > 0
        ? [
            "NamespaceFinalizersRemaining",
            true,
            "SomeFinalizersRemain",
            `Some content in the namespace has finalizers remaining: ${held}`,
          ]
        : [
            "NamespaceFinalizersRemaining",
            false,
            "ContentHasNoFinalizers",
            "All content-preserving finalizers finished",
          ],
    ];
    for (const [type, holds, reason, message] of conditions) {
      status = withCondition(status, { type, status: holds ? "True" : "False", reason, message }, { now });
    }
    return status;
  }
}

type Counts = ReadonlyMap<string, number>;

function countBy(names: readonly string[]): Counts {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}
