import type { JSX } from "preact";
import type { KeyBar } from "../../../src/dashboard/wire.ts";
import { visible } from "../../../src/insight/words/visible.ts";
import { LOOK_WORDS, lookOf } from "../parts/key-looks.ts";
import { keyWords } from "../parts/words.ts";

/** What is known of the key under the pointer, or of the one that was chosen by keys. */
export interface CardPlace {
  readonly key: KeyBar;
  readonly x: number;
  readonly y: number;
}

const WIDTH = 330;

export function KeyCard({ place, now }: { place: CardPlace | undefined; now: number }): JSX.Element | null {
  if (!place) return null;
  const { key, x, y } = place;
  const left = Math.max(8, Math.min(x + 14, innerWidth - WIDTH - 8));
  const isLow = y > innerHeight - 190;
  return (
    <div
      class="card"
      aria-hidden="true"
      style={
        isLow ? { left: `${left}px`, bottom: `${innerHeight - y + 14}px` } : { left: `${left}px`, top: `${y + 16}px` }
      }
    >
      <div class="card-title">
        <bdi>{visible(key.name)}</bdi>
        <span class="kind">{LOOK_WORDS[lookOf(key)]}</span>
      </div>
      {keyWords(key, now).map((line) => (
        <div key={line}>{visible(line)}</div>
      ))}
    </div>
  );
}
