import { isNamespaceName, isObjectName } from "../../base/object-names.ts";
import type { KubeObject } from "../../kube/objects.ts";
import type { DepartureSpec, LayoutSpec, ManagedSpec } from "./managed-kind.ts";
import { type Fields, fieldsOf, textOf } from "./read-fields.ts";
import { type PolicyLimits, rotationPolicy } from "./rotation-policy.ts";
import { rotationWindows } from "./rotation-windows.ts";
import { SpecProblem } from "./spec-problem.ts";

/** Readers for the fields that every managed resource of the Crossplane providers shares, see `api/crossplane.ts`. */
export interface KindLimits extends PolicyLimits {
  readonly settleMs: number;
}

const SECRET_FIELD = "spec.writeConnectionSecretToRef";

/** Brokers that take longer than this to answer a create have given up on it. */
export const SETTLE_MS = 300_000;

export interface OwnFields {
  readonly baseName: string;
  readonly rotation: Fields | undefined;
  /** Where the `rotation` block is, for messages. */
  readonly rotationField: string;
  readonly layout: LayoutSpec;
  readonly limits: Partial<PolicyLimits>;
}

/** A whole spec: what is common to all, and what the kind itself has found. Throws `SpecProblem`. */
export function managedSpec(object: KubeObject, own: OwnFields): ManagedSpec {
  const { baseName, rotation, rotationField: field, layout, limits } = own;
  const address = secretAddress(object);
  const secret = address && { ...address, layout };
  const { annotations } = object.metadata;
  const publishes = secret !== undefined;
  const { policy, warnings, revokeField } = rotationPolicy(rotation, { field, publishes, limits, annotations });
  const windows = rotationWindows(rotation, field);
  const departure = readDeparture(object);
  const { may } = departure;
  refuseOtherConfig(object, departure.providerConfig);
  return {
    ...departure,
    baseName,
    policy,
    windows,
    secret,
    revokeField,
    warnings: [
      ...warnings,
      ...(secret ? [] : [NOTHING_IS_PUBLISHED]),
      ...(rotation && may.create && !may.delete ? [NOTHING_IS_DELETED] : []),
    ],
  };
}

const NOTHING_IS_DELETED = "each rotation leaves a key behind for good: spec.managementPolicies does not allow Delete";

const NOTHING_IS_PUBLISHED = `the key is published nowhere: ${SECRET_FIELD} names no Secret`;

/** What no Secret can be called would otherwise be found out only once there is a key to publish. */
function secretAddress(object: KubeObject): { readonly namespace: string; readonly name: string } | undefined {
  const target = fieldsOf(fieldsOf(object.spec).writeConnectionSecretToRef);
  const [namespace, name] = [textOf(target.namespace), textOf(target.name)];
  if (namespace === undefined || name === undefined) return undefined;
  if (!isNamespaceName(namespace)) {
    const message = `${JSON.stringify(namespace)} cannot be a namespace: lower-case letters, digits and dashes, at most 63`;
    throw new SpecProblem(`${SECRET_FIELD}.namespace`, message);
  }
  if (!isObjectName(name)) {
    const message = `${JSON.stringify(name)} cannot be the name of a Secret: lower-case letters, digits, dashes and dots, at most 253`;
    throw new SpecProblem(`${SECRET_FIELD}.name`, message);
  }
  return { namespace, name };
}

const CONFIG_FIELD = "spec.providerConfigRef.name";

/** Throws `SpecProblem` where another ProviderConfig is named than the one that the keys were made with. */
function refuseOtherConfig(object: KubeObject, kept: string): void {
  const named = namedConfig(object);
  if (named === kept) return;
  const message = `its keys were made with ProviderConfig ${kept}, and are to be deleted with it: name that one again, and make another resource for ${named}`;
  throw new SpecProblem(CONFIG_FIELD, message);
}

const namedConfig = ({ spec }: KubeObject): string =>
  textOf(fieldsOf(fieldsOf(spec).providerConfigRef).name) ?? "default";

/**
 * The ProviderConfig is the one that the keys were made with, where the status says so. Another external system knows
 * nothing of them: there they would count as deleted by somebody, and where they are they would live on with nobody to
 * delete them.
 */
export function readDeparture(object: KubeObject): DepartureSpec {
  const spec = fieldsOf(object.spec);
  const policies = Array.isArray(spec.managementPolicies) ? spec.managementPolicies : ["*"];
  const allows = (action: string): boolean => policies.includes("*") || policies.includes(action);
  return {
    providerConfig: textOf(fieldsOf(object.status).providerConfig) ?? namedConfig(object),
    deletionPolicy: spec.deletionPolicy === "Orphan" ? "orphan" : "delete",
    may: { create: allows("Create"), delete: allows("Delete") },
  };
}
