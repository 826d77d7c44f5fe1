import { providerConfig } from "../../api/btp/provider-config.ts";
import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import { Redacted } from "../../base/redacted.ts";
import { NotFound } from "../../kube/errors.ts";
import type { KubeObject, ResourceType } from "../../kube/objects.ts";
import type { Kube } from "../../kube/port.ts";
import type { Connection } from "../../providers/contract.ts";
import type { HttpPort } from "../../providers/http-port.ts";
import {
  parseServiceManagerCredentials,
  type ServiceManagerCredentials,
} from "../../providers/service-manager/credentials.ts";
import { connectServiceManager } from "../../providers/service-manager/service-manager.ts";
import type { Fingerprinter } from "../../publish/fingerprint.ts";
import { secretType } from "../../publish/secret-publisher.ts";
import { CREDENTIALS_LABEL, holdFast } from "../managed/config-keeper.ts";
import { deepMerge } from "../managed/deep-merge.ts";
import type { FormerOutside } from "../managed/departure.ts";
import type { DepartureSpec, ManagedSpec } from "../managed/managed-kind.ts";
import { type Fields, fieldsOf, itemsOf, textOf } from "../managed/read-fields.ts";
import { ReferenceProblem, SpecProblem } from "../managed/spec-problem.ts";
import type { Outside } from "../managed/workpiece.ts";

/** Upstream's kind; only read. */
export const serviceInstances: ResourceType = {
  group: "account.btp.sap.crossplane.io",
  version: "v1alpha1",
  plural: "serviceinstances",
  kind: "ServiceInstance",
  namespaced: false,
};

export interface ServiceManagerSourceOptions {
  readonly kube: Kube;
  readonly clock: Clock;
  readonly http: HttpPort;
  readonly fingerprinter: Fingerprinter;
  /**
   * The versions of a ProviderConfig and its Secret as the watches know them, see `versionOf`; undefined when one of them
   * is not known, or not held yet. Absent: both are read every time.
   */
  readonly knownVersion?: (providerConfig: string) => string | undefined;
}

/** Which state of a ProviderConfig and of its Secret a connection was made from. */
export const versionOf = (config: string, secret: string): string => `${config}/${secret}`;

/** What the Secrets with Service Manager credentials are labelled with. */
export const CREDENTIALS_OF = "btp";

/**
 * Finds what a ServiceBinding needs: the Service Manager of its ProviderConfig, its service instance, its parameters. A
 * connection, and with it its token, lives as long as the Secret with its credentials is the same. Both get a finalizer
 * before they are used, so that whoever makes a key can get rid of it. Must not: write anything else.
 */
export class ServiceManagerSource {
  readonly #options: ServiceManagerSourceOptions;
  readonly #connections = new Map<string, { readonly version: string; readonly connection: Connection }>();
  readonly #connecting = new Map<string, Promise<Connection>>();

  constructor(options: ServiceManagerSourceOptions) {
    this.#options = options;
  }

  async resolve(object: KubeObject, spec: ManagedSpec, signal: AbortSignal): Promise<Outside> {
    const forProvider = fieldsOf(fieldsOf(object.spec).forProvider);
    const connection = await this.connect(spec.providerConfig, signal);
    const instanceId = await this.#instanceOf(forProvider, signal);
    const parameters = await this.#parametersOf(forProvider, signal);
    const made = { instance: instanceId, name: spec.baseName, parameters: JSON.stringify(parameters) };
    return {
      connection,
      instanceId,
      parameters: new Redacted(parameters),
      // Keyed, because parameters may hold secrets.
      madeFrom: this.#options.fingerprinter.ofData(made),
      isComparable: (madeFrom) => this.#options.fingerprinter.isComparable(madeFrom),
    };
  }

  /** What is needed to let a resource go: parameters are not, and an instance that nobody finds any more is left out. */
  async resolveDeparture(object: KubeObject, spec: DepartureSpec, signal: AbortSignal): Promise<FormerOutside> {
    const connection = await this.connect(spec.providerConfig, signal);
    try {
      const instanceId = await this.#instanceOf(fieldsOf(fieldsOf(object.spec).forProvider), signal);
      return { connection, instanceId };
    } catch (error) {
      if (error instanceof SpecProblem || error instanceof ReferenceProblem)
        return { connection, instanceId: undefined };
      throw error;
    }
  }

  /** The Service Manager of a ProviderConfig. Of many who ask at the same time, one reads. */
  async connect(name: string, signal: AbortSignal): Promise<Connection> {
    const known = this.#knownConnection(name);
    if (known) return known;
    const underWay = this.#connecting.get(name);
    if (underWay) return underWay;
    const connecting = this.#readAndConnect(name, signal).finally(() => this.#connecting.delete(name));
    this.#connecting.set(name, connecting);
    return connecting;
  }

  /** The same for whoever makes no key there: nothing is held for it. */
  async visit(name: string, signal: AbortSignal): Promise<Connection> {
    const known = this.#knownConnection(name);
    if (known) return known;
    const { credentials } = await this.#readConfig(name, signal);
    return connectServiceManager({ ...this.#options, credentials });
  }

  #knownConnection(name: string): Connection | undefined {
    const known = this.#connections.get(name);
    return known && known.version === this.#options.knownVersion?.(name) ? known.connection : undefined;
  }

  async #readConfig(
    name: string,
    signal: AbortSignal,
  ): Promise<{ config: KubeObject; secret: KubeObject; credentials: ServiceManagerCredentials }> {
    const config = await this.#find(providerConfig, { name }, "spec.providerConfigRef", signal);
    const reference = fieldsOf(fieldsOf(fieldsOf(config.spec).serviceManagerSecret).secretRef);
    const field = `ProviderConfig ${name}: spec.serviceManagerSecret.secretRef`;
    const secret = await this.#secret(reference, field, signal);
    return { config, secret, credentials: credentialsIn(secret, field, textOf(reference.key)) };
  }

  async #readAndConnect(name: string, signal: AbortSignal): Promise<Connection> {
    const { kube } = this.#options;
    const { config, secret, credentials } = await this.#readConfig(name, signal);
    const labels = { [CREDENTIALS_LABEL]: CREDENTIALS_OF };
    const heldConfig = await holdFast(kube, providerConfig, config, { signal });
    const heldSecret = await holdFast(kube, secretType, secret, { labels, signal });
    const version = versionOf(heldConfig.metadata.resourceVersion ?? "", heldSecret.metadata.resourceVersion ?? "");
    const known = this.#connections.get(name);
    if (known?.version === version) return known.connection;
    const connection = connectServiceManager({ ...this.#options, credentials });
    this.#connections.set(name, { version, connection });
    return connection;
  }

  async #instanceOf(forProvider: Fields, signal: AbortSignal): Promise<string> {
    const id = textOf(forProvider.serviceInstanceId);
    if (id !== undefined) return id;
    const field = "spec.forProvider.serviceInstanceRef";
    const instance = await this.#referredInstance(forProvider, signal);
    const found = textOf(fieldsOf(fieldsOf(instance.status).atProvider).id);
    if (found === undefined) {
      throw new ReferenceProblem(
        field,
        `the ServiceInstance ${instance.metadata.name} has no status.atProvider.id yet`,
      );
    }
    return found;
  }

  async #referredInstance(forProvider: Fields, signal: AbortSignal): Promise<KubeObject> {
    const name = textOf(fieldsOf(forProvider.serviceInstanceRef).name);
    if (name !== undefined) {
      return this.#find(serviceInstances, { name }, "spec.forProvider.serviceInstanceRef", signal);
    }
    const field = "spec.forProvider.serviceInstanceSelector";
    const labels = Object.entries(fieldsOf(fieldsOf(forProvider.serviceInstanceSelector).matchLabels));
    if (labels.length === 0) {
      throw new SpecProblem(
        "spec.forProvider.serviceInstanceId",
        "is required, or serviceInstanceRef or serviceInstanceSelector",
      );
    }
    const labelSelector = labels.map(([key, value]) => `${key}=${value}`).join(",");
    const { items } = await this.#options.kube.list(serviceInstances, { labelSelector, signal });
    const [first, ...others] = items;
    if (!first) throw new ReferenceProblem(field, "no ServiceInstance has these labels");
    if (others.length > 0)
      throw new ReferenceProblem(field, `${items.length} ServiceInstances have these labels, one is needed`);
    return first;
  }

  /** Secrets first, then what the spec itself says: the spec wins. */
  async #parametersOf(forProvider: Fields, signal: AbortSignal): Promise<Readonly<Record<string, unknown>>> {
    const parts: Readonly<Record<string, unknown>>[] = [];
    for (const [index, reference] of itemsOf(forProvider.parameterSecretRefs).entries()) {
      const field = `spec.forProvider.parameterSecretRefs[${index}]`;
      const secret = await this.#secret(reference, field, signal);
      const key = textOf(reference.key) ?? "";
      const encoded = fieldsOf(secret.data)[key];
      if (typeof encoded !== "string")
        throw new ReferenceProblem(field, `the Secret ${secret.metadata.name} has no key "${key}"`);
      parts.push(jsonObject(Buffer.from(encoded, "base64").toString(), field));
    }
    return deepMerge(...parts, fieldsOf(forProvider.parameters));
  }

  async #secret(reference: Fields, field: string, signal: AbortSignal): Promise<KubeObject> {
    const [namespace, name] = [textOf(reference.namespace), textOf(reference.name)];
    if (namespace === undefined || name === undefined) throw new SpecProblem(field, "name and namespace are required");
    return this.#find(secretType, { namespace, name }, field, signal);
  }

  async #find(
    type: ResourceType,
    ref: { readonly namespace?: string; readonly name: string },
    field: string,
    signal: AbortSignal,
  ): Promise<KubeObject> {
    try {
      return await this.#options.kube.get(type, ref, { signal });
    } catch (error) {
      if (!(error instanceof NotFound)) throw error;
      const where = ref.namespace === undefined ? ref.name : `${ref.namespace}/${ref.name}`;
      throw new ReferenceProblem(field, `there is no ${type.kind} ${where}`, error);
    }
  }
}

function credentialsIn(secret: KubeObject, field: string, key: string | undefined): ServiceManagerCredentials {
  const data = Object.entries(fieldsOf(secret.data)).map(([key, value]) => [
    key,
    Buffer.from(String(value), "base64").toString(),
  ]);
  try {
    return parseServiceManagerCredentials(new Redacted(Object.fromEntries(data) as Record<string, string>), key);
  } catch (error) {
    throw new ReferenceProblem(field, messageOf(error), error);
  }
}

/** What is not a JSON object is named by its field, never quoted: it may be a secret. */
function jsonObject(text: string, field: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new ReferenceProblem(field, "does not hold JSON");
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new ReferenceProblem(field, "does not hold a JSON object");
  return value as Readonly<Record<string, unknown>>;
}
