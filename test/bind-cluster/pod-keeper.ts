import { NotFound } from "../../src/kube/errors.ts";
import type { KubeObject, ObjectRef, ResourceType } from "../../src/kube/objects.ts";
import type { Kube } from "../../src/kube/port.ts";
import { podType } from "../../src/restart/workload-kinds.ts";
import type { ServerName } from "../support/target.ts";

const nodes: ResourceType = { group: "", version: "v1", plural: "nodes", kind: "Node", namespaced: false };

/** How a server leaves it to us to say which of its pods run, where, and whether they are ready. */
export interface PodKeeper {
  begin(): Promise<void>;
  /** It has this address, and is not ready yet. */
  run(pod: KubeObject, address: string): Promise<void>;
  tell(pod: KubeObject, state: { readonly isReady: boolean; readonly restarts: number }): Promise<void>;
  end(): Promise<void>;
}

export const podKeeperOf = (server: ServerName, kube: Kube): PodKeeper =>
  server === "real" ? realKeeper(kube) : embeddedKeeper(kube);

const refOf = ({ metadata: { namespace = "", name } }: KubeObject): ObjectRef => ({ namespace, name });

/** A pod may go at any time. */
async function ifThere(work: Promise<unknown>): Promise<void> {
  await work.catch((error: unknown) => {
    if (!(error instanceof NotFound)) throw error;
  });
}

/** Nodes take no pods meanwhile, so that kwok has none to run; nobody needs a pod to be on a node. */
function realKeeper(kube: Kube): PodKeeper {
  const patchStatus = (pod: KubeObject, status: object): Promise<void> =>
    ifThere(kube.patch(podType, refOf(pod), { type: "merge", body: { status } }, { subresource: "status" }));
  const cordon = async (unschedulable: boolean): Promise<void> => {
    for (const { metadata } of (await kube.list(nodes)).items) {
      await kube.patch(nodes, { name: metadata.name }, { type: "merge", body: { spec: { unschedulable } } });
    }
  };
  return {
    begin: () => cordon(true),
    end: () => cordon(false),
    run: (pod, address) =>
      patchStatus(pod, {
        phase: "Running",
        podIP: address,
        podIPs: [{ ip: address }],
        startTime: now(),
        ...readiness(pod, { isReady: false, restarts: 0 }),
      }),
    tell: (pod, state) => patchStatus(pod, readiness(pod, state)),
  };
}

const now = (): string => new Date().toISOString().replace(/\.\d+Z$/, "Z");

function readiness(pod: KubeObject, { isReady, restarts }: { readonly isReady: boolean; readonly restarts: number }) {
  const { containers } = pod.spec as {
    readonly containers: readonly { readonly name: string; readonly image: string }[];
  };
  const condition = (type: string, isTrue: boolean): object => ({
    type,
    status: isTrue ? "True" : "False",
    lastTransitionTime: now(),
  });
  return {
    conditions: [
      condition("Initialized", true),
      condition("PodScheduled", true),
      condition("ContainersReady", isReady),
      condition("Ready", isReady),
    ],
    containerStatuses: containers.map(({ name, image }) => ({
      name,
      image,
      imageID: image,
      ready: isReady,
      started: isReady,
      restartCount: restarts,
      state: { running: { startedAt: now() } },
    })),
  };
}

/** Its pods take so long to start by themselves that they never do. */
export const NEVER_BY_ITSELF_MS = 86_400_000;
const READY = "embedded.keyturn.dev/ready";

/** Whoever runs pods there starts one that is said to run, and has it ready unless an annotation keeps it from that. */
function embeddedKeeper(kube: Kube): PodKeeper {
  const annotate = (pod: KubeObject, value: string | null): Promise<void> =>
    ifThere(
      kube.patch(podType, refOf(pod), { type: "merge", body: { metadata: { annotations: { [READY]: value } } } }),
    );
  return {
    begin: async () => {},
    end: async () => {},
    async run(pod, address) {
      await annotate(pod, "false");
      const status = { phase: "Running", podIP: address, podIPs: [{ ip: address }] };
      await ifThere(kube.patch(podType, refOf(pod), { type: "merge", body: { status } }, { subresource: "status" }));
    },
    tell: (pod, { isReady }) => annotate(pod, isReady ? null : "false"),
  };
}
