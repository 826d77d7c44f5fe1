/** As Markdown renderers make one from a heading. */
export const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");

/** Of all headings of a page, in their order, as they are written; of equal ones the later ones have a number. */
export function anchorsOf(headings: readonly string[]): readonly string[] {
  const counts = new Map<string, number>();
  return headings.map((heading) => {
    const anchor = anchorOf(plainHeading(heading));
    const count = counts.get(anchor) ?? 0;
    counts.set(anchor, count + 1);
    return count === 0 ? anchor : `${anchor}-${count}`;
  });
}

/** Without the marks of code and links. */
export const plainHeading = (heading: string): string =>
  heading.replaceAll("`", "").replace(/\[([^\]]+)\]\([^)]*\)/g, "$1");
