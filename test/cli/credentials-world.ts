import { definitionOf } from "../../src/api/custom-resource.ts";
import { cfServiceBinding } from "../../src/api/korifi/cf-service-binding.ts";
import { cfServiceInstance } from "../../src/api/korifi/cf-service-instance.ts";
import { korifiResources } from "../../src/api/korifi/korifi-resources.ts";
import { settle } from "../../src/base/manual-clock.ts";
import { embeddedCluster } from "../../src/embedded/embedded-cluster.fixture.ts";
import { vcapSecretName } from "../../src/korifi/names.ts";
import { apiVersionOf, type KubeObject, type ResourceType } from "../../src/kube/objects.ts";
import type { Kube } from "../../src/kube/port.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { customResourceDefinitions, namespaces } from "../conformance/kinds.ts";
import { beginOn, type Running, runOn, type Said } from "./command-world.ts";

export const SPACE = "space";

const base64 = (text: string): string => Buffer.from(text).toString("base64");

/** Instances and bindings on a cluster without an operator: what one would write, a test writes itself. */
export class CredentialsWorld {
  readonly #cluster = embeddedCluster();
  readonly kube = this.#cluster.kube;
  readonly clock = this.#cluster.clock;

  static async start(): Promise<CredentialsWorld> {
    const world = new CredentialsWorld();
    for (const resource of korifiResources) {
      const definition = JSON.parse(JSON.stringify(definitionOf(resource))) as KubeObject;
      await world.kube.create(customResourceDefinitions, definition);
    }
    const metadata = { name: SPACE };
    await world.kube.create<KubeObject>(namespaces, { apiVersion: "v1", kind: "Namespace", metadata });
    return world;
  }

  /** `keyturn credentials set db -n space -f -`, with this piped in. */
  set(piped: string, words: readonly string[] = [], kube: Kube = this.kube): Promise<Said> {
    const { clock } = this;
    return runOn({ kube, clock }, ["credentials", "set", "db", "-n", SPACE, "-f", "-", ...words], piped);
  }

  begin(piped: string, words: readonly string[] = []): Running {
    return beginOn(this, ["credentials", "set", "db", "-n", SPACE, "-f", "-", ...words], piped);
  }

  /** Lets time pass, and what waits for it look. */
  async pass(ms: number): Promise<void> {
    await this.clock.advance(ms);
    await settle();
  }

  instance(spec: object = {}, metadata: object = {}): Promise<KubeObject> {
    return this.#create(cfServiceInstance, "db", { spec: { type: "user-provided", ...spec } }, metadata);
  }

  bind(name: string, appName?: string): Promise<KubeObject> {
    const who = appName === undefined ? { type: "key" } : { type: "app", appRef: { name: appName } };
    return this.#create(cfServiceBinding, name, { spec: { service: { name: "db" }, ...who } });
  }

  secret(name: string, texts: Readonly<Record<string, string>>, fields: object = {}, metadata: object = {}) {
    const data = Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, base64(text)]));
    return this.#create(secretType, name, { data, ...fields }, metadata);
  }

  #create(type: ResourceType, name: string, fields: object, metadata: object = {}): Promise<KubeObject> {
    const { kind } = type;
    const draft = {
      apiVersion: apiVersionOf(type),
      kind,
      metadata: { namespace: SPACE, name, ...metadata },
      ...fields,
    };
    return this.kube.create<KubeObject>(type, draft);
  }

  /** An instance from before an upgrade, and what an operator has made of it since. */
  async legacy(): Promise<KubeObject> {
    const legacy = await this.secret("db", { user: "u" }, { type: "servicebinding.io/user-provided" });
    await this.instance({ secretName: "db" });
    const made = { labels: { "keyturn.dev/derived": "true" }, annotations: { "keyturn.dev/derived-from": "db" } };
    await this.secret("db-migrated", { credentials: '{"user":"u"}' }, {}, made);
    await this.sayOfInstance("db-migrated", legacy.metadata.resourceVersion ?? "");
    return legacy;
  }

  sayOfInstance(name: string, credentialsObservedVersion: string): Promise<KubeObject> {
    return this.#say(cfServiceInstance, "db", { credentials: { name }, credentialsObservedVersion });
  }

  /** What an operator has done once it has seen the credentials in the Secret of this name. */
  async seeInstance(secretName = "db"): Promise<void> {
    const { metadata } = await this.get("Secret", secretName);
    await this.sayOfInstance(secretName, metadata.resourceVersion ?? "");
  }

  /** What an operator has done for a binding. */
  async giveOut(name: string, flat: Readonly<Record<string, string>>, type = "servicebinding.io/user-provided") {
    await this.secret(name, flat, { type });
    await this.sayOfBinding(name, name, "db");
  }

  sayOfBinding(name: string, mountName: string, envName: string): Promise<KubeObject> {
    return this.#say(cfServiceBinding, name, { binding: { name: mountName }, credentials: { name: envName } });
  }

  async giveVcap(appName: string, bindingName: string, credentials: string): Promise<void> {
    const entry = `{"binding_guid":"${bindingName}","credentials":${credentials}}`;
    await this.secret(vcapSecretName(appName), { VCAP_SERVICES: `{"user-provided":[${entry}]}` });
  }

  sayProblem(name: string, reason: string, message: string): Promise<KubeObject> {
    const condition = { type: "Ready", status: "False", reason, message, lastTransitionTime: "2025-11-05T13:14:28Z" };
    return this.#say(cfServiceBinding, name, { conditions: [condition] });
  }

  #say(type: ResourceType, name: string, status: object): Promise<KubeObject> {
    const ref = { namespace: SPACE, name };
    return this.kube.patch(type, ref, { type: "merge", body: { status } }, { subresource: "status" });
  }

  get(kind: "Secret" | "CFServiceInstance" | "CFServiceBinding", name: string): Promise<KubeObject> {
    const types = { Secret: secretType, CFServiceInstance: cfServiceInstance, CFServiceBinding: cfServiceBinding };
    return this.kube.get(types[kind], { namespace: SPACE, name });
  }

  /** What a Secret says, as texts. */
  async texts(name: string): Promise<Readonly<Record<string, string>>> {
    const data = Object.entries((await this.get("Secret", name)).data as Readonly<Record<string, string>>);
    return Object.fromEntries(data.map(([key, encoded]) => [key, Buffer.from(encoded, "base64").toString()]));
  }

  async secretNames(): Promise<readonly string[]> {
    const { items } = await this.kube.list(secretType, { namespace: SPACE });
    return items.map(({ metadata }) => metadata.name).sort();
  }

  async namedSecret(): Promise<unknown> {
    return ((await this.get("CFServiceInstance", "db")).spec as { readonly secretName?: string }).secretName;
  }
}
