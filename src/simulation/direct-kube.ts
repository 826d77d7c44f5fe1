import type { EmbeddedServer } from "../embedded/embedded-server.ts";
import type { Json } from "../embedded/json.ts";
import type { WriteContext } from "../embedded/object-api.ts";
import type { ResourceDefinition } from "../embedded/registry.ts";
import { StatusError } from "../embedded/status-error.ts";
import { NotServed } from "../kube/errors.ts";
import type { KubeObject, ObjectRef, ResourceType } from "../kube/objects.ts";
import type { Kube, Patch, WriteOptions } from "../kube/port.ts";
import { statusToError } from "../kube/status-to-error.ts";

/**
 * The Kubernetes port straight onto the verbs of an embedded server: the same refusals, schemas and versions as over
 * HTTP, without encoding anything, because a simulation makes millions of calls. Must not: watch; triggers are drawn.
 */
export function createDirectKube({ objects, registry }: Pick<EmbeddedServer, "objects" | "registry">): Kube {
  const definitionOf = ({ group, version, plural }: ResourceType): ResourceDefinition => {
    const definition = registry.find(group, version, plural);
    if (!definition) throw new NotServed(`${plural} are not served`);
    return definition;
  };
  return {
    get: async <T extends KubeObject>(type: ResourceType, ref: ObjectRef) =>
      translated(() => objects.get(definitionOf(type), ref) as T),
    list: async <T extends KubeObject>(type: ResourceType, options = {}) =>
      translated(() => {
        const { items, resourceVersion } = objects.list(definitionOf(type), options);
        return { items: items as readonly T[], resourceVersion };
      }),
    create: async (type, object, options) =>
      translated(() => {
        const { namespace } = object.metadata;
        return objects.create(definitionOf(type), namespace, bodyOf(object), contextOf(options)).object as never;
      }),
    replace: async (type, object, options) =>
      translated(() => {
        const { namespace, name } = object.metadata;
        const ref = { name, ...(namespace !== undefined && { namespace }) };
        return objects.update(definitionOf(type), ref, bodyOf(object), contextOf(options)).object as never;
      }),
    patch: async <T extends KubeObject>(type: ResourceType, ref: ObjectRef, patch: Patch, options?: WriteOptions) =>
      translated(() => {
        const body = bodyOf(patch.body);
        const request =
          patch.type === "apply" ? { type: patch.type, body, force: patch.force === true } : { type: patch.type, body };
        return objects.patch(definitionOf(type), ref, request, contextOf(options)).object as T;
      }),
    delete: async (type, ref, options = {}) =>
      translated(() => {
        const { object, gone } = objects.delete(definitionOf(type), ref, options);
        return gone ? undefined : object;
      }),
    watch: () => {
      throw new TypeError("the simulation does not watch");
    },
    fetch: () => Promise.reject(new TypeError("the simulation does not fetch")),
    discover: async (group, version) => registry.all().filter((one) => one.group === group && one.version === version),
    close: async () => {},
  };
}

/** What goes over a wire has no undefined and shares nothing with its sender. */
const bodyOf = (value: unknown): Json => JSON.parse(JSON.stringify(value)) as Json;

const contextOf = (options: WriteOptions | undefined): WriteContext => ({
  fieldManager: options?.fieldManager ?? "keyturn",
  ...(options?.subresource !== undefined && { subresource: options.subresource }),
  ...(options?.dryRun === true && { dryRun: true }),
});

function translated<T>(action: () => T): T {
  try {
    return action();
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    throw statusToError({ status: error.status, headers: {}, body: error.toStatus(), receivedAt: 0 });
  }
}
