import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { Conflict, NotFound } from "../../src/kube/errors.ts";
import type { KubeObject } from "../../src/kube/objects.ts";
import type { Kube } from "../../src/kube/port.ts";
import { statefulSets } from "../conformance/kinds.ts";
import type { History } from "./history.ts";
import { bindingType, projectionType } from "./kinds.ts";
import { type Fields, fields, listOf, nameIn, secretsOf } from "./secret-texts.ts";

const ROOT = "SERVICE_BINDING_ROOT";
const DEFAULT_ROOT = "/bindings";
const VOLUME_PREFIX = "servicebinding-";
const MANAGER = "servicebinding-runtime";

/** A Secret to be seen in the containers of a workload. */
interface Projection {
  readonly volume: string;
  readonly directory: string;
  readonly secretName: string;
  readonly selector: Readonly<Record<string, string>>;
}

/**
 * As much of a runtime of the Service Binding specification as stories need: what `.status.binding.name` of a service names
 * is projected into the StatefulSets that a ServiceBinding selects, as files under SERVICE_BINDING_ROOT, and taken away
 * again. A template is written only when it is not yet what it is to be. Must not: look into a Secret.
 */
export class ProjectionRuntime {
  readonly #kube: Kube;
  readonly #history: History;
  readonly #dirty = new Set<string>();
  #running: Promise<void> | undefined;
  #isStopped = false;

  constructor(kube: Kube, history: History) {
    this.#kube = kube;
    this.#history = history;
    const kinds = new Set([projectionType.kind, bindingType.kind, statefulSets.kind]);
    history.onHappening(({ kind, object }) => {
      if (kinds.has(kind)) this.#wake(object.metadata.namespace ?? "");
    });
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
  }

  #wake(namespace: string): void {
    this.#dirty.add(namespace);
    this.#running ??= this.#work();
  }

  async #work(): Promise<void> {
    // Events come in one by one, and there is one look for those that come together.
    await Promise.resolve();
    while (this.#dirty.size > 0 && !this.#isStopped) {
      const namespaces = [...this.#dirty];
      this.#dirty.clear();
      for (const namespace of namespaces) await this.#project(namespace);
    }
    this.#running = undefined;
  }

  async #project(namespace: string): Promise<void> {
    const objects = this.#history.live(projectionType, namespace);
    const projections = objects.flatMap((object) => this.#projectionOf(object) ?? []);
    for (const workload of this.#history.live(statefulSets, namespace)) await this.#write(workload, projections);
  }

  #secretOf({ metadata: { namespace = "" }, spec }: KubeObject): string | undefined {
    const { kind, name } = fields(fields(spec).service);
    if (kind !== bindingType.kind || typeof name !== "string") return undefined;
    return nameIn(this.#history.find(bindingType, { namespace, name }), "binding");
  }

  #projectionOf(object: KubeObject): Projection | undefined {
    const { name = object.metadata.name, workload } = fields(object.spec);
    const { kind, selector } = fields(workload);
    const secretName = this.#secretOf(object);
    if (secretName === undefined || kind !== statefulSets.kind || object.metadata.deletionTimestamp) return undefined;
    const id = createHash("sha256").update(object.metadata.name).digest("hex").slice(0, 16);
    const matchLabels = fields(fields(selector).matchLabels) as Projection["selector"];
    return { volume: `${VOLUME_PREFIX}${id}`, directory: String(name), secretName, selector: matchLabels };
  }

  async #write(workload: KubeObject, projections: readonly Projection[]): Promise<void> {
    const { labels = {}, deletionTimestamp } = workload.metadata;
    const wanted = projections.filter(({ selector }) =>
      Object.entries(selector).every(([label, value]) => labels[label] === value),
    );
    const spec = fields(workload.spec);
    const template = projectedInto(fields(spec.template), wanted);
    if (deletionTimestamp !== undefined || isDeepStrictEqual(template, spec.template)) return;
    const changed = { ...workload, spec: { ...spec, template } };
    await this.#kube.replace(statefulSets, changed, { fieldManager: MANAGER }).catch(ignoreRace);
  }
}

/** Whoever was first is seen in the next event. */
function ignoreRace(error: unknown): void {
  if (!(error instanceof Conflict || error instanceof NotFound)) throw error;
}

function projectedInto(template: Fields, wanted: readonly Projection[]): Fields {
  const spec = fields(template.spec);
  const containers = listOf(spec.containers).map((container) => projectedIntoContainer(container, wanted));
  const volumes = listOf(spec.volumes);
  const ours = wanted.map((projection) => volumes.find((volume) => isOf(volume, projection)) ?? volumeOf(projection));
  const all = [...volumes.filter(isForeign), ...ours];
  const { volumes: _, ...rest } = spec;
  return { ...template, spec: { ...rest, containers, ...(all.length > 0 && { volumes: all }) } };
}

function projectedIntoContainer(container: Fields, wanted: readonly Projection[]): Fields {
  const env = listOf(container.env);
  const root = env.find(({ name }) => name === ROOT) ?? { name: ROOT, value: DEFAULT_ROOT };
  const mounts = listOf(container.volumeMounts);
  const ours = wanted.map(({ volume: name, directory }) => {
    const mountPath = `${root.value}/${directory}`;
    return mounts.find((mount) => mount.name === name && mount.mountPath === mountPath) ?? { name, mountPath };
  });
  const all = [...mounts.filter(isForeign), ...ours];
  const { volumeMounts: _, ...rest } = container;
  const isFirst = wanted.length > 0 && !env.includes(root);
  return {
    ...rest,
    ...(isFirst && { env: [...env, root] }),
    ...(all.length > 0 && { volumeMounts: all }),
  };
}

const volumeOf = ({ volume: name, secretName }: Projection): Fields => ({
  name,
  projected: { sources: [{ secret: { name: secretName } }] },
});

const isOf = (present: Fields, { volume, secretName }: Projection): boolean =>
  present.name === volume && secretsOf(present).includes(secretName);

const isForeign = ({ name }: Fields): boolean => !String(name).startsWith(VOLUME_PREFIX);
