import type { ResourceType } from "../../kube/objects.ts";
import type { SourceId } from "../../restart/model.ts";

/** The Secret, ConfigMap or SecretProviderClass that somebody asks about. */
export interface SourceTarget {
  readonly type: ResourceType;
  readonly source: SourceId;
  readonly name: string;
  /** Undefined: that of the flag, or of the context. */
  readonly namespace: string | undefined;
}

/** The kinds that can be asked about, as they are written. */
export const SOURCE_KINDS = "secret, configmap or secretproviderclass";
