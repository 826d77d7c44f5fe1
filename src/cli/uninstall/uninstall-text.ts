import { counted, few } from "../check/finding.ts";
import type { Paint } from "../print/paint.ts";
import { wrap } from "../print/wrap.ts";
import { type Item, titleOf } from "./inventory.ts";
import { isDone, type Report, type Result } from "./report.ts";
import type { Share } from "./shares.ts";

interface TextOptions {
  readonly paint: Paint;
  readonly width: number;
}

const LABEL = "released".length + 2;

/** What would become of everything, group by group. */
export function planText({ namespace, wish, shares, refusals, hints }: Report, options: TextOptions): string {
  const { paint } = options;
  const title = `Keyturn in ${namespace}: keys ${wish.keys === "keep" ? "stay" : "are deleted"}, definitions ${wish.definitions === "keep" ? "stay" : "are deleted"}`;
  const nothing = shares.length === 0 ? labelled("", "there is nothing of Keyturn here", options) : [];
  const lines = [
    paint.heading(title),
    ...nothing,
    ...shares.flatMap((share) => shareLines(share, options)),
    ...hints.flatMap((hint) => labelled(paint.notice("hint".padEnd(LABEL)), hint, options)),
    ...refusals.flatMap(({ problem, remedy }) => [
      ...labelled(paint.problem("refused".padEnd(LABEL)), problem, options),
      ...labelled(paint.faint("remedy".padEnd(LABEL)), remedy, options),
    ]),
  ];
  return `${lines.join("\n")}\n`;
}

/** What went, what stays, and what should have gone. */
export function resultText(result: Result, options: TextOptions): string {
  const { paint } = options;
  const { went, stays, left, held } = result;
  const lines = [
    paint.heading("Afterwards"),
    ...(went.length > 0 ? labelled(paint.faint("went".padEnd(LABEL)), namesOf(went), options) : []),
    ...stays.flatMap((share) => shareLines({ ...share, fate: "stays" }, options)),
    ...(left.length > 0 ? labelled(paint.problem("left".padEnd(LABEL)), namesOf(left), options) : []),
    ...(held.length > 0
      ? labelled(paint.problem("held".padEnd(LABEL)), `our finalizer is still on ${namesOf(held)}`, options)
      : []),
    isDone(result) ? "Done: no finalizer of Keyturn's is left." : "Not done: call it again, and it goes on from here.",
  ];
  return `${lines.join("\n")}\n`;
}

function shareLines({ fate, title, why, items }: Share, options: TextOptions): readonly string[] {
  const { paint } = options;
  const colour = fate === "goes" ? paint.notice : paint.faint;
  return [
    ...labelled(colour(fate.padEnd(LABEL)), `${title}: ${namesOf(items)}`, options),
    ...labelled(" ".repeat(LABEL), paint.faint(why), options),
  ];
}

/** `3 ServiceBindings (a, b, c), 1 Secret (shop/d)` */
function namesOf(items: readonly Item[]): string {
  const byKind = Map.groupBy(items, ({ type }) => type.kind);
  return [...byKind]
    .map(([kind, members]) => {
      const names = members.map((item) => titleOf(item).slice(kind.length + 1));
      return `${plural(members.length, kind)} (${few(names)})`;
    })
    .join(", ");
}

/** Kinds that end as these do are no words to put an s to. */
function plural(count: number, kind: string): string {
  if (count !== 1 && kind.endsWith("Policy")) return `${count} ${kind.slice(0, -1)}ies`;
  return counted(count, kind);
}

/** Broken where the terminal ends, under its own beginning. */
function labelled(label: string, text: string, { width }: TextOptions): readonly string[] {
  const [first = "", ...others] = wrap(text, width - LABEL - 2);
  return [`  ${label}${first}`, ...others.map((line) => " ".repeat(LABEL + 2) + line)];
}
