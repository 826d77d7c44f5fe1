import type { PolicyRule } from "../../src/install/permissions.ts";
import { Forbidden } from "../../src/kube/errors.ts";
import type { ResourceType } from "../../src/kube/objects.ts";
import type { Kube } from "../../src/kube/port.ts";

export interface GatedRole {
  /** Granted there alone; absent: in the whole cluster. */
  readonly namespace?: string;
  readonly rules: readonly PolicyRule[];
}

interface Right {
  readonly verb: string;
  /** `plural.group` */
  readonly resource: string;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
}

/**
 * A way to a cluster for somebody who has these roles and nothing else, and what of them was needed. What is granted in the
 * whole cluster counts as needed only where it was not in the namespace of the other roles. Must not: let anything else by.
 */
export class RightsGate {
  readonly #rights: readonly Right[];
  readonly #homes: ReadonlySet<string | undefined>;
  readonly #needed = new Set<Right>();
  readonly kube: Kube;

  constructor(kube: Kube, roles: readonly GatedRole[]) {
    this.#rights = roles.flatMap(rightsIn);
    this.#homes = new Set(roles.flatMap(({ namespace }) => namespace ?? []));
    this.kube = this.#gated(kube);
  }

  /** Rights that no call needed. */
  get unneeded(): readonly string[] {
    return this.#rights.filter((right) => !this.#needed.has(right)).map(describe);
  }

  #gated(kube: Kube): Kube {
    const ask = (verb: string, { group, plural }: ResourceType, { namespace, name }: Place, subresource = ""): void =>
      this.#ask({ verb, resource: `${plural}${subresource && `/${subresource}`}.${group}`, namespace, name });
    return {
      get: async (type, ref, options) => {
        ask("get", type, ref, options?.subresource);
        return kube.get(type, ref, options);
      },
      list: async (type, options) => {
        ask("list", type, { namespace: options?.namespace });
        return kube.list(type, options);
      },
      watch: () => {
        throw new Forbidden("nobody watches here");
      },
      create: async (type, object, options) => {
        ask("create", type, { namespace: object.metadata.namespace }, options?.subresource);
        return kube.create(type, object, options);
      },
      replace: async (type, object, options) => {
        ask("update", type, object.metadata, options?.subresource);
        return kube.replace(type, object, options);
      },
      patch: async (type, ref, patch, options) => {
        ask("patch", type, ref, options?.subresource);
        return kube.patch(type, ref, patch, options);
      },
      delete: async (type, ref, options) => {
        ask("delete", type, ref);
        return kube.delete(type, ref, options);
      },
      fetch: (path, options) => kube.fetch(path, options),
      discover: (group, version, options) => kube.discover(group, version, options),
      close: () => kube.close(),
    };
  }

  #ask(asked: Right): void {
    const found = this.#rights.filter(
      ({ verb, resource, namespace, name }) =>
        verb === asked.verb &&
        resource === asked.resource &&
        (namespace === undefined || namespace === asked.namespace) &&
        (name === undefined || name === asked.name),
    );
    if (found.length === 0) throw new Forbidden(`cannot ${describe(asked)}`);
    const atHome = found.find(({ namespace }) => namespace !== undefined);
    if (atHome) this.#needed.add(atHome);
    else if (!this.#homes.has(asked.namespace)) for (const right of found) this.#needed.add(right);
  }
}

interface Place {
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
}

const rightsIn = ({ namespace, rules }: GatedRole): readonly Right[] =>
  rules.flatMap(({ apiGroups, resources, resourceNames = [undefined], verbs }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((plural) =>
        verbs.flatMap((verb) =>
          resourceNames.map((name) => ({ verb, resource: `${plural}.${group}`, namespace, name })),
        ),
      ),
    ),
  );

const describe = ({ verb, resource, namespace, name }: Right): string =>
  [verb, resource, name, namespace && `in ${namespace}`].filter((word) => word !== undefined).join(" ");
