import type { Environment } from "@marcbachmann/cel-js";
import type { KubeObject } from "../../kube/objects.ts";
import { jsonOf } from "../json.ts";
import { untyped } from "../schema/cel/untyped.ts";
import { SOLE_USER } from "../sole-user.ts";
import type { AdmissionRequest } from "./admission.ts";

/**
 * What the expressions of a policy can see: the object before and after, its namespace, the request, and variables. Objects
 * are untyped, as they are for the API server, whose policies may match many kinds at once.
 */
export type Bindings = Readonly<Record<"object" | "oldObject" | "namespaceObject" | "request", unknown>>;

/** A message of the engine: it tells types apart by their classes, and reads fields safely only from Maps. */
class Request extends Map<string, unknown> {}
class GroupVersionKind extends Map<string, unknown> {}
class GroupVersionResource extends Map<string, unknown> {}
class UserInfo extends Map<string, unknown> {}

export function declareBindings(environment: Environment): Environment {
  const [kind, resource, user] = ["GroupVersionKind", "GroupVersionResource", "UserInfo"].map(
    (name) => `kubernetes.${name}`,
  ) as [string, string, string];
  return environment
    .registerType(kind, { ctor: GroupVersionKind, fields: texts("group", "version", "kind") })
    .registerType(resource, { ctor: GroupVersionResource, fields: texts("group", "version", "resource") })
    .registerType(user, {
      ctor: UserInfo,
      fields: { ...texts("username", "uid"), groups: "list<string>", extra: "map<string, list<string>>" },
    })
    .registerType("kubernetes.AdmissionRequest", {
      ctor: Request,
      fields: {
        ...texts("name", "namespace", "operation", "subResource", "requestSubResource"),
        kind,
        requestKind: kind,
        resource,
        requestResource: resource,
        userInfo: user,
        dryRun: "bool",
        options: "dyn",
      },
    })
    .registerVariable("request", "kubernetes.AdmissionRequest")
    .registerVariable("object", "dyn")
    .registerVariable("oldObject", "dyn")
    .registerVariable("namespaceObject", "dyn");
}

const texts = (...names: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(names.map((name) => [name, "string"]));

export const bindingsFor = (request: AdmissionRequest, namespace: KubeObject | undefined): Bindings => ({
  object: objectValue(request.object),
  oldObject: objectValue(request.oldObject),
  namespaceObject: objectValue(namespace),
  request: requestValue(request),
});

function requestValue({ definition, operation, name, ...request }: AdmissionRequest): Request {
  const { group, version, kind, plural } = definition;
  const kindValue = new GroupVersionKind(Object.entries({ group, version, kind }));
  const resource = new GroupVersionResource(Object.entries({ group, version, resource: plural }));
  const subResource = request.subresource ?? "";
  return new Request(
    Object.entries({
      kind: kindValue,
      requestKind: kindValue,
      resource,
      requestResource: resource,
      subResource,
      requestSubResource: subResource,
      name,
      namespace: request.namespace ?? "",
      operation,
      userInfo: new UserInfo(Object.entries(SOLE_USER)),
      dryRun: request.isDryRun,
      options: new Map(),
    }),
  );
}

const objectValue = (object: KubeObject | undefined): unknown =>
  object === undefined ? null : untyped(jsonOf(object));
