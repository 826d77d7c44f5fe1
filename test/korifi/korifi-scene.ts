import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { ifFound } from "../../src/kube/if-found.ts";
import { apiVersionOf, type KubeObject, type ObjectMeta, type ResourceType } from "../../src/kube/objects.ts";
import { pods, secrets, statefulSets } from "../conformance/kinds.ts";
import { eventually } from "../support/eventually.ts";
import { Container, type Services } from "./container.ts";
import type { Happening } from "./history.ts";
import { APP_LABEL, bindingType, instanceType } from "./kinds.ts";
import type { KorifiWorld } from "./korifi-world.ts";
import { type Fields, fields, nameIn, objectIn, projectedSecrets, textsOf } from "./secret-texts.ts";

/** Machines that run tests are busy. */
const PATIENCE_MS = 60_000;
/** Longer than anything that was set going takes to have an effect. */
const CALM_MS = 3_000;

export interface BindingWishes {
  readonly service: string;
  /** A key where there is none. */
  readonly app?: string;
  readonly displayName?: string;
}

export interface AppWishes {
  readonly isOptedIn?: boolean;
  readonly replicas?: number;
}

export interface PlainSecret {
  readonly type: string;
  readonly texts: Readonly<Record<string, string>>;
}

/** A namespace in which a story is told: what people do there, and what has come of it. */
export class KorifiScene {
  readonly world: KorifiWorld;
  readonly namespace: string;

  constructor(world: KorifiWorld, namespace: string) {
    this.world = world;
    this.namespace = namespace;
  }

  create(type: ResourceType, name: string, content: Fields, metadata: Partial<ObjectMeta> = {}): Promise<KubeObject> {
    const { namespace } = this;
    const object = { apiVersion: apiVersionOf(type), kind: type.kind, metadata: { ...metadata, namespace, name } };
    return this.world.kube.create<KubeObject>(type, { ...object, ...content }, { fieldManager: "kubectl" });
  }

  get(type: ResourceType, name: string): Promise<KubeObject | undefined> {
    return ifFound(this.world.kube.get(type, { namespace: this.namespace, name }));
  }

  /** As the watch has it: costs the server nothing, and may be a moment old. */
  seen(type: ResourceType, name: string): KubeObject | undefined {
    return this.world.history.find(type, { namespace: this.namespace, name });
  }

  async patch(type: ResourceType, name: string, body: Fields): Promise<void> {
    const ref = { namespace: this.namespace, name };
    await this.world.kube.patch(type, ref, { type: "merge", body }, { fieldManager: "kubectl" });
  }

  async delete(type: ResourceType, name: string): Promise<void> {
    await this.world.kube.delete(type, { namespace: this.namespace, name });
  }

  /** Credentials as a person writes them: this text, or this object as JSON. */
  async setCredentials(secretName: string, credentials: string | Fields): Promise<void> {
    const text = typeof credentials === "string" ? credentials : JSON.stringify(credentials);
    const data = { credentials: Buffer.from(text).toString("base64") };
    if ((await this.get(secrets, secretName)) === undefined) {
      await this.create(secrets, secretName, { type: "Opaque", data });
    } else await this.patch(secrets, secretName, { data });
  }

  async instance(name: string, spec: Fields = {}): Promise<KubeObject> {
    return this.create(instanceType, name, { spec: { type: "user-provided", ...spec } });
  }

  /** An instance, and the Secret of its name. */
  async service(name: string, credentials: string | Fields, spec: Fields = {}): Promise<void> {
    await this.setCredentials(name, credentials);
    await this.instance(name, spec);
  }

  async bind(name: string, { service, app, displayName }: BindingWishes): Promise<KubeObject> {
    const spec = {
      service: { apiVersion: apiVersionOf(instanceType), kind: instanceType.kind, name: service },
      ...(displayName !== undefined && { displayName }),
      ...(app === undefined ? { type: "key" } : { type: "app", appRef: { name: app } }),
    };
    const labels = { "servicebinding.io/provisioned-service": "true" };
    return this.create(bindingType, name, { spec }, { labels });
  }

  /** The workload of an application, as Korifi makes it. */
  async app(name: string, { isOptedIn = false, replicas = 1 }: AppWishes = {}): Promise<KubeObject> {
    const labels = { [APP_LABEL]: name };
    const secretKeyRef = { name: `${name}-vcap-services`, key: "VCAP_SERVICES", optional: true };
    const env = [{ name: "VCAP_SERVICES", valueFrom: { secretKeyRef } }];
    const annotations = isOptedIn ? { "keyturn.dev/restartOnChange": "true" } : {};
    const template = {
      metadata: { labels, annotations },
      spec: { containers: [{ name: "application", image: "example.com/app:1", env }] },
    };
    const spec = { replicas, serviceName: name, selector: { matchLabels: labels }, template };
    return this.create(statefulSets, name, { spec }, { labels });
  }

  async until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
    try {
      await eventually(`${this.namespace}: ${what}`, async () => (await isSo()) || undefined, PATIENCE_MS);
    } catch (error) {
      throw new Error(`${error instanceof Error ? error.message : error}\n${this.#describe()}`, { cause: error });
    }
  }

  /** Nothing more comes of what was done. */
  async calm(ms = CALM_MS): Promise<void> {
    await sleep(ms);
    await this.world.history.caughtUp(this.namespace);
  }

  async secret(name: string): Promise<PlainSecret | undefined> {
    return plain(await this.get(secrets, name));
  }

  /** The Secret that a binding has projected. */
  mounted(binding: string): PlainSecret | undefined {
    const name = nameIn(this.seen(bindingType, binding), "binding");
    return name === undefined ? undefined : plain(this.seen(secrets, name));
  }

  /** What VCAP_SERVICES of an application would be now; undefined where there is no Secret for it. */
  services(app: string): Services | undefined {
    const secret = plain(this.seen(secrets, `${app}-vcap-services`));
    return objectIn(secret?.texts.VCAP_SERVICES) as Services | undefined;
  }

  /** Its entry for a binding. */
  entry(app: string, binding: string): Fields | undefined {
    const entries = Object.values(this.services(app) ?? {}).flat();
    return entries.find((entry) => entry.binding_guid === binding);
  }

  /** Until a binding gives out these files and its application finds these credentials. */
  async gives(binding: string, files: Readonly<Record<string, string>>, app?: string, whole?: Fields): Promise<void> {
    const isGivenOut = (): boolean => isDeepStrictEqual(this.mounted(binding)?.texts, files);
    await this.until(`${binding} to give out what it is to give out`, isGivenOut);
    if (app === undefined) return;
    const isFound = (): boolean => isDeepStrictEqual(this.entry(app, binding)?.credentials, whole ?? files);
    await this.until(`${app} to find the credentials of ${binding}`, isFound);
  }

  /** What is not as it should be, as a status says it: `reason: message`. */
  complaints(type: ResourceType, name: string): string {
    const { conditions } = fields(this.seen(type, name)?.status);
    const all = (conditions ?? []) as readonly Readonly<Record<string, string>>[];
    const bad = all.filter(({ status }) => status === "False");
    return bad.map(({ reason, message }) => `${reason}: ${message ?? ""}`).join("; ");
  }

  isReady(type: ResourceType, name: string): boolean {
    const object = this.seen(type, name);
    const { conditions, observedGeneration } = fields(object?.status);
    const all = (conditions ?? []) as readonly Readonly<Record<string, string>>[];
    const isSaid = observedGeneration === undefined || observedGeneration === object?.metadata.generation;
    return isSaid && all.some((one) => one.type === "Ready" && one.status === "True");
  }

  async ready(type: ResourceType, ...names: readonly string[]): Promise<void> {
    for (const name of names) await this.until(`${type.kind} ${name} to be ready`, () => this.isReady(type, name));
  }

  /** Until these bindings are projected into the workload of an application, and all of its pods run on that. */
  async running(app: string, ...bindings: readonly string[]): Promise<void> {
    await this.until(`${app} to run with ${bindings.join(", ")}`, () => {
      const set = this.seen(statefulSets, app);
      const names = this.#mountNames(bindings);
      return isRolledOut(set, names) && isKnown(set, [...names, `${app}-vcap-services`]);
    });
    await this.world.history.caughtUp(this.namespace);
  }

  /** The same where nobody looks after restarts. */
  async runningAlone(app: string, ...bindings: readonly string[]): Promise<void> {
    await this.until(`${app} to run with ${bindings.join(", ")}`, () =>
      isRolledOut(this.seen(statefulSets, app), this.#mountNames(bindings)),
    );
  }

  #mountNames(bindings: readonly string[]): readonly string[] {
    return bindings.map((binding) => nameIn(this.seen(bindingType, binding), "binding") ?? "");
  }

  /** How often the pod template of an application has changed since it was made. */
  rolls(app: string): number {
    return this.templates(app).length - 1;
  }

  /** The pod templates that an application has had, one after the other. */
  templates(app: string): readonly Fields[] {
    return this.world.history
      .of(this.namespace)
      .filter(({ kind, object }) => kind === statefulSets.kind && object.metadata.name === app)
      .map(({ object }) => fields(fields(object.spec).template))
      .filter((template, index, all) => index === 0 || !isDeepStrictEqual(template, all[index - 1]));
  }

  /** What the first pod of an application finds when it starts. */
  async container(app: string): Promise<Container> {
    const pod = (await this.get(pods, `${app}-0`)) ?? assert.fail(`${app} has no pod`);
    return Container.start(pod, async (name) => (await this.get(secrets, name)) ?? assert.fail(`there is no ${name}`));
  }

  /** Whether the first pod of an application was made after everything that it is given had become what it is. */
  isCurrent(app: string): boolean {
    const history = this.world.history.of(this.namespace);
    const pod = this.world.history.find(pods, { namespace: this.namespace, name: `${app}-0` });
    const madeAt = history.find(({ object }) => pod !== undefined && object.metadata.uid === pod.metadata.uid)?.version;
    if (pod === undefined || madeAt === undefined) return false;
    return [...projectedSecrets(pod), `${app}-vcap-services`].every((name) => {
      const states = history.filter(({ kind, object }) => kind === "Secret" && object.metadata.name === name);
      const isOther = ({ object }: Happening, index: number): boolean =>
        !isDeepStrictEqual(object.data, states[index - 1]?.object.data);
      return (states.findLast(isOther)?.version ?? 0n) < madeAt;
    });
  }

  /** For a failure: what there is, without a value. */
  #describe(): string {
    const all = [instanceType, bindingType, statefulSets].flatMap((type) =>
      this.world.history.live(type, this.namespace),
    );
    const names = this.world.history.live(secrets, this.namespace).map(({ metadata, type }) => [metadata.name, type]);
    return JSON.stringify({ secrets: names, objects: all.map((one) => [one.kind, one.metadata.name, one.status]) });
  }
}

const plain = (secret: KubeObject | undefined): PlainSecret | undefined =>
  secret && { type: String(secret.type), texts: textsOf(secret) };

/** Whether a workload has these Secrets projected, and all of its pods are of its template of now. */
function isRolledOut(set: KubeObject | undefined, secretNames: readonly string[]): boolean {
  if (set === undefined || !secretNames.every((name) => projectedSecrets(set).includes(name))) return false;
  const { observedGeneration, readyReplicas, updatedReplicas, currentRevision, updateRevision } = fields(set.status);
  const { replicas } = fields(set.spec);
  const isSeen = observedGeneration === set.metadata.generation && currentRevision === updateRevision;
  return isSeen && (replicas === 0 || (readyReplicas === replicas && updatedReplicas === replicas));
}

/** Whether the restarter knows what an application that has opted in runs on. */
function isKnown(set: KubeObject | undefined, secretNames: readonly string[]): boolean {
  const { annotations } = fields(fields(fields(set?.spec).template).metadata);
  if (fields(annotations)["keyturn.dev/restartOnChange"] === undefined) return true;
  const state = set?.metadata.annotations?.["keyturn.dev/restart-state"] ?? "";
  return secretNames.every((name) => state.includes(`"secret/${name}"`));
}
