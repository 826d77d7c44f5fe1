import type { KubeObject } from "../../kube/objects.ts";
import type { ResourceDefinition } from "../registry.ts";

/** One write on its way into the store, complete and valid, as those who may still object to it see it. */
export interface AdmissionRequest {
  readonly operation: "CREATE" | "UPDATE" | "DELETE";
  readonly definition: ResourceDefinition;
  readonly name: string;
  readonly namespace: string | undefined;
  readonly subresource: string | undefined;
  readonly isDryRun: boolean;
  /** Absent for a DELETE. */
  readonly object: KubeObject | undefined;
  /** Absent for a CREATE. */
  readonly oldObject: KubeObject | undefined;
}

export interface Admission {
  /** What the writer is to be told; throws `StatusError` where the write is refused. */
  review(request: AdmissionRequest): readonly string[];
}
