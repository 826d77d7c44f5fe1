import { messageOf } from "../base/errors.ts";
import { annotate } from "../insight/resources/annotate.ts";
import { type ManagedResource, managedResource, nameOf } from "../insight/resources/managed-resource.ts";
import { delayOf, obstacleTo, othersThatWork, requestFor } from "../insight/rotate/request-rotation.ts";
import type { Command, ExitCode } from "./command.ts";
import { FIELD_MANAGER } from "./field-manager.ts";
import { readDuration } from "./flag-values.ts";
import { type ClusterCall, clusterOptions, withCluster } from "./open-cluster.ts";
import { isConfirmed, yesOption } from "./resources/confirm.ts";
import { fetchResources, type KindSelection, selectionsOf } from "./resources/fetch-resources.ts";
import { kindNames } from "./resources/find-kind.ts";
import { hintAtParent, leaveChildren } from "./resources/leave-children.ts";
import { massOptions, readOneOrAll } from "./resources/target-options.ts";
import { RotationWait } from "./rotate/rotation-wait.ts";

export const rotateCommand: Command = {
  name: "rotate",
  summary: "Replace the active key now.",
  failsWhen: "A rotation could not be asked for, nobody said yes, or with --wait a new key was not active in time.",
  isInterruptible: true,
  description:
    "Asks the operator for a rotation by annotation. The old key lives on as the policy promises; with --compromised it\nis deleted as soon as its successor is published. With --wait each step is shown as it happens. --all leaves children\nto their parents, which rotate them.",
  words: { usage: "(KIND NAME | [KIND] --all [-l SELECTOR])", max: 2, first: kindNames() },
  options: [
    { name: "wait", short: "w", description: "Show each step, and end when the new key is active." },
    { name: "timeout", value: "DURATION", description: "How long --wait waits.", default: "10m" },
    { name: "compromised", description: "The old key must not be used any more: no overlap." },
    ...massOptions,
    yesOption,
    ...clusterOptions,
  ],
  examples: [
    { command: "keyturn rotate servicebinding orders --wait", what: "One binding, and see it happen" },
    { command: "keyturn rotate servicebinding --all -l team=shop --yes", what: "All of a team, without being asked" },
    { command: "keyturn rotate servicebinding orders --compromised --wait", what: "The key has leaked" },
  ],
  run: async (flags, world) => {
    readOneOrAll(flags);
    readDuration(flags, "timeout");
    return withCluster(flags, world, runRotate);
  },
};

export async function runRotate(call: ClusterCall): Promise<ExitCode> {
  const { kube, flags, world } = call;
  const targets = readOneOrAll(flags);
  const selections = selectionsOf(targets, call);
  const found = await fetchResources(kube, targets, selections);
  if (found.length === 0) world.stderr.write("No resources found.\n");
  const resources = targets.ref ? found : leaveChildren(found, world.stderr);
  if (resources.length === 0) return 0;
  if (!targets.ref && !(await isConfirmed(questionFor(resources, flags.isOn("compromised")), flags, world))) {
    world.stderr.write("Nothing was changed.\n");
    return 1;
  }
  return flags.isOn("wait") ? rotateAndWait(call, selections, resources) : rotateOnly(call, resources);
}

async function rotateOnly(call: ClusterCall, resources: readonly ManagedResource[]): Promise<ExitCode> {
  let failures = 0;
  for (const resource of resources) if (!(await isAsked(call, resource))) failures++;
  return failures === 0 ? 0 : 1;
}

async function rotateAndWait(
  call: ClusterCall,
  selections: readonly KindSelection[],
  resources: readonly ManagedResource[],
): Promise<ExitCode> {
  const wait = new RotationWait(call, selections, readDuration(call.flags, "timeout"));
  try {
    await wait.started();
    let failures = 0;
    for (const resource of resources) {
      if (wait.hasEnded) break;
      if (!(await isAsked(call, resource, wait))) failures++;
    }
    const code = await wait.finished();
    return failures === 0 ? code : 1;
  } finally {
    wait.close();
  }
}

/** Writes the request. What keeps it from that is said, and the others go on. */
async function isAsked(
  { kube, flags, world }: ClusterCall,
  resource: ManagedResource,
  wait?: RotationWait,
): Promise<boolean> {
  const { clock, random, stdout, stderr } = world;
  const name = nameOf(resource);
  const isCompromised = flags.isOn("compromised");
  const obstacle = obstacleTo(resource, isCompromised);
  if (obstacle !== undefined) {
    stderr.write(`keyturn: ${name}: ${obstacle}\n`);
    return false;
  }
  // Among many there is no child left.
  hintAtParent(resource, { command: "rotate", does: "replaces the child itself" }, stderr);
  const { annotation, value, id } = requestFor(resource, { isCompromised, clock, random });
  // What the watch shows may come before the answer.
  const forget = wait?.follow(resource, id);
  try {
    stdout.write(`${name}: asking for a rotation\n`);
    const others = isCompromised ? othersThatWork(resource, clock.now()) : undefined;
    if (others !== undefined) stdout.write(`${name}: ${others}\n`);
    const asked = await annotate(kube, resource, { [annotation]: value }, { fieldManager: FIELD_MANAGER });
    const delay = delayOf(managedResource(resource.kind, asked), clock.now());
    if (delay !== undefined) stdout.write(`${name}: held back: ${delay}\n`);
    return true;
  } catch (error) {
    forget?.();
    stderr.write(`keyturn: ${name}: ${messageOf(error)}\n`);
    return false;
  }
}

const MAX_NAMED = 10;

function questionFor(resources: readonly ManagedResource[], isCompromised: boolean): string {
  const names = resources.slice(0, MAX_NAMED).map(nameOf).join(", ");
  const more = resources.length > MAX_NAMED ? ` and ${resources.length - MAX_NAMED} more` : "";
  const how = isCompromised ? ", without overlap: old keys stop working at once" : "";
  return `Rotate ${resources.length} resources (${names}${more})${how}?`;
}
