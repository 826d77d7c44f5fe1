import type { JSX } from "preact";
import { MARK_WORDS } from "../parts/words.ts";
import { markPath } from "./key-track.tsx";

const BARS = [
  ["live", "published"],
  ["kept", "retired"],
  ["held", "held"],
  ["pending", "being made"],
  ["foreseen", "to come"],
  ["gone", "deleted"],
] as const;

const MARKS = ["forced", "compromised", "late", "repaired", "adopted"] as const;

/** What the shapes mean. */
export const Legend = (): JSX.Element => (
  <ul class="legend" aria-label="Legend">
    {BARS.map(([style, words]) => (
      <li key={style}>
        <svg width="22" height="10" aria-hidden="true" focusable="false">
          <path class={`bar-${style}`} d="M1 1h20v8h-20z" />
        </svg>
        {words}
      </li>
    ))}
    <li>
      <svg width="22" height="12" aria-hidden="true" focusable="false">
        <path class="window" d="M0 0h22v12h-22z" />
      </svg>
      window
    </li>
    <li>
      <svg width="12" height="14" aria-hidden="true" focusable="false">
        <path class="present-mark" d="M1 1h10l-4 6v7h-2v-7z" />
      </svg>
      now
    </li>
    {MARKS.map((kind) => (
      <li key={kind}>
        <svg width="14" height="14" aria-hidden="true" focusable="false">
          <path class={`mark mark-${kind}`} d={markPath(kind, 7, 7)} />
        </svg>
        {MARK_WORDS[kind]}
      </li>
    ))}
    <li class="hint">
      <kbd>← →</kbd> move <kbd>+ −</kbd> zoom <kbd>0</kbd> now
    </li>
  </ul>
);

/** The patterns that bars are filled with, once for the page. */
export const Patterns = (): JSX.Element => (
  <svg class="patterns" width="0" height="0" aria-hidden="true" focusable="false">
    <defs>
      <pattern id="hatch" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
        <path class="hatch" d="M0 0V5" />
      </pattern>
      <pattern id="hatch-held" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
        <path class="hatch-held" d="M0 0V5" />
      </pattern>
      <pattern id="hatch-faint" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
        <path class="hatch-faint" d="M0 0V5" />
      </pattern>
    </defs>
  </svg>
);
