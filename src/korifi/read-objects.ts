import {
  DERIVED_FROM,
  DERIVED_LABEL,
  INSTANCE_KIND,
  KORIFI_GROUP,
  SERVICES_OF,
  USER_PROVIDED,
} from "../api/korifi/names.ts";
import { isObjectName } from "../base/object-names.ts";
import { Redacted } from "../base/redacted.ts";
import type { KubeObject } from "../kube/objects.ts";
import { recordOf, type UnknownRecord } from "../kube/record.ts";
import { keyIdOf } from "../publish/secret-publisher.ts";
import { type Finding, finding } from "./finding.ts";
import type { Binding, CredentialsSource, Instance, SecretView } from "./model.ts";
import { onceFor } from "./once-for.ts";

/**
 * The objects as they come. Their schema may be Korifi's own and not ours, so what ours refuses is found here once more. Must
 * not: guess; what cannot be followed is left as it is.
 */
export type Read<T> = T | { readonly findings: readonly Finding[] };

const invalid = (message: string) => ({ findings: [finding("InvalidSpec", message)] });

export const isRefused = <T extends object>(read: Read<T>): read is { readonly findings: readonly Finding[] } =>
  "findings" in read;

export const readInstance = onceFor((object: KubeObject): Read<Instance> => {
  const [spec, status] = [recordOf(object.spec), recordOf(object.status)];
  const source = readSource(object, spec);
  if (isRefused(source)) return source;
  const credentialsName = nameIn(status.credentials);
  const observedVersion = textIn(status.credentialsObservedVersion);
  return {
    ...identityOf(object),
    displayName: textIn(spec.displayName) ?? object.metadata.name,
    label: textIn(spec.serviceLabel) ?? USER_PROVIDED,
    tags: textsIn(spec.tags),
    source,
    ...(credentialsName !== undefined && { credentialsName }),
    ...(observedVersion !== undefined && { observedVersion }),
  };
});

function readSource({ metadata }: KubeObject, spec: UnknownRecord): Read<CredentialsSource> {
  const ownName = textIn(spec.secretName);
  const isFollowing = (spec.credentialsFrom ?? undefined) !== undefined;
  if (spec.type !== "user-provided" && spec.type !== "managed") {
    return invalid("spec.type must be user-provided or managed");
  }
  if (ownName !== undefined && !isObjectName(ownName)) return invalid("spec.secretName must be the name of a Secret");
  if (isFollowing && ownName !== undefined) return invalid("say spec.secretName or spec.credentialsFrom, not both");
  if (spec.type === "managed") {
    return isFollowing ? invalid("spec.credentialsFrom is for services of type user-provided") : { kind: "managed" };
  }
  if (!isFollowing) return { kind: "own", secretName: ownName ?? metadata.name };
  const { secretName, keys } = recordOf(spec.credentialsFrom);
  if (typeof secretName !== "string" || !isObjectName(secretName)) {
    return invalid("spec.credentialsFrom.secretName must be the name of a Secret");
  }
  return { kind: "followed", secretName, ...(Array.isArray(keys) && { keys: textsIn(keys) }) };
}

export const readBinding = onceFor((object: KubeObject): Read<Binding> => {
  const [spec, status] = [recordOf(object.spec), recordOf(object.status)];
  const service = recordOf(spec.service);
  const instanceName = textIn(service.name);
  const [kind, apiVersion] = [textIn(service.kind) ?? INSTANCE_KIND, textIn(service.apiVersion) ?? `${KORIFI_GROUP}/`];
  if (instanceName === undefined || kind !== INSTANCE_KIND || !apiVersion.startsWith(`${KORIFI_GROUP}/`)) {
    return invalid(`spec.service must be a ${INSTANCE_KIND} of ${KORIFI_GROUP}`);
  }
  const type = textIn(spec.type) ?? "app";
  const appName = nameIn(spec.appRef);
  if (type !== "app" && type !== "key") return invalid("spec.type must be app or key");
  if (type === "app" && appName === undefined) return invalid("spec.appRef.name must be the name of an application");
  const displayName = textIn(spec.displayName);
  return {
    ...identityOf(object),
    instanceName,
    ...(displayName !== undefined && { displayName }),
    ...(type === "app" && appName !== undefined && { appName }),
    ...referencesIn(status),
  };
});

function referencesIn(status: UnknownRecord): Pick<Binding, "mountName" | "envName" | "isSaidTwice"> {
  const [mounts, envs] = [
    [nameIn(status.binding), nameIn(status.mountSecretRef)],
    [nameIn(status.credentials), nameIn(status.envSecretRef)],
  ];
  const [mountName, envName] = [mounts[0] ?? mounts[1], envs[0] ?? envs[1]];
  return {
    ...(mountName !== undefined && { mountName }),
    ...(envName !== undefined && { envName }),
    isSaidTwice: mounts[0] === mounts[1] && envs[0] === envs[1],
  };
}

export function viewSecret(secret: KubeObject): SecretView {
  const { name, uid = "", resourceVersion: version = "", annotations, labels, ownerReferences } = secret.metadata;
  const { [DERIVED_FROM]: derivedFrom, [SERVICES_OF]: servicesOf } = annotations ?? {};
  const keyId = keyIdOf(secret.metadata);
  const texts = Object.entries(recordOf(secret.data)).map(([key, value]) => [key, String(value)]);
  return {
    name,
    uid,
    version,
    type: textIn(secret.type) ?? "Opaque",
    data: new Redacted(Object.fromEntries(texts) as Readonly<Record<string, string>>),
    ...(secret.immutable === true && { isImmutable: true }),
    ownerUids: (ownerReferences ?? []).map((owner) => owner.uid),
    ...(derivedFrom !== undefined && { derivedFrom }),
    ...(labels?.[DERIVED_LABEL] !== undefined && { isMarked: true }),
    ...(servicesOf !== undefined && { servicesOf }),
    ...(keyId !== undefined && { keyId }),
  };
}

const identityOf = ({ metadata: { name, uid = "", deletionTimestamp } }: KubeObject) => ({
  name,
  uid,
  isDeleting: deletionTimestamp !== undefined,
});

/** Korifi writes an empty text where it means nothing. */
const textIn = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);

const textsIn = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((item): item is string => typeof item === "string") : [];

const nameIn = (reference: unknown): string | undefined => textIn(recordOf(reference).name);
