import { OWNER_LABELS } from "../api/custom-resource.ts";
import { DERIVED_LABEL } from "../api/korifi/names.ts";
import { ownName } from "../base/own-names.ts";
import type { KubeObject } from "../kube/objects.ts";

/**
 * A policy that nobody need have: only the operator changes what is in a Secret that it has published. What is written on
 * the Secret stays everybody's, but for that by which the policy knows it; and so does its deletion: that is how a rotation
 * or a repair is asked for. It keeps mistakes away, not whoever may delete a Secret and make another one.
 */
const API_VERSION = "admissionregistration.k8s.io/v1";
const NAME = "protect.secrets.keyturn.dev";

/** One of them is on everything that is published. */
const MARKS = [ownName("owner-uid"), DERIVED_LABEL];
const LIST = `[${MARKS.map((mark) => `'${mark}'`).join(", ")}]`;

const labels = "oldObject.metadata.labels";
const owners = "oldObject.metadata.ownerReferences";
const newLabels = "object.metadata.labels";
const newOwners = "object.metadata.ownerReferences";
const isSame = (field: string): string =>
  `has(object.${field}) == has(oldObject.${field}) && (!has(object.${field}) || object.${field} == oldObject.${field})`;

export function secretProtection(account: {
  readonly namespace: string;
  readonly name: string;
}): readonly KubeObject[] {
  const metadata = { name: NAME, labels: OWNER_LABELS };
  return [
    {
      apiVersion: API_VERSION,
      kind: "ValidatingAdmissionPolicy",
      metadata,
      spec: {
        failurePolicy: "Fail",
        matchConstraints: {
          resourceRules: [
            { apiGroups: [""], apiVersions: ["v1"], resources: ["secrets"], operations: ["UPDATE"], scope: "*" },
          ],
        },
        matchConditions: [
          {
            name: "is-published",
            expression: `has(${labels}) && ${LIST}.exists(mark, mark in ${labels})`,
          },
          {
            name: "is-by-somebody-else",
            expression: `request.userInfo.username != 'system:serviceaccount:${account.namespace}:${account.name}'`,
          },
          {
            // What a RotatingResource publishes is written by a ServiceAccount of its namespace.
            name: "is-not-by-its-own-account",
            expression: `!(has(${owners}) && ${owners}.exists(owner, owner.kind == 'RotatingResource') && request.userInfo.username.startsWith('system:serviceaccount:' + oldObject.metadata.namespace + ':'))`,
          },
        ],
        validations: [
          {
            expression: isSame("data"),
            message:
              "this Secret is published by Keyturn, and only Keyturn changes its data: change the resource that it belongs to, or delete the Secret to have it made anew",
          },
          {
            expression: isSame("immutable"),
            message: "this Secret is published by Keyturn, and changes with each rotation: it cannot be made immutable",
          },
          {
            // Without them it would be nobody's for the next write.
            expression: `${LIST}.all(mark, !(mark in ${labels}) || (has(${newLabels}) && mark in ${newLabels} && ${newLabels}[mark] == ${labels}[mark]))`,
            message: `this Secret is published by Keyturn, which knows it by its labels ${MARKS.join(" and ")}: they stay as they are`,
          },
          {
            expression: `!has(${newOwners}) || ${newOwners}.all(owner, owner.kind != 'RotatingResource' || (has(${owners}) && ${owners}.exists(other, other.kind == owner.kind && other.uid == owner.uid)))`,
            message: "this Secret is published by Keyturn, and belongs to no other RotatingResource than it did",
          },
        ],
      },
    },
    {
      apiVersion: API_VERSION,
      kind: "ValidatingAdmissionPolicyBinding",
      metadata,
      spec: { policyName: NAME, validationActions: ["Deny"] },
    },
  ];
}
