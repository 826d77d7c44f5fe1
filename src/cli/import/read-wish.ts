import { UsageError } from "../../base/errors.ts";
import { isNamespaceName, isObjectName } from "../../base/object-names.ts";
import type { Flags } from "../command.ts";
import { readChoice } from "../flag-values.ts";
import { objectName, SYSTEM_NAMESPACE } from "../own-namespace.ts";
import type { ImportSource } from "./source.ts";
import { sources } from "./sources.ts";

const RELOADER = "reloader";
export const SOURCE_NAMES: readonly string[] = [...sources.map(({ name }) => name), RELOADER];

const FORMATS = ["text", "json"] as const;

/** What was asked for, as far as it is said before a cluster is asked for anything. */
export interface CommandWish {
  /** Undefined for Reloader, which has nothing to take over. */
  readonly source: ImportSource | undefined;
  readonly names: readonly string[] | undefined;
  /** As it was said; undefined: not at all. */
  readonly namespace: string | undefined;
  readonly isEverywhere: boolean;
  readonly isApplied: boolean;
  readonly acceptChanges: boolean;
  readonly providerConfig: string;
  readonly ownNamespace: string;
  readonly format: (typeof FORMATS)[number];
}

export function readWish(flags: Flags): CommandWish {
  const [name, ...names] = flags.words;
  const namespace = flags.text("namespace");
  if (name === undefined) throw new UsageError(`from what? keyturn import ${SOURCE_NAMES.join("|")}`);
  if (!SOURCE_NAMES.includes(name)) throw new UsageError(`"${name}" is not known: ${SOURCE_NAMES.join(", ")} are`);
  if (namespace !== undefined && !isNamespaceName(namespace)) {
    throw new UsageError(`--namespace: "${namespace}" cannot be a namespace`);
  }
  return {
    source: sources.find((source) => source.name === name),
    names: readNames(name, names, flags),
    namespace,
    isEverywhere: flags.isOn("all-namespaces"),
    isApplied: flags.isOn("yes"),
    acceptChanges: flags.isOn("accept-changes"),
    providerConfig: objectName("provider-config", flags.text("provider-config") ?? "default"),
    ownNamespace: objectName("lease-namespace", flags.text("lease-namespace") ?? SYSTEM_NAMESPACE),
    format: readChoice(flags, "output", FORMATS),
  };
}

/** Much is changed at once only where that is said. */
function readNames(source: string, names: readonly string[], flags: Flags): readonly string[] | undefined {
  if (source === RELOADER) {
    if (names.length > 0) throw new UsageError(`reloader is looked at as a whole: "${names[0]}" is too much`);
    return undefined;
  }
  const isAll = flags.isOn("all");
  if (isAll && names.length > 0) throw new UsageError(`give names or --all, not both ("${names[0]}")`);
  if (!isAll && names.length === 0) throw new UsageError(`give names, or --all: keyturn import ${source} --all`);
  const odd = names.find((one) => !isObjectName(one));
  if (odd !== undefined) throw new UsageError(`"${odd}" cannot be a name in Kubernetes`);
  return isAll ? undefined : names;
}
