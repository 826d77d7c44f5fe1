import type { KubeObject } from "../../kube/objects.ts";
import { type JsonObject, jsonEquals } from "../json.ts";
import { asNumber, asObject, asTextMap } from "../kinds/json-fields.ts";

/** What a Deployment writes onto its ReplicaSets, and reads back from them. */
export const HASH_LABEL = "pod-template-hash";
export const REVISION = "deployment.kubernetes.io/revision";
export const HISTORY = "deployment.kubernetes.io/revision-history";
export const DESIRED = "deployment.kubernetes.io/desired-replicas";
export const MAXIMUM = "deployment.kubernetes.io/max-replicas";

const OWN_ANNOTATIONS = new Set([
  "kubectl.kubernetes.io/last-applied-configuration",
  "deprecated.deployment.rollback.to",
  REVISION,
  HISTORY,
  DESIRED,
  MAXIMUM,
]);

export const replicasOf = (object: KubeObject): number => asNumber(asObject(object.spec).replicas);

export const revisionOf = ({ metadata }: KubeObject): number => Number(metadata.annotations?.[REVISION] ?? 0) || 0;

export const inheritedAnnotations = ({ metadata }: KubeObject): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(metadata.annotations ?? {}).filter(([key]) => !OWN_ANNOTATIONS.has(key)));

/** Whether a ReplicaSet runs what the Deployment asks for now. */
export const sameTemplate = (set: KubeObject, deployment: KubeObject): boolean =>
  jsonEquals(templateOf(set), templateOf(deployment));

function templateOf(object: KubeObject): JsonObject {
  const template = asObject(asObject(object.spec).template);
  const { [HASH_LABEL]: _, ...labels } = asTextMap(asObject(template.metadata).labels);
  return { ...template, metadata: { ...asObject(template.metadata), labels } };
}
