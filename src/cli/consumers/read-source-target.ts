import { UsageError } from "../../base/errors.ts";
import { isNamespaceName, isObjectName } from "../../base/object-names.ts";
import { SOURCE_KINDS, type SourceTarget } from "../../insight/consumers/source-target.ts";
import type { ResourceType } from "../../kube/objects.ts";
import { secretType } from "../../publish/secret-publisher.ts";
import type { SourceKind } from "../../restart/model.ts";
import { classType, configMapType } from "../../restart/workload-kinds.ts";
import { namespaceIn } from "../flag-values.ts";

interface Named {
  readonly kind: SourceKind;
  readonly type: ResourceType;
  readonly names: readonly string[];
}

const KINDS: readonly Named[] = [
  { kind: "secret", type: secretType, names: ["secret", "secrets"] },
  { kind: "configmap", type: configMapType, names: ["configmap", "configmaps", "cm"] },
  { kind: "class", type: classType, names: ["secretproviderclass", "secretproviderclasses", "class"] },
];

const USAGE = `give the name of a Secret, or ${SOURCE_KINDS} and a name`;

/** `NAME`, `KIND NAME` or `KIND/NAME`; the name may be given as `NAMESPACE/NAME`, unless `-n` says otherwise. */
export function readSourceTarget(words: readonly string[], saidNamespace: string | undefined): SourceTarget {
  const target = readTarget(words);
  const { namespace, name } = target;
  if (saidNamespace !== undefined) namespaceIn("namespace", saidNamespace);
  if (namespace === undefined || saidNamespace === undefined || namespace === saidNamespace) return target;
  throw new UsageError(
    `"${namespace}/${name}" is in namespace ${namespace}, and -n says ${saidNamespace}; if a kind is meant: ${SOURCE_KINDS}`,
  );
}

function readTarget(words: readonly string[]): SourceTarget {
  const [first, second] = words;
  if (first === undefined) throw new UsageError(USAGE);
  if (second !== undefined) return targetOf(kindNamed(first), second);
  const slash = first.indexOf("/");
  const kind = slash < 0 ? undefined : findKind(first.slice(0, slash));
  if (kind) return targetOf(kind, first.slice(slash + 1));
  if (slash < 0 && findKind(first)) throw new UsageError(`"${first}" needs a name: ${USAGE}`);
  return targetOf(kindNamed("secret"), first);
}

const findKind = (word: string): Named | undefined => KINDS.find(({ names }) => names.includes(word.toLowerCase()));

function kindNamed(word: string): Named {
  const found = findKind(word);
  if (found) return found;
  throw new UsageError(`"${word}" is nothing that workloads are restarted for: ${USAGE}`);
}

function targetOf({ kind, type }: Named, text: string): SourceTarget {
  const parts = text.split("/");
  const [name = "", namespace] = parts.toReversed();
  if (parts.length > 2 || !isObjectName(name) || !isNamespaceName(namespace ?? "x")) {
    throw new UsageError(`"${text}" cannot be a name in Kubernetes: lower-case letters, digits, dots and dashes`);
  }
  return { type, source: `${kind}/${name}`, name, namespace };
}
