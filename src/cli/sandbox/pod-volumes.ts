import { Buffer } from "node:buffer";
import { type Fields, fieldAt, isFields } from "../../bind/fields.ts";
import { podLabels } from "../../bind/instance-objects.ts";
import { PATHS } from "../../bind/named-conf.ts";
import type { KubeObject } from "../../kube/objects.ts";

/** What a pod of a Bind9Instance mounts, read from the pod. Pure. */
export interface PodVolume {
  readonly kind: "Secret" | "ConfigMap";
  /** The name of it. */
  readonly source: string;
  /** Where the pod has it. */
  readonly path: string;
  /** Names of files by the keys that they are taken from; undefined where all are taken under their own. */
  readonly items: ReadonlyMap<string, string> | undefined;
}

const NAME_LABEL = "app.kubernetes.io/name";
const BIND = podLabels("")[NAME_LABEL];

/** Finds the pods of all instances. */
export const NAMED_PODS = `${NAME_LABEL}=${BIND}`;

/** A pod that we have made the configuration for. Somebody else's named cannot be run from here. */
export const isNamedPod = (pod: KubeObject): boolean =>
  pod.metadata.labels?.[NAME_LABEL] === BIND && volumesOf(pod).some(({ path }) => path === PATHS.config);

export const mountPathsOf = (pod: KubeObject): readonly string[] => mountsOf(pod).map(([path]) => path);

/** Those with something in them from the start. */
export function volumesOf(pod: KubeObject): readonly PodVolume[] {
  const volumes = new Map(listAt(pod, ["spec", "volumes"]).map((volume) => [volume.name, volume]));
  return mountsOf(pod).flatMap(([path, name]) => volumeOf(volumes.get(name), path) ?? []);
}

/** What a volume shows of its source. */
export function filesIn({ data }: KubeObject, { kind, items }: PodVolume): Readonly<Record<string, string>> {
  const entries = Object.entries((data ?? {}) as Readonly<Record<string, string>>);
  const files = entries.flatMap(([key, value]) => {
    const file = items ? items.get(key) : key;
    const text = kind === "Secret" ? Buffer.from(value, "base64").toString() : value;
    return file === undefined ? [] : [[file, text]];
  });
  return Object.fromEntries(files);
}

function volumeOf(volume: Fields | undefined, path: string): PodVolume | undefined {
  const secret = fieldAt(volume, ["secret", "secretName"]);
  if (typeof secret === "string") return { kind: "Secret", source: secret, path, items: itemsOf(volume, "secret") };
  const config = fieldAt(volume, ["configMap", "name"]);
  if (typeof config !== "string") return undefined;
  return { kind: "ConfigMap", source: config, path, items: itemsOf(volume, "configMap") };
}

function itemsOf(volume: Fields | undefined, field: string): ReadonlyMap<string, string> | undefined {
  const items = listAt(volume, [field, "items"]);
  return items.length === 0 ? undefined : new Map(items.map(({ key, path }) => [String(key), String(path)]));
}

/** Paths, and the names of the volumes that are mounted there. */
const mountsOf = (pod: KubeObject): readonly (readonly [string, unknown])[] =>
  listAt(pod, ["spec", "containers"])
    .flatMap((container) => listAt(container, ["volumeMounts"]))
    .map(({ mountPath, name }) => [String(mountPath), name]);

function listAt(value: unknown, path: readonly string[]): readonly Fields[] {
  const found = fieldAt(value, path);
  return Array.isArray(found) ? found.filter(isFields) : [];
}
