/** A key of the restart controller: what kind of object, and which one. */
export interface WorkloadKey {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/** `Deployment/shop/web`. */
export const workloadKey = (kind: string, namespace: string, name: string): string => `${kind}/${namespace}/${name}`;

export function readWorkloadKey(key: string): WorkloadKey {
  const [kind = "", namespace = "", name = ""] = key.split("/");
  return { kind, namespace, name };
}

/** As people write it: `Deployment shop/web`. */
export function describeKey(key: string): string {
  const { kind, namespace, name } = readWorkloadKey(key);
  return `${kind} ${namespace}/${name}`;
}
