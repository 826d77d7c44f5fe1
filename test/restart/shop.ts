import assert from "node:assert/strict";
import { NotFound } from "../../src/kube/errors.ts";
import { apiVersionOf, type KubeObject, type OwnerReference, type ResourceType } from "../../src/kube/objects.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { configMapType, kindOf, podType, type WorkloadKind } from "../../src/restart/workload-kinds.ts";
import { annotationsIn, type Fields, fields, type RestartStage } from "./restart-stage.ts";

const REVISION = "deployment.kubernetes.io/revision";
export const OPT_IN = { "keyturn.dev/restartOnChange": "true" };

const eventType: ResourceType = {
  group: "events.k8s.io",
  version: "v1",
  plural: "events",
  kind: "Event",
  namespaced: true,
};

export interface WorkloadWishes {
  readonly kind?: string;
  /** On the workload itself. */
  readonly own?: Readonly<Record<string, string>>;
  /** On the pod template; opted in where nothing is said. */
  readonly template?: Readonly<Record<string, string>>;
  readonly replicas?: number;
  /** Of the pod: the Secret `db` as a volume where nothing is said. */
  readonly pod?: Fields;
  readonly spec?: Fields;
  readonly namespace?: string;
  readonly owners?: readonly OwnerReference[];
}

export const secretVolume = (secretName: string, more: Fields = {}): Fields => ({
  name: `v-${secretName}`,
  secret: { secretName, ...more },
});
export const configVolume = (name: string): Fields => ({ name: `c-${name}`, configMap: { name } });
export const classVolume = (secretProviderClass: string): Fields => ({
  name: `s-${secretProviderClass}`,
  csi: { driver: "secrets-store.csi.k8s.io", readOnly: true, volumeAttributes: { secretProviderClass } },
});

const CONTAINER = { name: "main", image: "example.com/app:1" };
export const podSpec = (...volumes: readonly Fields[]): Fields => ({ containers: [CONTAINER], volumes });

/** Where workloads are: any stage has as much. */
export type ShopPlace = Pick<RestartStage, "kube" | "namespace" | "until" | "calm">;

/** What people and controllers do in the namespace of a story, and what can be seen there. */
export class Shop {
  readonly #stage: ShopPlace;

  constructor(stage: ShopPlace) {
    this.#stage = stage;
  }

  async secret(name: string, data: Readonly<Record<string, string>>, namespace = this.#stage.namespace): Promise<void> {
    await this.#put(secretType, name, namespace, { data: encoded(data) });
  }

  async configMap(name: string, data: Readonly<Record<string, string>>): Promise<void> {
    await this.#put(configMapType, name, this.#stage.namespace, { data });
  }

  async annotate(
    type: ResourceType,
    name: string,
    annotations: Readonly<Record<string, string | null>>,
  ): Promise<void> {
    await this.merge(type, name, { metadata: { annotations } });
  }

  async merge(type: ResourceType, name: string, body: object, fieldManager = "kubectl-edit"): Promise<void> {
    const ref = { namespace: this.#stage.namespace, name };
    await this.#stage.kube.patch(type, ref, { type: "merge", body }, { fieldManager });
  }

  async deleteSecret(name: string): Promise<void> {
    await this.#stage.kube.delete(secretType, { namespace: this.#stage.namespace, name });
  }

  async workload(name: string, wishes: WorkloadWishes = {}): Promise<void> {
    const {
      kind = "Deployment",
      own = {},
      template = OPT_IN,
      pod = podSpec(secretVolume("db")),
      replicas = 2,
    } = wishes;
    const { namespace = this.#stage.namespace } = wishes;
    const { type } = kindNamed(kind);
    const labels = { app: name };
    const podTemplate = { metadata: { labels, annotations: template }, spec: pod };
    const spec = SPECS[kind]?.({ podTemplate, labels, replicas, name }) ?? {};
    await this.#stage.kube.create(type, {
      apiVersion: apiVersionOf(type),
      kind,
      metadata: { namespace, name, annotations: own, ...(wishes.owners && { ownerReferences: wishes.owners }) },
      spec: { ...spec, ...wishes.spec },
    });
  }

  async pod(name: string, annotations: Readonly<Record<string, string>>, more: Fields = {}): Promise<void> {
    const { metadata, ...rest } = more;
    const { namespace } = this.#stage;
    await this.#stage.kube.create(podType, {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { namespace, name, annotations, ...fields(metadata) },
      spec: podSpec(secretVolume("db")),
      ...rest,
    });
  }

  get(kind: string, name: string, namespace = this.#stage.namespace): Promise<KubeObject> {
    const type = kind === "Pod" ? podType : kindNamed(kind).type;
    return this.#stage.kube.get(type, { namespace, name });
  }

  async template(name: string, kind = "Deployment", namespace?: string): Promise<Readonly<Record<string, string>>> {
    return kindNamed(kind).templateOf(await this.get(kind, name, namespace)).annotations;
  }

  async digests(name: string, kind = "Deployment", namespace?: string): Promise<string | undefined> {
    return (await this.template(name, kind, namespace))["keyturn.dev/digests"];
  }

  /** How often the pod template has changed since the workload was made. */
  async rolls(name: string, kind = "Deployment", namespace?: string): Promise<number> {
    const object = await this.get(kind, name, namespace);
    // A Deployment counts up its generation for its annotations, too; its revisions are those of its template.
    const revision = annotationsIn(object)[REVISION] ?? "1";
    return (kind === "Deployment" ? Number(revision) : (object.metadata.generation ?? 1)) - 1;
  }

  async state(name: string, kind = "Deployment"): Promise<Fields | undefined> {
    const text = annotationsIn(await this.get(kind, name))["keyturn.dev/restart-state"];
    return text === undefined ? undefined : fields(JSON.parse(text));
  }

  /**
   * Until the baseline of a workload is known, and its first pods are under way: a template that changes before its
   * controller has seen it once is no restart.
   */
  async adopted(name: string, kind = "Deployment"): Promise<void> {
    await this.#stage.until(`${kind} ${name} to be known`, async () => {
      const isKnown = (await this.state(name, kind)) !== undefined;
      return isKnown && (kind !== "Deployment" || (await this.#revision(name)) !== undefined);
    });
  }

  async #revision(name: string): Promise<string | undefined> {
    return annotationsIn(await this.get("Deployment", name))[REVISION];
  }

  async rolled(name: string, times: number, kind = "Deployment"): Promise<void> {
    await this.#stage.until(
      `${kind} ${name} to be restarted ${times} times`,
      async () => (await this.rolls(name, kind)) >= times,
    );
    assert.equal(await this.rolls(name, kind), times, `${kind} ${name} was restarted too often`);
  }

  /** Nothing more happens to it. */
  async staysAt(name: string, times: number, kind = "Deployment", reason = ""): Promise<void> {
    await this.#stage.calm();
    assert.equal(await this.rolls(name, kind), times, `${kind} ${name}: ${reason}`);
  }

  async pods(app: string): Promise<readonly KubeObject[]> {
    const { items } = await this.#stage.kube.list(podType, {
      namespace: this.#stage.namespace,
      labelSelector: `app=${app}`,
    });
    return items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  }

  /** Until all pods of an app are there, Ready and on the template of now. */
  async complete(name: string, replicas: number, kind = "Deployment"): Promise<readonly KubeObject[]> {
    let pods: readonly KubeObject[] = [];
    await this.#stage.until(`all pods of ${name} to be there`, async () => {
      const digests = await this.digests(name, kind);
      pods = await this.pods(name);
      const isCurrent = (pod: KubeObject): boolean => annotationsIn(pod)["keyturn.dev/digests"] === digests;
      return pods.length === replicas && pods.every((pod) => isCurrent(pod) && isReady(pod));
    });
    return pods;
  }

  async events(reason: string, namespace = this.#stage.namespace): Promise<readonly KubeObject[]> {
    const { items } = await this.#stage.kube.list(eventType, { namespace });
    return items.filter((event) => event.reason === reason);
  }

  async exists(kind: string, name: string): Promise<boolean> {
    try {
      await this.get(kind, name);
      return true;
    } catch (error) {
      if (error instanceof NotFound) return false;
      throw error;
    }
  }

  async #put(type: ResourceType, name: string, namespace: string, content: Fields): Promise<void> {
    const { kube } = this.#stage;
    const object = { apiVersion: "v1", kind: type.kind, metadata: { namespace, name }, ...content };
    try {
      const { metadata } = await kube.get(type, { namespace, name });
      await kube.replace(type, { ...object, metadata }, { fieldManager: "somebody" });
    } catch (error) {
      if (!(error instanceof NotFound)) throw error;
      await kube.create(type, object, { fieldManager: "somebody" });
    }
  }
}

interface SpecParts {
  readonly podTemplate: Fields;
  readonly labels: Readonly<Record<string, string>>;
  readonly replicas: number;
  readonly name: string;
}

const plainSpec = ({ podTemplate: template, labels: matchLabels, replicas }: SpecParts): Fields => ({
  replicas,
  selector: { matchLabels },
  template,
});

const SPECS: Readonly<Record<string, (parts: SpecParts) => Fields>> = {
  Deployment: plainSpec,
  ReplicaSet: plainSpec,
  StatefulSet: (parts) => ({ ...plainSpec(parts), serviceName: parts.name }),
  DaemonSet: ({ podTemplate: template, labels: matchLabels }) => ({ selector: { matchLabels }, template }),
  CronJob: ({ podTemplate }) => ({
    schedule: "0 3 * * *",
    jobTemplate: {
      spec: { template: { ...podTemplate, spec: { ...fields(podTemplate.spec), restartPolicy: "Never" } } },
    },
  }),
};

function kindNamed(name: string): WorkloadKind {
  const kind = kindOf(name);
  if (!kind) throw new Error(`there is no kind ${name}`);
  return kind;
}

const encoded = (data: Readonly<Record<string, string>>): Fields =>
  Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString("base64")]));

export const isReady = ({ status }: KubeObject): boolean => {
  const { conditions } = fields(status);
  return Array.isArray(conditions) && conditions.some((one) => one.type === "Ready" && one.status === "True");
};
