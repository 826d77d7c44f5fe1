import type { KubeObject, ResourceType } from "../../kube/objects.ts";
import { fieldsOf, itemsOf, textOf } from "../../reconcile/managed/read-fields.ts";
import { foreignDefinition } from "../foreign-kind.ts";
import { CANARY, SECRET } from "../scene.ts";
import type { Children } from "./family.ts";

/** cert-manager's Certificate, as far as anybody here asks for it: a kind that is not ours. */
export const certificates: ResourceType = {
  group: "cert-manager.io",
  version: "v1",
  plural: "certificates",
  kind: "Certificate",
  namespaced: true,
};

/** What its controller does it does with rights of its own. */
export const ISSUING_USER = "system:serviceaccount:cert-manager:cert-manager";

/** Asks for another certificate in the same Secret. */
export const ISSUE_AGAIN = "cert-manager.io/issue-again";

/** The name of the Secret of the child of this name. */
export const secretNameOf = (name: string): string => `${name}-tls`;

/** What is in the Secret of a certificate: whose it is, and which one of those that were issued for it. */
export interface Issued {
  readonly uid: string;
  readonly serial: number;
}

const PARTS = ["tls.crt", "tls.key"] as const;

export const tlsKeys: readonly string[] = PARTS;

export const dataOf = ({ uid, serial }: Issued): Readonly<Record<string, string>> =>
  Object.fromEntries(PARTS.map((part) => [part, Buffer.from(`${CANARY} ${uid} ${serial} ${part}`).toString("base64")]));

/** Undefined where one half is missing, or is not the other's. */
export function issuedIn(values: Readonly<Record<string, unknown>>): Issued | undefined {
  const halves = PARTS.map((part) => String(values[part] ?? "").split(" "));
  const [, uid = "", serial = ""] = halves[0] ?? [];
  const isWhole = halves.every(([canary, ...rest], index) => {
    const [own, count, part] = rest;
    return canary === CANARY && own === uid && count === serial && part === PARTS[index];
  });
  return isWhole ? { uid, serial: Number(serial) } : undefined;
}

/** The same of a Secret as it is stored. */
export function issuedInSecret(secret: KubeObject): Issued | undefined {
  const entries = Object.entries(fieldsOf(secret.data));
  return issuedIn(
    Object.fromEntries(entries.map(([key, value]) => [key, Buffer.from(String(value), "base64").toString()])),
  );
}

/** Whose Secret it is, whatever somebody has written into it. */
export const ISSUED_FOR = "cert-manager.io/certificate-uid";

export const certificateChildren: Children = {
  type: certificates,
  definition: foreignDefinition(certificates),
  secretOf: (name) => `${SECRET.namespace}/${secretNameOf(name)}`,
  isWell: ({ status, metadata }, secret) => {
    const ready = itemsOf(fieldsOf(status).conditions).find(({ type }) => type === "Ready");
    const isCurrent = ready?.status === "True" && ready.observedGeneration === metadata.generation;
    return isCurrent && metadata.deletionTimestamp === undefined && secret !== undefined;
  },
  specOf: (name, instanceId) => ({ secretName: secretNameOf(name), issuerRef: { name: instanceId } }),
  pointingTo: (instanceId) => ({ issuerRef: { name: instanceId } }),
  forceAnnotation: ISSUE_AGAIN,
  madeFor: ({ metadata }) => metadata.annotations?.[ISSUED_FOR],
};

export const issuerOf = ({ spec }: KubeObject): string => textOf(fieldsOf(fieldsOf(spec).issuerRef).name) ?? "";
