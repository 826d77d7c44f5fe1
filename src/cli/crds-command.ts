import { stringify } from "yaml";
import { definitionOf } from "../api/custom-resource.ts";
import { customResources } from "../api/custom-resources.ts";
import type { Command } from "./command.ts";
import { readChoice } from "./flag-values.ts";

export const crdsCommand: Command = {
  name: "crds",
  summary: "Print the CustomResourceDefinitions, for kubectl apply.",
  options: [
    { name: "output", short: "o", value: "FORMAT", description: "yaml, or json (one List object).", default: "yaml" },
  ],
  examples: [{ command: "keyturn crds | kubectl apply -f -", what: "Install or upgrade the CRDs" }],
  run: async (flags, world) => {
    const format = readChoice(flags, "output", ["yaml", "json"]);
    const items = customResources.map(definitionOf);
    world.stdout.write(
      format === "json"
        ? `${JSON.stringify({ apiVersion: "v1", kind: "List", items }, null, 2)}\n`
        : items.map((item) => stringify(item, { lineWidth: 0, aliasDuplicateObjects: false })).join("---\n"),
    );
    return 0;
  },
};
