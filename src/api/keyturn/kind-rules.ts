import type { Rule } from "../duration-rules.ts";

/**
 * Which API groups a child may never be of, in CEL: the API server says so when a class or a template is written, and the
 * operator, which is asked at every use, says the same in `reconcile/parents/generic/admissible-kind.ts`. Groups without a
 * dot and those under k8s.io and kubernetes.io are Kubernetes' own, those of today and those to come.
 */
const KUBERNETES_OWN = "([^.]*|(.+[.])?(k8s|kubernetes)[.]io)";
const OUR_OWN = "(.+[.])?keyturn[.]dev|account[.]btp[.]sap[.]crossplane[.]io|cloudfoundry[.]crossplane[.]io";

/** Of a CEL expression for the name of a group. */
export const foreignGroup = (group: string, fieldPath: string): Rule => ({
  rule: `!${group}.matches('^(${KUBERNETES_OWN}|${OUR_OWN})$')`,
  message: "is built into Kubernetes, or Keyturn's own: nothing of it is ever made from a template",
  fieldPath,
});
