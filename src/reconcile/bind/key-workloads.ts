import type { KubeObject } from "../../kube/objects.ts";
import type { Kube } from "../../kube/port.ts";
import type { SecretAddress } from "../../publish/secret-publisher.ts";
import { annotationsOf } from "../../restart/annotations.ts";
import type { Use } from "../../restart/model.ts";
import { usesOf } from "../../restart/pod-uses.ts";
import { markAnnotations, marked, type RestartMark, readMark, secretSource } from "../../restart/restart-mark.ts";
import { type WorkloadKind, workloadKinds } from "../../restart/workload-kinds.ts";
import { listInNamespace } from "../objects/list-in-namespace.ts";
import { ask } from "../parents/child-problem.ts";
import { workloadKey } from "../restart/workload-key.ts";
import type { WorkloadReader, WorkloadRecord } from "../restart/workload-record.ts";

/** A workload whose pods are made from a template that can be rolled out. */
export interface FoundWorkload {
  /** `Deployment/dns/web`. */
  readonly key: string;
  readonly kind: WorkloadKind;
  readonly object: KubeObject;
  readonly mark: RestartMark;
}

/** One that uses a Secret. */
export interface KeyWorkload extends FoundWorkload {
  readonly use: Use;
  /** As if it bore the mark already; undefined for one that has said that it is not to be restarted. */
  readonly record: WorkloadRecord | undefined;
}

/** The kinds that roll by themselves. */
const markedKinds: readonly WorkloadKind[] = workloadKinds.filter(({ rolls }) => rolls === "byItself");

/** All of a namespace, live, but for those that go. */
export async function findWorkloads(
  kube: Kube,
  namespace: string,
  signal: AbortSignal,
): Promise<readonly FoundWorkload[]> {
  const found: FoundWorkload[] = [];
  for (const kind of markedKinds) {
    const { type } = kind;
    const call = { verb: "list", type, signal } as const;
    const objects = await ask(call, () => listInNamespace(kube, type, { namespace, signal }));
    found.push(...objects.filter(isStaying).map((object) => foundWorkload(kind, object)));
  }
  return found;
}

const isStaying = ({ metadata }: KubeObject): boolean => metadata.deletionTimestamp === undefined;

export function foundWorkload(kind: WorkloadKind, object: KubeObject): FoundWorkload {
  const { namespace = "", name, annotations } = object.metadata;
  return {
    key: workloadKey(kind.type.kind, namespace, name),
    kind,
    object,
    mark: readMark(annotationsOf(annotations)),
  };
}

/** Those of them that use the Secret, and not only to pull images. */
export function usersOf(
  workloads: readonly FoundWorkload[],
  { name }: SecretAddress,
  reader: WorkloadReader,
): readonly KeyWorkload[] {
  return workloads.flatMap((workload) => {
    const { kind, object, mark } = workload;
    const uses = usesOf(kind.templateOf(object).spec);
    const use = uses.find(({ source, isPullOnly }) => source === secretSource(name) && !isPullOnly);
    if (!use) return [];
    const annotations = {
      ...object.metadata.annotations,
      ...markAnnotations(marked(mark, name, mark.again.get(name))),
    };
    const record = reader.workload(kind, { ...object, metadata: { ...object.metadata, annotations } });
    return [{ ...workload, use, record }];
  });
}
