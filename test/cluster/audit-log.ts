import { writeFile } from "node:fs/promises";
import path from "node:path";

/** What the name of every such log ends with. */
export const AUDIT_LOG = ".audit.log";

/**
 * What ServiceAccounts ask of the server, and how it is answered. Of writes the body is kept too: whoever makes an object
 * that holds up the deletion of its owner needs a right for that (`update` of the owner's finalizers), which no request
 * names. Nobody else is written down: administrators and controllers have all rights there are.
 */
const policy = {
  apiVersion: "audit.k8s.io/v1",
  kind: "Policy",
  omitStages: ["RequestReceived", "ResponseStarted", "Panic"],
  omitManagedFields: true,
  rules: [
    {
      level: "Metadata",
      userGroups: ["system:serviceaccounts"],
      resources: [{ group: "events.k8s.io" }, { group: "coordination.k8s.io" }],
    },
    { level: "Request", userGroups: ["system:serviceaccounts"], verbs: ["create", "update", "patch"] },
    { level: "Metadata", userGroups: ["system:serviceaccounts"] },
    { level: "None" },
  ],
} as const;

/**
 * Flags of an API server with this folder of its own. The log is left where `npm run test:cluster` says, since it is read
 * when the server is gone; where nobody reads it, nothing is written down.
 */
export async function auditFlags(directory: string): Promise<readonly string[]> {
  const folder = process.env.KEYTURN_TEST_AUDIT;
  if (folder === undefined) return [];
  const file = path.join(directory, "audit-policy.json");
  await writeFile(file, JSON.stringify(policy));
  return [
    `--audit-policy-file=${file}`,
    `--audit-log-path=${path.join(folder, path.basename(directory) + AUDIT_LOG)}`,
    // It is read as one file.
    "--audit-log-maxsize=100000",
  ];
}
