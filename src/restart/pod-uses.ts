import { isRecord, recordsIn, type UnknownRecord } from "../kube/record.ts";
import type { SourceId, SourceKind, Use } from "./model.ts";

/**
 * Which sources a pod uses, read from its spec: volumes, environment, the Secrets Store driver, image pulls. Total: a
 * spec that means nothing uses nothing. Must not: know what a source holds, or whether it is there.
 */
const SECRETS_STORE_DRIVER = "secrets-store.csi.k8s.io";

const CONTAINERS = ["containers", "initContainers", "ephemeralContainers"] as const;

/** By which field of a pod a source is used. */
export type UseWay = "volume" | "projected" | "env" | "envFrom" | "csi" | "pull";

/** One place of the spec that refers to a source. */
export interface PlacedUse extends Use {
  readonly way: UseWay;
}

/** As they stand in the spec: a source as often as it is referred to. */
export function placedUsesOf(podSpec: UnknownRecord): readonly PlacedUse[] {
  const containers = CONTAINERS.flatMap((field) => recordsIn(podSpec[field]));
  return [
    ...recordsIn(podSpec.volumes).flatMap(usesOfVolume),
    ...containers.flatMap(usesOfContainer),
    ...recordsIn(podSpec.imagePullSecrets).flatMap(({ name }) => pullUse(name)),
  ];
}

/** All that is used of one source, by those places; undefined: nothing. */
export function useOf(places: readonly Use[], source: SourceId): Use | undefined {
  const uses = places.filter((use) => use.source === source);
  return uses.length === 0 ? undefined : merged(source, uses);
}

/** Each source once, in the order of their ids; keys sorted. */
export function usesOf(podSpec: UnknownRecord): readonly Use[] {
  const bySource = Map.groupBy(placedUsesOf(podSpec), ({ source }) => source);
  return [...bySource].map(([source, all]) => merged(source, all)).sort((a, b) => (a.source < b.source ? -1 : 1));
}

/** All keys win over some; a pull adds nothing to what is used otherwise. */
function merged(source: SourceId, uses: readonly Use[]): Use {
  const used = uses.filter(({ isPullOnly }) => !isPullOnly);
  const counted = used.length > 0 ? used : uses;
  const isWhole = counted.some(({ keys }) => keys === undefined);
  const keys = isWhole ? undefined : [...new Set(counted.flatMap((use) => use.keys ?? []))].sort();
  const isNeeded = (key: string): boolean => counted.some((use) => !use.isOptional && use.keys?.includes(key));
  const optionalKeys = (keys ?? []).filter((key) => !isNeeded(key));
  return {
    source,
    keys,
    ...(optionalKeys.length > 0 && { optionalKeys }),
    isOptional: counted.every(({ isOptional }) => isOptional),
    isPullOnly: used.length === 0,
  };
}

const placed = (way: UseWay, uses: readonly Use[]): readonly PlacedUse[] => uses.map((use) => ({ ...use, way }));

function usesOfVolume(volume: UnknownRecord): readonly PlacedUse[] {
  const { secret, configMap, projected, csi } = volume;
  const projections = recordsIn(isRecord(projected) ? projected.sources : undefined);
  return [
    ...placed("volume", isRecord(secret) ? volumeUse("secret", secret.secretName, secret) : []),
    ...placed("volume", isRecord(configMap) ? volumeUse("configmap", configMap.name, configMap) : []),
    ...placed("projected", projections.flatMap(usesOfProjection)),
    ...placed("csi", isRecord(csi) ? classUse(csi) : []),
  ];
}

function usesOfProjection({ secret, configMap }: UnknownRecord): readonly Use[] {
  return [
    ...(isRecord(secret) ? volumeUse("secret", secret.name, secret) : []),
    ...(isRecord(configMap) ? volumeUse("configmap", configMap.name, configMap) : []),
  ];
}

/** Without items, every key is a file. */
function volumeUse(kind: SourceKind, name: unknown, { items, optional }: UnknownRecord): readonly Use[] {
  const keys = recordsIn(items).flatMap(({ key }) => (typeof key === "string" ? [key] : []));
  return used(kind, name, { keys: keys.length === 0 ? undefined : keys, optional });
}

function classUse({ driver, volumeAttributes }: UnknownRecord): readonly Use[] {
  if (driver !== SECRETS_STORE_DRIVER || !isRecord(volumeAttributes)) return [];
  return used("class", volumeAttributes.secretProviderClass, { keys: undefined, optional: false });
}

function usesOfContainer({ env, envFrom }: UnknownRecord): readonly PlacedUse[] {
  const values = recordsIn(env).flatMap(({ valueFrom }) => (isRecord(valueFrom) ? [valueFrom] : []));
  const ofValue = ({ secretKeyRef, configMapKeyRef }: UnknownRecord): readonly Use[] => [
    ...keyUse("secret", secretKeyRef),
    ...keyUse("configmap", configMapKeyRef),
  ];
  const ofWhole = ({ secretRef, configMapRef }: UnknownRecord): readonly Use[] => [
    ...wholeUse("secret", secretRef),
    ...wholeUse("configmap", configMapRef),
  ];
  return [...placed("env", values.flatMap(ofValue)), ...placed("envFrom", recordsIn(envFrom).flatMap(ofWhole))];
}

function keyUse(kind: SourceKind, ref: unknown): readonly Use[] {
  if (!isRecord(ref) || typeof ref.key !== "string") return [];
  return used(kind, ref.name, { keys: [ref.key], optional: ref.optional });
}

const wholeUse = (kind: SourceKind, ref: unknown): readonly Use[] =>
  isRecord(ref) ? used(kind, ref.name, { keys: undefined, optional: ref.optional }) : [];

function used(
  kind: SourceKind,
  name: unknown,
  { keys, optional }: { readonly keys: readonly string[] | undefined; readonly optional: unknown },
): readonly Use[] {
  if (typeof name !== "string" || name === "") return [];
  const source: SourceId = `${kind}/${name}`;
  return [{ source, keys, isOptional: optional === true, isPullOnly: false }];
}

/** A pod starts without it too, if its images are there or public. */
const pullUse = (name: unknown): readonly PlacedUse[] =>
  used("secret", name, { keys: undefined, optional: true }).map((use) => ({ ...use, way: "pull", isPullOnly: true }));
