import type { Stretch } from "./time-range.ts";

/** From instants to places on a track, and back. What is far outside is drawn just outside: no number gets absurd. */
export interface TimeScale {
  readonly from: number;
  readonly until: number;
  readonly width: number;
  x(at: number): number;
  at(x: number): number;
}

/** So far beyond its ends a track may still be drawn on. */
const MARGIN = 16;

export function timeScale({ from, until }: Stretch, width: number): TimeScale {
  const perMs = width / Math.max(1, until - from);
  return {
    from,
    until,
    width,
    x: (at) => {
      if (Number.isNaN(at)) return -MARGIN;
      const place = (at - from) * perMs;
      return place < -MARGIN ? -MARGIN : place > width + MARGIN ? width + MARGIN : Math.round(place * 10) / 10;
    },
    at: (x) => from + (width > 0 ? x / perMs : 0),
  };
}
