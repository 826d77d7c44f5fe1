import type { KubeObject } from "../../kube/objects.ts";
import type { JsonObject } from "../json.ts";
import { asObject, asObjects, asText } from "../kinds/json-fields.ts";

/** A Secret or ConfigMap without which a kubelet does not start a Pod's containers. */
export interface PodNeed {
  readonly kind: "/secrets" | "/configmaps";
  readonly name: string;
}

/**
 * What a Pod mounts, or takes its environment from, and does not call optional; each once. Which keys of it there are is
 * not looked at: a kubelet would wait for those as well.
 */
export function podNeeds(pod: KubeObject): readonly PodNeed[] {
  const spec = asObject(pod.spec);
  const containers = [...asObjects(spec.initContainers), ...asObjects(spec.containers)];
  const all = [...asObjects(spec.volumes).flatMap(inVolume), ...containers.flatMap(inContainer)];
  const needs = new Map(all.map((need) => [`${need.kind}/${need.name}`, need]));
  return [...needs.values()];
}

function inVolume(volume: JsonObject): readonly PodNeed[] {
  const sources = asObjects(asObject(volume.projected).sources);
  return [
    ...needed("/secrets", volume.secret, "secretName"),
    ...needed("/configmaps", volume.configMap, "name"),
    ...sources.flatMap(({ secret, configMap }) => [
      ...needed("/secrets", secret, "name"),
      ...needed("/configmaps", configMap, "name"),
    ]),
  ];
}

function inContainer({ env, envFrom }: JsonObject): readonly PodNeed[] {
  return [
    ...asObjects(env).flatMap(({ valueFrom }) => {
      const { secretKeyRef, configMapKeyRef } = asObject(valueFrom);
      return [...needed("/secrets", secretKeyRef, "name"), ...needed("/configmaps", configMapKeyRef, "name")];
    }),
    ...asObjects(envFrom).flatMap(({ secretRef, configMapRef }) => [
      ...needed("/secrets", secretRef, "name"),
      ...needed("/configmaps", configMapRef, "name"),
    ]),
  ];
}

function needed(kind: PodNeed["kind"], reference: JsonObject[string] | undefined, field: string): readonly PodNeed[] {
  const object = asObject(reference);
  const name = asText(object[field]);
  return name === "" || object.optional === true ? [] : [{ kind, name }];
}
