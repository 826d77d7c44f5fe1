/** Tabs and ends of lines are left to whoever lays out lines. */
const UNSEEN = /(?![\t\r\n])[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;

/**
 * What others have written, with nothing in it that acts on what stands beside it: characters that turn the order of
 * letters around, or that a terminal obeys, are written as what they are, `\u202e`.
 */
export const visible = (text: string): string =>
  text.replace(UNSEEN, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, "0")}`);
