/**
 * Durations in CEL, for the API server to judge: it has a `duration` of its own, but one that knows neither days nor
 * weeks, so the parts are added up by hand. Must say what `base/duration.ts` says; a test holds the two together.
 */
export interface DurationRange {
  readonly minMs: number;
  readonly maxMs: number;
  /** What is said of a length outside. */
  readonly message: string;
}

export interface Rule {
  readonly rule: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: string;
  readonly fieldPath?: string;
}

/** The longest text that is read; it also bounds what the rules may cost. */
export const MAX_DURATION_LENGTH = 64;

const UNITS: Readonly<Record<string, string>> = {
  w: "604800000.0",
  d: "86400000.0",
  h: "3600000.0",
  m: "60000.0",
  s: "1000.0",
  ms: "1.0",
  us: "0.001",
  // The micro sign and the Greek letter, which look alike.
  "\u00b5s": "0.001",
  "\u03bcs": "0.001",
  ns: "0.000001",
};

const PART = "[0-9]+([.][0-9]+)?(ns|us|\u00b5s|\u03bcs|ms|s|m|h|d|w)";
const FACTORS = `{${Object.entries(UNITS)
  .map(([unit, factor]) => `'${unit}': ${factor}`)
  .join(", ")}}`;

/** A CEL expression for whether the text that `text` stands for is a duration. */
export const isDuration = (text: string): string => `${text}.matches('^(${PART})+$')`;

/**
 * A CEL expression for the whole milliseconds, rounded up, of the duration that `text` stands for. Fractions are not
 * exact there, so less than a microsecond counts as nothing; what is too long for a whole number is cut off.
 */
export const millisecondsOf = (text: string): string => {
  const parts = `${text}.findAll('${PART}').map(part, double(part.find('^[0-9.]+')) * ${FACTORS}[part.find('[^0-9.]+$')])`;
  return `int([${parts}.sum(), 100000000000000.0].min() + 0.999)`;
};

/** What a field that holds a duration must fulfil. */
export const durationRules = ({ minMs, maxMs, message }: DurationRange): readonly Rule[] => [
  {
    rule: isDuration("self"),
    message:
      "must be a duration: numbers with units (w, d, h, m, s, ms, us, ns) without sign or spaces, such as 14d, 336h or 1h30m",
  },
  {
    rule: `!${isDuration("self")} || (${millisecondsOf("self")} >= ${minMs} && ${millisecondsOf("self")} <= ${maxMs})`,
    message,
  },
];

/** A CEL expression for whether the first duration is no longer than the second; true where either is none. */
export const isNoLonger = (shorter: string, longer: string): string =>
  `![${shorter}, ${longer}].all(text, ${isDuration("text")}) || [${shorter}, ${longer}].map(text, ${millisecondsOf("text")}).isSorted()`;
