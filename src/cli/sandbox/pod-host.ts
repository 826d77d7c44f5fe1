import { wordedName } from "../../base/own-names.ts";
import { READY_ANNOTATION } from "../../embedded/controllers/pod-runner.ts";
import type { ObjectApi, WriteContext } from "../../embedded/object-api.ts";
import type { Registry, ResourceDefinition } from "../../embedded/registry.ts";
import { StatusError } from "../../embedded/status-error.ts";
import type { KubeObject, ObjectRef } from "../../kube/objects.ts";
import type { Endpoints } from "../../sandbox/named/named-program.ts";
import type { PodVolume } from "./pod-volumes.ts";

/** Where a pod answers DNS, on the pod. */
const DNS_ANNOTATION = wordedName("embedded", "dns");
const KUBELET: WriteContext = { fieldManager: "kubelet" };

/**
 * What a kubelet reads and writes of the embedded cluster, all of it at once. Who plays the rest of it there sees to the
 * conditions of a pod that is said to run, and has it ready unless an annotation keeps it from that.
 */
export class PodHost {
  readonly #objects: ObjectApi;
  readonly #registry: Registry;

  constructor({ objects, registry }: { readonly objects: ObjectApi; readonly registry: Registry }) {
    this.#objects = objects;
    this.#registry = registry;
  }

  kind(plural: "pods" | "secrets" | "configmaps"): ResourceDefinition {
    const definition = this.#registry.find("", "v1", plural);
    if (!definition) throw new Error(`the embedded server does not serve ${plural}`);
    return definition;
  }

  sourceOf({ kind, source }: PodVolume, namespace: string): KubeObject | undefined {
    const definition = this.kind(kind === "Secret" ? "secrets" : "configmaps");
    return ifThere(() => this.#objects.get(definition, { namespace, name: source }));
  }

  /** It has the address of its control channel, and is not ready yet. */
  run(pod: ObjectRef, { control, dns }: Endpoints): void {
    this.#annotate(pod, { [READY_ANNOTATION]: "false", [DNS_ANNOTATION]: `${dns.address}:${dns.port}` });
    const ip = control.address;
    const body = { status: { phase: "Running", podIP: ip, podIPs: [{ ip }] } };
    const context = { ...KUBELET, subresource: "status" };
    ifThere(() => this.#objects.patch(this.kind("pods"), pod, { type: "merge", body }, context));
  }

  tell(pod: ObjectRef, { isReady }: { readonly isReady: boolean }): void {
    this.#annotate(pod, { [READY_ANNOTATION]: isReady ? null : "false" });
  }

  #annotate(pod: ObjectRef, annotations: Readonly<Record<string, string | null>>): void {
    const patch = { type: "merge", body: { metadata: { annotations } } } as const;
    ifThere(() => this.#objects.patch(this.kind("pods"), pod, patch, KUBELET));
  }
}

/** Anything may go at any time. */
function ifThere<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof StatusError && error.status === 404) return undefined;
    throw error;
  }
}
