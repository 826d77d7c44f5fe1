import { Forbidden } from "../kube/errors.ts";
import type { KubeObject, ResourceType } from "../kube/objects.ts";
import type { Kube } from "../kube/port.ts";

/** What somebody may do: `list ServiceBinding`, `list RotatingResource shop`, `patch ServiceBinding`. */
export interface MadeUpUser {
  readonly name: string;
  readonly rights: Set<string>;
}

/** A client whose methods can be taken apart. */
export const openKube = (kube: Kube): Kube => ({
  get: (...call) => kube.get(...call),
  list: (...call) => kube.list(...call),
  watch: (...call) => kube.watch(...call),
  create: (...call) => kube.create(...call),
  replace: (...call) => kube.replace(...call),
  patch: (...call) => kube.patch(...call),
  delete: (...call) => kube.delete(...call),
  fetch: (...call) => kube.fetch(...call),
  discover: (...call) => kube.discover(...call),
  close: () => kube.close(),
});

const mayDo = ({ rights }: MadeUpUser, verb: string, kind: string, namespace?: string): boolean =>
  rights.has(`${verb} ${kind}`) || (namespace !== undefined && rights.has(`${verb} ${kind} ${namespace}`));

/** A cluster that knows users by tokens: answers reviews as an API server would, of users that are made up. */
export function reviewingKube(kube: Kube, users: ReadonlyMap<string, MadeUpUser>, asked: string[] = []): Kube {
  const create = async (type: ResourceType, object: { readonly spec?: unknown }): Promise<unknown> => {
    const spec = (object.spec ?? {}) as Record<string, unknown>;
    if (type.kind === "TokenReview") {
      const user = users.get(String(spec.token));
      asked.push(`token of ${user?.name ?? "nobody"}`);
      return { status: user ? { authenticated: true, user: { username: user.name, groups: [] } } : { user: {} } };
    }
    if (type.kind !== "SubjectAccessReview") return kube.create(type, object as never);
    const { verb, resource, namespace } = spec.resourceAttributes as Record<string, string>;
    const user = [...users.values()].find(({ name }) => name === spec.user);
    const kind = kindOf(String(resource));
    asked.push(`${spec.user} ${verb} ${kind} ${namespace ?? "everywhere"}`);
    return { status: { allowed: user !== undefined && mayDo(user, String(verb), kind, namespace) } };
  };
  return { ...openKube(kube), create: create as Kube["create"] };
}

const KINDS: Readonly<Record<string, string>> = {
  servicebindings: "ServiceBinding",
  servicecredentialbindings: "ServiceCredentialBinding",
  rotatingcredentialbindings: "RotatingCredentialBinding",
  rotatingresources: "RotatingResource",
  rndckeys: "RndcKey",
};
const kindOf = (plural: string): string => KINDS[plural] ?? plural;

/** The cluster as that user has it. */
export function viewerKube(kube: Kube, user: MadeUpUser): Kube {
  const demand = (verb: string, { kind }: ResourceType, namespace?: string): void => {
    if (!mayDo(user, verb, kind, namespace))
      throw new Forbidden(`${user.name} cannot ${verb} ${kind}`, { status: 403 });
  };
  const open = openKube(kube);
  return {
    ...open,
    get: async <T extends KubeObject>(...[type, ref, options]: Parameters<Kube["get"]>): Promise<T> => {
      demand("get", type, ref.namespace);
      return open.get<T>(type, ref, options);
    },
    list: async <T extends KubeObject>(...[type, options]: Parameters<Kube["list"]>) => {
      demand("list", type, options?.namespace);
      return open.list<T>(type, options);
    },
    patch: async <T extends KubeObject>(...[type, ref, patch, options]: Parameters<Kube["patch"]>): Promise<T> => {
      demand("patch", type, ref.namespace);
      return open.patch<T>(type, ref, patch, options);
    },
  };
}
