import { join } from "node:path";
import { test } from "node:test";
import { formatDuration, parseDuration } from "../base/duration.ts";
import { formatInstant } from "../base/instant.ts";
import { nextInstant } from "./decide.ts";
import { EngineWorld } from "./engine-world.fixture.ts";

/**
 * The document's own example as it turns out: what happens when over sixty days, and which key lives from when to when.
 * The expected text is `timeline.golden.txt`; after a change that is meant, write it anew and read the difference:
 *
 *     node --test --test-update-snapshots src/engine/timeline.test.ts
 */
const DAY_MS = 86_400_000;
const DAYS = 60;
const MADE = Date.parse("2025-11-05T13:14:28Z");

interface Life {
  readonly name: string;
  readonly madeAt: number;
  retiredAt: number;
  deletedAt: number;
}

interface Story {
  readonly lines: readonly string[];
  readonly lives: readonly Life[];
}

/** Goes from one instant at which there is something to do to the next. */
function tell(frequencyMs: number, ttlMs: number): Story {
  const world = new EngineWorld();
  world.now = MADE;
  world.policy = { ...world.policy, frequencyMs, ttlMs };
  const lives = new Map<string, Life>();
  const lines: string[] = [];
  while (world.now < MADE + DAYS * DAY_MS) {
    const before = { active: world.state.active?.name, outside: new Set(namesOf(world)) };
    world.settle();
    const { active, retired } = world.state;
    if (active && active.name !== before.active) {
      lives.set(active.name, { name: active.name, madeAt: world.now, retiredAt: Infinity, deletedAt: Infinity });
      lines.push(say(world.now, `${active.name} is made and published`));
      const old = retired.find((key) => key.name === before.active);
      if (old) {
        Object.assign(lives.get(old.name) ?? {}, { retiredAt: world.now });
        lines.push(say(world.now, `${old.name} is retired, to be deleted ${formatInstant(old.deletionAt)}`));
      }
    }
    for (const name of before.outside.difference(new Set(namesOf(world)))) {
      Object.assign(lives.get(name) ?? {}, { deletedAt: world.now });
      lines.push(say(world.now, `${name} is deleted`));
    }
    world.now = nextInstant(world.situation());
  }
  return { lines, lives: [...lives.values()] };
}

const namesOf = (world: EngineWorld): readonly string[] => [...world.outside.values()].map((key) => key.name);

const dayOf = (at: number): string => ((at - MADE) / DAY_MS).toFixed(1).padStart(5);

const say = (at: number, what: string): string => `${formatInstant(at)}  day ${dayOf(at)}  ${what}`;

/** Half a day a character: `#` while it is the active key, `-` while it is retired. */
function bar({ name, madeAt, retiredAt, deletedAt }: Life): string {
  const cells = Array.from({ length: 2 * DAYS }, (_, index) => {
    const at = MADE + (index * DAY_MS) / 2;
    if (at < madeAt || at >= deletedAt) return " ";
    return at < retiredAt ? "#" : "-";
  });
  return `${name}  ${cells.join("")}`.trimEnd();
}

function chapter(title: string, ttl: string, frequency: string): string {
  const [ttlMs, frequencyMs] = [parseDuration(ttl), parseDuration(frequency)];
  const { lines, lives } = tell(frequencyMs, ttlMs);
  const words = `ttl ${ttl} (${formatDuration(ttlMs)}), frequency ${frequency} (${formatDuration(frequencyMs)})`;
  return [title, words, "", ...lines, "", ...lives.map(bar), ""].join("\n");
}

test("the document's timeline over sixty days, as the text means it and as its manifest is written", (context) => {
  const text = [
    chapter("As the text means it: 14 days and 12 days", "336h", "288h"),
    chapter("As the manifest is written: 228 hours are nine days and a half", "336h", "228h"),
  ].join("\n");
  context.assert.fileSnapshot(text, join(import.meta.dirname, "timeline.golden.txt"), {
    serializers: [(value) => String(value)],
  });
});
