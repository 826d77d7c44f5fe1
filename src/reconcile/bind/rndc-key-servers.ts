import { bind9Instance } from "../../api/bind/bind9-instance.ts";
import { fieldAt } from "../../bind/fields.ts";
import { podLabels } from "../../bind/instance-objects.ts";
import { CONTROL_PORT } from "../../bind/render-ring.ts";
import { NotServed } from "../../kube/errors.ts";
import { ifFound } from "../../kube/if-found.ts";
import type { KubeObject, ResourceType } from "../../kube/objects.ts";
import type { Kube } from "../../kube/port.ts";
import type { NamedServer, ServerList } from "../../providers/bind/ports.ts";
import { ProviderError } from "../../providers/provider-error.ts";
import { kindOf, podType } from "../../restart/workload-kinds.ts";
import { addressOf } from "../managed/managed-caches.ts";
import { fieldsOf, textOf } from "../managed/read-fields.ts";
import { listInNamespace } from "../objects/list-in-namespace.ts";
import { ask } from "../parents/child-problem.ts";
import { type WorkloadRef, workloadRefOf } from "./bind-sources.ts";

export interface KubeServersOptions {
  readonly kube: Kube;
  readonly namespace: string;
  /** Names of Bind9Instances. */
  readonly instances: readonly string[];
}

/** A selector that names more of them is no longer worth its length. */
const MAX_NAMED = 20;
const OVER: ReadonlySet<unknown> = new Set(["Succeeded", "Failed"]);

/** What instances are told from in the labels of their pods. */
export const INSTANCE_LABEL = "app.kubernetes.io/instance";
/** What all pods of all instances bear. */
export const SERVERS_SELECTOR: string = selectorOf(withoutInstance(podLabels("")));

/**
 * The pods of the instances that use a key, read live: whichever is made later reads what is stored by now. Each that has
 * not ended counts, be it not ready yet or on its way out. Must not: take what it cannot see for what is not there.
 */
export class KubeServers implements ServerList {
  readonly #options: KubeServersOptions;

  constructor(options: KubeServersOptions) {
    this.#options = options;
  }

  async list(signal: AbortSignal): Promise<readonly NamedServer[]> {
    const { instances } = this.#options;
    const names = new Set(instances);
    const workloads = await this.#workloads(names, signal);
    const labelSelector =
      instances.length > MAX_NAMED
        ? SERVERS_SELECTOR
        : `${SERVERS_SELECTOR},${INSTANCE_LABEL} in (${instances.join(",")})`;
    const own = await this.#pods(labelSelector, signal);
    const pods = own.filter(({ metadata }) => names.has(metadata.labels?.[INSTANCE_LABEL] ?? ""));
    for (const workload of workloads) pods.push(...(await this.#podsOf(workload, signal)));
    const running = pods.filter(({ status }) => !OVER.has(fieldsOf(status).phase));
    const servers = new Map(running.map((pod) => [pod.metadata.name, serverOf(pod)]));
    return [...servers.values()];
  }

  /** What exists and some of the instances use instead of one of ours. */
  async #workloads(instances: ReadonlySet<string>, signal: AbortSignal): Promise<readonly WorkloadRef[]> {
    const found = await ask({ verb: "list", type: bind9Instance, signal }, async () => {
      try {
        return await this.#listAll(bind9Instance, undefined, signal);
      } catch (error) {
        if (error instanceof NotServed) return [];
        throw error;
      }
    });
    const ours = found.filter(({ metadata }) => instances.has(metadata.name));
    return ours.flatMap((instance) => workloadRefOf(instance) ?? []);
  }

  async #podsOf({ kind, key }: WorkloadRef, signal: AbortSignal): Promise<readonly KubeObject[]> {
    const { kube } = this.#options;
    const type = kindOf(kind)?.type;
    if (!type) throw new TypeError(`${kind} is no workload`);
    const ref = addressOf(key);
    const workload = await ask({ verb: "get", type, ref, signal }, () => ifFound(kube.get(type, ref, { signal })));
    if (!workload) return [];
    const { matchLabels, matchExpressions } = fieldsOf(fieldAt(workload, ["spec", "selector"]));
    const labels = fieldsOf(matchLabels);
    if (matchExpressions !== undefined || Object.keys(labels).length === 0) {
      throw new ProviderError("ProviderRefused", `the ${kind} ${ref.name} finds its pods by more than labels`);
    }
    return this.#pods(selectorOf(labels), signal);
  }

  #pods(labelSelector: string, signal: AbortSignal): Promise<KubeObject[]> {
    return ask({ verb: "list", type: podType, signal }, () => this.#listAll(podType, labelSelector, signal));
  }

  #listAll(type: ResourceType, labelSelector: string | undefined, signal: AbortSignal): Promise<KubeObject[]> {
    const { kube, namespace } = this.#options;
    return listInNamespace(kube, type, { namespace, labelSelector, signal });
  }
}

const serverOf = ({ metadata, status }: KubeObject): NamedServer => ({
  name: metadata.name,
  host: textOf(fieldsOf(status).podIP),
  port: CONTROL_PORT,
});

function selectorOf(labels: Readonly<Record<string, unknown>>): string {
  return Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(",");
}

function withoutInstance({
  [INSTANCE_LABEL]: _,
  ...labels
}: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return labels;
}
