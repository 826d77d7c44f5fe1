import { apiVersionOf, type KubeObject, type OwnerReference, type ResourceType } from "../../src/kube/objects.ts";
import { secrets, statefulSets } from "../conformance/kinds.ts";
import { APP_LABEL, appType, bindingType, instanceType, projectionType } from "./kinds.ts";
import type { KorifiScene } from "./korifi-scene.ts";
import { type Fields, projectedSecrets } from "./secret-texts.ts";
import { hidden } from "./story.ts";

/** As Korifi's controllers call themselves. */
const MANAGER = "manager";
const AT_A_TIME = 10;
/** So many have pods; the others have a template, which is what counts. */
const RUNNING = 3;

/** A service of the time when credentials were flat, with everything that Korifi has made for it. */
export interface Legacy {
  readonly instance: string;
  readonly binding: string;
  readonly app: string;
  readonly credentials: Readonly<Record<string, string>>;
}

const legacy = (index: number): Legacy => ({
  instance: `svc-${index}`,
  binding: `binding-${index}`,
  app: `app-${index}`,
  // With characters that another encoder escapes.
  credentials: { host: hidden(`h${index}`), password: `<&>${hidden(`p${index}`)}`, type: "database" },
});

/** What an old Korifi leaves behind, and a runtime that has projected it. */
export class LegacyKorifi {
  readonly scene: KorifiScene;
  readonly services: readonly Legacy[];

  private constructor(scene: KorifiScene, services: readonly Legacy[]) {
    this.scene = scene;
    this.services = services;
  }

  static async set(scene: KorifiScene, count: number): Promise<LegacyKorifi> {
    const korifi = new LegacyKorifi(
      scene,
      Array.from({ length: count }, (_, index) => legacy(index)),
    );
    for (let from = 0; from < count; from += AT_A_TIME) {
      const some = korifi.services.slice(from, from + AT_A_TIME);
      await Promise.all(some.map((service, index) => korifi.#make(service, from + index < RUNNING ? 1 : 0)));
    }
    await scene.until("everything to be projected", async () => korifi.services.every((one) => korifi.#isMounted(one)));
    for (const { app, binding } of korifi.services.slice(0, RUNNING)) await scene.runningAlone(app, binding);
    return korifi;
  }

  async #make({ instance, binding, app, credentials }: Legacy, replicas: number): Promise<void> {
    const { scene } = this;
    const made = await scene.create(instanceType, instance, {
      spec: { type: "user-provided", displayName: instance, secretName: instance, tags: [] },
    });
    await this.#status(instanceType, instance, { conditions: [READY], observedGeneration: 1 });
    const data = encoded(credentials);
    await scene.create(
      secrets,
      instance,
      { type: "servicebinding.io/database", data },
      { ownerReferences: [ownerOf(made)] },
    );
    const owner = await scene.create(appType, app, { spec: { displayName: app } });
    const bound = await scene.bind(binding, { service: instance, app });
    const status = { conditions: [READY], observedGeneration: 1, binding: { name: instance } };
    await this.#status(bindingType, binding, status);
    const services = encoded({ VCAP_SERVICES: vcapOf({ instance, binding, app, credentials }) });
    await scene.create(secrets, `${app}-vcap-services`, { data: services }, { ownerReferences: [ownerOf(owner)] });
    await scene.create(
      projectionType,
      `cf-binding-${binding}`,
      { spec: projectionOf(binding, app) },
      {
        ownerReferences: [ownerOf(bound)],
        labels: { [APP_LABEL]: app },
      },
    );
    await scene.app(app, { isOptedIn: true, replicas });
  }

  async #status(type: ResourceType, name: string, status: Fields): Promise<void> {
    const { world, namespace } = this.scene;
    const options = { subresource: "status", fieldManager: MANAGER };
    await world.kube.patch(type, { namespace, name }, { type: "merge", body: { status } }, options);
  }

  #isMounted({ app, instance }: Legacy): boolean {
    const set = this.scene.world.history.find(statefulSets, { namespace: this.scene.namespace, name: app });
    return set !== undefined && projectedSecrets(set).includes(instance);
  }
}

/** With the exact bytes that Go writes: fields in the order of the struct, credentials by name. */
function vcapOf({ instance, binding, credentials }: Legacy): string {
  const entry = {
    label: "user-provided",
    name: instance,
    tags: [],
    instance_guid: instance,
    instance_name: instance,
    binding_guid: binding,
    binding_name: null,
    credentials,
    syslog_drain_url: null,
    volume_mounts: [],
  };
  return JSON.stringify({ "user-provided": [entry] }).replaceAll(/[&<>]/g, escaped);
}

const escaped = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;

const projectionOf = (binding: string, app: string): Fields => ({
  name: binding,
  type: "user-provided",
  workload: { apiVersion: "apps/v1", kind: "StatefulSet", selector: { matchLabels: { [APP_LABEL]: app } } },
  service: { apiVersion: apiVersionOf(bindingType), kind: bindingType.kind, name: binding },
});

const READY = {
  type: "Ready",
  status: "True",
  reason: "Ready",
  message: "",
  lastTransitionTime: "2024-02-23T00:00:00Z",
  observedGeneration: 1,
};

const ownerOf = ({ apiVersion, kind, metadata: { name, uid = "" } }: KubeObject): OwnerReference => ({
  apiVersion,
  kind,
  name,
  uid,
});

const encoded = (texts: Readonly<Record<string, string>>): Fields =>
  Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString("base64")]));
