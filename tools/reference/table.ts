/** Tables of Markdown, for pages that are made. Pure. */
export const cell = (text: string): string =>
  text.replaceAll("|", "\\|").replace(/\s+/g, " ").replaceAll("<", "&lt;").trim();

export const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => "---"), ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n");

export const code = (text: string): string => `\`${text.replaceAll("|", "\\|")}\``;
