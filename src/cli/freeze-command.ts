import { messageOf } from "../base/errors.ts";
import { annotate } from "../insight/resources/annotate.ts";
import { parentOf } from "../insight/resources/children.ts";
import { type ManagedResource, nameOf } from "../insight/resources/managed-resource.ts";
import { ANNOTATIONS } from "../reconcile/managed/managed-kind.ts";
import type { Command, ExitCode } from "./command.ts";
import { FIELD_MANAGER } from "./field-manager.ts";
import { type ClusterCall, clusterOptions, withCluster } from "./open-cluster.ts";
import { fetchResources, selectionsOf } from "./resources/fetch-resources.ts";
import { kindNames } from "./resources/find-kind.ts";
import { hintAtParent, leaveChildren } from "./resources/leave-children.ts";
import { massOptions, readOneOrAll, type Targets } from "./resources/target-options.ts";

const words = { usage: "(KIND NAME | [KIND] --all [-l SELECTOR])", max: 2, first: kindNames() };
const options = [...massOptions, ...clusterOptions];

export const freezeCommand: Command = {
  name: "freeze",
  summary: "Begin no new rotations, until unfrozen.",
  failsWhen: "A resource could not be written.",
  description:
    "What is under way is finished, and retired keys are deleted when their time comes. Only --compromised rotates a\nfrozen resource. --all leaves children to their parents, which begin no new one either.",
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
  failsWhen: "A resource could not be written.",
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
  const found = await fetchResources(kube, targets, selectionsOf(targets, call));
  if (found.length === 0) world.stderr.write("No resources found.\n");
  const resources = chosenOf(found, { targets, isWanted, call });
  const word = isWanted ? "frozen" : "unfrozen";
  let failures = 0;
  for (const resource of resources) {
    try {
      if (resource.isFrozen !== isWanted)
        await annotate(
          kube,
          resource,
          { [ANNOTATIONS.freeze]: isWanted ? "true" : null },
          { fieldManager: FIELD_MANAGER },
        );
      const already = resource.isFrozen === isWanted ? " (it was already)" : "";
      world.stdout.write(`${nameOf(resource)}: ${word}${already}\n`);
    } catch (error) {
      failures++;
      world.stderr.write(`keyturn: ${nameOf(resource)}: ${messageOf(error)}\n`);
    }
  }
  return failures === 0 ? 0 : 1;
}

/** Of many, those that it is to be done to. What somebody has frozen by name is let go with all others. */
function chosenOf(
  found: readonly ManagedResource[],
  { targets, isWanted, call }: { readonly targets: Targets; readonly isWanted: boolean; readonly call: ClusterCall },
): readonly ManagedResource[] {
  const { stderr } = call.world;
  if (!isWanted) return targets.ref ? found : found.filter((resource) => resource.isFrozen || !parentOf(resource));
  if (!targets.ref) return leaveChildren(found, stderr);
  for (const resource of found) hintAtParent(resource, { command: "freeze", does: "halts rotation" }, stderr);
  return found;
}
