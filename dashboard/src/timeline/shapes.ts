import type { KeyMark, WindowBar } from "../../../src/dashboard/wire.ts";
import type { TimeScale } from "../time/time-scale.ts";
import { type BarStyle, drawRow, type Lanes } from "./bars.ts";
import { windowSpans } from "./windows.ts";

/** Whatever a track may have on it, and a legend therefore has to explain. */
export type Shape = BarStyle | KeyMark["kind"] | "window" | "manyWindows" | "now" | "later" | "unforeseen";

/** What is to be seen of one credential at this scale. Pure. */
export function shapesOf(
  lanes: Lanes,
  scale: TimeScale,
  {
    windows,
    now,
    knownUntil = Infinity,
  }: { readonly windows: readonly WindowBar[]; readonly now: number; readonly knownUntil?: number | undefined },
): ReadonlySet<Shape> {
  const { bars, marks } = drawRow(lanes, scale, knownUntil);
  const shapes = new Set<Shape>([...bars.map(({ style }) => style), ...marks.map(({ kind }) => kind)]);
  const present = scale.x(now);
  const isThere = ({ style }: { readonly style: BarStyle }): boolean => THERE.includes(style);
  if (now < scale.until && bars.some((bar) => isThere(bar) && bar.x + bar.width > present + 1)) shapes.add("later");
  if (now >= scale.from && now <= scale.until) shapes.add("now");
  for (const { isMany } of windowSpans(windows, scale)) shapes.add(isMany ? "manyWindows" : "window");
  if (knownUntil < scale.until) shapes.add("unforeseen");
  return shapes;
}

/** Keys that exist: what is still to come of them is paler. */
const THERE: readonly BarStyle[] = ["live", "kept", "held"];
