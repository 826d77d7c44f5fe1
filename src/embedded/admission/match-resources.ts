import type { KubeObject } from "../../kube/objects.ts";
import type { JsonObject } from "../json.ts";
import { asObjects, asTexts } from "../kinds/json-fields.ts";
import { matchesLabels } from "../kinds/label-selector.ts";
import type { AdmissionRequest } from "./admission.ts";

/**
 * Whether a request is one that `matchConstraints` or `matchResources` mean. Must not: convert; a rule that names a
 * version of a kind matches requests in that version only, also where `matchPolicy` is Equivalent.
 */
export function matchesResources(
  match: JsonObject,
  request: AdmissionRequest,
  namespace: KubeObject | undefined,
): boolean {
  const rules = asObjects(match.resourceRules);
  return (
    matchesNamespace(match.namespaceSelector, request, namespace) &&
    matchesObject(match.objectSelector, request) &&
    !asObjects(match.excludeResourceRules).some((rule) => matchesRule(rule, request)) &&
    (rules.length === 0 || rules.some((rule) => matchesRule(rule, request)))
  );
}

/** What belongs to no namespace is not chosen by one; a Namespace counts by its own labels. */
function matchesNamespace(
  selector: unknown,
  { definition, object, oldObject }: AdmissionRequest,
  namespace: KubeObject | undefined,
): boolean {
  if (selector === undefined) return true;
  const owner = isNamespace(definition) ? (object ?? oldObject) : namespace;
  return owner === undefined || matchesLabels(selector, owner.metadata.labels);
}

const matchesObject = (selector: unknown, { object, oldObject }: AdmissionRequest): boolean =>
  selector === undefined ||
  [object, oldObject].some((one) => one !== undefined && matchesLabels(selector, one.metadata.labels));

function matchesRule(rule: JsonObject, { definition, operation, name, subresource = "" }: AdmissionRequest): boolean {
  const { group, version, plural } = definition;
  const names = asTexts(rule.resourceNames);
  return (
    (names.length === 0 || names.includes(name)) &&
    isListed(rule.operations, operation) &&
    isListed(rule.apiGroups, group) &&
    isListed(rule.apiVersions, version) &&
    matchesScope(rule.scope, definition) &&
    asTexts(rule.resources).some((text) => {
      const [wanted = "", wantedSubresource = ""] = text.split("/", 2);
      return [plural, "*"].includes(wanted) && [subresource, "*"].includes(wantedSubresource);
    })
  );
}

const isListed = (list: unknown, value: string): boolean =>
  asTexts(list).some((item) => item === value || item === "*");

const matchesScope = (scope: unknown, { namespaced }: AdmissionRequest["definition"]): boolean =>
  scope === undefined || scope === "*" || scope === (namespaced ? "Namespaced" : "Cluster");

const isNamespace = ({ group, plural }: AdmissionRequest["definition"]): boolean =>
  group === "" && plural === "namespaces";
