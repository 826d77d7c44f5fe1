import { cfServiceBinding } from "../../api/korifi/cf-service-binding.ts";
import { DERIVED_FROM } from "../../api/korifi/names.ts";
import type { KubeObject, ResourceType } from "../../kube/objects.ts";
import type { Kube, ObjectList, Patch } from "../../kube/port.ts";
import { secretType } from "../../publish/secret-publisher.ts";
import { serviceBindingType } from "../../reconcile/korifi/korifi-sources.ts";
import { podType } from "../../restart/workload-kinds.ts";
import { encoded, type Texts, textsIn } from "../apps/credentials.ts";
import { boundOf, LATE_BINDING, refOf, SERVICE, VCAP } from "../apps/objects.ts";
import type { Tampering } from "../assembly.ts";
import type { Perturbation } from "../perturbation.ts";
import type { Process } from "../process.ts";
import { actOf, type Mutant } from "./mutant.ts";
import { withoutVersions } from "./tampering.ts";

type Get = Parameters<Kube["get"]>;
type PatchInput = Parameters<Kube["patch"]>;

interface SecretPatch {
  readonly metadata: Readonly<Record<string, unknown>> & { readonly annotations?: Texts };
  readonly data: Readonly<Record<string, string | null>>;
}

const isSecret = ({ kind }: ResourceType): boolean => kind === secretType.kind;
const isForProjection = ({ type }: KubeObject): boolean => String(type).startsWith("servicebinding.io/");
const isStatusOfBinding = ({ kind }: ResourceType, options?: { readonly subresource?: string }): boolean =>
  kind === cfServiceBinding.kind && options?.subresource === "status";

/** Secrets are written over otherwise. */
const writingOver = (change: (body: SecretPatch, name: string, kube: Kube) => Promise<SecretPatch>): Tampering => ({
  kube: (kube) => ({
    ...kube,
    patch: async <T extends KubeObject>(...[type, ref, patch, options]: PatchInput): Promise<T> => {
      if (!isSecret(type) || patch.type !== "merge") return kube.patch<T>(type, ref, patch, options);
      const body = await change(patch.body as SecretPatch, ref.name, kube);
      const changed: Patch = { ...patch, body };
      return kube.patch<T>(type, ref, changed, options);
    },
  }),
});

/** Secrets are read otherwise. */
const reading = (change: (secret: KubeObject, process: Process) => KubeObject): Tampering => ({
  kube: (kube, process) => ({
    ...kube,
    get: async <T extends KubeObject>(...[type, ref, options]: Get): Promise<T> => {
      const object = await kube.get<T>(type, ref, options);
      return isSecret(type) ? (change(object, process) as T) : object;
    },
  }),
});

/** Such writes are held until the status of a binding is written, or for ever. */
const afterStatus = (isMeant: (type: ResourceType, object: KubeObject) => boolean, isEver = true): Tampering => ({
  kube: (kube) => {
    const held: (() => Promise<unknown>)[] = [];
    const pretended = (object: KubeObject): KubeObject => ({
      ...object,
      metadata: { ...object.metadata, uid: "later", resourceVersion: "1" },
    });
    return {
      ...kube,
      create: async (type, object, options) => {
        // What is created is an object, whatever the caller calls it.
        const drafted = object as unknown as KubeObject;
        if (!isMeant(type, drafted)) return kube.create(type, object, options);
        held.push(() => kube.create(type, object, options));
        return pretended(drafted) as never;
      },
      patch: async <T extends KubeObject>(...input: PatchInput): Promise<T> => {
        const [type, ref] = input;
        const named: KubeObject = { apiVersion: "v1", kind: type.kind, metadata: ref };
        if (!isMeant(type, named)) return kube.patch<T>(...input);
        held.push(() => kube.patch(...input));
        return pretended(named) as T;
      },
      replace: async (type, object, options) => {
        const stored = await kube.replace(type, object, options);
        if (isEver && isStatusOfBinding(type, options)) for (const send of held.splice(0)) await send();
        return stored;
      },
    };
  },
});

/** What a binding has named until now goes before it names something else. */
const removingFirst: Tampering = {
  kube: (kube) => ({
    ...kube,
    replace: async (type, object, options) => {
      if (isStatusOfBinding(type, options)) {
        const [was] = boundOf(await kube.get(type, object.metadata)).mounts;
        // What is written is an object, whatever the caller calls it.
        const [is] = boundOf(object as unknown as KubeObject).mounts;
        if (was !== undefined && was !== is) await kube.delete(secretType, refOf(was));
      }
      return kube.replace(type, object, options);
    },
  }),
};

/** What was read once of the credentials holds for as long as this says. */
const remembering = (isFor: (process: Process) => unknown): Tampering => ({
  kube: (kube, process) => {
    const known = new Map<unknown, Promise<KubeObject>>();
    return {
      ...kube,
      get: <T extends KubeObject>(...[type, ref, options]: Get): Promise<T> => {
        if (!isSecret(type) || ref.name !== SERVICE) return kube.get<T>(type, ref, options);
        const reading = known.get(isFor(process)) ?? kube.get(type, ref, options);
        known.set(isFor(process), reading);
        return reading as Promise<T>;
      },
    };
  },
});

/** Whoever reads what may be written over has read what it is made from already. */
const readingBackwards: Tampering = {
  kube: (kube, process) => {
    const backwards = remembering(({ begun }) => begun).kube?.(kube, process) ?? kube;
    return {
      ...backwards,
      get: async <T extends KubeObject>(...[type, ref, options]: Get): Promise<T> => {
        if (isSecret(type)) await backwards.get(secretType, refOf(SERVICE));
        return backwards.get<T>(type, ref, options);
      },
    };
  },
};

/** Secrets are deleted whatever they have become. */
const deletingAnything: Tampering = {
  kube: (kube) => ({
    ...kube,
    delete: (type, ref, { uid: _uid, resourceVersion: _version, ...options } = {}) => kube.delete(type, ref, options),
  }),
};

/** That a Secret is about to go is not written, and whoever asks is told that it was. */
const silently: Tampering = {
  kube: (kube) => {
    let isPretended = false;
    const pretended = <T extends { readonly metadata: { readonly resourceVersion?: string } }>(object: T): T => ({
      ...object,
      metadata: { ...object.metadata, resourceVersion: `0${object.metadata.resourceVersion}` },
    });
    return {
      ...kube,
      replace: async (type, object, options) => {
        isPretended = isStatusOfBinding(type, options) && JSON.stringify(object).includes("any more, and nobody uses");
        return isPretended ? pretended(object) : kube.replace(type, object, options);
      },
      get: async <T extends KubeObject>(...[type, ref, options]: Get): Promise<T> => {
        const object = await kube.get<T>(type, ref, options);
        return isPretended && type.kind === cfServiceBinding.kind ? pretended(object) : object;
      },
    };
  },
};

/** A Secret of somebody else's is taken for the binding's own. */
const claiming: Tampering = reading((secret, { watch }) => {
  const { name } = secret.metadata;
  const binding = name === LATE_BINDING ? watch.find(cfServiceBinding, `default/${name}`) : undefined;
  if (!binding) return secret;
  const { apiVersion, kind, metadata } = binding;
  const owner = { apiVersion, kind, name, uid: metadata.uid ?? "" };
  return {
    ...secret,
    type: "servicebinding.io/database",
    metadata: { ...secret.metadata, ownerReferences: [owner] },
  };
});

const withAnnotation = (body: SecretPatch, change: (text: string) => string): SecretPatch => {
  const { annotations = {} } = body.metadata;
  return {
    ...body,
    metadata: {
      ...body.metadata,
      annotations: { ...annotations, [DERIVED_FROM]: change(annotations[DERIVED_FROM] ?? "") },
    },
  };
};

const isUnreadable = (text: string): boolean => text.includes("no key") || text.startsWith("[");

const USER = /"user":"[^"]*"/;

/** Another one leads, and something has changed. */
const isOvertaken = (what: Perturbation): boolean => what.kind === "zombie" && what.begunBy !== undefined;

/** Rules about what is made from the credentials of services. */
export const DERIVING: readonly Mutant[] = (
  [
    {
      rule: "appSecretFirst",
      name: "a status names a Secret before it is made",
      tampering: afterStatus((type, object) => isSecret(type) && isForProjection(object)),
      stories: ["bind"],
    },
    {
      rule: "appDeleteLast",
      name: "a Secret goes before the status names another one",
      tampering: removingFirst,
      stories: ["changeType"],
    },
    {
      rule: "appOver",
      name: "a Secret is written over whatever it has become",
      tampering: writingOver(async (body) => {
        const { uid: _uid, resourceVersion: _version, ...metadata } = body.metadata;
        return { ...body, metadata };
      }),
      focus: isOvertaken,
      stories: ["change"],
    },
    {
      rule: "appDeleteSeen",
      name: "a Secret is deleted whatever it has become",
      tampering: deletingAnything,
      focus: isOvertaken,
      stories: ["changeType"],
    },
    {
      rule: "appFarewell",
      name: "a Secret goes without a word in the status",
      tampering: silently,
      focus: isOvertaken,
      stories: ["changeType"],
    },
    {
      rule: "appStatusCas",
      name: "the status of a binding is written whatever has become of it",
      tampering: {
        kube: (kube) => withoutVersions(kube, ({ kind, isStatus }) => isStatus && kind === cfServiceBinding.kind),
      },
      focus: isOvertaken,
      stories: ["changeType"],
    },
    {
      rule: "appWhole",
      name: "what is new is merged into what was there",
      tampering: writingOver(async (body) => ({
        ...body,
        data: Object.fromEntries(Object.entries(body.data).filter(([, value]) => value !== null)),
      })),
      stories: ["change"],
    },
    {
      rule: "appEntryWhole",
      name: "an entry of VCAP_SERVICES is mixed of two versions",
      tampering: writingOver(async (body, name, kube) => {
        if (name !== VCAP) return body;
        const [user] = USER.exec(textsIn(await kube.get(secretType, refOf(VCAP))).VCAP_SERVICES ?? "") ?? [];
        const text = Buffer.from(body.data.VCAP_SERVICES ?? "", "base64").toString();
        return { ...body, data: encoded({ VCAP_SERVICES: text.replace(USER, user ?? "") }) };
      }),
      stories: ["change"],
    },
    {
      rule: "appVcapFollows",
      name: "VCAP_SERVICES stays what it was",
      tampering: writingOver(async (body, name, kube) =>
        name === VCAP ? { ...body, data: encoded(textsIn(await kube.get(secretType, refOf(VCAP)))) } : body,
      ),
      stories: ["change", "unbind"],
    },
    {
      rule: "appVcapFirst",
      name: "a binding names another Secret before VCAP_SERVICES is told",
      tampering: afterStatus((type, { metadata }) => isSecret(type) && metadata.name === VCAP),
      stories: ["changeType"],
    },
    {
      rule: "appRefused",
      name: "credentials that are refused count as none",
      tampering: reading((secret) => {
        const { credentials = "" } = textsIn(secret);
        return isUnreadable(credentials) ? { ...secret, data: encoded({ credentials: "{}" }) } : secret;
      }),
      stories: ["break", "spoil"],
    },
    {
      rule: "appLive",
      name: "credentials are read once in a process",
      tampering: remembering(() => "always"),
      focus: actOf("changeCredentials"),
      stories: ["change"],
    },
    {
      rule: "appOrder",
      name: "credentials are read before what is made from them",
      tampering: readingBackwards,
      focus: isOvertaken,
      stories: ["change"],
    },
    {
      rule: "appForeign",
      name: "a Secret of somebody else's is written over",
      tampering: claiming,
      stories: ["bindTaken"],
    },
    {
      rule: "appLegacy",
      name: "a binding leaves the Secret of former times for no change",
      tampering: {
        apps: { seen: (object) => (object.kind === cfServiceBinding.kind ? { ...object, status: {} } : object) },
      },
      climates: ["legacy"],
      stories: ["nothing", "first"],
    },
    {
      rule: "appKeyTold",
      name: "what is made from a key does not say from which",
      tampering: writingOver(async (body) => withAnnotation(body, (text) => text.replace(/@[^,]*/g, ""))),
      climates: ["followed"],
      stories: ["change"],
    },
    {
      rule: "appTwice",
      name: "references are said under their former names alone",
      tampering: {
        kube: (kube) => ({
          ...kube,
          replace: (type, object, options) => {
            if (!isStatusOfBinding(type, options)) return kube.replace(type, object, options);
            // A status is written of an object that has one.
            const { status } = object as unknown as { readonly status: Readonly<Record<string, unknown>> };
            const { mountSecretRef: _mount, envSecretRef: _env, ...former } = status;
            return kube.replace(type, { ...object, status: former }, options);
          },
        }),
      },
      stories: ["bind"],
    },
    {
      rule: "appInUse",
      name: "a Secret goes while pods use it",
      tampering: {
        kube: (kube) => ({
          ...kube,
          list: async <T extends KubeObject>(...input: Parameters<Kube["list"]>): Promise<ObjectList<T>> => {
            const list = await kube.list<T>(...input);
            return input[0].kind === podType.kind ? { ...list, items: [] } : list;
          },
        }),
      },
      stories: ["typeInUse"],
    },
    {
      rule: "appProjected",
      name: "nothing has a binding projected",
      tampering: afterStatus((type) => type.kind === serviceBindingType.kind, false),
      stories: ["bind"],
    },
    {
      rule: "appQuiet",
      name: "what says the same is written again",
      tampering: reading((secret) => {
        const { [DERIVED_FROM]: _, ...annotations } = secret.metadata.annotations ?? {};
        return secret.metadata.name === VCAP
          ? secret
          : { ...secret, metadata: { ...secret.metadata, annotations: { ...annotations } } };
      }),
      stories: ["nothing"],
    },
  ] satisfies readonly Mutant[]
).map((mutant) => ({ family: "apps", ...mutant }));
