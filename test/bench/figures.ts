/** One measured number and what it should be. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  /** `>= 3000`, `<= 5`; absent where the number is only for comparison. */
  readonly goal?: string;
  readonly holds?: boolean;
}

/** What a part of a bench found: its figures, and what they were counted from. */
export interface Findings {
  readonly figures: readonly Figure[];
  readonly details: Readonly<Record<string, unknown>>;
}

export function figure(name: string, value: number, goal?: string): Figure {
  const rounded = Number(value.toPrecision(4));
  if (goal === undefined) return { name, value: rounded };
  const [comparison, bound] = goal.split(" ");
  const holds = comparison === ">=" ? value >= Number(bound) : value <= Number(bound);
  return { name, value: rounded, goal, holds };
}

/** A row of numbers in one line of the evidence, in tenths. */
export const inOneLine = (values: readonly number[]): string =>
  values.map((value) => Math.round(value * 10) / 10).join(" ");

/** Prints a table for people and, last, the one line of JSON that programs read. */
export function reportFigures(bench: string, figures: readonly Figure[]): void {
  for (const { name, value, goal, holds } of figures) {
    const verdict = goal === undefined ? "" : `  (goal ${goal}: ${holds ? "holds" : "MISSED"})`;
    console.log(`${name.padEnd(70)} ${String(value).padStart(10)}${verdict}`);
  }
  console.log(JSON.stringify({ bench, figures }));
  if (figures.some(({ holds }) => holds === false)) process.exitCode = 1;
}
