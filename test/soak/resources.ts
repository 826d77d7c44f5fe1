import { bind9Cluster } from "../../src/api/bind/bind9-cluster.ts";
import { rndcKey } from "../../src/api/keyturn/rndc-key.ts";
import { rotatingResource } from "../../src/api/keyturn/rotating-resource.ts";
import { cfServiceBinding } from "../../src/api/korifi/cf-service-binding.ts";
import { cfServiceInstance } from "../../src/api/korifi/cf-service-instance.ts";
import { parseDuration } from "../../src/base/duration.ts";
import type { Random } from "../../src/base/random.ts";
import { inlineSecret } from "../../src/bind/bind-objects.fixture.ts";
import { apiVersionOf, type KubeObject, type ResourceType } from "../../src/kube/objects.ts";
import type { Draft } from "../../src/kube/port.ts";
import { btp } from "../families/btp.ts";
import { cloudFoundry } from "../families/cloud-foundry.ts";
import { type Family, type KeyStatus, type Rotation, rotationIn, statusReader } from "../families/family.ts";
import { rotatingKeys } from "../families/rotating-keys.ts";
import { certificates } from "../reconcile/foreign-kinds.ts";
import { ROTATOR } from "../support/rotation-permits.ts";
import type { Subject } from "./judge.ts";
import { drawPolicy, type PolicyRange, type SoakKind } from "./population.ts";

/** Where everything is, and what it is called. */
export const SOAK = "soak";
export const INSTANCES = 20;
export const CONFIGS = 4;

export const instanceId = (index: number): string => `${SOAK}-${index % INSTANCES}`;
export const configName = (index: number): string => `${SOAK}-${index % CONFIGS}`;

/** Faults of the whole way to the API server touch everybody. */
export const API_TAG = "api";
export const systemTag = (system: string): string => `system:${system}`;
export const instanceTag = (system: string, id: string): string => `instance:${system}/${id}`;
export const resourceTag = (resource: string): string => `resource:${resource}`;

/** A resource of the soak, and what can be done to it. */
export interface Member {
  /** `Kind/name`. */
  readonly resource: string;
  readonly name: string;
  readonly type: ResourceType;
  readonly manifest: Draft<KubeObject>;
  /** When it is made, in ms from the first one: those with keys are not due together, as they would not be in a cluster. */
  readonly madeAfterMs: number;
  readonly subject: Subject;
  /** Those whose keys are at an external system. */
  readonly family?: Family;
}

/** A kind with a policy, and how its rotations are read. */
export interface TrackedKind {
  readonly type: ResourceType;
  readStatus(object: KubeObject): KeyStatus;
  readRotation(object: KubeObject): Rotation | undefined;
}

export const trackedKinds: readonly TrackedKind[] = [
  btp,
  cloudFoundry,
  rotatingKeys,
  {
    type: rotatingResource,
    readStatus: statusReader({ id: "uid", createdAt: "createdAt", retiredKeysIn: "atProvider" }),
    readRotation: rotationIn(),
  },
  {
    type: rndcKey,
    readStatus: statusReader({ id: "id", createdAt: "createdAt", retiredKeysIn: "status" }),
    readRotation: rotationIn(),
  },
];

/** Children that cannot be watched are looked at again after a second, and then after longer. */
const CHILD_MS = 4_000;
/** Servers are asked whether they know a key, after what they mount has had the time to come. */
const SERVERS_MS = 5_000;
/** What is derived from a Secret is written within a second. */
const DERIVED_MS = 1_000;
/** Job after job: of its broker, and of the parent's own child. */
const PARENT_MS = 2_000;

export function familyMembers(
  family: Family,
  count: number,
  draw: { readonly random: Random; readonly range: PolicyRange },
): readonly Member[] {
  const { kind } = family.type;
  return Array.from({ length: count }, (_, index) => {
    const name = `${SOAK}-${family.controller}-${index}`;
    const rotation = drawPolicy(draw.random, draw.range);
    const resource = `${kind}/${name}`;
    const system = family.standIn;
    const tags = [API_TAG, systemTag(system), instanceTag(system, instanceId(index)), resourceTag(resource)];
    return {
      resource,
      name,
      type: family.type,
      family,
      madeAfterMs: somewhereIn(rotation, draw.random),
      subject: { kind, tags: new Set(tags), takesMs: family.children ? PARENT_MS : 0 },
      manifest: family.manifest({
        name,
        instanceId: instanceId(index),
        config: configName(index),
        secretRef: { namespace: SOAK, name },
        rotation,
      }),
    };
  });
}

/** At a moment of its own period. */
const somewhereIn = ({ frequency }: Rotation, random: Random): number => random.next() * parseDuration(frequency);

const namespaced = (type: ResourceType, name: string, spec: object): Draft<KubeObject> => ({
  apiVersion: apiVersionOf(type),
  kind: type.kind,
  metadata: { namespace: SOAK, name },
  spec,
});

function member(type: ResourceType, name: string, spec: object, about: Partial<Subject> = {}): Member {
  const resource = `${type.kind}/${name}`;
  const tags = new Set([API_TAG, resourceTag(resource), ...(about.tags ?? [])]);
  const subject = { kind: type.kind, takesMs: about.takesMs ?? 0, tags };
  return { resource, name, type, subject, madeAfterMs: 0, manifest: namespaced(type, name, spec) };
}

export const rotatingResources = (count: number, random: Random, range: PolicyRange): readonly Member[] =>
  Array.from({ length: count }, (_, index) => {
    const name = `${SOAK}-any-${index}`;
    const spec = {
      rotationClassName: SOAK,
      serviceAccountName: ROTATOR,
      template: {
        apiVersion: apiVersionOf(certificates),
        kind: certificates.kind,
        spec: { secretName: "$(name)-tls", dnsNames: [`${name}.example.org`] },
      },
      childSecret: { name: "$(name)-tls" },
      rotation: drawPolicy(random, range),
      writeConnectionSecretToRef: { name },
    };
    return member(rotatingResource, name, spec, { takesMs: CHILD_MS });
  });

/** Clusters of one server each; their instances and keys are made for them. */
export const bindClusters = (count: number, random: Random, range: PolicyRange): readonly Member[] =>
  Array.from({ length: count }, (_, index) => {
    const name = `${SOAK}-dns-${index}`;
    const { frequency } = drawPolicy(random, range);
    const rndcKeys = { autoRotate: true, rotateAfter: frequency, overlap: "5s", secret: inlineSecret(`${name}-key`) };
    return member(bind9Cluster, name, { global: { rndcKeys }, primary: { replicas: 1 } });
  });

/** What is known of the keys of those clusters, whatever they are called. */
export const rndcKeySubject: Subject = { kind: rndcKey.kind, tags: new Set([API_TAG]), takesMs: SERVERS_MS };

/** Services whose credentials are those of a service binding, and follow it. */
export const servicesOf = (
  count: number,
  sources: readonly Member[],
): readonly (Member & { readonly source: Member })[] =>
  Array.from({ length: count }, (_, index) => {
    const source = sources[index % sources.length] as Member;
    const name = `${SOAK}-service-${index}`;
    const spec = { displayName: name, type: "user-provided", credentialsFrom: { secretName: source.name } };
    return { ...member(cfServiceInstance, name, spec, { tags: source.subject.tags }), source };
  });

/** Bindings of those services, each to an application of its own, by turns. */
export const serviceBindingsOf = (
  count: number,
  services: ReturnType<typeof servicesOf>,
): ReturnType<typeof servicesOf> =>
  Array.from({ length: count }, (_, index) => {
    const { name: service, source } = services[index % services.length] as (typeof services)[number];
    const name = `${SOAK}-bound-${index}`;
    const { apiVersion, kind } = { apiVersion: apiVersionOf(cfServiceInstance), kind: cfServiceInstance.kind };
    const spec = {
      type: "app",
      service: { apiVersion, kind, name: service },
      appRef: { name: `${SOAK}-app-${index}` },
    };
    return { ...member(cfServiceBinding, name, spec, { takesMs: DERIVED_MS, tags: source.subject.tags }), source };
  });

/** Everything that is written, kind by kind; what is made for it is not among it. */
export interface Population {
  readonly families: readonly Member[];
  readonly others: readonly Member[];
  readonly services: ReturnType<typeof servicesOf>;
  readonly bound: ReturnType<typeof servicesOf>;
  /** The Secrets that workloads use. */
  readonly used: readonly Member[];
}

export function populationOf(
  counts: Readonly<Record<SoakKind, number>>,
  random: Random,
  range: PolicyRange,
): Population {
  const draw = { random, range };
  const bindings = familyMembers(btp, counts.ServiceBinding, draw);
  const keys = familyMembers(cloudFoundry, counts.ServiceCredentialBinding, draw);
  const parents = familyMembers(rotatingKeys, counts.RotatingCredentialBinding, draw);
  const services = servicesOf(counts.CFServiceInstance, bindings);
  const useable = [...bindings, ...parents].toReversed();
  return {
    families: [...bindings, ...keys, ...parents],
    others: [
      ...rotatingResources(counts.RotatingResource, random, range),
      ...bindClusters(counts.Bind9Cluster, random, range),
    ],
    services,
    bound: serviceBindingsOf(counts.CFServiceBinding, services),
    used: Array.from({ length: counts.Deployment }, (_, index) => useable[index % useable.length] as Member),
  };
}
