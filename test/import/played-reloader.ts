import { ifFound } from "../../src/kube/if-found.ts";
import type { KubeObject, ObjectRef } from "../../src/kube/objects.ts";
import type { Kube } from "../../src/kube/port.ts";
import { recordOf, recordsIn } from "../../src/kube/record.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { configMapType, deploymentType } from "../../src/restart/workload-kinds.ts";

const TICK_MS = 100;
const NOTE = "reloader.stakater.com/last-reloaded-from";

export interface PlayedReloaderOptions {
  readonly kube: Kube;
  /** Where it looks. */
  readonly namespace: string;
  /** Its own Deployment: it works while that wants pods. */
  readonly own: ObjectRef;
}

/**
 * Plays Reloader, as far as a namespace has use for it: what a Deployment's annotations name, or what it mounts where they
 * say auto, is looked at, and a change is noted on its pod template, which restarts it. Must not: know of Keyturn.
 */
export class PlayedReloader {
  readonly #options: PlayedReloaderOptions;
  /** What each source held, as `Kind/name`. */
  #seen: ReadonlyMap<string, string> | undefined;
  #ticks: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;

  constructor(options: PlayedReloaderOptions) {
    this.#options = options;
    this.#ticks = setInterval(() => {
      // What a look could not do, the next one does.
      this.#looking ??= this.#look()
        .catch(() => {})
        .finally(() => {
          this.#looking = undefined;
        });
    }, TICK_MS);
  }

  /** It has looked at everything once. */
  get isAtWork(): boolean {
    return this.#seen !== undefined;
  }

  async stop(): Promise<void> {
    clearInterval(this.#ticks);
    this.#ticks = undefined;
    await this.#looking;
  }

  async #look(): Promise<void> {
    const { kube, namespace, own } = this.#options;
    const deployment = await ifFound(kube.get(deploymentType, own));
    if (!Number(recordOf(deployment?.spec).replicas ?? 0)) {
      this.#seen = undefined;
      return;
    }
    const now = await this.#sources();
    const changed = [...now].filter(([source, held]) => this.#seen && this.#seen.get(source) !== held);
    const { items } = changed.length > 0 ? await kube.list(deploymentType, { namespace }) : { items: [] };
    for (const workload of items) {
      const [reason] = changed.map(([source]) => source).filter((source) => namesOf(workload).has(source));
      if (reason === undefined) continue;
      const note = JSON.stringify({ source: reason, held: now.get(reason) });
      const body = { spec: { template: { metadata: { annotations: { [NOTE]: note } } } } };
      const ref = { namespace, name: workload.metadata.name };
      await kube.patch(deploymentType, ref, { type: "merge", body }, { fieldManager: "reloader" });
    }
    this.#seen = now;
  }

  async #sources(): Promise<ReadonlyMap<string, string>> {
    const { kube, namespace } = this.#options;
    const lists = await Promise.all([secretType, configMapType].map((type) => kube.list(type, { namespace })));
    const [secrets = { items: [] }, configMaps = { items: [] }] = lists;
    const held = (kind: string, { metadata, data }: KubeObject) => [`${kind}/${metadata.name}`, JSON.stringify(data)];
    return new Map([
      ...secrets.items.map((one) => held("secret", one) as [string, string]),
      ...configMaps.items.map((one) => held("configmap", one) as [string, string]),
    ]);
  }
}

/** The sources for which it restarts a workload. */
function namesOf({ metadata: { annotations = {} }, spec }: KubeObject): ReadonlySet<string> {
  const named = (annotations["secret.reloader.stakater.com/reload"] ?? "").split(",").filter((name) => name !== "");
  const { volumes } = recordOf(recordOf(recordOf(spec).template).spec);
  const mounted = recordsIn(volumes).flatMap(({ secret, configMap }) => [
    ...(secret ? [`secret/${String(recordOf(secret).secretName)}`] : []),
    ...(configMap ? [`configmap/${String(recordOf(configMap).name)}`] : []),
  ]);
  const isAuto = annotations["reloader.stakater.com/auto"] === "true";
  return new Set([...named.map((name) => `secret/${name.trim()}`), ...(isAuto ? mounted : [])]);
}
