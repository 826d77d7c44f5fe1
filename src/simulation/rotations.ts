import { CONSUMER_STORIES } from "./consumers/stories.ts";
import type { Climate, Family } from "./families/family.ts";
import { type ActName, actsOf } from "./person.ts";
import type { AnyAct, Perturbation } from "./perturbation.ts";
import { type Company, type Performance, perturbationsAt, type Repertoire } from "./repertoire.ts";
import { runSchedule } from "./schedule.ts";
import { type Story, storiesOf } from "./stories.ts";

/** Restoring within the lag of lists brings back what no look outside can contradict: not asked of anybody. */
const RESTORES: ReadonlySet<AnyAct> = new Set<ActName>([
  "restoreBoth",
  "restoreSecret",
  "restoreStatus",
  "wipeStatus",
  "recreate",
  "reapply",
]);

function isFair(climate: Climate, what: Perturbation): boolean {
  if (what.kind === "fault" && what.fault === "late") return !climate.isMarkedLater;
  const act = what.kind === "person" ? what.name : what.kind === "stale" ? what.unseen : undefined;
  return act === undefined || !RESTORES.has(act) || (climate.switches?.createdHiddenMs ?? 0) === 0;
}

const DAYS_15_MS = 15 * 86_400_000;

const UNSEEN: readonly ActName[] = ["deleteSecret", "moveSecret", "restoreStatus", "restoreSecret", "deleteResource"];

/** The stories of rotation, told of one family. */
export const rotationsOf = (family: Family): Repertoire =>
  repertoireIn(family, {
    name: family.name,
    stories: storiesOf(family),
    acts: actsOf(family, false),
    unseen: UNSEEN,
  });

/** The stories of those who use the keys of one family, or some of them: how keys are made says little about who uses them. */
export const consumersOf = (family: Family, names?: readonly string[]): Repertoire =>
  repertoireIn(
    { ...family, climates: family.climates.filter(({ name }) => name === "calm") },
    {
      name: `${family.name}-consumers`,
      stories: CONSUMER_STORIES.filter(({ name }) => names?.includes(name) ?? true),
      acts: actsOf(family, true),
      unseen: [...UNSEEN, "optConsumersIn"],
    },
  );

interface Contents extends Pick<Company, "acts" | "unseen"> {
  readonly name: string;
  readonly stories: readonly Story[];
}

function repertoireIn(family: Family, { name, stories, acts, unseen }: Contents): Repertoire {
  const company: Company = {
    acts,
    unseen,
    zombies: [
      { kind: "zombie", pauseMs: DAYS_15_MS, returnsTo: "deleteSecret" },
      { kind: "zombie", pauseMs: 0, returnsTo: "deleteResource" },
    ],
  };
  const climateNamed = (name: string): Climate => named(family.climates, name);
  return {
    name,
    stories: stories.map((story) => story.name),
    climates: family.climates.map((climate) => climate.name),
    perturbationsAt: (call) => perturbationsAt(call, company),
    isFair: (climate, what) => isFair(climateNamed(climate), what),
    run: ({ story, climate, ...others }: Performance) =>
      runSchedule({ ...others, family, story: named(stories, story), climate: climateNamed(climate) }),
  };
}

function named<T extends { readonly name: string }>(all: readonly T[], name: string): T {
  const found = all.find((one) => one.name === name);
  if (!found) throw new RangeError(`there is no story or climate ${name}`);
  return found;
}
