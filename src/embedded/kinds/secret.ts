import type { KubeObject } from "../../kube/objects.ts";
import { jsonEquals } from "../json.ts";
import type { ResourceDefinition } from "../registry.ts";
import { forbidden, invalidValue, required, tooLong } from "../schema/field-errors.ts";
import type { FieldError } from "../status-error.ts";
import { ageColumn, column, nameColumn } from "./columns.ts";
import { defineKind } from "./define-kind.ts";
import { asObject, asText, asTextMap } from "./json-fields.ts";
import { FIELD_IS_IMMUTABLE } from "./metadata-validation.ts";
import { configKey } from "./names.ts";

/** Secrets. No error quotes a value: keys and types only. */
const MAX_DATA_BYTES = 1024 * 1024;
const REDACTED = "<secret contents redacted>";

/** Every one of `all` must be there, or at least one of `any`. */
const REQUIRED_KEYS: Readonly<Record<string, { readonly all?: readonly string[]; readonly any?: readonly string[] }>> =
  {
    "kubernetes.io/dockercfg": { all: [".dockercfg"] },
    "kubernetes.io/dockerconfigjson": { all: [".dockerconfigjson"] },
    "kubernetes.io/basic-auth": { any: ["username", "password"] },
    "kubernetes.io/ssh-auth": { all: ["ssh-privatekey"] },
    "kubernetes.io/tls": { all: ["tls.crt", "tls.key"] },
  };

export const secretDefinition = (): ResourceDefinition =>
  defineKind({
    plural: "secrets",
    kind: "Secret",
    selectableFields: ["type"],
    columns: [
      nameColumn,
      column("Type", (secret) => secret.type),
      column("Data", (secret) => Object.keys(asObject(secret.data)).length),
      ageColumn,
    ],
    applyDefaults: defaultSecret,
    validateCreate: validateSecret,
    validateUpdate: (secret, old) => [...immutableErrors(secret, old), ...validateSecret(secret)],
  });

/** `stringData` is write-only: it is folded into `data` and never stored. */
function defaultSecret(secret: KubeObject): KubeObject {
  const { stringData, ...rest } = secret;
  const texts = Object.entries(asTextMap(stringData));
  const type = asText(secret.type) || "Opaque";
  if (texts.length === 0) return { ...rest, type } as KubeObject;
  const encoded = texts.map(([key, text]): [string, string] => [key, Buffer.from(text).toString("base64")]);
  return { ...rest, data: { ...asObject(secret.data), ...Object.fromEntries(encoded) }, type } as KubeObject;
}

function immutableErrors(secret: KubeObject, old: KubeObject): FieldError[] {
  const errors: FieldError[] = [];
  if (secret.type !== old.type) errors.push(invalidValue("type", secret.type, FIELD_IS_IMMUTABLE));
  if (old.immutable !== true) return errors;
  const detail = "field is immutable when `immutable` is set";
  if (secret.immutable !== true) errors.push(forbidden("immutable", detail));
  if (!jsonEquals(asObject(secret.data), asObject(old.data))) errors.push(forbidden("data", detail));
  return errors;
}

function validateSecret(secret: KubeObject): FieldError[] {
  const data = asTextMap(secret.data);
  const errors = Object.keys(data).flatMap((key) =>
    configKey(key).map((reason) => invalidValue(`data[${key}]`, key, reason)),
  );
  const size = Object.values(data).reduce((sum, value) => sum + Buffer.byteLength(value, "base64"), 0);
  if (size > MAX_DATA_BYTES) errors.push(tooLong("data", MAX_DATA_BYTES));
  return [...errors, ...typeErrors(secret, data)];
}

function typeErrors(secret: KubeObject, data: Readonly<Record<string, string>>): FieldError[] {
  const type = asText(secret.type);
  if (type === "kubernetes.io/service-account-token") {
    const annotation = "kubernetes.io/service-account.name";
    const isNamed = (secret.metadata.annotations?.[annotation] ?? "") !== "";
    return isNamed ? [] : [required(`metadata.annotations[${annotation}]`)];
  }
  const { all = [], any = [] } = REQUIRED_KEYS[type] ?? {};
  const missing = all.filter((key) => data[key] === undefined);
  if (any.length > 0 && any.every((key) => data[key] === undefined)) missing.push(...any);
  if (missing.length > 0) return missing.map((key) => required(`data[${key}]`));
  const [jsonKey] = type.startsWith("kubernetes.io/dockerc") ? all : [];
  if (jsonKey === undefined) return [];
  const wrong = jsonMistake(Buffer.from(data[jsonKey] ?? "", "base64").toString());
  return wrong === undefined ? [] : [invalidValue(`data[${jsonKey}]`, REDACTED, wrong)];
}

/** Worded after Go's decoder, without quoting what was found. */
function jsonMistake(text: string): string | undefined {
  if (text.trim() === "") return "unexpected end of JSON input";
  try {
    const value: unknown = JSON.parse(text);
    const isMap = typeof value === "object" && !Array.isArray(value);
    return isMap ? undefined : "json: cannot unmarshal value into Go value of type map[string]interface {}";
  } catch {
    return "invalid character in JSON input";
  }
}
