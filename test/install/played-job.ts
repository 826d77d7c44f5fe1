import assert from "node:assert/strict";
import type { KubeObject, ResourceType } from "../../src/kube/objects.ts";
import type { Kube } from "../../src/kube/port.ts";
import { pods } from "../conformance/kinds.ts";
import { roles } from "../rights/rights-stage.ts";
import { accountKubeconfig, inForce } from "../support/operator-access.ts";
import { type Finished, runKeyturn } from "../support/run-keyturn.ts";

const TICK_MS = 100;
const clusterRoles: ResourceType = { ...roles, plural: "clusterroles", kind: "ClusterRole", namespaced: false };

export interface JobRun extends Finished {
  readonly args: readonly string[];
}

interface PodSpec {
  readonly serviceAccountName: string;
  readonly containers: readonly { readonly args: readonly string[]; readonly env?: readonly object[] }[];
}

export interface PlayedJobOptions {
  readonly kube: Kube;
  /** With all rights there are. */
  readonly kubeconfig: string;
  readonly namespace: string;
  /** Of the Job; its account and its roles are called the same. */
  readonly name: string;
}

/**
 * Plays what runs the pods of a Job, for as long as it is not stopped: `keyturn` with exactly the words of the container, as
 * the ServiceAccount of the pod, and then the pod has succeeded or failed. What follows from that is up to the cluster. Must
 * not: give it anything that a pod would not have.
 */
export class PlayedJob {
  /** All that ever ended, oldest first. */
  readonly runs: JobRun[] = [];
  /** What went wrong in the play itself. */
  readonly problems: unknown[] = [];
  readonly #options: PlayedJobOptions;
  readonly #known = new Set<string>();
  #ticks: NodeJS.Timeout | undefined;
  #playing: Promise<void> | undefined;

  constructor(options: PlayedJobOptions) {
    this.#options = options;
    this.#ticks = setInterval(() => {
      this.#playing ??= this.#look()
        .catch((error: unknown) => void this.problems.push(error))
        .finally(() => {
          this.#playing = undefined;
        });
    }, TICK_MS);
  }

  async stop(): Promise<void> {
    clearInterval(this.#ticks);
    this.#ticks = undefined;
    await this.#playing;
  }

  async #look(): Promise<void> {
    const { kube, namespace, name } = this.#options;
    const labelSelector = `batch.kubernetes.io/job-name=${name}`;
    for (const pod of (await kube.list(pods, { namespace, labelSelector })).items) {
      const { uid = "", deletionTimestamp } = pod.metadata;
      if (this.#known.has(uid) || deletionTimestamp !== undefined) continue;
      this.#known.add(uid);
      const { code } = await this.#run(pod.spec as PodSpec);
      const body = { status: { phase: code === 0 ? "Succeeded" : "Failed" } };
      await kube.patch(
        pods,
        { namespace, name: pod.metadata.name },
        { type: "merge", body },
        { subresource: "status" },
      );
    }
  }

  async #run({ serviceAccountName, containers: [container, ...others] }: PodSpec): Promise<JobRun> {
    const { kube, kubeconfig, namespace } = this.#options;
    assert.ok(container && others.length === 0 && (container.env ?? []).length === 0, "there is one plain container");
    const account = { namespace, name: serviceAccountName };
    for (const role of await this.#roles()) await inForce(kube, account, role);
    const own = await accountKubeconfig(kubeconfig, kube, account);
    const { args } = container;
    const run = { args, ...(await runKeyturn([...args, "--kubeconfig", own])) };
    this.runs.push(run);
    return run;
  }

  /** A container takes longer to start than the server to learn of them. */
  #roles(): Promise<readonly KubeObject[]> {
    const { kube, namespace, name } = this.#options;
    return Promise.all([kube.get(clusterRoles, { name }), kube.get(roles, { namespace, name })]);
  }
}
