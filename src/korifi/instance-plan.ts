import { CREDENTIALS_KEY } from "../api/korifi/names.ts";
import { Redacted } from "../base/redacted.ts";
import {
  type Credentials,
  credentialsData,
  credentialsOfTexts,
  isSameCredentials,
  type ReadCredentials,
  readCredentials,
  readCredentialsIn,
  type SecretValues,
} from "./credentials.ts";
import { derivedFromText, originsOf } from "./derived-from.ts";
import { finding, listed } from "./finding.ts";
import { objectText } from "./json-text.ts";
import { isForProjection, migratedCredentials } from "./migration.ts";
import type { CredentialsSource, Instance, SecretView } from "./model.ts";
import { migratedSecretName } from "./names.ts";
import { nothingBut, type Plan, secretWrites } from "./plan.ts";

/** What an instance's credentials are kept in: the Secret it names, or one that is made from that. */
export interface InstanceScene {
  readonly instance: Instance;
  /** The Secret that `instance.source` names. */
  readonly source: SecretView | undefined;
  /** Those of `ownSecretNames` that are there. */
  readonly secrets: readonly SecretView[];
}

/** Where credentials that are made from another Secret may be kept: the first that is free or ours already. */
export const ownSecretNames = ({ name, source }: Instance): readonly string[] =>
  source.kind === "followed" ? [name, migratedSecretName(name)] : [migratedSecretName(name)];

export function planInstance(scene: InstanceScene): Plan {
  const { instance, source } = scene;
  if (instance.isDeleting) return nothingBut();
  if (instance.source.kind === "managed") {
    return nothingBut(finding("Managed", "a service of type managed is its broker's, and left alone"));
  }
  if (source === undefined) {
    return nothingBut(finding("SecretMissing", `there is no Secret ${instance.source.secretName}`));
  }
  if (isStillMarked(instance, source)) {
    const { name, uid, version } = source;
    return { writes: [{ kind: "release-secret", name, uid, version }], findings: [] };
  }
  const read = readSource(instance.source, source);
  if (read.kind === "refused") return nothingBut(...read.findings);
  if (instance.source.kind === "own" && !isForProjection(source)) {
    return { writes: statusWrites(instance, source.name, source), findings: [] };
  }
  return planDerived({ ...scene, source, credentials: read.credentials });
}

/** Made for this instance while it had its credentials elsewhere; now people change them here, whatever they are. */
const isStillMarked = ({ source, uid }: Instance, { isMarked, ownerUids }: SecretView): boolean =>
  source.kind === "own" && isMarked === true && ownerUids.includes(uid);

function readSource(wish: Exclude<CredentialsSource, { kind: "managed" }>, source: SecretView): ReadCredentials {
  if (wish.kind === "followed") return readFollowed(source, wish.keys);
  return isForProjection(source) ? migratedCredentials(source) : readCredentialsIn(source);
}

/**
 * What a Secret of somebody else's says. Where it has all of the credentials as one object beside the single values, as
 * Keyturn publishes them, that is taken: in it, objects are objects still. An object that is refused is not taken for a
 * text instead: applications would find something of another shape.
 */
function readFollowed(source: SecretView, keys: readonly string[] | undefined): ReadCredentials {
  if (TOKEN_TYPES.has(source.type)) {
    const message = `the Secret ${source.name} holds a token of the cluster's own (${source.type}), which is not copied`;
    return { kind: "refused", findings: [finding("SecretRefused", message)] };
  }
  const whole = Object.hasOwn(source.data.reveal(), CREDENTIALS_KEY) ? readCredentialsIn(source) : undefined;
  const isObject = whole?.kind === "credentials" || whole?.findings.some(({ reason }) => !NO_OBJECT.has(reason));
  if (!whole || !isObject || keys?.includes(CREDENTIALS_KEY)) {
    return credentialsOfTexts({ name: source.name, data: source.data, ...(keys && { keys }) });
  }
  return keys === undefined || whole.kind === "refused" ? whole : pick(whole.credentials, keys, source.name);
}

/** Whoever may make an instance must not get at one of these by it. */
const TOKEN_TYPES: ReadonlySet<string> = new Set([
  "kubernetes.io/service-account-token",
  "bootstrap.kubernetes.io/token",
]);

/** What is found in a text that is something else than an object. */
const NO_OBJECT: ReadonlySet<string> = new Set(["CredentialsMissing", "CredentialsNotJson", "CredentialsNotObject"]);

function pick({ members }: Credentials, keys: readonly string[], secretName: string): ReadCredentials {
  const all = members.reveal();
  const missing = keys.filter((key) => !all.has(key)).sort();
  if (missing.length > 0) {
    const message = `the credentials in the Secret ${secretName} have no ${listed(missing, ", no ")}`;
    return { kind: "refused", findings: [finding("CredentialsMissing", message)] };
  }
  return readCredentials(new Redacted(objectText([...all].filter(([name]) => keys.includes(name)))));
}

interface DerivedScene extends InstanceScene {
  readonly source: SecretView;
  readonly credentials: Credentials;
}

/** Credentials that are made from another Secret, in one of ours. */
function planDerived({ instance, source, secrets, credentials }: DerivedScene): Plan {
  const present = (name: string): SecretView | undefined => secrets.find((secret) => secret.name === name);
  const isUsable = (name: string): boolean => {
    const it = present(name);
    if (name === source.name) return false;
    return it === undefined || (it.type === "Opaque" && it.ownerUids.includes(instance.uid));
  };
  const names = ownSecretNames(instance);
  const name = names.find(isUsable);
  if (name === undefined) {
    return nothingBut(finding("SecretTaken", `the Secret ${names.at(-1)} is somebody else's: its name is needed`));
  }
  const data = keptData(present(name), credentials) ?? credentialsData(credentials);
  const derivedFrom = derivedFromText(originsOf([source]));
  const wanted = { name, type: "Opaque", data, owner: "instance", derivedFrom } as const;
  return {
    writes: [...secretWrites(wanted, present(name)), ...statusWrites(instance, name, source)],
    findings: [],
  };
}

/** The bytes that are there, where they say the same: another encoder may have written them. */
function keptData(present: SecretView | undefined, credentials: Credentials): SecretValues | undefined {
  if (present === undefined || Object.keys(present.data.reveal()).length !== 1) return undefined;
  const read = readCredentialsIn(present);
  return read.kind === "credentials" && isSameCredentials(read.credentials, credentials) ? present.data : undefined;
}

function statusWrites(instance: Instance, credentialsName: string, { version }: SecretView): Plan["writes"] {
  const isSaid = instance.credentialsName === credentialsName && instance.observedVersion === version;
  return isSaid ? [] : [{ kind: "instance-status", credentialsName, observedVersion: version }];
}
