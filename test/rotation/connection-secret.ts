import type { KubeObject } from "../../src/kube/objects.ts";
import { allFamilies } from "../families/families.ts";

/** What a workload finds in a connection Secret, and what the Secret says of it. */
export interface ConnectionSecret {
  readonly keyId: string | undefined;
  readonly sequence: number;
  /** Undefined where the credentials are not whole. */
  readonly credentials: Readonly<Record<string, unknown>> | undefined;
}

/** What the service behind the sandbox's brokers gives out. */
const WHOLE = ["username", "password", "hostname", "port", "uri"];

export function readConnectionSecret(secret: KubeObject): ConnectionSecret {
  const { annotations = {} } = secret.metadata;
  const values = Object.entries((secret.data ?? {}) as Readonly<Record<string, string>>).map(
    ([key, value]) => [key, Buffer.from(value, "base64").toString()] as const,
  );
  const flat = Object.fromEntries(values);
  const candidates = [flat, ...values.map(([, value]) => asObject(value))];
  return {
    keyId: annotations["keyturn.dev/key-id"],
    sequence: Number(annotations["keyturn.dev/sequence"] ?? 0),
    credentials: candidates.find((candidate) => WHOLE.every((key) => typeof candidate?.[key] === "string")),
  };
}

const KINDS = new Set(allFamilies.map(({ type }) => type.kind));

/** The binding that a Secret belongs to; undefined for all other Secrets. */
export const bindingOf = ({ metadata }: KubeObject): string | undefined =>
  metadata.ownerReferences?.find(({ kind }) => KINDS.has(kind))?.name;

function asObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
