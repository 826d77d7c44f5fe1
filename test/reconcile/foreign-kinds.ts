import { randomBytes } from "node:crypto";
import type { Clock } from "../../src/base/clock.ts";
import { formatInstant } from "../../src/base/instant.ts";
import { AlreadyExists, NotFound } from "../../src/kube/errors.ts";
import { apiVersionOf, type KubeObject, type ObjectRef, type ResourceType } from "../../src/kube/objects.ts";
import type { Kube } from "../../src/kube/port.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { customResourceDefinitions } from "../conformance/kinds.ts";

type Fields = Readonly<Record<string, unknown>>;

/**
 * Kinds that are not ours, with the names of fields that their users know: cert-manager's Certificate and External Secrets'
 * ExternalSecret. A stand-in plays their controllers: it writes Secrets and conditions as those do, and no more.
 */
export const certificates: ResourceType = {
  group: "cert-manager.io",
  version: "v1",
  plural: "certificates",
  kind: "Certificate",
  namespaced: true,
};

export const externalSecrets: ResourceType = {
  group: "external-secrets.io",
  version: "v1",
  plural: "externalsecrets",
  kind: "ExternalSecret",
  namespaced: true,
};

/** Of the same group, and without a namespace. */
export const clusterIssuers: ResourceType = {
  ...certificates,
  plural: "clusterissuers",
  kind: "ClusterIssuer",
  namespaced: false,
};

const text = { type: "string" } as const;
const conditions = {
  type: "array",
  items: {
    type: "object",
    required: ["type", "status"],
    properties: {
      type: text,
      status: text,
      reason: text,
      message: text,
      lastTransitionTime: { type: "string", format: "date-time" },
      observedGeneration: { type: "integer", format: "int64" },
    },
  },
} as const;

const SPECS: Readonly<Record<string, Fields>> = {
  Certificate: {
    secretName: text,
    commonName: text,
    dnsNames: { type: "array", items: text },
    duration: text,
    issuerRef: { type: "object", properties: { group: text, kind: text, name: text } },
    privateKey: { type: "object", properties: { algorithm: text, size: { type: "integer" }, rotationPolicy: text } },
  },
  ExternalSecret: {
    refreshInterval: text,
    secretStoreRef: { type: "object", properties: { kind: text, name: text } },
    target: { type: "object", properties: { name: text, creationPolicy: text } },
    dataFrom: { type: "array", items: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
  },
  ClusterIssuer: { selfSigned: { type: "object" } },
};

function definitionOfForeign({ group, version, plural, kind, namespaced }: ResourceType): KubeObject {
  const status = { type: "object", properties: { conditions, revision: { type: "integer" }, phase: text } };
  const spec = { type: "object", properties: SPECS[kind] ?? {} };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: namespaced ? "Namespaced" : "Cluster",
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          subresources: { status: {} },
          schema: { openAPIV3Schema: { type: "object", properties: { spec, status } } },
        },
      ],
    },
  };
}

export async function installForeignKinds(kube: Kube): Promise<void> {
  for (const type of [certificates, externalSecrets, clusterIssuers]) {
    try {
      await kube.create<KubeObject>(customResourceDefinitions, definitionOfForeign(type));
    } catch (error) {
      if (!(error instanceof AlreadyExists)) throw error;
    }
  }
}

const at = (object: KubeObject, ...path: readonly string[]): unknown =>
  path.reduce<unknown>((value, key) => (value as Fields | undefined)?.[key], object);

/** Plays the controllers of those kinds, whenever it is told to work. */
export class ForeignControllers {
  readonly #kube: Kube;
  readonly #clock: Pick<Clock, "now">;
  /** Those whose names match get no Secret, and say why. */
  stuck: RegExp | undefined;
  /** The type of the Secrets that are made for ExternalSecrets. */
  externalType = "Opaque";

  constructor(kube: Kube, clock: Pick<Clock, "now">) {
    this.#kube = kube;
    this.#clock = clock;
  }

  async work(namespace: string): Promise<void> {
    for (const type of [certificates, externalSecrets]) {
      const { items } = await this.#kube.list(type, { namespace });
      for (const item of items) if (item.metadata.deletionTimestamp === undefined) await this.#serve(type, item);
    }
  }

  async #serve(type: ResourceType, object: KubeObject): Promise<void> {
    if (this.stuck?.test(object.metadata.name)) {
      await this.condition(type, object, { status: "False", reason: "Pending", message: "the issuer does not answer" });
      return;
    }
    const { namespace = "", name } = object.metadata;
    const isCertificate = type.kind === "Certificate";
    const secretName = String(at(object, "spec", ...(isCertificate ? ["secretName"] : ["target", "name"])) ?? name);
    const owner = { apiVersion: apiVersionOf(type), kind: type.kind, name, uid: object.metadata.uid ?? "" };
    const isOwned = at(object, "spec", "target", "creationPolicy") === "Owner";
    try {
      await this.#kube.create<KubeObject>(secretType, {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { namespace, name: secretName, ...(isOwned && { ownerReferences: [owner] }) },
        type: isCertificate ? "kubernetes.io/tls" : this.externalType,
        data: isCertificate
          ? { "tls.crt": bytes(), "tls.key": bytes(), "keystore.p12": bytes() }
          : { password: bytes() },
      });
    } catch (error) {
      if (!(error instanceof AlreadyExists)) throw error;
    }
    if (await this.#isGone(type, object)) await this.#remove(secretType, { namespace, name: secretName });
    else await this.condition(type, object, { status: "True", reason: isCertificate ? "Ready" : "SecretSynced" });
  }

  /** What was listed may have gone since, with all that is its own: what is made for it then nobody would remove. */
  async #isGone(type: ResourceType, { metadata: { namespace = "", name, uid } }: KubeObject): Promise<boolean> {
    try {
      return (await this.#kube.get(type, { namespace, name })).metadata.uid !== uid;
    } catch (error) {
      if (error instanceof NotFound) return true;
      throw error;
    }
  }

  async #remove(type: ResourceType, ref: ObjectRef): Promise<void> {
    try {
      await this.#kube.delete(type, ref);
    } catch (error) {
      if (!(error instanceof NotFound)) throw error;
    }
  }

  /** Says how an object is, once. */
  async condition(type: ResourceType, object: KubeObject, says: Fields & { readonly status: string }): Promise<void> {
    const [known] = (at(object, "status", "conditions") ?? []) as readonly Fields[];
    if (known?.status === says.status) return;
    const lastTransitionTime = formatInstant(this.#clock.now());
    const condition = { type: "Ready", lastTransitionTime, observedGeneration: object.metadata.generation, ...says };
    const { namespace = "", name } = object.metadata;
    const phase = says.status === "True" ? "Issued" : "Waiting";
    const body = { status: { conditions: [condition], phase } };
    await this.#kube.patch(type, { namespace, name }, { type: "merge", body }, { subresource: "status" });
  }
}

/** Not text: what is copied must not be read as such. */
const bytes = (): string => Buffer.concat([Buffer.from([0xff, 0x00, 0xfe]), randomBytes(24)]).toString("base64");
