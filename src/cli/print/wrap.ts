/** A narrower column than this is not worth breaking lines for. */
const NARROWEST = 24;

/** Lines of at most so many characters, broken between words; a longer word has a line of its own. */
export function wrap(text: string, width: number): readonly string[] {
  if (width < NARROWEST) return [text];
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
