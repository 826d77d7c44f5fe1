import { messageOf } from "../base/errors.ts";
import { ANNOTATIONS } from "../reconcile/managed/managed-kind.ts";
import type { Command, ExitCode } from "./command.ts";
import { type ClusterCall, clusterOptions, withCluster } from "./open-cluster.ts";
import { annotate } from "./resources/annotate.ts";
import { fetchResources, selectionsOf } from "./resources/fetch-resources.ts";
import { nameOf } from "./resources/managed-resource.ts";
import { massOptions, readOneOrAll } from "./resources/target-options.ts";

const words = { usage: "(KIND NAME | [KIND] --all [-l SELECTOR])", max: 2 };
const options = [...massOptions, ...clusterOptions];

export const freezeCommand: Command = {
  name: "freeze",
  summary: "Begin no new rotations, until unfrozen.",
  description:
    "What is under way is finished, and retired keys are deleted when their time comes. Only --compromised rotates a\nfrozen resource.",
  words,
  options,
  examples: [
    { command: "keyturn freeze servicebinding orders", what: "One binding" },
    { command: "keyturn freeze --all -A", what: "Everything there is, for the time of an incident" },
  ],
  run: async (flags, world) => {
    readOneOrAll(flags);
    return withCluster(flags, world, (call) => runFreeze(call, true));
  },
};

export const unfreezeCommand: Command = {
  name: "unfreeze",
  summary: "Let rotations begin again.",
  words,
  options,
  examples: [{ command: "keyturn unfreeze --all -A", what: "Everything there is" }],
  run: async (flags, world) => {
    readOneOrAll(flags);
    return withCluster(flags, world, (call) => runFreeze(call, false));
  },
};

export async function runFreeze(call: ClusterCall, isWanted: boolean): Promise<ExitCode> {
  const { kube, flags, world } = call;
  const targets = readOneOrAll(flags);
  const resources = await fetchResources(kube, targets, selectionsOf(targets, call));
  if (resources.length === 0) world.stderr.write("No resources found.\n");
  const word = isWanted ? "frozen" : "unfrozen";
  let failures = 0;
  for (const resource of resources) {
    try {
      if (resource.isFrozen !== isWanted)
        await annotate(kube, resource, { [ANNOTATIONS.freeze]: isWanted ? "true" : null });
      const already = resource.isFrozen === isWanted ? " (it was already)" : "";
      world.stdout.write(`${nameOf(resource)}: ${word}${already}\n`);
    } catch (error) {
      failures++;
      world.stderr.write(`keyturn: ${nameOf(resource)}: ${messageOf(error)}\n`);
    }
  }
  return failures === 0 ? 0 : 1;
}
