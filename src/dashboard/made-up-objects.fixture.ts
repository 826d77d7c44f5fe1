import { rotatingResource } from "../api/keyturn/rotating-resource.ts";
import { apiVersionOf, type KubeObject, type ObjectMeta } from "../kube/objects.ts";
import type { ManagedKind } from "../reconcile/managed/managed-kind.ts";
import { managedKinds } from "../reconcile/managed-kinds.ts";
import { type Entry, entryOf } from "./entry.ts";

/** Resources as a watch shows them, for whoever needs no server to have them from. */
function kindNamed(name: string): ManagedKind {
  const kind = managedKinds.find(({ type }) => type.kind === name);
  if (!kind) throw new Error(`there is no kind ${name}`);
  return kind;
}

export const bindingKind = kindNamed("ServiceBinding");
const parentKind = kindNamed("RotatingResource");

export interface MadeUpBinding {
  /** When its active key was made. */
  readonly createdDate: string;
  readonly rotation?: object | undefined;
  readonly annotations?: Readonly<Record<string, string>>;
  /** Beside the active key. */
  readonly status?: object;
}

/** A service binding that an operator has given a key. */
export const madeUpBinding = (name: string, options: MadeUpBinding): KubeObject => ({
  apiVersion: apiVersionOf(bindingKind.type),
  kind: bindingKind.type.kind,
  metadata: {
    name,
    uid: name,
    annotations: { "crossplane.io/external-name": name, ...options.annotations },
    finalizers: ["keyturn.dev/keys"],
  },
  spec: {
    forProvider: { name },
    ...(options.rotation && { rotation: options.rotation }),
    writeConnectionSecretToRef: { namespace: "shop", name },
  },
  status: {
    atProvider: { id: name, name, createdDate: options.createdDate, sequence: 1, madeFrom: "m" },
    sequence: 1,
    ...options.status,
  },
});

/** One that is in a namespace, of which nobody has seen anything yet. */
export function parentEntry(namespace: string, name: string): Entry {
  const metadata: ObjectMeta = { namespace, name, uid: name };
  const object = { apiVersion: apiVersionOf(rotatingResource), kind: rotatingResource.kind, metadata, spec: {} };
  return entryOf(parentKind, object, 0);
}
