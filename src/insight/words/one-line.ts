import { visible } from "./visible.ts";

/** A message on one line. What a parser draws below its first line, the source and an arrow, is left out: that has the position. */
export const oneLine = (text: string): string =>
  visible(
    text
      .split(/\r?\n/)
      .filter((line) => !/^\s*\|/.test(line))
      .map((line) => line.trim())
      .filter((line) => line !== "")
      .join(" "),
  );
