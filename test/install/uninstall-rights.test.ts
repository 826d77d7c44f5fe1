import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { bind9Instance } from "../../src/api/bind/bind9-instance.ts";
import { clusterBind9Provider } from "../../src/api/bind/cluster-bind9-provider.ts";
import { customResources } from "../../src/api/custom-resources.ts";
import { rotationClass } from "../../src/api/keyturn/rotation-class.ts";
import { seededRandom } from "../../src/base/random.ts";
import { controllerNeeds, type PolicyRule } from "../../src/install/permissions.ts";
import { uninstallRights } from "../../src/install/uninstall-rights.ts";
import { apiVersionOf, type KubeObject, type ResourceType } from "../../src/kube/objects.ts";
import type { Draft } from "../../src/kube/port.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { namespaceType } from "../../src/reconcile/restart/restart-sources.ts";
import { leaseType } from "../../src/runtime/lease-record.ts";
import { cloudFoundry } from "../families/cloud-foundry.ts";
import { rotatingKeys } from "../families/rotating-keys.ts";
import { certificates } from "../reconcile/foreign-kinds.ts";
import {
  bindClusters,
  familyMembers,
  rotatingResources,
  SOAK,
  serviceBindingsOf,
  servicesOf,
} from "../soak/resources.ts";
import { rotationClassOf } from "../support/rotation-permits.ts";
import { RightsGate } from "./rights-gate.ts";
import { typeOf } from "./type-of.ts";
import { OPERATOR, SHOP, SYSTEM, UninstallWorld } from "./uninstall-world.ts";

/** Of the release, as the chart has it. */
const own = (uninstallRights.own as readonly PolicyRule[]).map((rule) => ({
  ...rule,
  ...(rule.resourceNames && { resourceNames: rule.resourceNames.map((name) => name.replace("NAME", OPERATOR.name)) }),
}));

const object = (type: ResourceType, metadata: { name: string; namespace?: string }, spec: object) =>
  [type, { apiVersion: apiVersionOf(type), kind: type.kind, metadata, spec }] as const;

/** One of each kind. */
function oneOfEach(): readonly (readonly [ResourceType, Draft<KubeObject>])[] {
  const draw = { random: seededRandom(9), range: [7200, 7200] as const };
  const families = [cloudFoundry, rotatingKeys].flatMap((family) => familyMembers(family, 1, draw));
  const services = servicesOf(1, families);
  const others = [
    ...rotatingResources(1, draw.random, draw.range),
    ...bindClusters(1, draw.random, draw.range),
    ...services,
    ...serviceBindingsOf(1, services),
  ];
  const login = { namespace: SHOP, name: "login", key: "credentials" };
  return [
    ...[...families, ...others].map(({ type, manifest }) => [type, manifest] as const),
    [cloudFoundry.configType, cloudFoundry.config("main", login)],
    [rotationClass, rotationClassOf({ namespace: SOAK, children: certificates })],
    object(clusterBind9Provider, { name: "dns" }, { namespace: SHOP, primary: { replicas: 1 } }),
    object(bind9Instance, { name: "dns", namespace: SHOP }, { clusterRef: "dns", role: "primary" }),
  ];
}

/** Everything that a release can have brought, and had to do with, by Helm. */
async function release(): Promise<UninstallWorld> {
  const world = await UninstallWorld.open([...controllerNeeds.keys()]);
  const { kube } = world;
  await world.put(namespaceType, { apiVersion: "v1", kind: "Namespace", metadata: { name: SOAK } });
  await world.bind("orders");
  await world.rndc("dns");
  for (const [type, manifest] of oneOfEach()) await world.put(type, manifest);
  const labels = { "app.kubernetes.io/managed-by": "Helm" };
  for (const body of world.manifests) {
    const { name, namespace } = body.metadata;
    const ref = { name, ...(namespace !== undefined && { namespace }) };
    await kube.patch(typeOf(body), ref, { type: "merge", body: { metadata: { labels } } });
  }
  // What was made for an application of which there is no object, and what an operator has left elsewhere.
  const derived = { namespace: SHOP, name: "web-vcap-services", labels: { "keyturn.dev/derived": "true" } };
  await world.put(secretType, { apiVersion: "v1", kind: "Secret", metadata: derived });
  const lease = { apiVersion: apiVersionOf(leaseType), kind: leaseType.kind };
  await world.put(leaseType, { ...lease, metadata: { namespace: SHOP, name: OPERATOR.name }, spec: {} });
  await world.settle();
  for (const type of customResources) assert.ok((await kube.list(type)).items.length > 0, type.kind);
  return world;
}

const WAYS = [
  { title: "keys stay", words: ["--keys=keep", "--crds=keep"], also: [] },
  { title: "everything goes", words: ["--keys=delete", "--crds=delete"], also: uninstallRights.delete },
] as const;

describe("the Job that goes before a release gets by with its rights, and needs each of them", () => {
  for (const { title, words, also } of WAYS) {
    test(title, async () => {
      const world = await release();
      const gate = new RightsGate(world.kube, [
        { rules: [...uninstallRights.keep, ...also] },
        { namespace: SYSTEM, rules: own },
      ]);
      const { code, stdout, stderr } = await world.uninstall([...words, "--yes"], { kube: gate.kube });
      assert.equal(code, 0, stdout + stderr);
      assert.deepEqual(await world.held(), []);
      // Where all goes, finalizers are taken off only what somebody else's definition keeps.
      const isToLetGo = (right: string): boolean => also.length > 0 && right.startsWith("patch ");
      assert.deepEqual(
        gate.unneeded.filter((right) => !isToLetGo(right)),
        [],
      );
      await world.close();
    });
  }
});
