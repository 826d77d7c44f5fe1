import { type Credentials, readCredentialsIn } from "./credentials.ts";
import { derivedFromText, originsOf } from "./derived-from.ts";
import { finding } from "./finding.ts";
import { flatten } from "./flatten.ts";
import { isForProjection, keepsLegacyMount } from "./migration.ts";
import type { Binding, Instance, SecretView } from "./model.ts";
import { typedSecretName } from "./names.ts";
import { nothingBut, type Plan, type SecretWrite, secretWrites, type Write } from "./plan.ts";

/** What a binding gives out: the Secret to project, and the one for VCAP_SERVICES. */
export interface BindingScene {
  readonly binding: Binding;
  readonly instance: Instance | undefined;
  /** The Secret that the instance's status names. */
  readonly credentials: SecretView | undefined;
  /** Those of `mountSecretNames` that are there, and all that the binding owns. */
  readonly secrets: readonly SecretView[];
  /** Names of Secrets that pods or templates of pods use still: they stay until nobody does. */
  readonly inUse?: ReadonlySet<string>;
}

/** Where a binding's Secret of this type may be. A Secret's type cannot change, so another type has another name. */
const candidatesFor = (binding: Binding, type: string): readonly [string, string] => [
  binding.name,
  typedSecretName(binding.name, type),
];

/** All names that have to be looked at for a plan. */
export function mountSecretNames({
  binding,
  credentials,
}: Pick<BindingScene, "binding" | "credentials">): readonly string[] {
  const read = credentials && readCredentialsIn(credentials);
  const candidates = read?.kind === "credentials" ? candidatesFor(binding, flatten(read.credentials).type) : [];
  return [...new Set([...candidates, ...(binding.mountName === undefined ? [] : [binding.mountName])])];
}

export function planBinding(scene: BindingScene): Plan {
  const { binding, instance, credentials: secret } = scene;
  if (binding.isDeleting) return nothingBut();
  if (instance === undefined) {
    return nothingBut(finding("InstanceMissing", `there is no CFServiceInstance ${binding.instanceName}`));
  }
  if (instance.source.kind === "managed") {
    return nothingBut(
      finding("Managed", `the service ${instance.name} is its broker's, and its bindings are left alone`),
    );
  }
  if (instance.credentialsName === undefined || secret?.name !== instance.credentialsName) {
    return nothingBut(finding("InstanceNotReady", `the service ${instance.name} has no credentials yet`));
  }
  const read = readCredentialsIn(secret);
  if (read.kind === "refused") return nothingBut(...read.findings);
  const mount = mountOf(scene, instance, { secret, credentials: read.credentials });
  if (mount === undefined) {
    const names = candidatesFor(binding, flatten(read.credentials).type).join(" and ");
    return nothingBut(
      finding("SecretTaken", `the Secrets ${names} are somebody else's, or immutable: one of these names is needed`),
    );
  }
  return {
    writes: [...mount.writes, ...statusWrites(binding, mount.name, secret.name), ...deletions(scene, mount.name)],
    findings: [],
  };
}

interface Mount {
  readonly name: string;
  readonly writes: readonly SecretWrite[];
}

interface Given {
  readonly secret: SecretView;
  readonly credentials: Credentials;
}

function mountOf({ binding, secrets }: BindingScene, instance: Instance, given: Given): Mount | undefined {
  const present = (name: string): SecretView | undefined => secrets.find((secret) => secret.name === name);
  const { credentials, secret } = given;
  if (keepsLegacyMount({ binding, instance, namesake: present(instance.name), credentials })) {
    return { name: instance.name, writes: [] };
  }
  const flat = flatten(credentials);
  const candidates = candidatesFor(binding, flat.type).filter((name) => name !== secret.name);
  const derivedFrom = derivedFromText(originsOf([secret]));
  const writesTo = (name: string): readonly SecretWrite[] =>
    secretWrites({ name, ...flat, owner: "binding", derivedFrom }, present(name));
  const isOurs = (name: string): boolean => {
    const it = present(name);
    if (it === undefined || it.type !== flat.type || !it.ownerUids.includes(binding.uid)) return false;
    return it.isImmutable !== true || writesTo(name).length === 0;
  };
  // What the status names comes first, so that no workload has to follow; but what is there before what would be made.
  const order = candidates.sort((a, b) => Number(b === binding.mountName) - Number(a === binding.mountName));
  const name = order.find(isOurs) ?? order.find((candidate) => present(candidate) === undefined);
  if (name === undefined) return undefined;
  return { name, writes: writesTo(name) };
}

const statusWrites = (binding: Binding, mountName: string, envName: string): readonly Write[] =>
  binding.mountName === mountName && binding.envName === envName && binding.isSaidTwice
    ? []
    : [{ kind: "binding-status", mountName, envName }];

/** Secrets that were made for the binding, and that it does not name any more. */
const deletions = ({ binding, secrets, inUse }: BindingScene, mountName: string): readonly Write[] =>
  secrets
    .filter((secret) => secret.ownerUids.includes(binding.uid) && isForProjection(secret) && secret.name !== mountName)
    .filter(({ name }) => inUse?.has(name) !== true)
    .map(({ name, uid, version }) => ({ kind: "delete-secret", name, uid, version }));
