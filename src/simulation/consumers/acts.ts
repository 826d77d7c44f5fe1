import { deploymentType, podType } from "../../restart/workload-kinds.ts";
import type { World } from "../world.ts";
import { derive, OPT_IN, podsOf, removePods, replacePods, SHOP } from "./consumers.ts";

type Act = (world: World) => Promise<void>;

const say =
  (value: string): Act =>
  async (world) => {
    const body = { metadata: { annotations: { [OPT_IN]: value } } };
    await world.kube.patch(deploymentType, SHOP, { type: "merge", body });
  };

/** What may become of those who use a key. */
export const CONSUMER_ACTS = {
  movePods: (world) => replacePods(world),
  /** What is made from the Secret is made anew. */
  derive,
  movePodsElsewhere: (world) => replacePods(world, true),
  removePods,
  endPods: async (world) => {
    const body = { status: { phase: "Succeeded" } };
    for (const { metadata } of podsOf(world))
      await world.kube.patch(
        podType,
        { ...SHOP, name: metadata.name },
        { type: "merge", body },
        { subresource: "status" },
      );
  },
  /** They are told to end, and take their time. */
  dismissPods: async (world) => {
    for (const { metadata } of podsOf(world)) await world.kube.delete(podType, { ...SHOP, name: metadata.name });
  },
  optConsumersIn: say("true"),
  optConsumersOut: say("false"),
} as const satisfies Readonly<Record<string, Act>>;
