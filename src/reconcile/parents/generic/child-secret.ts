import type { KubeObject } from "../../../kube/objects.ts";
import { SpecProblem } from "../../managed/spec-problem.ts";
import { holdsText, NAME_PLACEHOLDER } from "./render-template.ts";

const FIELD = "spec.childSecret.name";
const OBJECT_NAME = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;

/** The name of a child's Secret as the spec says it. Throws `SpecProblem`. */
export function checkedSecretTemplate(template: string): string {
  if (!template.includes(NAME_PLACEHOLDER))
    throw new SpecProblem(FIELD, `must contain ${NAME_PLACEHOLDER}, or several children would share one Secret`);
  return template;
}

/** The name of the Secret of the child of this name: never that of another child. */
export const secretNameOf = (template: string, childName: string): string =>
  checkedSecretTemplate(template).split(NAME_PLACEHOLDER).join(childName);

/**
 * Whether the child would write that Secret: its name is the child's own, or the child is told it. Otherwise what is read
 * there would be somebody else's. Throws `SpecProblem`.
 */
export function ensureOwnSecret(child: KubeObject, secretName: string, stableName: string): void {
  if (!OBJECT_NAME.test(secretName)) throw new SpecProblem(FIELD, `"${secretName}" cannot be the name of a Secret`);
  if (secretName === stableName) {
    throw new SpecProblem(FIELD, "is the Secret of spec.writeConnectionSecretToRef: a child needs one of its own");
  }
  const { apiVersion: _, kind: __, metadata, ...rest } = child;
  if (secretName !== metadata.name && !holdsText(rest, secretName)) {
    throw new SpecProblem(FIELD, "is in no text of spec.template, so no child would write a Secret of that name");
  }
}
