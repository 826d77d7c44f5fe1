import { KeyturnError, never } from "../base/errors.ts";
import { isSecretKey } from "../base/secret-keys.ts";

/**
 * How credentials become the data of a Secret. Pure. Must not: hold back or change a value; what the service gave out is
 * what workloads get. Errors name keys, never values.
 */
export type SecretLayout =
  /** A key of the Secret for each top-level key, and the whole object as JSON under `credentials`. */
  | { readonly kind: "flat" }
  /**
   * A key of the Secret for each value, however deep: the names on the way to it, joined by `_`, and positions in lists. As
   * the Cloud Foundry provider of Crossplane does it.
   */
  | { readonly kind: "recursive" }
  /** A key of the Secret for each top-level key, and nothing else. */
  | { readonly kind: "fields" }
  /** The whole object as JSON under one key. */
  | { readonly kind: "bundle"; readonly key: string }
  /** The credentials are a Secret, and stay what they are. */
  | { readonly kind: "copy" }
  /** As SAP's libraries for Kubernetes read it: the credentials, what is known of the instance, and `.metadata`. */
  | { readonly kind: "sap-kubernetes"; readonly key?: string; readonly instance: InstanceDescription };

interface InstanceDescription {
  readonly name: string;
  readonly id: string;
  readonly offering: string;
  readonly plan: string;
  readonly tags: readonly string[];
}

const WHOLE = "credentials";
/** What a Secret may hold in all. */
const MAX_BYTES = 1024 * 1024;

/** The credentials cannot be published as they are. The Secret stays what it was. */
export class UnpublishableCredentials extends KeyturnError {
  constructor(message: string) {
    super("UnpublishableCredentials", message, { retry: never });
  }
}

export function connectionData(
  credentials: Readonly<Record<string, unknown>>,
  layout: Exclude<SecretLayout, { kind: "copy" }>,
): Readonly<Record<string, string>> {
  if (Object.keys(credentials).length === 0) throw new UnpublishableCredentials("the credentials are empty");
  const data = dataFor(credentials, layout);
  for (const key of Object.keys(data)) {
    if (!isSecretKey(key)) {
      throw new UnpublishableCredentials(
        `${shown(key)} cannot be a key of a Secret: ${remedyFor(layout)}, so that all credentials go under one key`,
      );
    }
  }
  const bytes = Object.entries(data).reduce((sum, [key, value]) => sum + key.length + Buffer.byteLength(value), 0);
  if (bytes > MAX_BYTES)
    throw new UnpublishableCredentials(`the credentials have ${bytes} bytes, a Secret holds ${MAX_BYTES}`);
  return data;
}

const shown = (key: string): string => JSON.stringify(key.slice(0, 80));

const remedyFor = ({ kind }: SecretLayout): string =>
  kind === "recursive" ? "set spec.connectionDetailsAsJSON" : "set spec.secretKey";

function dataFor(
  credentials: Readonly<Record<string, unknown>>,
  layout: Exclude<SecretLayout, { kind: "copy" }>,
): Readonly<Record<string, string>> {
  if (layout.kind === "bundle") return { [layout.key]: JSON.stringify(credentials) };
  if (layout.kind === "sap-kubernetes") return withDescription(credentials, layout);
  if (layout.kind === "recursive") return flattenDeep(credentials);
  const flat = flatten(credentials);
  if (layout.kind === "fields") return flat;
  return WHOLE in flat ? flat : { ...flat, [WHOLE]: JSON.stringify(credentials) };
}

const flatten = (credentials: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(credentials).map(([key, value]) => [key, text(value)]));

const text = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

/** Two values that would get the same key are a mistake that somebody has to know of: neither may hide the other. */
function flattenDeep(credentials: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  const found = new Map<string, { readonly path: string; readonly value: string }>();
  for (const { path, value } of leaves(credentials, [])) {
    const [key, dotted] = [path.join("_"), path.join(".")];
    const other = found.get(key);
    if (other) {
      throw new UnpublishableCredentials(
        `${shown(other.path)} and ${shown(dotted)} of the credentials would both be ${shown(key)} in the Secret: set spec.connectionDetailsAsJSON, so that all credentials go under one key`,
      );
    }
    found.set(key, { path: dotted, value });
  }
  return Object.fromEntries(Array.from(found, ([key, { value }]) => [key, value]));
}

interface Leaf {
  readonly path: readonly string[];
  readonly value: string;
}

function leaves(value: unknown, path: readonly string[]): readonly Leaf[] {
  if (value === null) return [{ path, value: "" }];
  const entries = typeof value === "object" ? Object.entries(value as object) : [];
  if (entries.length === 0) return [{ path, value: text(value) }];
  return entries.flatMap(([name, item]) => leaves(item, [...path, name]));
}

/** What the layout adds to the credentials. */
const META_DATA: readonly Property[] = [
  { name: "instance_name", format: "text" },
  { name: "instance_guid", format: "text" },
  { name: "plan", format: "text" },
  { name: "label", format: "text" },
  { name: "type", format: "text" },
  { name: "tags", format: "json" },
];

interface Property {
  readonly name: string;
  readonly format: "text" | "json";
  readonly container?: true;
}

function withDescription(
  credentials: Readonly<Record<string, unknown>>,
  { key, instance }: Extract<SecretLayout, { kind: "sap-kubernetes" }>,
): Readonly<Record<string, string>> {
  const own = key === undefined ? flatten(credentials) : { [key]: JSON.stringify(credentials) };
  const credentialProperties: Property[] =
    key === undefined
      ? Object.entries(credentials)
          .map(([name, value]): Property => ({ name, format: typeof value === "string" ? "text" : "json" }))
          .sort((a, b) => (a.name < b.name ? -1 : 1))
      : [{ name: key, format: "json", container: true }];
  refuseHidden(Object.keys(own), key);
  return {
    ...own,
    instance_name: instance.name,
    instance_guid: instance.id,
    plan: instance.plan,
    label: instance.offering,
    type: instance.offering,
    tags: JSON.stringify(instance.tags),
    ".metadata": JSON.stringify({ metaDataProperties: META_DATA, credentialProperties }),
  };
}

/** A value of the service's own that the layout would write over is a mistake that somebody has to know of. */
function refuseHidden(own: readonly string[], key: string | undefined): void {
  const taken = new Set([...META_DATA.map(({ name }) => name), ".metadata"]);
  const hidden = own.filter((name) => taken.has(name)).sort();
  if (hidden.length === 0) return;
  const remedy =
    key === undefined
      ? "set spec.secretKey, so that all credentials go under one key"
      : "choose another name in spec.secretKey";
  throw new UnpublishableCredentials(
    `the format sap-kubernetes has a key ${hidden.map(shown).join(" and ")} of its own, and so have the credentials: ${remedy}`,
  );
}
