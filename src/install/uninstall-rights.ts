import { providerConfig as btpConfig } from "../api/btp/provider-config.ts";
import { serviceBinding } from "../api/btp/service-binding.ts";
import { providerConfig as cloudFoundryConfig } from "../api/cloudfoundry/provider-config.ts";
import { rotatingCredentialBinding } from "../api/cloudfoundry/rotating-credential-binding.ts";
import { serviceCredentialBinding } from "../api/cloudfoundry/service-credential-binding.ts";
import type { CustomResource } from "../api/custom-resource.ts";
import { customResources } from "../api/custom-resources.ts";
import { rndcKey } from "../api/keyturn/rndc-key.ts";
import { rotatingResource } from "../api/keyturn/rotating-resource.ts";
import type { PolicyRule } from "./permissions.ts";

/**
 * What `keyturn uninstall` needs where it is run by a release that goes, instead of by a person: to stop the operator, and to
 * take its finalizers off. The rest is Helm's. Must not: be granted for longer than that takes.
 */
const onKinds = (kinds: readonly CustomResource[], verbs: readonly string[]): readonly PolicyRule[] =>
  [...Map.groupBy(kinds, ({ group }) => group)].map(([group, ofGroup]) => ({
    apiGroups: [group],
    resources: ofGroup.map(({ plural }) => plural),
    verbs,
  }));

/** Those with keys, and those that keys need: the operator puts finalizers on no others. */
const held: readonly CustomResource[] = [
  ...[serviceBinding, btpConfig, serviceCredentialBinding, cloudFoundryConfig],
  ...[rotatingCredentialBinding, rotatingResource, rndcKey],
];

const definitions = {
  apiGroups: ["apiextensions.k8s.io"],
  resources: ["customresourcedefinitions"],
  resourceNames: customResources.map(({ group, plural }) => `${plural}.${group}`),
};

export const uninstallRights = {
  /** In the whole cluster, to leave keys where they are. */
  keep: [
    { ...definitions, verbs: ["get"] },
    ...onKinds(customResources, ["list"]),
    ...onKinds(held, ["patch"]),
    // A finalizer may be on any Secret that a ProviderConfig has named.
    { apiGroups: [""], resources: ["secrets"], verbs: ["list", "patch"] },
    // Whether another operator runs, which would put finalizers back.
    { apiGroups: ["apps"], resources: ["deployments"], verbs: ["list"] },
    { apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["get", "list"] },
  ],
  /** The same, to delete them, and then their definitions. */
  delete: [
    { ...definitions, verbs: ["delete"] },
    ...onKinds(customResources, ["delete"]),
    { apiGroups: [""], resources: ["secrets"], verbs: ["delete"] },
  ],
  /** In the operator's own namespace; NAME is what the release calls everything. */
  own: [
    { apiGroups: ["apps"], resources: ["deployments"], resourceNames: ["NAME"], verbs: ["patch"] },
    { apiGroups: [""], resources: ["pods"], verbs: ["list"] },
    { apiGroups: ["coordination.k8s.io"], resources: ["leases"], resourceNames: ["NAME"], verbs: ["delete"] },
  ],
} satisfies Readonly<Record<string, readonly PolicyRule[]>>;
