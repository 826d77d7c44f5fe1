import { secretType } from "../../publish/secret-publisher.ts";

/** How all Secrets are looked at: by their metadata alone. What Helm keeps is large, changes often, and is used by no pod. */
export const watchedSecrets = {
  type: secretType,
  metadataOnly: true,
  selection: { fieldSelector: "type!=helm.sh/release.v1" },
} as const;
