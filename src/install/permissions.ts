import { bind9Cluster } from "../api/bind/bind9-cluster.ts";
import { bind9Instance } from "../api/bind/bind9-instance.ts";
import { clusterBind9Provider } from "../api/bind/cluster-bind9-provider.ts";
import { providerConfig as btpConfig } from "../api/btp/provider-config.ts";
import { serviceBinding } from "../api/btp/service-binding.ts";
import { providerConfig as cloudFoundryConfig } from "../api/cloudfoundry/provider-config.ts";
import { rotatingCredentialBinding } from "../api/cloudfoundry/rotating-credential-binding.ts";
import { serviceCredentialBinding } from "../api/cloudfoundry/service-credential-binding.ts";
import type { CustomResource } from "../api/custom-resource.ts";
import { customResources } from "../api/custom-resources.ts";
import { rndcKey } from "../api/keyturn/rndc-key.ts";
import { rotatingResource } from "../api/keyturn/rotating-resource.ts";
import { rotationClass } from "../api/keyturn/rotation-class.ts";
import { cfServiceBinding } from "../api/korifi/cf-service-binding.ts";
import { cfServiceInstance } from "../api/korifi/cf-service-instance.ts";
import { KORIFI_GROUP } from "../api/korifi/names.ts";

/**
 * What each controller needs of the cluster: its kinds, and its rights as RBAC rules. The least that works: nothing here
 * may be there for convenience. Rights that every controller shares are in `sharedRules`.
 */
export interface PolicyRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

export interface ControllerNeeds {
  readonly kinds: readonly CustomResource[];
  readonly rules: readonly PolicyRule[];
  /** In the operator's own namespace, where it may look at others alone. */
  readonly atHome?: readonly PolicyRule[];
}

const READ = ["get", "list", "watch"];

const rule = (group: string, resources: readonly string[], verbs: readonly string[]): PolicyRule => ({
  apiGroups: [group],
  resources,
  verbs,
});

const SEE = ["list", "watch"];

/** A kind that is rotated: its status is written, and finalizers and annotations are set on the object itself. */
const managed = ({ group, plural }: CustomResource): readonly PolicyRule[] => [
  rule(group, [plural], [...READ, "patch"]),
  rule(group, [`${plural}/status`], ["update"]),
];

/** Where it is enforced, making something that holds up the deletion of its owner needs this. */
const owning = ({ group, plural }: CustomResource): PolicyRule => rule(group, [`${plural}/finalizers`], ["update"]);

/** Connection Secrets may be in any namespace: the kinds are cluster-scoped and name it themselves. */
const secrets = (verbs: readonly string[]): PolicyRule => rule("", ["secrets"], [...READ, ...verbs]);

/** A managed kind with its ProviderConfig, and the kinds that its references mean. */
const family = (kind: CustomResource, config: CustomResource, references: readonly PolicyRule[]): ControllerNeeds => ({
  kinds: [kind, config],
  rules: [
    ...managed(kind),
    // Held by a finalizer while something refers to it.
    rule(config.group, [config.plural], [...READ, "patch"]),
    ...references,
    // Patched are those with the credentials of a ProviderConfig, to be held by a finalizer.
    secrets(["create", "update", "patch", "delete"]),
  ],
  // That is where the credentials of ProviderConfigs usually are.
  atHome: [rule("", ["secrets"], ["get", "patch"])],
});

const btp = family(serviceBinding, btpConfig, [rule(serviceBinding.group, ["serviceinstances"], READ)]);

const cloudFoundry = family(serviceCredentialBinding, cloudFoundryConfig, [
  rule(serviceCredentialBinding.group, ["serviceinstances"], READ),
  // Not watched: looked at when a binding of an app is.
  rule(serviceCredentialBinding.group, ["apps"], ["get", "list"]),
  // Whether a parent has copied what took the place of a key that is to go.
  rule(rotatingCredentialBinding.group, [rotatingCredentialBinding.plural], ["get"]),
]);

/** Its children are made, marked and deleted; what becomes of them is up to whoever's they are. */
const cloudFoundryRotating: ControllerNeeds = {
  kinds: [rotatingCredentialBinding],
  rules: [
    ...managed(rotatingCredentialBinding),
    owning(rotatingCredentialBinding),
    rule(serviceCredentialBinding.group, [serviceCredentialBinding.plural], [...READ, "create", "patch", "delete"]),
    secrets(["create", "update", "delete"]),
  ],
};

/**
 * No right to any child, to any Secret, or to act as anybody: what RotatingResources do is done with the rights of
 * ServiceAccounts, and whom the operator may act as is granted namespace by namespace (docs/rotating-resources.md).
 */
const rotatingResources: ControllerNeeds = {
  kinds: [rotatingResource, rotationClass],
  rules: [...managed(rotatingResource), rule(rotationClass.group, [rotationClass.plural], SEE)],
};

/** What the three kinds for BIND look at, each for all of them: which key counts is said at any of these. */
const bindReads: readonly PolicyRule[] = [
  ...[clusterBind9Provider, bind9Cluster, bind9Instance].map(({ group, plural }) => rule(group, [plural], SEE)),
  rule(rndcKey.group, [rndcKey.plural], SEE),
  rule("apps", ["deployments", "statefulsets"], SEE),
  rule("", ["configmaps", "services", "secrets"], SEE),
];

/** What is made is read before it is mended; what its owner takes along need not be deleted. */
const MAKE = ["get", "create", "patch"];

/** One that makes objects: its status is written, and what it makes is made and mended. */
const bindMaker = (kind: CustomResource, made: readonly PolicyRule[]): ControllerNeeds => ({
  kinds: [kind],
  rules: [...bindReads, rule(kind.group, [`${kind.plural}/status`], ["update"]), owning(kind), ...made],
});

/** RndcKeys and the Secrets with their first keys, which go when they are wanted no more. */
const bindKeyObjects: readonly PolicyRule[] = [
  rule(rndcKey.group, [rndcKey.plural], [...MAKE, "delete"]),
  rule("", ["secrets"], [...MAKE, "delete"]),
];

/** Secrets go with their RndcKey. Workloads that mount a key with strategy Restart are found, and marked. */
const bindKeys: ControllerNeeds = {
  kinds: [rndcKey],
  rules: [
    rule(rndcKey.group, [rndcKey.plural], [...READ, "patch"]),
    rule(rndcKey.group, [`${rndcKey.plural}/status`, `${rndcKey.plural}/finalizers`], ["update"]),
    rule("", ["secrets"], [...READ, "create", "update"]),
    rule(bind9Instance.group, [bind9Instance.plural], ["list"]),
    rule("", ["pods"], SEE),
    rule("apps", ["deployments", "statefulsets", "daemonsets"], ["get", "list", "patch"]),
    rule("apps", ["replicasets"], ["get"]),
  ],
};

/** Secrets are made for instances, bindings and applications, and go with them. */
const korifiSecrets = rule("", ["secrets"], [...READ, "create", "patch"]);
const korifiStatus = ({ plural }: CustomResource): PolicyRule => rule(KORIFI_GROUP, [`${plural}/status`], ["update"]);
/** Whoever owns the Secret of an application. */
const korifiApps = rule(KORIFI_GROUP, ["cfapps"], ["get"]);

const korifiInstances: ControllerNeeds = {
  kinds: [cfServiceInstance],
  rules: [
    rule(KORIFI_GROUP, [cfServiceInstance.plural], READ),
    rule(KORIFI_GROUP, [cfServiceBinding.plural], SEE),
    korifiStatus(cfServiceInstance),
    korifiSecrets,
  ],
};

/** The Secret of a former type goes once nobody has it mounted; ServiceBindings are for a runtime that projects them. */
const korifiBindings: ControllerNeeds = {
  kinds: [cfServiceBinding],
  rules: [
    rule(KORIFI_GROUP, [cfServiceInstance.plural, cfServiceBinding.plural], READ),
    korifiStatus(cfServiceBinding),
    korifiApps,
    rule("", ["secrets"], [...READ, "create", "patch", "delete"]),
    rule("servicebinding.io", ["servicebindings"], [...READ, "create", "patch"]),
    rule("", ["pods"], ["list"]),
    rule("apps", ["deployments", "statefulsets", "daemonsets"], ["list"]),
  ],
};

const korifiAppSecrets: ControllerNeeds = {
  kinds: [],
  rules: [rule(KORIFI_GROUP, [cfServiceInstance.plural, cfServiceBinding.plural], READ), korifiApps, korifiSecrets],
};

/** Restarted by annotations on itself and on its pod template. */
const restartable = (group: string, plurals: readonly string[]): PolicyRule => rule(group, plurals, [...READ, "patch"]);

/** Reads what workloads use wherever they are; of workloads it writes annotations, and it deletes pods that stand alone. */
const restarts: ControllerNeeds = {
  kinds: [],
  rules: [
    restartable("apps", ["deployments", "statefulsets", "daemonsets", "replicasets"]),
    restartable("batch", ["cronjobs"]),
    rule("", ["pods"], [...READ, "patch", "delete"]),
    rule("", ["secrets", "configmaps"], READ),
    // Between a pod and its CronJob.
    rule("batch", ["jobs"], ["get"]),
    rule("secrets-store.csi.x-k8s.io", ["secretproviderclasspodstatuses"], ["list", "watch"]),
    // Their own caps on rollouts.
    rule("", ["namespaces"], ["list", "watch"]),
  ],
};

export const controllerNeeds: ReadonlyMap<string, ControllerNeeds> = new Map([
  ["btp", btp],
  ["cloudfoundry", cloudFoundry],
  ["cloudfoundry-rotating", cloudFoundryRotating],
  ["rotating-resource", rotatingResources],
  ["bind9-provider", bindMaker(clusterBind9Provider, [rule(bind9Cluster.group, [bind9Cluster.plural], MAKE)])],
  [
    "bind9-cluster",
    bindMaker(bind9Cluster, [
      rule(bind9Instance.group, [bind9Instance.plural], [...MAKE, "delete"]),
      ...bindKeyObjects,
    ]),
  ],
  [
    "bind9-instance",
    bindMaker(bind9Instance, [
      ...bindKeyObjects,
      // One of a kind goes when the other one has taken its place.
      rule("apps", ["deployments", "statefulsets"], [...MAKE, "delete"]),
      rule("", ["configmaps", "services"], MAKE),
      // Asked whether they accept the keys of a Secret that somebody else looks after.
      rule("", ["pods"], ["list"]),
    ]),
  ],
  ["bind9-keys", bindKeys],
  ["cf-instances", korifiInstances],
  ["cf-bindings", korifiBindings],
  ["cf-apps", korifiAppSecrets],
  ["restart", restarts],
]);

/** In the whole cluster, whatever is switched on. */
export const sharedRules: readonly PolicyRule[] = [
  rule("events.k8s.io", ["events"], ["create"]),
  // Kinds are picked up when their CRDs appear.
  rule("apiextensions.k8s.io", ["customresourcedefinitions"], READ),
  // Its UID tells this cluster from others.
  { apiGroups: [""], resources: ["namespaces"], resourceNames: ["kube-system"], verbs: ["get"] },
];

/**
 * In the operator's own namespace: the election, the keys of its fingerprints and of its audit log, and how far that has
 * come. A name cannot be asked of a create.
 */
export const ownRules = (lease: string): readonly PolicyRule[] => [
  rule("coordination.k8s.io", ["leases"], ["create"]),
  { apiGroups: ["coordination.k8s.io"], resources: ["leases"], resourceNames: [lease], verbs: ["get", "update"] },
  rule("", ["secrets"], ["create"]),
  {
    apiGroups: [""],
    resources: ["secrets"],
    resourceNames: ["keyturn-fingerprint-key", "keyturn-audit-key"],
    verbs: ["get"],
  },
  { apiGroups: [""], resources: ["secrets"], resourceNames: ["keyturn-audit-anchor"], verbs: ["get", "update"] },
];

/** Of what is in no namespace: our own kinds, those that they refer to, and the server's. */
const ofCluster: ReadonlySet<string> = new Set([
  ...customResources.filter(({ namespaced }) => !namespaced).map(({ plural, group }) => `${plural}.${group}`),
  `serviceinstances.${serviceBinding.group}`,
  `serviceinstances.${serviceCredentialBinding.group}`,
  `apps.${serviceCredentialBinding.group}`,
  "customresourcedefinitions.apiextensions.k8s.io",
  "namespaces.",
  "tokenreviews.authentication.k8s.io",
  "subjectaccessreviews.authorization.k8s.io",
]);

/** A rule is about what is in namespaces, or about what is in none, never about both. */
export const isOfCluster = ({ apiGroups: [group = ""], resources }: PolicyRule): boolean =>
  resources.every((resource) => ofCluster.has(`${resource.split("/")[0]}.${group}`));
