import type { JSX } from "preact";
import type { WindowBar } from "../../../src/dashboard/wire.ts";
import { memo } from "../app/memo.ts";
import type { TimeScale } from "../time/time-scale.ts";
import { BAR_STYLES, drawRow, type Lanes, type Mark, pathOf } from "./bars.ts";
import { type Span, windowSpans } from "./windows.ts";

/** The bars of one credential: a few paths, whatever the number of keys. What they say in words stands beside them. */
export interface TrackGeometry {
  readonly top: number;
  readonly height: number;
  readonly gap: number;
}

export function geometryOf(rowHeight: number, lanes: number): TrackGeometry {
  const gap = lanes > 4 ? 1 : 2;
  const height = Math.max(2, Math.min(11, Math.floor((rowHeight - 10 - gap * (lanes - 1)) / lanes)));
  const used = lanes * height + (lanes - 1) * gap;
  return { top: Math.round((rowHeight - used) / 2), height, gap };
}

export const KeyTrack = memo(
  ({
    lanes,
    scale,
    windows,
    rowHeight,
    label,
    knownUntil,
  }: {
    lanes: Lanes;
    scale: TimeScale;
    windows: readonly WindowBar[];
    rowHeight: number;
    label: string;
    /** Where what is foreseen ends before the track does. */
    knownUntil?: number | undefined;
  }): JSX.Element => {
    const { bars, marks } = drawRow(lanes, scale, knownUntil);
    const geometry = geometryOf(rowHeight, lanes.count);
    return (
      <svg class="track" width={scale.width} height={rowHeight} role="img" aria-label={label}>
        <Windows spans={windowSpans(windows, scale)} height={rowHeight} />
        {BAR_STYLES.map((style) => {
          const path = pathOf(bars, style, geometry);
          return path === "" ? null : <path key={style} class={`bar-${style}`} d={path} />;
        })}
        {knownUntil !== undefined && knownUntil < scale.until ? (
          <path class="unforeseen" d={`M${scale.x(knownUntil)} ${rowHeight / 2}H${scale.width}`} />
        ) : null}
        {marks.map(({ kind, lane, x }) => (
          <path
            key={`${kind} ${lane} ${x}`}
            class={`mark mark-${kind}`}
            d={markPath(
              kind,
              x + MARK_BESIDE,
              geometry.top + lane * (geometry.height + geometry.gap) + geometry.height / 2,
            )}
          />
        ))}
      </svg>
    );
  },
);

/** At the beginning of its bar, and not across it: where a key is made now, the line of the present is. */
const MARK_BESIDE = 7;
/** So high is the edge of a window, beneath the bars: the rest of it is faint, so that these stay readable. */
const RAIL = 3;

/**
 * When it may be rotated: faint behind the bars, and with an edge that is seen also where little of it is in sight. Of many
 * that cannot be told apart there is the edge alone, and it is broken: most of that time may be closed.
 */
export function Windows({ spans, height }: { spans: readonly Span[]; height: number }): JSX.Element | null {
  if (spans.length === 0) return null;
  const single = spans.filter(({ isMany }) => !isMany);
  const many = spans.filter(({ isMany }) => isMany);
  return (
    <>
      {single.length > 0 ? <path class="window" d={bandPath(single, 0, height)} /> : null}
      {single.length > 0 ? <path class="window-rail" d={bandPath(single, height - RAIL, RAIL)} /> : null}
      {many.length > 0 ? <path class="windows-rail" d={linePath(many, height - RAIL / 2)} /> : null}
    </>
  );
}

const bandPath = (spans: readonly Span[], top: number, height: number): string =>
  spans.map(({ x, width }) => `M${x} ${top}h${width}v${height}h${-width}z`).join("");

const linePath = (spans: readonly Span[], y: number): string =>
  spans.map(({ x, width }) => `M${x} ${y}h${width}`).join("");

/** A shape for each way in which a key came to be. */
export function markPath(kind: Mark["kind"], x: number, y: number): string {
  switch (kind) {
    case "forced":
      return `M${x} ${y - 5}l5 9h-10z`;
    case "compromised":
      return `M${x - 4} ${y - 5.5}h8l3 5.5l-3 5.5h-8l-3-5.5z`;
    case "late":
      return `M${x} ${y - 6}l5 6l-5 6l-5-6z`;
    case "changed":
    case "repaired":
      return `M${x - 4.5} ${y - 4.5}h9v9h-9z`;
    case "first":
    case "adopted":
      return `M${x - 4.5} ${y}a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0z`;
  }
}
