import { replicaSetType } from "../../restart/workload-kinds.ts";
import type { Repertoire } from "../repertoire.ts";
import { toldRepertoire } from "../told-repertoire.ts";
import { RESTART_ACTS } from "./acts.ts";
import { RestartDriver } from "./restart-driver.ts";
import { WEB } from "./shop.ts";
import { RESTART_STORIES, type RestartStory } from "./stories.ts";
import { type RestartClimate, type RestartScene, RestartWorld } from "./world.ts";

/** Restarts: workloads that use Secrets, and whoever changes either. */
export const restarts: Repertoire = toldRepertoire<RestartDriver, RestartStory, RestartClimate, RestartScene>({
  name: "restart",
  stories: RESTART_STORIES,
  climates: { calm: "rolling", bare: "bare" },
  company: {
    acts: RESTART_ACTS,
    unseen: ["changeSecret", "revertState", "optOut", "recreateWorkload"],
    zombies: [
      { kind: "zombie", pauseMs: 0, begunBy: "changeSecret" },
      { kind: "zombie", pauseMs: 0, returnsTo: "changeSecret" },
      { kind: "zombie", pauseMs: 0, returnsTo: "optOut" },
    ],
  },
  open: ({ plan, ...options }, scene) => new RestartDriver(new RestartWorld({ ...options, scene }), plan),
  capture: ({ world }) => world.capture(),
  unmet: unmetOf,
});

/** What a story says must come of it, and has not. */
function unmetOf(driver: RestartDriver, { restarts: usual, bareRestarts, expects }: RestartStory): string | undefined {
  const wanted = driver.world.type === replicaSetType ? (bareRestarts ?? usual) : usual;
  const restarted = driver.world.judge.rollsOf(WEB.name);
  if (wanted !== undefined && restarted !== wanted)
    return `${WEB.name} was restarted ${restarted} times, it should be ${wanted}`;
  return expects?.(driver);
}
