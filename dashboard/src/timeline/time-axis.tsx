import type { JSX } from "preact";
import { ticksOf } from "../time/ticks.ts";
import type { TimeScale } from "../time/time-scale.ts";

/** Less where the whole track has room for a few alone. */
const spacingOf = ({ width }: TimeScale): number => (width < 500 ? 52 : 72);
/** So much room the name of a day or month needs. */
const LABEL = 110;

/** Dates above the bars: round instants of UTC, and what they have in common. For sight alone: rows say their dates in words. */
export function TimeAxis({ scale }: { scale: TimeScale }): JSX.Element {
  const { minor, major } = ticksOf(scale, spacingOf(scale));
  return (
    <svg class="axis" width={scale.width} height={36} aria-hidden="true" focusable="false">
      {major.map(({ at, x, text }, index) => {
        // The first one is written where the track begins, unless the next one would run into it.
        const next = major[index + 1]?.x ?? Infinity;
        const place = Math.max(0, x);
        return next - place < LABEL && x < 0 ? null : (
          <text key={at} class="major" x={place + 4} y={13}>
            {text}
          </text>
        );
      })}
      {minor.map(({ at, x, text }) => (
        <g key={at}>
          <path class="tick" d={`M${x} 20V36`} />
          {x < -2 ? null : (
            <text x={x + 4} y={31}>
              {text}
            </text>
          )}
        </g>
      ))}
    </svg>
  );
}

/** Lines under all rows at once. */
export function TimeGrid({ scale, height }: { scale: TimeScale; height: number }): JSX.Element {
  const { minor } = ticksOf(scale, spacingOf(scale));
  return (
    <svg class="time-lines" width={scale.width} height={height} aria-hidden="true" focusable="false">
      <path d={minor.map(({ x }) => `M${x} 0V${height}`).join("")} />
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
