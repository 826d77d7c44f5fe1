/** A text for a column: what would make it wider than this is left out, and … says so. */
export const cut = (text: string, width: number): string =>
  text.length <= width ? text : `${text.slice(0, width - 1)}…`;
