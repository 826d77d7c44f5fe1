import type { JSX } from "preact";
import { usePage } from "../app/page-state.ts";
import { labelsOf, presentLabel, type Ticks, ticksOf } from "../time/ticks.ts";
import type { TimeScale } from "../time/time-scale.ts";

/** Two lines of names, and beneath them room for the sign of the present, which else would stand on a date. */
const HEIGHT = 42;
const [MAJOR_LINE, MINOR_LINE] = [12, 28];
/** After the first name of the upper line stands in which time all of it is. */
const ZONE_WIDTH = 32;

/** Less where the whole track has room for a few alone. */
const spacingOf = ({ width }: TimeScale): number => (width < 500 ? 52 : 72);

/** Dates above the bars: round instants of UTC, and what they have in common. For sight alone: rows say their dates in words. */
export function TimeAxis({ scale }: { scale: TimeScale }): JSX.Element {
  const ticks = ticksOf(scale, spacingOf(scale));
  const labels = labelsOf(ticks, { width: scale.width, kept: ZONE_WIDTH });
  const { minor, major } = labels;
  return (
    <svg class="axis" width={scale.width} height={HEIGHT} aria-hidden="true" focusable="false">
      <path class="tick" d={ticks.minor.map(({ x }) => `M${x} 18V${HEIGHT}`).join("")} />
      <path class="tick major" d={ticks.major.map(({ x }) => `M${x} 2V15`).join("")} />
      {major.map(({ x, text }, index) => (
        <text key={x} class="major" x={x} y={MAJOR_LINE}>
          {text}
          {index === 0 ? (
            <tspan class="zone" dx="6">
              UTC
            </tspan>
          ) : null}
        </text>
      ))}
      {minor.map(({ x, text }) => (
        <text key={x} x={x} y={MINOR_LINE}>
          {text}
        </text>
      ))}
      <PresentLabel scale={scale} ticks={ticks} labels={labels} />
    </svg>
  );
}

/** When now is, at the head of its line. It moves by itself, and the rest of the axis is not drawn anew for it. */
function PresentLabel(props: {
  scale: TimeScale;
  ticks: Ticks;
  labels: ReturnType<typeof labelsOf>;
}): JSX.Element | null {
  const { scale, ticks, labels } = props;
  const now = usePage().now.value;
  const label = presentLabel(now, scale, { ticks, labels: { ...labels, kept: ZONE_WIDTH } });
  if (!label) return null;
  return (
    <text class="present-label" x={label.x} y={label.line === "minor" ? MINOR_LINE : MAJOR_LINE}>
      {label.text}
    </text>
  );
}

/** Lines under all rows at once; where a new month, or what else is written in the upper line, begins, a stronger one. */
export function TimeGrid({ scale, height }: { scale: TimeScale; height: number }): JSX.Element {
  const { minor, major } = ticksOf(scale, spacingOf(scale));
  const lines = (ticks: readonly { readonly x: number }[]): string =>
    ticks.map(({ x }) => `M${x} 0V${height}`).join("");
  return (
    <svg class="time-lines" width={scale.width} height={height} aria-hidden="true" focusable="false">
      <path d={lines(minor)} />
      <path class="major" d={lines(major)} />
    </svg>
  );
}

/** The present, and a veil over what is only to come. */
export function Present({ scale, now }: { scale: TimeScale; now: number }): JSX.Element | null {
  const x = scale.x(now);
  const isInSight = now >= scale.from && now <= scale.until;
  return (
    <div class="present" aria-hidden="true">
      {now < scale.until ? <div class="veil" style={{ left: `${Math.max(0, x)}px` }} /> : null}
      {isInSight ? <div class="now" style={{ transform: `translateX(${x}px)` }} /> : null}
    </div>
  );
}
