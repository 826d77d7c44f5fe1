import type { KubeObject } from "../../../kube/objects.ts";
import { type Fields, fieldsOf, textOf } from "../../managed/read-fields.ts";
import { SpecProblem } from "../../managed/spec-problem.ts";
import { type KindName, kindOf } from "./admissible-kind.ts";
import { checkedSecretTemplate, ensureOwnSecret, secretNameOf } from "./child-secret.ts";
import { type Readiness, readReadiness } from "./readiness.ts";
import { NAME_PLACEHOLDER, renderTemplate } from "./render-template.ts";

/** What a RotatingResource says beyond what every rotated kind does. */
export interface RotatingSpec {
  readonly rotationClass: string;
  readonly account: { readonly namespace: string; readonly name: string };
  readonly kind: KindName;
  readonly template: Fields;
  /** The name of a child's Secret, with the placeholder in it. */
  readonly childSecret: string;
  readonly stableSecret: string;
  readonly readiness: Readiness;
}

/** As the API server takes them for users: anything else would be a user that is no ServiceAccount. */
const ACCOUNT_NAME = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;

/** Everything is checked here, though the schema has: it may be another one. Throws `SpecProblem`. */
export function readRotatingSpec({ metadata, spec }: KubeObject): RotatingSpec {
  const fields = fieldsOf(spec);
  const { namespace = "" } = metadata;
  const account = { namespace, name: required(fields.serviceAccountName, "spec.serviceAccountName") };
  if (!ACCOUNT_NAME.test(account.name))
    throw new SpecProblem("spec.serviceAccountName", `"${account.name}" cannot be the name of a ServiceAccount`);
  const template = fieldsOf(fields.template);
  const { childSecret = {}, readiness = {}, writeConnectionSecretToRef } = fields;
  const read: RotatingSpec = {
    rotationClass: required(fields.rotationClassName, "spec.rotationClassName"),
    account,
    kind: kindOf(template),
    template,
    childSecret: checkedSecretTemplate(textOf(fieldsOf(childSecret).name) ?? NAME_PLACEHOLDER),
    stableSecret: required(fieldsOf(writeConnectionSecretToRef).name, "spec.writeConnectionSecretToRef.name"),
    readiness: readReadiness(fieldsOf(readiness)),
  };
  // Before anything is intended: whatever a child's name will be, the same is wrong with its template.
  renderChild(read, "a-child");
  return read;
}

export interface RenderedChild {
  readonly object: KubeObject;
  readonly secret: { readonly namespace: string; readonly name: string };
}

/** The child of this name, and where it has its Secret. Throws `SpecProblem`. */
export function renderChild(
  { template, account, childSecret, stableSecret }: RotatingSpec,
  name: string,
): RenderedChild {
  const { namespace } = account;
  const object = renderTemplate(template, { namespace, name });
  const secretName = secretNameOf(childSecret, name);
  ensureOwnSecret(object, secretName, stableSecret);
  return { object, secret: { namespace, name: secretName } };
}

function required(value: unknown, field: string): string {
  const text = textOf(value);
  if (text === undefined) throw new SpecProblem(field, "is required");
  return text;
}
