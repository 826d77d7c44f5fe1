import type { KubeObject } from "../../kube/objects.ts";
import { type JsonObject, jsonEquals } from "../json.ts";
import { asNumber, asObject, asText, asTextMap } from "../kinds/json-fields.ts";
import { type ClusterView, controllerReference } from "./cluster-view.ts";
import { templateHash } from "./template-hash.ts";

/** The ControllerRevisions of a StatefulSet: its templates, numbered. Must not: touch Pods. */
export class StatefulSetRevisions {
  readonly #cluster: ClusterView;

  constructor(cluster: ClusterView) {
    this.#cluster = cluster;
  }

  /** The revision of the present template, made or renumbered where needed, and the one that is being left. */
  sync(set: KubeObject): { readonly current: KubeObject; readonly update: KubeObject } {
    const all = this.#of(set);
    const data = dataOf(set);
    const highest = all.at(-1);
    const equal = all.findLast((revision) => jsonEquals(asObject(revision.data), data));
    const next = 1 + numberOf(highest);
    const update = equal ? this.#renumbered(equal, highest, next) : this.#create(set, data, next);
    const name = asText(asObject(set.status).currentRevision);
    const current = all.find(({ metadata }) => metadata.name === name);
    return { current: current ?? update, update };
  }

  /** Forgets revisions that nothing runs, beyond the history limit. */
  trim(set: KubeObject, used: readonly string[]): void {
    const { currentRevision, updateRevision } = asObject(set.status);
    const kept = new Set([...used, asText(currentRevision), asText(updateRevision)]);
    const idle = this.#of(set).filter(({ metadata }) => !kept.has(metadata.name));
    const limit = asNumber(asObject(set.spec).revisionHistoryLimit);
    for (const revision of idle.slice(0, Math.max(0, idle.length - limit))) {
      this.#cluster.delete(this.#cluster.kind("apps/controllerrevisions"), revision);
    }
  }

  /** By number. */
  #of(set: KubeObject): readonly KubeObject[] {
    const all = this.#cluster.controlledBy(set, this.#cluster.kind("apps/controllerrevisions"));
    return [...all].sort((a, b) => numberOf(a) - numberOf(b));
  }

  #renumbered(revision: KubeObject, highest: KubeObject | undefined, next: number): KubeObject {
    if (revision === highest) return revision;
    return this.#cluster.update(this.#cluster.kind("apps/controllerrevisions"), { ...revision, revision: next });
  }

  #create(set: KubeObject, data: JsonObject, revision: number): KubeObject {
    const definition = this.#cluster.kind("apps/controllerrevisions");
    const { name, namespace = "", annotations } = set.metadata;
    let collisions = 0;
    let hash = templateHash(data, collisions);
    while (this.#cluster.get(definition, { namespace, name: `${name}-${hash}` })) {
      collisions += 1;
      hash = templateHash(data, collisions);
    }
    const labels = asTextMap(asObject(asObject(asObject(set.spec).template).metadata).labels);
    return this.#cluster.create(definition, {
      apiVersion: "apps/v1",
      kind: "ControllerRevision",
      metadata: {
        name: `${name}-${hash}`,
        namespace,
        labels: { ...labels, "controller.kubernetes.io/hash": hash },
        ...(annotations && { annotations }),
        ownerReferences: [controllerReference(this.#cluster.kind("apps/statefulsets"), set)],
      },
      data,
      revision,
    });
  }
}

const numberOf = (revision: KubeObject | undefined): number => asNumber(revision?.revision);

/** A patch that brings the template back: what `kubectl rollout undo` applies. */
const dataOf = (set: KubeObject): JsonObject => ({
  spec: { template: { ...asObject(asObject(set.spec).template), $patch: "replace" } },
});

export function templateIn(revision: KubeObject): JsonObject {
  const { $patch: _, ...template } = asObject(asObject(asObject(revision.data).spec).template);
  return template;
}
