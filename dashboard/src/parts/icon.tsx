import type { JSX } from "preact";
import type { Shape } from "./words.ts";

/** A shape for every state, so that none is told by its colour alone. Words always stand beside it. */
const PATHS: Readonly<Record<Shape, string>> = {
  note: "M8 1.2a6.8 6.8 0 1 1 0 13.6 6.8 6.8 0 0 1 0-13.6zM8 7.6v3.6M8 4.7v.3",
  ok: "M3 8.5 6.5 12 13 4.5",
  trouble: "M8 1.5 15 14H1zM8 6v4M8 11.6v.8",
  turning: "M13.5 8A5.5 5.5 0 1 1 8 2.5h4M9.6 0 12.2 2.5 9.6 5",
  frozen: "M8 1v14M1.9 4.5l12.2 7M1.9 11.5l12.2-7",
  paused: "M5 3v10M11 3v10",
  leaving: "M3 4h10M6 4V2h4v2M4.5 4l.7 10h5.6l.7-10",
  unknown: "M5 5.5a3 3 0 1 1 4 2.8c-.7.3-1 .8-1 1.7M8 12.6v.8",
};

export const Icon = ({ shape, size = 14 }: { shape: Shape; size?: number }): JSX.Element => (
  <svg class="icon" viewBox="0 0 16 16" width={size} height={size} aria-hidden="true" focusable="false">
    <path d={PATHS[shape]} />
  </svg>
);
