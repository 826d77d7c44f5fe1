import { type KubeObject, keyOf } from "../../kube/objects.ts";
import { fieldsOf, textOf } from "../../reconcile/managed/read-fields.ts";
import { conditionOf } from "../resources/problems.ts";
import type { ComplianceItem } from "./compliance-report.ts";

/**
 * A Bind9Instance whose key stands in a Secret of somebody else's (`secretRef`), by what its status says. Undefined of one
 * with a key of the operator's own: that is an RndcKey, and is told of as such.
 */
export function followedKeyItem(object: KubeObject): ComplianceItem | undefined {
  const { mode, secretName, field, source, name: rndcKey } = fieldsOf(fieldsOf(object.status).rndcKey);
  if (mode !== "referenced") return undefined;
  const { namespace, name } = object.metadata;
  const secret = textOf(secretName);
  const synced = conditionOf({ object }, "Synced");
  return {
    kind: object.kind,
    namespace,
    name,
    label: `${object.kind.toLowerCase()}/${keyOf(object.metadata)}`,
    secret: secret === undefined ? undefined : keyOf({ ...(namespace !== undefined && { namespace }), name: secret }),
    periodMs: undefined,
    activeKey: undefined,
    lastRotationAt: undefined,
    nextRotationAt: Number.POSITIVE_INFINITY,
    dueAt: Number.POSITIVE_INFINITY,
    overdueMs: 0,
    heldBackBy: undefined,
    problems: synced?.status === "False" ? [{ reason: synced.reason, message: synced.message }] : [],
    exceptions: [{ kind: "UserManaged", words: `${whose(textOf(rndcKey))} (${whence(field, source)})` }],
    parent: undefined,
  };
}

/** One that is rotated for other servers is nobody's here, either. */
const whose = (rndcKey: string | undefined): string =>
  rndcKey === undefined
    ? "its key is in a Secret of yours"
    : `its key is that of RndcKey ${rndcKey}, which is rotated without asking its servers`;

const whence = (field: unknown, source: unknown): string =>
  [textOf(field) ?? "secretRef", ...(textOf(source) === undefined ? [] : [`of ${textOf(source)}`])].join(" ");
