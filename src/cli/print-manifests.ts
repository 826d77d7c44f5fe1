import { stringify } from "yaml";
import type { OptionSpec } from "./command.ts";

/** The flag of the commands that print manifests. */
export const manifestFormat: OptionSpec = {
  name: "output",
  short: "o",
  value: "FORMAT",
  description: "yaml, or json (one List object).",
  default: "yaml",
  choices: ["yaml", "json"],
};

/** Objects as kubectl takes them: a stream of YAML documents, or one JSON List. */
export function printManifests(items: readonly object[], format: "yaml" | "json"): string {
  return format === "json"
    ? `${JSON.stringify({ apiVersion: "v1", kind: "List", items }, null, 2)}\n`
    : items.map((item) => stringify(item, { lineWidth: 0, aliasDuplicateObjects: false })).join("---\n");
}
