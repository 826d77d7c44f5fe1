import { definitionOf } from "../api/custom-resource.ts";
import { customResources } from "../api/custom-resources.ts";
import type { Command } from "./command.ts";
import { readChoice } from "./flag-values.ts";
import { manifestFormat, printManifests } from "./print-manifests.ts";

export const crdsCommand: Command = {
  name: "crds",
  summary: "Print the CustomResourceDefinitions, for kubectl apply.",
  options: [manifestFormat],
  examples: [{ command: "keyturn crds | kubectl apply --server-side -f -", what: "Install or upgrade the CRDs" }],
  run: async (flags, world) => {
    const format = readChoice(flags, "output", ["yaml", "json"]);
    world.stdout.write(printManifests(customResources.map(definitionOf), format));
    return 0;
  },
};
