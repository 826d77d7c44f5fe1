import { formatInstant, parseInstant } from "../base/instant.ts";
import { isObjectName } from "../base/object-names.ts";
import { type Annotations, RESTART_AGAIN_ANNOTATION, RESTART_FOR_ANNOTATION } from "./annotations.ts";
import type { SourceId } from "./model.ts";

/**
 * The mark of whoever publishes Secrets and has those restarted that use them, whether they have said anything or not.
 * Pure. Must not: know whose the Secrets are.
 */
export interface RestartMark {
  /** Names of Secrets of the workload's namespace, sorted. */
  readonly secrets: readonly string[];
  /** By the name of a Secret: no pod may be older than this. */
  readonly again: ReadonlyMap<string, number>;
}

/** More than anybody has put there. */
const MOST = 64;

/** What cannot be read is not there. */
export function readMark(own: Annotations): RestartMark {
  const names = wordsIn(own[RESTART_FOR_ANNOTATION]).filter(isObjectName);
  const secrets = [...new Set(names)].sort().slice(0, MOST);
  return { secrets, again: readAgain(own[RESTART_AGAIN_ANNOTATION], secrets) };
}

function readAgain(text: string | undefined, secrets: readonly string[]): ReadonlyMap<string, number> {
  const again = new Map<string, number>();
  for (const word of wordsIn(text)) {
    const [name = "", instant] = word.split("=");
    const at = parseInstant(instant);
    if (at !== undefined && secrets.includes(name)) again.set(name, at);
  }
  return again;
}

const wordsIn = (text = ""): readonly string[] =>
  text
    .split(",")
    .map((word) => word.trim())
    .filter((word) => word !== "");

/** As they stand on the workload; none where no Secret is left. */
export function markAnnotations({ secrets, again }: RestartMark): Annotations {
  if (secrets.length === 0) return {};
  const instants = [...again].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, at]) => `${name}=${formatInstant(at)}`);
  return {
    [RESTART_FOR_ANNOTATION]: [...secrets].sort().join(","),
    ...(instants.length > 0 && { [RESTART_AGAIN_ANNOTATION]: instants.join(",") }),
  };
}

/** With this Secret, and with nothing more asked for it than `againAt`. */
export function marked({ secrets, again }: RestartMark, name: string, againAt?: number): RestartMark {
  const others = [...again].filter(([other]) => other !== name);
  return {
    secrets: [...new Set([...secrets, name])].sort(),
    again: new Map(againAt === undefined ? others : [...others, [name, againAt]]),
  };
}

export const unmarked = ({ secrets, again }: RestartMark, name: string): RestartMark => ({
  secrets: secrets.filter((other) => other !== name),
  again: new Map([...again].filter(([other]) => other !== name)),
});

export const secretSource = (name: string): SourceId => `secret/${name}`;
