import assert from "node:assert/strict";
import { NotServed, TooManyRequests } from "../../src/kube/errors.ts";
import { apiVersionOf, type KubeObject, type OwnerReference, type ResourceType } from "../../src/kube/objects.ts";
import type { Kube } from "../../src/kube/port.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { installForeignKind } from "../../src/reconcile/objects.fixture.ts";
import type { AccountRecord } from "../../src/sandbox/ground/account-store.ts";
import type { StandIn } from "../families/stand-in.ts";
import { eventually } from "../support/eventually.ts";

/** What other operators leave in a cluster, as they leave it. Must not: ask the product what any of it means. */

export const CROSSPLANE_FINALIZER = "finalizer.managedresource.crossplane.io";
export const SAP_FINALIZER = "services.cloud.sap.com/sap-btp-finalizer";

export const sapBindings: ResourceType = {
  group: "services.cloud.sap.com",
  version: "v1",
  plural: "servicebindings",
  kind: "ServiceBinding",
  namespaced: true,
};

export type Texts = Readonly<Record<string, string>>;

/** What the service gave out for a key. */
export function credentialsOf(standIn: StandIn, keyId: string): Texts {
  const whole: object = standIn.sandbox.snapshot();
  const { accounts } = whole as { readonly accounts: readonly AccountRecord[] };
  const account = accounts.find(({ holders }) => holders.includes(keyId));
  return account?.credentials ?? assert.fail(`nobody has a login for ${keyId}`);
}

/** Everything that was ever made or deleted there, by the ids of what was done. */
export function doingsAt(standIn: StandIn): readonly string[] {
  const whole: object = standIn.sandbox.snapshot();
  const { operations = [], jobs = [] } = whole as {
    readonly operations?: readonly { readonly id: string; readonly type: string }[];
    readonly jobs?: readonly { readonly id: string; readonly operation: string }[];
  };
  const made = operations.filter(({ type }) => type !== "update");
  return [
    ...made.map(({ id, type }) => `${type} ${id}`),
    ...jobs.map(({ id, operation }) => `${operation} ${id}`),
  ].sort();
}

export interface SecretWishes {
  readonly namespace: string;
  readonly name: string;
  readonly owner: KubeObject;
  readonly texts: Texts;
  readonly type?: string;
  readonly annotations?: Texts;
}

/** A Secret that its maker owns. */
export async function putSecret(kube: Kube, wishes: SecretWishes): Promise<KubeObject> {
  const { namespace, name, owner, texts, type = "Opaque", annotations = {} } = wishes;
  return kube.create<KubeObject>(secretType, {
    apiVersion: "v1",
    kind: "Secret",
    type,
    metadata: { namespace, name, annotations, ownerReferences: [controllerOf(owner)] },
    data: encoded(texts),
  });
}

const encoded = (texts: Texts): Texts =>
  Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString("base64")]));

export const controllerOf = ({ apiVersion, kind, metadata }: KubeObject): OwnerReference => ({
  apiVersion,
  kind,
  name: metadata.name,
  uid: metadata.uid ?? "",
  controller: true,
  blockOwnerDeletion: true,
});

/** The kind of SAP's operator, with any fields; resolves when it is served. */
export async function installSapBindings(kube: Kube): Promise<void> {
  await installForeignKind(kube, sapBindings);
  await eventually("bindings of SAP's operator to be served", () =>
    kube.list(sapBindings).catch((error: unknown) => {
      // A real server is still setting up its storage.
      if (error instanceof NotServed || error instanceof TooManyRequests) return undefined;
      throw error;
    }),
  );
}

export interface SapWishes {
  readonly namespace: string;
  readonly name: string;
  readonly bindingId: string;
  readonly instanceId: string;
  readonly secretName: string;
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly labels?: Texts;
  readonly owner?: KubeObject;
}

/** A binding of SAP's operator that is ready. */
export function putSapBinding(kube: Kube, wishes: SapWishes): Promise<KubeObject> {
  const { namespace, name, bindingId, instanceId, secretName, spec = {}, labels = {}, owner } = wishes;
  return kube.create<KubeObject>(sapBindings, {
    apiVersion: apiVersionOf(sapBindings),
    kind: sapBindings.kind,
    metadata: {
      namespace,
      name,
      labels,
      finalizers: [SAP_FINALIZER],
      ...(owner && { ownerReferences: [controllerOf(owner)] }),
    },
    spec: { serviceInstanceName: "db", externalName: name, secretName, ...spec },
    status: { bindingID: bindingId, instanceID: instanceId, ready: "True", observedGeneration: 1 },
  });
}

/** The layout that SAP's operator gives a Secret: the credentials, what is known of the instance, and what is what. */
export function sapTexts(credentials: Texts, instance: { readonly name: string; readonly id: string }): Texts {
  const properties = (names: readonly string[], format: string) => names.map((name) => ({ name, format }));
  // As Go writes a map: by name. Those of the credentials come in any order.
  const metadata = {
    credentialProperties: properties(Object.keys(credentials).toReversed(), "text"),
    metaDataProperties: [
      ...properties(["instance_name", "instance_guid", "plan", "label", "type"], "text"),
      ...properties(["tags"], "json"),
    ],
  };
  return {
    ...credentials,
    instance_name: instance.name,
    instance_guid: instance.id,
    plan: "standard",
    label: "database",
    type: "database",
    tags: JSON.stringify(["database", "sandbox"]),
    ".metadata": JSON.stringify(metadata),
  };
}
