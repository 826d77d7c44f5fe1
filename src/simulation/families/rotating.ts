import { serviceCredentialBinding } from "../../api/cloudfoundry/service-credential-binding.ts";
import { type KubeObject, keyOf } from "../../kube/objects.ts";
import { createCloudFoundryFamily } from "../../reconcile/cloudfoundry/cloud-foundry-family.ts";
import { createRotatingCredentialBindingFamily } from "../../reconcile/cloudfoundry/rotating-credential-binding-family.ts";
import { fieldsOf, itemsOf } from "../../reconcile/managed/read-fields.ts";
import { childWatch } from "../../reconcile/parents/parent-watches.ts";
import { EXTERNAL_NAME, SECRET } from "../scene.ts";
import { keyIdIn } from "../truth.ts";
import type { WatchView } from "../watch-view.ts";
import { cloudFoundry, INSTANCE } from "./cloud-foundry.ts";
import { type Children, type Family, type OpenParents, wishing } from "./family.ts";

/** RotatingCredentialBindings, whose keys are ServiceCredentialBindings, whose keys are at Cloud Foundry. */
export const rotating: Family = {
  ...cloudFoundry,
  name: "rotating",
  parents: {
    kind: createRotatingCredentialBindingFamily().kind,
    children: serviceCredentialBindings(),
    open: ({ watch }) => openWatched(watch),
  },
  // What is special to Cloud Foundry is the business of the children alone.
  climates: cloudFoundry.climates.filter(({ name }) => name === "calm" || name === "asynchronous"),
  specOf: wishing(INSTANCE, "spec"),
};

function serviceCredentialBindings(): Children {
  const { kind } = createCloudFoundryFamily();
  return {
    type: serviceCredentialBinding,
    secretOf: (name) => keyOf({ ...SECRET, name }),
    createdAt: (child) => kind.readState(child).active?.createdAt,
    silentKeyOf: (child) =>
      fieldsOf(child.spec).writeConnectionSecretToRef ? undefined : kind.readState(child).active?.id,
    isWell,
    specOf: (name, instanceId) => ({
      forProvider: { type: "key", name, [INSTANCE]: instanceId },
      writeConnectionSecretToRef: { ...SECRET, name },
    }),
    pointingTo: (instanceId) => ({ forProvider: { [INSTANCE]: instanceId } }),
    forceAnnotation: kind.forceAnnotation,
  };
}

function isWell({ status, metadata }: KubeObject, secret: KubeObject | undefined): boolean {
  const conditions = itemsOf(fieldsOf(status).conditions);
  const isTrue = (type: string): boolean => conditions.some((one) => one.type === type && one.status === "True");
  const isSame = secret !== undefined && keyIdIn(secret) === metadata.annotations?.[EXTERNAL_NAME];
  return isTrue("Ready") && isTrue("Synced") && metadata.deletionTimestamp === undefined && isSame;
}

/** Their children and those children's Secrets are watched. */
function openWatched(watch: WatchView): OpenParents {
  const family = createRotatingCredentialBindingFamily();
  const { kind, children } = family;
  const { record } = childWatch(kind, children).source;
  const secretVersion = (child: KubeObject): string | undefined => {
    const address = children.secretOf(child);
    return address && watch.publishedVersion(address);
  };
  const inputs = (key: string): string =>
    watch
      .list(children.type)
      .filter((child) => record(child)?.parents.includes(key))
      .map((child) => `${child.metadata.uid} ${child.metadata.resourceVersion} ${secretVersion(child) ?? ""}`)
      .sort()
      .join();
  return {
    family,
    known: watch.knownOf(kind.type, inputs),
    secretVersion: (ref) => {
      const child = watch.find(children.type, keyOf(ref));
      return child && secretVersion(child);
    },
    options: { hearsOutside: true },
  };
}
