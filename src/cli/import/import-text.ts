import type { Paint } from "../print/paint.ts";
import { wrap } from "../print/wrap.ts";
import type { Outcome } from "./outcome.ts";
import type { Step } from "./plan.ts";

interface TextOptions {
  readonly paint: Paint;
  readonly width: number;
}

export const stepWords = ({ does, why }: Step): string => `${does}: ${why}`;

/** One of them, with what is to be done about it. */
export function outcomeText({ title, ...outcome }: Outcome, options: TextOptions): string {
  const { paint } = options;
  const { state, steps, refusals, hints, problem } = outcome;
  const line = (label: string, text: string): readonly string[] =>
    labelled(paint.faint(label.padEnd(LABEL)), text, options);
  const bad = (label: string, text: string): readonly string[] =>
    labelled(paint.problem(label.padEnd(LABEL)), text, options);
  const lines = [
    paint.heading(title),
    ...refusals.flatMap(({ problem: why, remedy }) => [...bad("refused", why), ...line("remedy", remedy)]),
    ...(problem === undefined ? [] : bad("failed", problem)),
    ...(state === "nothing to do" && steps.length === 0 ? line("state", "nothing to do") : []),
    ...steps.flatMap((step, index) => line(`${index + 1}.`, stepWords(step))),
    ...hints.flatMap((hint) => line("hint", hint)),
  ];
  return `${lines.join("\n")}\n`;
}

const LABEL = "refused".length + 2;
const INDENT = LABEL + 2;

/** Broken where the terminal ends, under its own beginning. */
function labelled(label: string, text: string, { width }: TextOptions): readonly string[] {
  const [first = "", ...others] = wrap(text, width - INDENT);
  return [`  ${label}${first}`, ...others.map((line) => " ".repeat(INDENT) + line)];
}

export function summary(outcomes: readonly Outcome[], isApplied: boolean): string {
  const count = (state: Outcome["state"]): number => outcomes.filter((one) => one.state === state).length;
  const parts = [
    [isApplied ? count("imported") : count("planned"), isApplied ? "taken over" : "to take over"],
    [count("nothing to do"), "with nothing to do"],
    [count("refused"), "refused"],
    [count("failed"), "failed"],
  ] as const;
  const said = parts
    .filter(([number], index) => index === 0 || number > 0)
    .map(([number, what]) => `${number} ${what}`);
  return `${said.join(", ")}${isApplied ? "." : "; nothing was written: --yes does it."}`;
}
