import { customResources } from "../../../api/custom-resources.ts";
import type { ResourceType } from "../../../kube/objects.ts";
import { type Fields, textOf } from "../../managed/read-fields.ts";
import { SpecProblem } from "../../managed/spec-problem.ts";

/** The kind that a template is of. */
export interface KindName {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

const TEMPLATE = "spec.template";

export const describeKind = ({ kind, group }: Pick<KindName, "kind" | "group">): string => `${kind}.${group}`;

/** Throws `SpecProblem` for what may never be made from a template, whatever a class says. */
export function kindOf(template: Fields): KindName {
  const [apiVersion, kind] = [textOf(template.apiVersion), textOf(template.kind)];
  if (apiVersion === undefined) throw new SpecProblem(`${TEMPLATE}.apiVersion`, "is required");
  if (kind === undefined) throw new SpecProblem(`${TEMPLATE}.kind`, "is required");
  const [group = "", version = "", ...rest] = apiVersion.split("/");
  const isWhole = /^[a-z0-9.-]+$/.test(group) && /^[a-z0-9]+$/.test(version) && rest.length === 0;
  if (!isWhole || !/^[A-Za-z0-9]+$/.test(kind)) {
    throw new SpecProblem(
      `${TEMPLATE}.apiVersion`,
      "must be group/version: kinds without a group are built into Kubernetes and never made from a template",
    );
  }
  if (isForbiddenGroup(group)) {
    const why = "is built into Kubernetes, or Keyturn's own: nothing of it is ever made from a template";
    throw new SpecProblem(`${TEMPLATE}.apiVersion`, `the API group ${group} ${why}`);
  }
  return { group, version, kind };
}

const OUR_GROUPS: ReadonlySet<string> = new Set(customResources.map(({ group }) => group));

/**
 * Kubernetes' own groups have no dot, or are under k8s.io: so are those that it will have one day. Ours are refused since
 * what we do for our kinds we do with our own rights. As in `api/keyturn/kind-rules.ts`.
 */
export const isForbiddenGroup = (group: string): boolean =>
  !group.includes(".") || OUR_GROUPS.has(group) || /(^|\.)(k8s\.io|kubernetes\.io|keyturn\.dev)$/.test(group);

/** The kind as the API server serves it, among all that its group serves. Cluster-scoped kinds have no owner to go with. */
export function servedKind(wanted: KindName, served: readonly ResourceType[]): ResourceType | "not served" {
  const type = served.find(({ kind }) => kind === wanted.kind);
  if (!type) return "not served";
  if (!type.namespaced) {
    throw new SpecProblem(
      `${TEMPLATE}.kind`,
      `${describeKind(wanted)} has no namespace: only kinds with one are made from a template`,
    );
  }
  return type;
}
