import { type Credentials, isSameCredentials, readCredentialsIn } from "../../korifi/credentials.ts";
import { isForProjection } from "../../korifi/migration.ts";
import type { Instance } from "../../korifi/model.ts";
import { migratedSecretName } from "../../korifi/names.ts";
import { viewSecret } from "../../korifi/read-objects.ts";
import type { KubeObject } from "../../kube/objects.ts";
import { ownerUidOf } from "../../publish/secret-publisher.ts";

/**
 * What is left to do until an instance has these credentials, in the document's order: the instance is pointed at the
 * Secret that its status names, and then that is written. A second call finds what the first has left to do, wherever it
 * ended. Pure. Must not: say a value.
 */
export interface SetScene {
  readonly instance: Instance;
  /** The Secret that the instance names. */
  readonly source: KubeObject | undefined;
  /** The one that its status names. */
  readonly published: KubeObject | undefined;
  readonly credentials: Credentials;
}

export type SetPlan =
  | { readonly kind: "refused"; readonly why: string }
  | { readonly kind: "steps"; readonly secretName: string; readonly steps: readonly SetStep[] };

export type SetStep =
  /** The instance names another Secret from now on. */
  | { readonly kind: "point"; readonly secretName: string }
  /** There is none yet: it is to go with the instance. */
  | { readonly kind: "create"; readonly secretName: string }
  /** The one that was read, and no other. */
  | { readonly kind: "write"; readonly secretName: string; readonly over: KubeObject };

const refused = (why: string): SetPlan => ({ kind: "refused", why });

export function planSet({ instance, source, published, credentials }: SetScene): SetPlan {
  if (instance.isDeleting) return refused("it is being deleted");
  if (instance.source.kind === "managed") {
    return refused("it is of type managed: its service broker gives out its credentials");
  }
  const { secretName } = instance.source;
  if (instance.source.kind === "followed") {
    return refused(`its credentials are those of the Secret ${secretName} (spec.credentialsFrom): change them there`);
  }
  if (!isLegacy({ instance, source })) {
    return withObstacle(instance, source) ?? steps(secretName, writesOf(secretName, source, credentials));
  }
  if (published === undefined || published.metadata.name === secretName || isForProjection(viewSecret(published))) {
    const why = `its Secret ${secretName} is a legacy one that nobody has migrated yet: is the operator running?`;
    return withObstacle(instance, source) ?? refused(why);
  }
  const { name } = published.metadata;
  const point: SetStep = { kind: "point", secretName: name };
  return withObstacle(instance, published) ?? steps(name, [point, ...writesOf(name, published, credentials)]);
}

const steps = (secretName: string, all: readonly SetStep[]): SetPlan => ({ kind: "steps", secretName, steps: all });

/** Whether the instance names a Secret of the time when credentials were flat, be it that somebody has deleted it. */
function isLegacy({ instance, source }: Pick<SetScene, "instance" | "source">): boolean {
  if (source !== undefined) return isForProjection(viewSecret(source));
  const migratedName = migratedSecretName(instance.name);
  const isMoved = instance.source.kind === "own" && instance.source.secretName === migratedName;
  return instance.credentialsName === migratedName && !isMoved;
}

function writesOf(secretName: string, present: KubeObject | undefined, credentials: Credentials): readonly SetStep[] {
  if (present === undefined) return [{ kind: "create", secretName }];
  const read = readCredentialsIn(viewSecret(present));
  const isSo = read.kind === "credentials" && isSameCredentials(read.credentials, credentials);
  return isSo ? [] : [{ kind: "write", secretName, over: present }];
}

/** A Secret that somebody else writes would not stay what it was set to. */
function withObstacle(instance: Instance, secret: KubeObject | undefined): SetPlan | undefined {
  if (secret === undefined) return undefined;
  const { name, ownerReferences = [] } = secret.metadata;
  const keeper = ownerReferences.find(({ controller, uid }) => controller === true && uid !== instance.uid);
  if (keeper) return refused(`the Secret ${name} is that of ${keeper.kind} ${keeper.name}: change it there`);
  if (ownerUidOf(secret.metadata) !== undefined) return refused(`the Secret ${name} is published by Keyturn`);
  if (secret.immutable === true) return refused(`the Secret ${name} is immutable: name another one in spec.secretName`);
  return undefined;
}
