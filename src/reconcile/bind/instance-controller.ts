import { bind9Instance } from "../../api/bind/bind9-instance.ts";
import { fieldAt } from "../../bind/fields.ts";
import { type KubeObject, keyOf } from "../../kube/objects.ts";
import type { Delta } from "../../kube/resource-cache.ts";
import type { Controller } from "../../runtime/controller.ts";
import { recordsOf } from "../managed/managed-watches.ts";
import type { BindCaches } from "./bind-caches.ts";
import { type BindSettings, createBindController, isOther, namespaceOf, ownersIn } from "./bind-controller.ts";
import type { WorkloadRef } from "./bind-sources.ts";
import { InstanceLook } from "./instance-reconcile.ts";
import { InstanceRing } from "./instance-ring.ts";
import { InstanceRingGate } from "./instance-ring-gate.ts";
import { SecretUses } from "./secret-uses.ts";

export function createInstanceController(settings: BindSettings): Controller {
  const uses = new SecretUses();
  return createBindController({
    name: "bind9-instance",
    type: bind9Instance,
    settings,
    find: (caches, key) => caches.instance(key),
    concerns: {
      instances: ({ key }) => [key],
      clusters: (delta, caches) => (isOther(delta) ? instancesOf(delta.key, caches) : []),
      providers: (delta, caches) =>
        isOther(delta)
          ? recordsOf(delta).flatMap((provider) =>
              caches.clustersOf(provider).flatMap(({ metadata }) => instancesOf(keyOf(metadata), caches)),
            )
          : [],
      rndcKeys: (delta) => [...new Set([...usersIn(delta), ...ownersOf(delta)])],
      configMaps: ownersOf,
      services: ownersOf,
      deployments: ({ key }, caches) => usersOf({ kind: "Deployment", key }, caches),
      statefulSets: ({ key }, caches) => usersOf({ kind: "StatefulSet", key }, caches),
      secrets: ({ key }) => uses.usersOf(key),
    },
    createLooker: ({ kube, clock, random, caches, objects }) => {
      const gate = new InstanceRingGate({ kube, clock, random, send: settings.send });
      const ring = new InstanceRing({ kube, clock, caches, objects, gate });
      return new InstanceLook({ kube, caches, objects, ring, uses, limits: settings });
    },
  });
}

const instancesOf = (clusterKey: string, caches: BindCaches): readonly string[] =>
  caches.instancesOf(clusterKey).map(({ metadata }) => keyOf(metadata));

/** The instance of its name, and those that use it instead of one of their own. */
const usersOf = (ref: WorkloadRef, caches: BindCaches): readonly string[] => [
  ref.key,
  ...caches.instancesUsing(ref).map(({ metadata }) => keyOf(metadata)),
];

const ownersOf = (delta: Delta<KubeObject>): readonly string[] =>
  ownersIn(delta, "Bind9Instance").map((name) => keyOf({ namespace: namespaceOf(delta.key), name }));

/** The instances that a key is for, or was. */
const usersIn = (delta: Delta<KubeObject>): readonly string[] =>
  recordsOf(delta).flatMap((rndcKey) => {
    const names = fieldAt(rndcKey, ["spec", "instances"]);
    return Array.isArray(names)
      ? names.map((name) => keyOf({ namespace: namespaceOf(delta.key), name: String(name) }))
      : [];
  });
