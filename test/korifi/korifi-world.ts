import { randomUUID } from "node:crypto";
import type { KubeObject } from "../../src/kube/objects.ts";
import type { Kube } from "../../src/kube/port.ts";
import { namespaces, pods, secrets, statefulSets } from "../conformance/kinds.ts";
import { ignoreMissing } from "../rotation/stage.ts";
import { History } from "./history.ts";
import { judge } from "./judge.ts";
import { appType, bindingType, installForeignKinds, instanceType, projectionType } from "./kinds.ts";
import { KorifiScene } from "./korifi-scene.ts";
import { ProjectionRuntime } from "./projection-runtime.ts";

/** Stands in every value that a story gives to a service; the other one in all that a sandbox gives out. */
export const CANARY = "canary-of-korifi";
const CANARIES: readonly string[] = [CANARY, "sandbox-secret"];

const events = { group: "events.k8s.io", version: "v1", plural: "events", kind: "Event", namespaced: true } as const;

/**
 * What is around the operator in stories of applications: a runtime that projects bindings, and somebody who remembers
 * everything, and at the end says what was wrong at any moment. Must not: help the operator in any way.
 */
export class KorifiWorld {
  readonly kube: Kube;
  readonly history: History;
  readonly #runtime: ProjectionRuntime;
  readonly #namespaces: string[] = [];
  readonly #told = new Set<string>();

  private constructor(kube: Kube, history: History) {
    this.kube = kube;
    this.history = history;
    this.#runtime = new ProjectionRuntime(kube, history);
  }

  /** The kinds of Korifi that are Keyturn's too are there already, whoever has installed them. */
  static async open(kube: Kube): Promise<KorifiWorld> {
    await installForeignKinds(kube, projectionType, appType);
    const types = [instanceType, bindingType, projectionType, secrets, statefulSets, pods];
    return new KorifiWorld(kube, await History.follow(kube, types));
  }

  /** A namespace of a story's own. */
  async scene(prefix: string): Promise<KorifiScene> {
    const name = `${prefix}-${randomUUID().slice(0, 8)}`;
    await this.kube.create<KubeObject>(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
    this.#namespaces.push(name);
    return this.sceneIn(name);
  }

  /** In a namespace that is somebody else's. */
  sceneIn(namespace: string): KorifiScene {
    this.#told.add(namespace);
    return new KorifiScene(this, namespace);
  }

  /** What was wrong at any moment in a namespace. */
  async problemsIn(namespace: string): Promise<readonly string[]> {
    await this.history.caughtUp(namespace);
    return judge(this.history.of(namespace));
  }

  /** Where a value was seen that belongs into the data of Secrets alone. */
  async leaks(logs: readonly string[]): Promise<readonly string[]> {
    const { items } = await this.kube.list<KubeObject>(events);
    const all = [...this.#told].flatMap((namespace) => this.history.of(namespace));
    const objects = all.map(({ object: { data, ...rest } }) => rest);
    const seen = [...items, ...objects].filter((object) => says(JSON.stringify(object)));
    return [
      ...new Set(seen.map(({ kind, metadata }) => `${kind} ${metadata.name}`)),
      ...logs.filter(says).map(() => "the log"),
    ];
  }

  async close(): Promise<void> {
    await this.#runtime.stop();
    await this.history.stop();
    for (const name of this.#namespaces) await this.kube.delete(namespaces, { name }).catch(ignoreMissing);
  }
}

const says = (text: string): boolean => CANARIES.some((word) => text.includes(word));
