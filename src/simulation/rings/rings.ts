import type { Repertoire } from "../repertoire.ts";
import { DAY_MS } from "../scene.ts";
import { toldRepertoire } from "../told-repertoire.ts";
import { RESTARTED_ACTS, RING_ACTS, type RingAct, type RingBackup } from "./acts.ts";
import type { Pace } from "./played-servers.ts";
import { RingDriver } from "./ring-driver.ts";
import { RESTARTED_STORIES, RING_STORIES, type RingStory, sequenceOf } from "./stories.ts";
import { type RingScene, RingWorld } from "./world.ts";

const CLIMATES: Readonly<Record<string, Pace>> = {
  calm: { delaysMs: [0], lagMs: 0, follows: true },
  // Mounts come one by one.
  late: { delaysMs: [20_000, 75_000], lagMs: 0, follows: true },
  // Pods start on what was there a little before.
  lagging: { delaysMs: [1000], lagMs: 2000, follows: true },
};

const RESTARTED: Readonly<Record<string, Pace>> = { calm: { delaysMs: [0], lagMs: 0, follows: false } };

interface Contents {
  readonly name: string;
  readonly stories: readonly RingStory[];
  readonly climates: Readonly<Record<string, Pace>>;
  readonly acts: readonly RingAct[];
  readonly unseen: readonly RingAct[];
}

interface SetRing {
  readonly scene: RingScene;
  readonly backup: RingBackup;
}

const repertoireIn = ({ name, stories, climates, acts, unseen }: Contents): Repertoire =>
  toldRepertoire<RingDriver, RingStory, Pace, SetRing>({
    name,
    stories,
    climates,
    sparsity: 3,
    company: {
      acts,
      unseen,
      zombies: [
        { kind: "zombie", pauseMs: 15 * DAY_MS, returnsTo: "deleteSecret" },
        { kind: "zombie", pauseMs: 0, returnsTo: "deleteResource" },
        { kind: "zombie", pauseMs: 0, begunBy: "force" },
      ],
    },
    open: ({ plan, ...options }, set) =>
      new RingDriver(new RingWorld({ ...options, scene: set?.scene }), plan, set?.backup),
    capture: ({ world, backup }) => ({ scene: world.capture(), backup }),
    unmet: unmetOf,
  });

/** What a story says must come of it, and has not. */
function unmetOf(driver: RingDriver, { sequence, expects }: RingStory): string | undefined {
  const intended = sequenceOf(driver);
  if (sequence !== undefined && intended !== sequence) return `the sequence is ${intended}, it should be ${sequence}`;
  return expects?.(driver);
}

const UNSEEN: readonly RingAct[] = ["deleteRing", "deleteSecret", "restoreStatus", "deleteResource"];

/** Rings: RNDC keys, and the named servers that come to know and forget them. */
export const rings: Repertoire = repertoireIn({
  name: "rings",
  stories: RING_STORIES,
  climates: CLIMATES,
  acts: RING_ACTS,
  unseen: [...UNSEEN, "addPod"],
});

/** The same keys where servers are restarted for another one. */
export const ringsRestarted: Repertoire = repertoireIn({
  name: "rings-restarted",
  stories: RESTARTED_STORIES,
  climates: RESTARTED,
  acts: RESTARTED_ACTS,
  unseen: UNSEEN,
});
