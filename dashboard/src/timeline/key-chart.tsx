import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import type { KeyBar, WindowBar } from "../../../src/dashboard/wire.ts";
import { useSize } from "../app/hooks.ts";
import { usePage } from "../app/page-state.ts";
import type { TimeRange } from "../time/time-range.ts";
import { lanesOf } from "./bars.ts";
import { useTimeGestures } from "./gestures.ts";
import { KeyTrack } from "./key-track.tsx";
import { Legend } from "./legend.tsx";
import { type Shape, shapesOf } from "./shapes.ts";
import { Present, TimeAxis, TimeGrid } from "./time-axis.tsx";
import { rangeAfterKey } from "./time-controls.tsx";
import { useScale } from "./use-scale.ts";

const MAX_LANES = 8;
const LANE = 15;

/** One credential's keys, larger, with every lane that they need, and beneath them what their shapes mean. */
export function KeyChart(props: {
  keys: readonly KeyBar[];
  windows: readonly WindowBar[];
  range: TimeRange;
  label: string;
  knownUntil?: number | undefined;
  /** Left out: it is only to be looked at. */
  onRange?: (range: TimeRange) => void;
}): JSX.Element {
  const { keys, windows, range, label, knownUntil, onRange } = props;
  const page = usePage();
  const [ref, size] = useSize();
  const scale = useScale(range, Math.max(100, size.width));
  const lanes = useMemo(() => lanesOf(keys, MAX_LANES), [keys]);
  const now = page.now.value;
  const height = Math.max(48, lanes.count * LANE + 18);
  const change = onRange ?? (() => {});
  useTimeGestures(ref, { range, scale, now: () => page.now.peek(), offset: 0, onChange: change });
  const onKeyDown = (event: KeyboardEvent): void => {
    const next =
      onRange && !event.ctrlKey && !event.metaKey ? rangeAfterKey(event.key, range, page.now.peek()) : undefined;
    if (!next) return;
    event.preventDefault();
    change(next);
  };
  return (
    <>
      <div
        class="chart"
        ref={ref}
        role="group"
        aria-label={label}
        tabIndex={onRange ? 0 : undefined}
        onKeyDown={onKeyDown}
      >
        <TimeGrid scale={scale} height={height} />
        <TimeAxis scale={scale} />
        <div class="chart-body" style={{ height: `${height}px` }}>
          <KeyTrack
            lanes={lanes}
            scale={scale}
            windows={windows}
            rowHeight={height}
            label={label}
            knownUntil={knownUntil}
          />
        </div>
        <Present scale={scale} now={now} />
      </div>
      <Legend shapes={useShapes(lanes, scale, { windows, now, knownUntil })} hasHint={onRange !== undefined} />
    </>
  );
}

/** What is in sight changes with the keys and with the scale, and with the present where that has moved by a dot. */
function useShapes(...[lanes, scale, rest]: Parameters<typeof shapesOf>): ReadonlySet<Shape> {
  const { windows, now, knownUntil } = rest;
  return useMemo(() => shapesOf(lanes, scale, rest), [lanes, scale, windows, knownUntil, Math.round(scale.x(now))]);
}
