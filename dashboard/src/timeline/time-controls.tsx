import type { JSX } from "preact";
import { usePage } from "../app/page-state.ts";
import { PRESETS, pan, type TimeRange, zoom } from "../time/time-range.ts";

/** How much time is in sight, and which: buttons for what the keys +, -, arrows and 0 do too. */
export function TimeControls({
  range,
  onChange,
}: {
  range: TimeRange;
  onChange: (range: TimeRange) => void;
}): JSX.Element {
  const { now } = usePage();
  return (
    <div class="controls" role="group" aria-label="Time in sight">
      <div class="segments">
        {PRESETS.map(({ name, words, spanMs }) => (
          <button
            key={name}
            type="button"
            aria-pressed={range.spanMs === spanMs}
            title={words}
            onClick={() =>
              onChange({ ...range, ...(range.from === undefined ? {} : zoomTo(range, spanMs, now.peek())), spanMs })
            }
          >
            {name}
          </button>
        ))}
      </div>
      <div class="segments">
        <button
          type="button"
          aria-label="Zoom out"
          title="Zoom out (-)"
          onClick={() => onChange(zoom(range, 2, { now: now.peek() }))}
        >
          −
        </button>
        <button
          type="button"
          aria-label="Zoom in"
          title="Zoom in (+)"
          onClick={() => onChange(zoom(range, 0.5, { now: now.peek() }))}
        >
          +
        </button>
      </div>
      <div class="segments">
        <button
          type="button"
          aria-label="Earlier"
          title="Earlier (←)"
          onClick={() => onChange(pan(range, -0.5, now.peek()))}
        >
          ‹
        </button>
        <button
          type="button"
          aria-pressed={range.from === undefined}
          title="Follow the present (0)"
          onClick={() => onChange({ spanMs: range.spanMs })}
        >
          Now
        </button>
        <button
          type="button"
          aria-label="Later"
          title="Later (→)"
          onClick={() => onChange(pan(range, 0.5, now.peek()))}
        >
          ›
        </button>
      </div>
    </div>
  );
}

const zoomTo = (range: TimeRange, spanMs: number, now: number): TimeRange =>
  zoom(range, spanMs / range.spanMs, { now });

/** What a key of the keyboard does to the range; undefined where it is not for that. */
export function rangeAfterKey(key: string, range: TimeRange, now: number): TimeRange | undefined {
  switch (key) {
    case "+":
    case "=":
      return zoom(range, 0.5, { now });
    case "-":
      return zoom(range, 2, { now });
    case "ArrowLeft":
      return pan(range, -0.1, now);
    case "ArrowRight":
      return pan(range, 0.1, now);
    case "0":
      return { spanMs: range.spanMs };
    default:
      return undefined;
  }
}
