import { visible } from "../../insight/words/visible.ts";

/** Rows in aligned columns, as kubectl prints them: three spaces between, nothing at the end of a line. */
export interface Column<R> {
  readonly title: string;
  readonly text: (row: R) => string;
  /** Colours the text once it is as wide as it must be. */
  readonly paint?: (text: string, row: R) => string;
}

const GAP = "   ";

export function table<R>(columns: readonly Column<R>[], rows: readonly R[]): string {
  const widths = columns.map(({ title, text }) =>
    rows.reduce((width, row) => Math.max(width, visible(text(row)).length), title.length),
  );
  const line = (cells: readonly string[], paint: (text: string, index: number) => string): string => {
    const last = cells.findLastIndex((cell) => cell !== "");
    return cells
      .slice(0, last + 1)
      .map((cell, index) => paint(index === last ? cell : cell.padEnd(widths[index] ?? 0), index))
      .join(GAP);
  };
  const head = line(
    columns.map(({ title }) => title),
    (text) => text,
  );
  const body = rows.map((row) =>
    line(
      columns.map((column) => visible(column.text(row))),
      (text, index) => columns[index]?.paint?.(text, row) ?? text,
    ),
  );
  return `${[head, ...body].join("\n")}\n`;
}
