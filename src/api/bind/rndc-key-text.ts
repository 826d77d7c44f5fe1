/**
 * The file `rndc.key` in regular expressions, for the API server to judge: `key "name" { algorithm …; secret "…"; };`,
 * with comments, in either order. They let pass what `rndc/key-file.ts` reads (but for escapes within quotation marks,
 * which no key needs), and refuse most of what it does not: what needs counting is left to the operator. A test holds the
 * two together.
 */
const SPACE = "[ \\t\\r\\n]*";
const GAP = "([ \\t\\r\\n]|//[^\\n]*\\n|#[^\\n]*\\n|/[*]([^*]|[*]+[^*/])*[*]+/)";
const TAIL = `${GAP}*((//|#)[^\\n]*)?`;
const quotable = (word: string): string => `("${word}"|${word})`;
const NAME = quotable("[A-Za-z0-9_.-]+");
const ANY_WORD = '("[^"]*"|[^ \\t\\r\\n;{}"]+)';

interface KeyPattern {
  readonly algorithm?: string;
  readonly secret?: string;
}

/** Of a whole file whose algorithm and secret look like this; like anything, when nothing is said. */
export const keyFilePattern = ({ algorithm = ANY_WORD, secret = ANY_WORD }: KeyPattern = {}): string => {
  const field = (name: string, value: string): string => `${name}${GAP}+${value}${GAP}*;${GAP}*`;
  const [first, second] = [field("(?i:algorithm)", algorithm), field("(?i:secret)", secret)];
  return `^${GAP}*(?i:key)${GAP}+${NAME}${GAP}*[{]${GAP}*(${first}${second}|${second}${first})[}]${GAP}*;${TAIL}$`;
};

/** Characters of base64 that `bytes` take at least, without padding. */
const charactersOf = (bytes: number): number => Math.ceil((bytes * 8) / 6);
const SHORTEST_BYTES = 14;
const HMAC_BYTES = { 224: 28, 256: 32, 384: 48, 512: 64 } as const;

/** Base64, with the white space that it may have within quotation marks. */
const base64 = (least: number, most?: number): string => {
  const [count, character] = [`{${least},${most ?? ""}}`, "[A-Za-z0-9+/]"];
  return `("(${SPACE}${character})${count}${SPACE}={0,2}${SPACE}"|${character}${count}={0,2})`;
};

/** named does not mind capitals. */
const algorithmOf = (bits: string): string => quotable(`(?i:hmac-sha${bits})`);

export const STRONG_ALGORITHM = algorithmOf("(224|256|384|512)");
export const LONG_ENOUGH = base64(charactersOf(SHORTEST_BYTES));

/** Of files whose key is allowed and shorter than its HMAC. */
export const SHORT_KEY_PATTERNS: readonly string[] = Object.entries(HMAC_BYTES).map(([bits, bytes]) =>
  keyFilePattern({
    algorithm: algorithmOf(bits),
    secret: base64(charactersOf(SHORTEST_BYTES), charactersOf(bytes) - 1),
  }),
);
