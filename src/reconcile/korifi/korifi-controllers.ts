import { cfServiceBinding } from "../../api/korifi/cf-service-binding.ts";
import { cfServiceInstance } from "../../api/korifi/cf-service-instance.ts";
import { isRefused, readBinding, readInstance } from "../../korifi/read-objects.ts";
import { type KubeObject, keyOf, type ResourceType } from "../../kube/objects.ts";
import type { Delta } from "../../kube/resource-cache.ts";
import { EventRecorder } from "../../report/event-recorder.ts";
import type { Controller } from "../../runtime/controller.ts";
import type { Reconcile } from "../../runtime/workers.ts";
import { recordsOf } from "../managed/managed-watches.ts";
import { createObjectReconcile, type Looker } from "../objects/object-reconcile.ts";
import { ObjectStatus } from "../objects/object-status.ts";
import { OwnedObjects } from "../objects/owned-objects.ts";
import { createAppReconcile } from "./app-reconcile.ts";
import { BindingLook } from "./binding-look.ts";
import { InstanceLook } from "./instance-look.ts";
import type { KorifiCaches } from "./korifi-caches.ts";
import { createKorifiController, type KorifiParts, type KorifiSettings } from "./korifi-controller.ts";
import { FIELD_MANAGER, type SecretRecord, type ServiceRecord, serviceBindingType } from "./korifi-sources.ts";
import { MountUsers } from "./mount-users.ts";
import { bindingKeysOf, Projections } from "./projections.ts";

interface KorifiControllerFactory {
  /** The name it is switched on with. */
  readonly name: string;
  create(settings: KorifiSettings): Controller;
}

/** What makes the Secrets of service instances, of bindings, and of applications. */
export const korifiControllers: readonly KorifiControllerFactory[] = [
  { name: "cf-instances", create: createInstancesController },
  { name: "cf-bindings", create: createBindingsController },
  { name: "cf-apps", create: createAppsController },
];

function createInstancesController(settings: KorifiSettings): Controller {
  const name = "cf-instances";
  return createKorifiController({
    name,
    settings,
    concerns: {
      instances: ({ key }) => [key],
      bindings: () => [],
      secrets: ({ key }, caches) => caches.instancesNear(key),
    },
    createReconcile: (parts) =>
      objectReconcile(parts, {
        name,
        settings,
        type: cfServiceInstance,
        looker: new InstanceLook(parts),
        find: (key) => parts.caches.instance(key),
      }),
  });
}

function createBindingsController(settings: KorifiSettings): Controller {
  const name = "cf-bindings";
  return createKorifiController({
    name,
    settings,
    concerns: {
      bindings: ({ key }) => [key],
      instances: (delta, caches) => (isOtherInstance(delta) ? keysOf(caches.bindingsOf(delta.key)) : []),
      secrets: (delta, caches, isEcho) => {
        const owners = ownersIn(delta);
        const followers = keysOf(caches.bindingsMadeFrom(delta.key));
        // Whoever has written the Secret of a binding knows what is in it.
        return isEcho && owners.length > 0 ? followers : [...owners, ...caches.bindingsNear(delta.key), ...followers];
      },
      projections: (delta, caches) => {
        const all = recordsOf(delta).flatMap((object) => [object, ...caches.projectionsBeside(object)]);
        return all.flatMap(bindingKeysOf);
      },
    },
    createReconcile: (parts) => {
      const { kube, caches } = parts;
      const objects = new OwnedObjects({ kube, caches, types: [serviceBindingType], fieldManager: FIELD_MANAGER });
      const looker = new BindingLook({
        ...parts,
        projections: new Projections({ ...parts, objects }),
        users: new MountUsers(kube),
      });
      parts.apps.troubles.listen((appKey) => keysOf(caches.bindingsOfApp(appKey)).forEach(parts.enqueue));
      const find = (key: string): KubeObject | undefined => caches.binding(key);
      return objectReconcile(parts, { name, settings, type: cfServiceBinding, looker, find });
    },
  });
}

function createAppsController(settings: KorifiSettings): Controller {
  return createKorifiController({
    name: "cf-apps",
    settings,
    concerns: {
      bindings: appsIn,
      instances: (delta, caches) => (isOtherInstance(delta) ? appsOf(caches.bindingsOf(delta.key)) : []),
      secrets: (delta, caches, isEcho) => [
        ...(isEcho ? [] : recordsOf(delta).flatMap(({ app }) => (app === undefined ? [] : [withinOf(delta.key, app)]))),
        ...appsOf(caches.bindingsMadeFrom(delta.key)),
      ],
    },
    createReconcile: createAppReconcile,
  });
}

interface ObjectKind {
  readonly name: string;
  readonly settings: KorifiSettings;
  readonly type: ResourceType;
  readonly looker: Looker;
  readonly find: (key: string) => KubeObject | undefined;
}

function objectReconcile({ kube, clock, logger, caches }: KorifiParts, kind: ObjectKind): Reconcile {
  const { name, settings, type, looker, find } = kind;
  const reporter = { controller: name, instance: settings.instance };
  const events = new EventRecorder({ kube, clock, logger, reporter });
  const noteWrite = (object: KubeObject): void => caches.noteWrite(object);
  const status = new ObjectStatus({ type, kube, clock, events, noteWrite, fieldManager: FIELD_MANAGER });
  return createObjectReconcile({ clock, isCurrent: (object) => caches.isCurrent(object), status, find, looker });
}

type Bindings = ReturnType<KorifiCaches["bindingsOf"]>;

const keysOf = (bindings: Bindings): readonly string[] => bindings.map(({ object }) => keyOf(object.metadata));

const appsOf = (bindings: Bindings): readonly string[] =>
  bindings.flatMap(({ object, said }) =>
    said.appName === undefined ? [] : [keyOf({ namespace: object.metadata.namespace ?? "", name: said.appName })],
  );

const appsIn = (delta: Delta<ServiceRecord>): readonly string[] =>
  recordsOf(delta).flatMap(({ object }) => {
    const said = readBinding(object);
    return isRefused(said) ? [] : appsOf([{ object, said }]);
  });

/** Whether something is made from what has changed: which version its source had is not. */
function isOtherInstance(delta: Delta<ServiceRecord>): boolean {
  const facts = ({ object }: ServiceRecord): string => JSON.stringify({ ...readInstance(object), observedVersion: "" });
  return delta.type !== "updated" || facts(delta.old.record) !== facts(delta.entry.record);
}

const ownersIn = (delta: Delta<SecretRecord>): readonly string[] =>
  recordsOf(delta).flatMap(({ bindings }) => bindings.map((name) => withinOf(delta.key, name)));

/** Of the namespace of the key. */
const withinOf = (key: string, name: string): string => keyOf({ namespace: key.slice(0, key.indexOf("/")), name });
