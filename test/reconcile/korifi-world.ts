import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { definitionOf } from "../../src/api/custom-resource.ts";
import { cfServiceBinding } from "../../src/api/korifi/cf-service-binding.ts";
import { cfServiceInstance } from "../../src/api/korifi/cf-service-instance.ts";
import { korifiResources } from "../../src/api/korifi/korifi-resources.ts";
import { embeddedCluster } from "../../src/embedded/embedded-cluster.fixture.ts";
import { flatten } from "../../src/korifi/flatten.ts";
import { credentialsOf, textsIn } from "../../src/korifi/korifi.fixture.ts";
import { viewSecret } from "../../src/korifi/read-objects.ts";
import { NotFound } from "../../src/kube/errors.ts";
import { apiVersionOf, type KubeObject, type ResourceType } from "../../src/kube/objects.ts";
import { recordOf } from "../../src/kube/record.ts";
import type { Transport, TransportRequest } from "../../src/kube/transport.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import type { ControllerSettings } from "../../src/reconcile/controller-settings.ts";
import { korifiControllers } from "../../src/reconcile/korifi/korifi-controllers.ts";
import { serviceBindingType } from "../../src/reconcile/korifi/korifi-sources.ts";
import type { KorifiMode } from "../../src/reconcile/korifi/strangers.ts";
import { installForeignKind } from "../../src/reconcile/objects.fixture.ts";
import { namespaceType } from "../../src/reconcile/restart/restart-sources.ts";
import type { Controller } from "../../src/runtime/controller.ts";
import { customResourceDefinitions } from "../conformance/kinds.ts";
import { NOTHING_OUTSIDE, type OperatedWorld, WorldOperator } from "./world-operator.ts";

export const NAMESPACE = "space";
const API_VERSION = apiVersionOf(cfServiceInstance);

export const appType: ResourceType = { ...cfServiceInstance, plural: "cfapps", kind: "CFApp" };

type Texts = Readonly<Record<string, string>>;

export interface KorifiWorldOptions {
  readonly mode?: KorifiMode;
  /** Whether anything projects bindings. */
  readonly hasRuntime?: boolean;
}

/**
 * The three controllers of service credentials on the embedded API. After every write of a Secret or a status, each Secret
 * that a status names must be there, of its type, and whole: what one version of the credentials says.
 */
export class KorifiControllersWorld implements OperatedWorld {
  readonly #cluster = embeddedCluster();
  readonly clock = this.#cluster.clock;
  readonly random = this.#cluster.random;
  readonly kube = this.#cluster.kube;
  readonly sandbox = NOTHING_OUTSIDE;
  readonly transport: Transport = {
    send: async (request) => {
      const response = await this.#cluster.transport.send(request);
      if (request.method !== "GET") this.check(`${request.method} ${request.path}`);
      return response;
    },
    close: () => this.#cluster.transport.close(),
  };
  readonly #mode: KorifiMode;
  /** Every version of any credentials that there was. */
  readonly #versions = new Set<string>();
  readonly wrongs: string[] = [];
  readonly #versionsSeen = new Map<string, string>();
  /** What each Secret has held, one after the other. */
  readonly #contents = new Map<string, string[]>();
  operator: WorldOperator;

  private constructor({ mode = "auto" }: KorifiWorldOptions) {
    this.#mode = mode;
    this.#cluster.server.start();
    this.operator = new WorldOperator(this, { korifi: mode });
  }

  static async begin(options: KorifiWorldOptions = {}): Promise<KorifiControllersWorld> {
    const world = new KorifiControllersWorld(options);
    for (const resource of korifiResources) {
      const definition = JSON.parse(JSON.stringify(definitionOf(resource))) as KubeObject;
      await world.kube.create<KubeObject>(customResourceDefinitions, definition);
    }
    if (options.hasRuntime !== false) await installForeignKind(world.kube, serviceBindingType);
    const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } };
    await world.kube.create<KubeObject>(namespaceType, namespace);
    await world.pass(3_000);
    return world;
  }

  createControllers(settings: ControllerSettings): readonly Controller[] {
    return korifiControllers.map(({ create }) => create(settings));
  }

  /** Another process: nothing of the former one's memory is left. */
  begunAnew(): void {
    this.operator = new WorldOperator(this, { korifi: this.#mode });
  }

  /** One of the controllers, in a process of its own. */
  alone(name: string): WorldOperator {
    const { clock, random, transport, sandbox } = this;
    const createControllers = (settings: ControllerSettings): readonly Controller[] =>
      korifiControllers.filter((each) => each.name === name).map(({ create }) => create(settings));
    return new WorldOperator({ clock, random, transport, sandbox, createControllers }, { korifi: this.#mode });
  }

  async pass(ms = 3_000): Promise<void> {
    for (let passed = 0; passed < ms; passed += 1_000) await this.clock.advance(1_000);
  }

  async stop(): Promise<void> {
    if (!this.operator.isDead) await this.operator.stop();
    await this.#cluster.server.stop();
    assert.deepEqual(this.wrongs, []);
  }

  /** What people do. */
  async secret(name: string, texts: Texts, more: Readonly<Record<string, unknown>> = {}): Promise<void> {
    this.#note(texts);
    const { metadata, ...fields } = more;
    const object = {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name, namespace: NAMESPACE, ...recordOf(metadata) },
    };
    await this.kube.create<KubeObject>(secretType, { ...object, data: encoded(texts), ...fields });
  }

  async change(name: string, texts: Texts): Promise<void> {
    this.#note(texts);
    const present = await this.kube.get(secretType, { namespace: NAMESPACE, name });
    await this.kube.replace<KubeObject>(secretType, { ...present, data: encoded(texts) });
  }

  /** Credentials that come to be in another way. */
  noteVersion(version: string): void {
    this.#versions.add(version);
  }

  #note(texts: Texts): void {
    const { credentials } = texts;
    if (credentials === undefined) this.#versions.add(JSON.stringify(Object.fromEntries(Object.entries(texts).sort())));
    else this.#versions.add(credentials);
  }

  create(type: ResourceType, name: string, fields: Readonly<Record<string, unknown>>): Promise<KubeObject> {
    const object = {
      apiVersion: apiVersionOf(type),
      kind: type.kind,
      metadata: { name, namespace: NAMESPACE },
      ...fields,
    };
    return this.kube.create<KubeObject>(type, object, { fieldManager: "kubectl" });
  }

  instance(name: string, spec: Readonly<Record<string, unknown>> = {}): Promise<KubeObject> {
    return this.create(cfServiceInstance, name, { spec: { type: "user-provided", ...spec } });
  }

  bind(name: string, instance: string, spec: Readonly<Record<string, unknown>> = {}): Promise<KubeObject> {
    const service = { apiVersion: API_VERSION, kind: "CFServiceInstance", name: instance };
    return this.create(cfServiceBinding, name, { spec: { service, type: "app", appRef: { name: "shop" }, ...spec } });
  }

  /** As a former release has left it: one Secret for the instance, flat, which every binding has projected. */
  async legacyService(name: string, texts: Texts, bindings: readonly string[]): Promise<void> {
    const { apiVersion, kind, metadata } = await this.instance(name, { secretName: name });
    const owner = { apiVersion, kind, name, uid: metadata.uid };
    const type = `servicebinding.io/${texts.type}`;
    await this.secret(name, texts, { type, metadata: { ownerReferences: [owner] } });
    for (const binding of bindings) {
      await this.bind(binding, name);
      await this.patchStatus(cfServiceBinding, binding, { binding: { name } });
    }
  }

  patch(type: ResourceType, name: string, body: object): Promise<KubeObject> {
    return this.kube.patch(type, { namespace: NAMESPACE, name }, { type: "merge", body }, { fieldManager: "kubectl" });
  }

  /** As somebody else has left it. */
  patchStatus(type: ResourceType, name: string, status: object, fieldManager = "manager"): Promise<KubeObject> {
    const patch = { type: "merge", body: { status } } as const;
    return this.kube.patch(type, { namespace: NAMESPACE, name }, patch, { subresource: "status", fieldManager });
  }

  async remove(type: ResourceType, name: string): Promise<void> {
    await this.kube.delete(type, { namespace: NAMESPACE, name });
  }

  async get(type: ResourceType, name: string): Promise<KubeObject | undefined> {
    try {
      return await this.kube.get(type, { namespace: NAMESPACE, name });
    } catch (error) {
      if (error instanceof NotFound) return undefined;
      throw error;
    }
  }

  /** What they find. */
  async status(type: ResourceType, name: string): Promise<Readonly<Record<string, unknown>>> {
    return recordOf((await this.get(type, name))?.status);
  }

  async condition(type: ResourceType, name: string, condition: string): Promise<string> {
    const { conditions = [] } = (await this.status(type, name)) as { conditions?: readonly Texts[] };
    const found = conditions.find((each) => each.type === condition) ?? {};
    return [found.status, found.reason, found.message].filter((word) => word !== undefined).join(" ");
  }

  async texts(name: string): Promise<Texts | undefined> {
    const secret = await this.get(secretType, name);
    return secret && textsIn(viewSecret(secret).data);
  }

  /** The credentials of each binding, as VCAP_SERVICES has them. */
  async vcap(app = "shop"): Promise<Readonly<Record<string, unknown>> | undefined> {
    const texts = await this.texts(`${app}-vcap-services`);
    if (!texts) return undefined;
    const lists = Object.values(
      JSON.parse(texts.VCAP_SERVICES ?? "") as Record<string, readonly Record<string, unknown>[]>,
    );
    return Object.fromEntries(lists.flat().map((entry) => [entry.binding_guid, entry.credentials]));
  }

  async derivedFrom(name: string): Promise<string | undefined> {
    return (await this.get(secretType, name))?.metadata.annotations?.["keyturn.dev/derived-from"];
  }

  /** What the operator has written, and what it has read of Secrets, since the last look: `verb name`. */
  traffic(): { readonly writes: readonly string[]; readonly reads: readonly string[] } {
    const requests = this.operator.requests.filter(({ path }) => !path.includes("watch=") && !path.includes("/events"));
    const writes = requests.filter(({ method }) => method !== "GET").map(describe);
    const reads = requests.filter(({ method, path }) => method === "GET" && path.includes("/secrets/")).map(describe);
    this.operator.traffic();
    return { writes: writes.sort(), reads: reads.sort() };
  }

  /** What each Secret has held, one after the other; the same twice in a row is a write that said the same. */
  get contents(): ReadonlyMap<string, readonly string[]> {
    return this.#contents;
  }

  #noteContents(): void {
    const { store } = this.#cluster.server;
    for (const key of store.keys("secrets")) {
      const { metadata, data, type } = store.get("secrets", key) ?? assert.fail(key);
      const version = `${metadata.uid} ${metadata.resourceVersion}`;
      if (this.#versionsSeen.get(key) === version) continue;
      this.#versionsSeen.set(key, version);
      const content = JSON.stringify([type, data, metadata.annotations, metadata.labels]);
      this.#contents.set(key, [...(this.#contents.get(key) ?? []), content]);
    }
  }

  check(when: string): void {
    this.#noteContents();
    const { store } = this.#cluster.server;
    const secretOf = (name: unknown): KubeObject | undefined => store.get("secrets", `${NAMESPACE}/${String(name)}`);
    const wrong = (what: string): void => void this.wrongs.push(`${when}: ${what}`);
    for (const key of store.keys("cfservicebindings.korifi.cloudfoundry.org")) {
      const { binding, credentials } = recordOf(store.get("cfservicebindings.korifi.cloudfoundry.org", key)?.status);
      for (const reference of [binding, credentials].filter((each) => each !== undefined)) {
        if (!secretOf(recordOf(reference).name)) wrong(`${key} names ${JSON.stringify(reference)}, which is not there`);
      }
      const mount = secretOf(recordOf(binding).name);
      if (mount && !this.#isWhole(mount)) wrong(`${mount.metadata.name} of ${key} is of no version`);
    }
    for (const key of store.keys("secrets").filter((each) => each.endsWith("-vcap-services"))) {
      const secret = store.get("secrets", key);
      const text = secret ? (textsIn(viewSecret(secret).data).VCAP_SERVICES ?? "") : "{}";
      for (const entry of Object.values(JSON.parse(text) as Record<string, { credentials: unknown }[]>).flat()) {
        const said = JSON.stringify(entry.credentials);
        if (![...this.#versions].some((version) => compact(version) === said)) wrong(`${key} has ${said}`);
      }
    }
  }

  #isWhole(secret: KubeObject): boolean {
    const view = viewSecret(secret);
    const texts = JSON.stringify(Object.entries(textsIn(view.data)).sort());
    return [...this.#versions].some((version) => {
      if (compact(version) === undefined) return false;
      const flat = flatten(credentialsOf(version));
      return flat.type === view.type && JSON.stringify(Object.entries(textsIn(flat.data)).sort()) === texts;
    });
  }
}

const encoded = (texts: Texts): Texts =>
  Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString("base64")]));

/** Undefined for what cannot be given out. */
function compact(version: string): string | undefined {
  try {
    credentialsOf(version);
    return JSON.stringify(JSON.parse(version));
  } catch {
    return undefined;
  }
}

const VERBS = { GET: "get", POST: "create", PUT: "replace", PATCH: "patch", DELETE: "delete" } as const;

/** `create secrets/name`, `replace cfservicebindings/name/status`. */
function describe({ method, path, body }: TransportRequest): string {
  const [pathname = ""] = path.split("?");
  const [, rest = ""] = pathname.split(`/namespaces/${NAMESPACE}/`);
  const created = method === "POST" ? `/${(JSON.parse(body ?? "{}") as KubeObject).metadata.name}` : "";
  return `${VERBS[method]} ${rest}${created}`;
}
