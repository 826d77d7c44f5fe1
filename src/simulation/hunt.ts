import type { Cluster } from "./cluster.ts";
import { type Exploration, exploreSeeds, exploreSingles, type Finding, replay } from "./explore.ts";
import type { Mutant } from "./mutants/mutant.ts";
import { repertoireOf } from "./repertoires.ts";

export interface Hunt {
  readonly finding: Finding | undefined;
  readonly schedules: number;
}

/** A mutant that is not noticed by then is not noticed. */
const MAX_SCHEDULES = 3000;

const seeds = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index + 1);

/**
 * Looks for a schedule that gives a mutant away: single disturbances in its stories, one after the other, or drawn ones
 * where it takes several. It counts only if the same schedule is clean without the mutation.
 */
export async function hunt(mutant: Mutant, cluster: Cluster, maxSchedules = MAX_SCHEDULES): Promise<Hunt> {
  let finding: Finding | undefined;
  const suspects: Finding[] = [];
  const isProof = async ({ origin }: Finding): Promise<boolean> =>
    (await replay({ origin, cluster, tampering: mutant.baseline })).violations.length === 0;
  const exploration: Exploration = {
    cluster,
    tampering: mutant.tampering,
    prelude: mutant.prelude,
    isMeant: mutant.focus,
    repertoires: [repertoireOf(mutant.family ?? "btp")],
    stories: mutant.stories,
    climates: mutant.climates ?? ["calm"],
    onFinding: (found) => suspects.push(found),
    isEnough: async (count) => {
      for (const suspect of suspects.splice(0)) if (!finding && (await isProof(suspect))) finding = suspect;
      return finding !== undefined || count >= maxSchedules;
    },
  };
  if (mutant.schedule) return playOne(mutant, cluster);
  if (mutant.isRare) return { schedules: await exploreSeeds(exploration, seeds(maxSchedules)), finding };
  const schedules = await exploreSingles(exploration);
  return { finding, schedules };
}

/** In the first of its stories and climates. */
async function playOne(mutant: Mutant, cluster: Cluster): Promise<Hunt> {
  const { family = "btp", stories, climates = ["calm"], schedule, tampering, baseline } = mutant;
  const [story = "", climate = ""] = [stories[0], climates[0]];
  const origin = { family, story, climate, seed: 1, ...schedule };
  const { violations } = await replay({ origin, cluster, tampering });
  const plain = await replay({ origin, cluster, tampering: baseline });
  const isCaught = violations.length > 0 && plain.violations.length === 0;
  return { finding: isCaught ? { origin, violations } : undefined, schedules: 1 };
}
