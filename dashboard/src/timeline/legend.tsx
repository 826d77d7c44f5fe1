import type { JSX } from "preact";
import { MARK_WORDS } from "../parts/words.ts";
import type { BarStyle } from "./bars.ts";
import { markPath, Windows } from "./key-track.tsx";
import type { Shape } from "./shapes.ts";

/** One beside the other what a bar goes through, from left to right. */
const BARS: readonly (readonly [styles: readonly BarStyle[], words: string])[] = [
  [["live"], "active"],
  [["kept"], "retired, still works"],
  [["held"], "held back"],
  [["pending"], "being made"],
  [["foreseen", "foreseenKept"], "to come, then retired"],
  [["gone", "goneKept"], "deleted since"],
];

/** A change and a repair have one shape: what the key is for stands in its words. */
const MARKS = [
  [["forced"], MARK_WORDS.forced],
  [["compromised"], MARK_WORDS.compromised],
  [["late"], MARK_WORDS.late],
  [["changed", "repaired"], `${MARK_WORDS.changed} or ${MARK_WORDS.repaired}`],
  [["adopted"], MARK_WORDS.adopted],
] as const;

/** What the shapes mean: all of them, or those in sight. */
export function Legend({ shapes, hasHint = true }: { shapes?: ReadonlySet<Shape>; hasHint?: boolean }): JSX.Element {
  const isMeant = (some: readonly Shape[]): boolean => !shapes || some.some((shape) => shapes.has(shape));
  return (
    <ul class="legend" aria-label="Legend">
      {BARS.map(([styles, words]) => (isMeant(styles) ? <BarItem key={words} styles={styles} words={words} /> : null))}
      {isMeant(["later"]) ? <LaterItem /> : null}
      {isMeant(["unforeseen"]) ? <UnforeseenItem /> : null}
      {isMeant(["window"]) ? <WindowItem words="rotation window" isMany={false} /> : null}
      {isMeant(["manyWindows"]) ? <WindowItem words="windows, too close to tell apart" isMany /> : null}
      {isMeant(["now"]) ? <NowItem /> : null}
      {MARKS.map(([kinds, words]) =>
        isMeant(kinds) ? (
          <li key={words}>
            <svg width="14" height="14" aria-hidden="true" focusable="false">
              <path class={`mark mark-${kinds[0]}`} d={markPath(kinds[0], 7, 7)} />
            </svg>
            {words}
          </li>
        ) : null,
      )}
      {hasHint ? (
        <li class="hint">
          <kbd>← →</kbd> move <kbd>+ −</kbd> zoom <kbd>0</kbd> now
        </li>
      ) : null}
    </ul>
  );
}

const PART = 18;

const BarItem = ({ styles, words }: { styles: readonly BarStyle[]; words: string }): JSX.Element => (
  <li>
    <svg width={styles.length * PART + 4} height="12" aria-hidden="true" focusable="false">
      {styles.map((style, index) => (
        <path key={style} class={`bar-${style}`} d={`M${2 + index * PART} 1h${PART}v10h${-PART}z`} />
      ))}
    </svg>
    {words}
  </li>
);

const LaterItem = (): JSX.Element => (
  <li>
    <svg width="40" height="12" aria-hidden="true" focusable="false">
      <path class="bar-live" d="M2 1h36v10h-36z" />
      <path class="veil-mark" d="M20 0h20v12h-20z" />
    </svg>
    paler: after now
  </li>
);

const UnforeseenItem = (): JSX.Element => (
  <li>
    <svg width="22" height="12" aria-hidden="true" focusable="false">
      <path class="unforeseen" d="M2 6H22" />
    </svg>
    not foreseen yet
  </li>
);

const WindowItem = ({ words, isMany }: { words: string; isMany: boolean }): JSX.Element => (
  <li>
    <svg width="22" height="14" aria-hidden="true" focusable="false">
      <Windows spans={[{ x: 1, width: 20, isMany }]} height={14} />
    </svg>
    {words}
  </li>
);

const NowItem = (): JSX.Element => (
  <li>
    <svg width="12" height="14" aria-hidden="true" focusable="false">
      <path class="present-mark" d="M1 1h10l-4 6v7h-2v-7z" />
    </svg>
    now
  </li>
);

/** The patterns that bars are filled with, once for the page. */
export const Patterns = (): JSX.Element => (
  <svg class="patterns" width="0" height="0" aria-hidden="true" focusable="false">
    <defs>
      <Hatch id="hatch" />
      <Hatch id="hatch-gone" />
      <Hatch id="hatch-faint" />
      <pattern id="hatch-held" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
        <path class="hatch-held" d="M0 3H6M3 0V6" />
      </pattern>
    </defs>
  </svg>
);

const Hatch = ({ id }: { id: string }): JSX.Element => (
  <pattern id={id} width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
    <path class={id} d="M0 0V5" />
  </pattern>
);
