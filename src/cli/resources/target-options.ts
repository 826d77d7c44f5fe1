import { UsageError } from "../../base/errors.ts";
import { isNamespaceName, isObjectName } from "../../base/object-names.ts";
import type { ObjectRef } from "../../kube/objects.ts";
import type { ManagedKind } from "../../reconcile/managed/managed-kind.ts";
import { managedKinds } from "../../reconcile/managed-kinds.ts";
import type { Flags, OptionSpec } from "../command.ts";
import { choices, findKind } from "./find-kind.ts";

/** Which resources a command is about: one by name, or all of one kind or of every kind. */
export interface Targets {
  readonly kinds: readonly ManagedKind[];
  /** Absent: all of them. The namespace is there only where the name itself was given with one. */
  readonly ref?: ObjectRef;
  readonly labelSelector?: string;
}

export const namespaceOption: OptionSpec = {
  name: "namespace",
  short: "n",
  value: "NAME",
  description:
    "Namespace; for kinds that have none, that of their Secret. Default: that of the context, or all Secrets.",
};

export const allNamespacesOption: OptionSpec = {
  name: "all-namespaces",
  short: "A",
  description: "In all namespaces.",
};

export const selectorOption: OptionSpec = {
  name: "selector",
  short: "l",
  value: "SELECTOR",
  description: "Only resources with these labels, as kubectl writes them: app=orders,tier!=test.",
};

/** For commands that change: all of a kind must be asked for in so many words. */
export const massOptions: readonly OptionSpec[] = [
  { name: "all", description: "Instead of a name: every resource of KIND, or of every kind." },
  selectorOption,
  namespaceOption,
  allNamespacesOption,
];

/** `KIND NAME`, `KIND/NAME`. */
export function readOne(words: readonly string[]): Targets & { readonly ref: ObjectRef } {
  const [kind, name] = split(words);
  if (kind === undefined || name === undefined) throw new UsageError(`give KIND and NAME (KIND: ${choices()})`);
  const found = findKind(kind);
  return { kinds: [found], ref: refOf(found, name) };
}

/** `KIND NAME`, or `[KIND] --all [-l SELECTOR]`. */
export function readOneOrAll(flags: Flags): Targets {
  const labelSelector = flags.text("selector");
  if (!flags.isOn("all")) {
    if (labelSelector !== undefined) throw new UsageError("-l chooses among many: give --all with it");
    if (flags.words.length === 0) throw new UsageError(`give KIND and NAME, or KIND --all (KIND: ${choices()})`);
    return readOne(flags.words);
  }
  const [kind, name] = split(flags.words);
  if (name !== undefined) throw new UsageError(`give a name or --all, not both ("${name}")`);
  return { kinds: kind === undefined ? managedKinds : [findKind(kind)], ...(labelSelector && { labelSelector }) };
}

/** `[KIND [NAME]]`: for commands that only show. */
export function readAnyNumber(flags: Flags): Targets {
  const labelSelector = flags.text("selector");
  const [kind, name] = split(flags.words);
  if (kind === undefined) return { kinds: managedKinds, ...(labelSelector && { labelSelector }) };
  if (name === undefined) return { kinds: [findKind(kind)], ...(labelSelector && { labelSelector }) };
  if (labelSelector !== undefined) throw new UsageError("give a name or -l, not both");
  return readOne(flags.words);
}

/** `servicebinding/orders` is the kind and the name in one word. */
function split(words: readonly string[]): readonly [kind: string | undefined, name: string | undefined] {
  const [first, second] = words;
  const slash = first?.indexOf("/") ?? -1;
  if (first === undefined || slash < 0) return [first, second];
  if (second !== undefined) throw new UsageError(`"${first}" has a name already, and "${second}" is another one`);
  return [first.slice(0, slash), first.slice(slash + 1)];
}

function refOf({ type }: ManagedKind, text: string): ObjectRef {
  const parts = text.split("/");
  const [name = "", namespace] = parts.reverse();
  if (parts.length > 2 || !isObjectName(name) || !isNamespaceName(namespace ?? "x")) {
    throw new UsageError(`"${text}" cannot be a name in Kubernetes: lower-case letters, digits, dots and dashes`);
  }
  if (namespace !== undefined && !type.namespaced) {
    throw new UsageError(`"${text}": a ${type.kind} has no namespace, its name alone is enough`);
  }
  return { name, ...(namespace !== undefined && { namespace }) };
}
