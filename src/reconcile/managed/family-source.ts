import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import { Redacted } from "../../base/redacted.ts";
import { type KubeObject, keyOf } from "../../kube/objects.ts";
import type { Kube } from "../../kube/port.ts";
import type { Connection } from "../../providers/contract.ts";
import type { HttpPort } from "../../providers/http-port.ts";
import type { Fingerprinter } from "../../publish/fingerprint.ts";
import { secretType } from "../../publish/secret-publisher.ts";
import { CREDENTIALS_LABEL, holdFast } from "./config-keeper.ts";
import type { FormerOutside } from "./departure.ts";
import type { CredentialsReference, ManagedFamily, SecretContent } from "./family.ts";
import type { DepartureSpec, ManagedSpec } from "./managed-kind.ts";
import { fieldsOf, textOf } from "./read-fields.ts";
import { References, targetField } from "./references.ts";
import { ReferenceProblem, SpecProblem } from "./spec-problem.ts";
import type { Outside } from "./workpiece.ts";

export interface FamilySourceOptions {
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

/** Which state of a ProviderConfig and of its Secrets a connection was made from. */
export const versionOf = (config: string, secrets: readonly string[]): string => [config, ...secrets].join("/");

/**
 * Finds what a managed resource needs: the external system of its ProviderConfig, its service instance, its parameters. A
 * connection, and with it its token, lives as long as the Secret with its credentials is the same. Both get a finalizer
 * before they are used, so that whoever makes a key can get rid of it. Must not: write anything else.
 */
export class FamilySource {
  readonly #family: ManagedFamily;
  readonly #options: FamilySourceOptions;
  readonly #references: References;
  readonly #connections = new Map<string, { readonly version: string; readonly connection: Connection }>();
  readonly #connecting = new Map<string, Promise<Connection>>();

  constructor(family: ManagedFamily, options: FamilySourceOptions) {
    this.#family = family;
    this.#options = options;
    this.#references = new References(options.kube);
  }

  async resolve(object: KubeObject, spec: ManagedSpec, signal: AbortSignal): Promise<Outside> {
    const { fingerprinter } = this.#options;
    const forProvider = fieldsOf(fieldsOf(object.spec).forProvider);
    const connection = await this.connect(spec.providerConfig, signal);
    const instanceId = await this.#references.idOf(forProvider, this.#family.instances, signal);
    const parameters = await this.#family.parametersOf(forProvider, this.#references, signal);
    const extras = (await this.#family.extrasOf?.(object, this.#references, signal)) ?? {};
    const { appId } = extras;
    const made = { instance: instanceId, name: spec.baseName, parameters: JSON.stringify(parameters) };
    return {
      connection,
      instanceId,
      instanceField: targetField(forProvider, this.#family.instances),
      parameters: new Redacted(parameters),
      extras,
      // Keyed, because parameters may hold secrets.
      madeFrom: fingerprinter.ofData({ ...made, ...(appId !== undefined && { app: appId }) }),
      isComparable: (madeFrom) => fingerprinter.isComparable(madeFrom),
    };
  }

  /** What is needed to let a resource go: parameters are not, and an instance that nobody finds any more is left out. */
  async resolveDeparture(object: KubeObject, spec: DepartureSpec, signal: AbortSignal): Promise<FormerOutside> {
    const connection = await this.connect(spec.providerConfig, signal);
    const forProvider = fieldsOf(fieldsOf(object.spec).forProvider);
    try {
      const instanceId = await this.#references.idOf(forProvider, this.#family.instances, signal);
      return { connection, instanceId };
    } catch (error) {
      if (error instanceof SpecProblem || error instanceof ReferenceProblem)
        return { connection, instanceId: undefined };
      throw error;
    }
  }

  /** The external system of a ProviderConfig. Of many who ask at the same time, one reads. */
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
    return this.#open(await this.#readConfig(name, signal));
  }

  #knownConnection(name: string): Connection | undefined {
    const known = this.#connections.get(name);
    return known && known.version === this.#options.knownVersion?.(name) ? known.connection : undefined;
  }

  async #readConfig(name: string, signal: AbortSignal): Promise<ReadConfig> {
    const { configType } = this.#family;
    const config = await this.#references.find(configType, { name }, "spec.providerConfigRef", signal);
    const read = ({ reference, field }: CredentialsReference): Promise<KubeObject> =>
      this.#references.secret(reference, fieldOf(config, field), signal);
    const [first, ...rest] = this.#family.secretsOf(config);
    const credentials = await read(first);
    const others: KubeObject[] = [];
    for (const reference of rest) others.push(await read(reference));
    return { config, credentials, others };
  }

  async #readAndConnect(name: string, signal: AbortSignal): Promise<Connection> {
    const { kube } = this.#options;
    const found = await this.#readConfig(name, signal);
    const connection = this.#open(found);
    const labels = { [CREDENTIALS_LABEL]: this.#family.name };
    const config = await holdFast(kube, this.#family.configType, found.config, { signal });
    const versions = new Map<string, string>();
    for (const secret of [found.credentials, ...found.others]) {
      const address = keyOf(secret.metadata);
      // One Secret may be named twice: held once, or the second time would be at a version that is over.
      if (versions.has(address)) continue;
      versions.set(address, versionIn(await holdFast(kube, secretType, secret, { labels, signal })));
    }
    const version = versionOf(versionIn(config), [...versions.values()]);
    const known = this.#connections.get(name);
    if (known?.version === version) return known.connection;
    this.#connections.set(name, { version, connection });
    return connection;
  }

  #open({ config, credentials, others }: ReadConfig): Connection {
    const [first, ...rest] = this.#family.secretsOf(config);
    const { http, clock } = this.#options;
    try {
      return this.#family.open({
        config,
        credentials: contentOf(credentials, first),
        others: others.map((secret, index) => contentOf(secret, rest[index])),
        http,
        clock,
      });
    } catch (error) {
      throw new ReferenceProblem(fieldOf(config, first.field), messageOf(error), error);
    }
  }
}

interface ReadConfig {
  readonly config: KubeObject;
  readonly credentials: KubeObject;
  /** The other Secrets that the configuration names, in their order. */
  readonly others: readonly KubeObject[];
}

const versionIn = ({ metadata }: KubeObject): string => metadata.resourceVersion ?? "";

function contentOf(secret: KubeObject, reference: CredentialsReference | undefined): SecretContent {
  const data = Object.entries(fieldsOf(secret.data)).map(([key, value]) => [
    key,
    Buffer.from(String(value), "base64").toString(),
  ]);
  return {
    data: new Redacted(Object.fromEntries(data) as Readonly<Record<string, string>>),
    key: textOf(reference?.reference.key),
  };
}

const fieldOf = ({ kind, metadata }: KubeObject, field: string): string => `${kind} ${metadata.name}: ${field}`;
