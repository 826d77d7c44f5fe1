import { createHash } from "node:crypto";
import type { KubeObject } from "../kube/objects.ts";
import { recordOf } from "../kube/record.ts";
import { areAllOfTemplate } from "./rollout.ts";
import type { WorkloadKind } from "./workload-kinds.ts";

/** What is kept of the pod template of a workload that rolls by itself, to see when it is another one. */
export interface TemplateSight {
  /** Of all that is in it; it must not be shown to anybody: some keep passwords there. */
  readonly digest: string;
  /** What its own controller calls it; undefined: it has not said. */
  readonly revision: string | undefined;
  /** Every pod is of it. */
  readonly isWhole: boolean;
}

const DIGEST_LENGTH = 22;

export function templateSightOf(kind: WorkloadKind, object: KubeObject): TemplateSight {
  const { template } = recordOf(object.spec);
  const digest = createHash("sha256")
    .update(JSON.stringify(template ?? null))
    .digest("base64url");
  const isWhole = areAllOfTemplate(kind, object);
  return { digest: digest.slice(0, DIGEST_LENGTH), revision: revisionOf(kind, object), isWhole };
}

/** It moves with every rollout, and without one it does not. */
function revisionOf({ type }: WorkloadKind, { metadata, status }: KubeObject): string | undefined {
  if (type.kind === "StatefulSet") return textOf(recordOf(status).updateRevision);
  return textOf(metadata.annotations?.[REVISIONS[type.kind] ?? ""]);
}

const REVISIONS: Readonly<Record<string, string>> = {
  Deployment: "deployment.kubernetes.io/revision",
  DaemonSet: "deprecated.daemonset.template.generation",
};

const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
