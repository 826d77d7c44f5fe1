import { controllerGroups } from "../install/controller-groups.ts";
import type { Flags, OptionSpec } from "./command.ts";
import { namespaceIn, readList } from "./flag-values.ts";

/** What the flag takes: controllers, and groups of them. */
export const controllerChoices = (known: readonly string[]): readonly string[] => [
  ...known,
  ...controllerGroups.keys(),
];

/** In words, for the page of a command. */
export const describeControllers = (known: readonly string[]): string =>
  `${known.join(", ")}; or groups of them: ${[...controllerGroups.keys()].join(", ")}`;

/** The controllers that `--controllers` names, groups resolved, in the usual order. */
export function readControllerNames(flags: Flags, known: readonly string[]): readonly string[] {
  const wanted = new Set(
    readList(flags, "controllers", controllerChoices(known)).flatMap((name) => controllerGroups.get(name) ?? [name]),
  );
  return known.filter((name) => wanted.has(name));
}

/** Where to look for what is in namespaces. */
export const namespacesOption: OptionSpec = {
  name: "namespaces",
  value: "NAMES",
  description:
    "Look at these namespaces alone, separated by commas. What is in no namespace is looked at all the same.",
};

/** None: everywhere. */
export function readNamespaces(flags: Flags): readonly string[] {
  const text = flags.text("namespaces");
  if (text === undefined) return [];
  const names = text.split(",").map((name) => namespaceIn("namespaces", name.trim()));
  return [...new Set(names)];
}
