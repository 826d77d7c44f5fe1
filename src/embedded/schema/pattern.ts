import { compileLinear } from "./linear-matcher.ts";

/**
 * Regular expressions as the API server reads them (Go's RE2 syntax), turned into JavaScript ones: inline flags, `\A`,
 * `\z`, `\Q…\E`, POSIX classes, `\pL`, `(?P<name>…)`, one code point per character. What Go refuses (look-around,
 * back-references) is refused here too. Must not: bound the length of what is matched; callers do.
 */
export type Pattern =
  | {
      readonly ok: true;
      readonly expression: RegExp;
      /** Whether a text holds a match, in a time that is bounded whatever the pattern is. */
      readonly matches: (text: string) => boolean;
    }
  | { readonly ok: false; readonly reason: string };

const CACHE_LIMIT = 2_000;
const cache = new Map<string, Pattern>();

/** Compiles once per pattern; the cache is dropped when it grows beyond what any set of CRDs needs. */
export function compilePattern(pattern: string): Pattern {
  const known = cache.get(pattern);
  if (known) return known;
  const compiled = compile(pattern);
  if (cache.size >= CACHE_LIMIT) cache.clear();
  cache.set(pattern, compiled);
  return compiled;
}

class SyntaxProblem extends Error {}

function compile(pattern: string): Pattern {
  try {
    const translation = new Translation(pattern);
    const source = translation.run();
    const expression = new RegExp(source, translation.flags);
    const matches = boundedMatch(expression);
    return matches
      ? { ok: true, expression, matches }
      : { ok: false, reason: "error parsing regexp: expression too large" };
  } catch (error) {
    const reason = error instanceof SyntaxProblem ? error.message : `invalid syntax: \`${pattern}\``;
    return { ok: false, reason: `error parsing regexp: ${reason}` };
  }
}

/** Steps that the backtracking engine may take for one text. */
const MAX_STEPS = 10_000_000;

/**
 * JavaScript's engine is quick, but can take time that grows with a power of the text's length, or without bound where
 * groups are repeated. It is used where that cannot hurt; otherwise the linear matcher is.
 */
function boundedMatch(expression: RegExp): ((text: string) => boolean) | undefined {
  const bare = expression.source.replace(/\\.|\[(?:\\.|[^\]\\])*\]/gs, "x");
  const repetitions = bare.match(/[*+]|\{\d+,\d*\}/g)?.length ?? 0;
  const repeatsGroups = /\)(?:[*+]|\{)/.test(bare);
  const options = bare.match(/\?(?![:<=!])/g)?.length ?? 0;
  const linear = compileLinear(expression.source, expression.flags);
  if (!linear) return undefined;
  return (text) => {
    const isCheap = !repeatsGroups && text.length ** (repetitions + 1) * 2 ** options <= MAX_STEPS;
    return isCheap ? expression.test(text) : linear(text);
  };
}

const POSIX_CLASSES: Readonly<Record<string, string>> = {
  alnum: "0-9A-Za-z",
  alpha: "A-Za-z",
  ascii: "\\x00-\\x7F",
  blank: "\\t ",
  cntrl: "\\x00-\\x1F\\x7F",
  digit: "0-9",
  graph: "!-~",
  lower: "a-z",
  print: " -~",
  punct: "!-\\/:-@\\[-`\\{-~",
  space: "\\t\\n\\v\\f\\r ",
  upper: "A-Z",
  word: "0-9A-Za-z_",
  xdigit: "0-9A-Fa-f",
};

/** Go's classes are ASCII where JavaScript's are not. */
const ASCII_CLASSES: Readonly<Record<string, string>> = { d: "0-9", w: "0-9A-Za-z_", s: "\\t\\n\\f\\r " };

const SIMPLE_ESCAPES: Readonly<Record<string, string>> = {
  a: "\\x07",
  f: "\\f",
  n: "\\n",
  r: "\\r",
  t: "\\t",
  v: "\\v",
};

class Translation {
  readonly #pattern: string;
  #at = 0;
  #multiline = false;
  #dotAll = false;
  #ignoreCase = false;
  #depth = 0;

  constructor(pattern: string) {
    this.#pattern = pattern;
  }

  get flags(): string {
    return `u${this.#ignoreCase ? "i" : ""}`;
  }

  run(): string {
    let out = "";
    while (this.#at < this.#pattern.length) out += this.#next();
    if (this.#depth > 0) throw new SyntaxProblem(`missing closing ): \`${this.#pattern}\``);
    return out;
  }

  #next(): string {
    const character = this.#take();
    switch (character) {
      case "\\":
        return this.#escape();
      case "[":
        return this.#class();
      case "(":
        return this.#group();
      case ")":
        if (this.#depth === 0) throw new SyntaxProblem(`unexpected ): \`${this.#pattern}\``);
        this.#depth--;
        return ")";
      case "^":
        return this.#multiline ? "(?<![^\\n])" : "^";
      case "$":
        return this.#multiline ? "(?![^\\n])" : "$";
      case ".":
        return this.#dotAll ? "[^]" : "[^\\n]";
      case "{":
        return this.#repetition();
      case "}":
      case "]":
      case "/":
        return `\\${character}`;
      default:
        return character;
    }
  }

  #take(): string {
    const codePoint = this.#pattern.codePointAt(this.#at);
    if (codePoint === undefined) throw new SyntaxProblem(`trailing backslash at end of expression: \`\``);
    const character = String.fromCodePoint(codePoint);
    this.#at += character.length;
    return character;
  }

  /** RE2 takes a brace that is no repetition for itself; JavaScript's unicode mode does not. */
  #repetition(): string {
    const match = /^(\d{1,4})(,(\d{0,4}))?\}/.exec(this.#pattern.slice(this.#at, this.#at + 12));
    if (!match) return "\\{";
    const low = Number(match[1]);
    const high = match[3] ? Number(match[3]) : low;
    if (low > 1000 || high > 1000 || high < low) {
      throw new SyntaxProblem(`invalid repeat count: \`{${match[0]}\``);
    }
    this.#at += match[0].length;
    return `{${match[0]}`;
  }

  #group(): string {
    this.#depth++;
    const rest = this.#pattern.slice(this.#at);
    if (!rest.startsWith("?")) return "(";
    const named = /^\?P?<([A-Za-z_]\w*)>/.exec(rest);
    if (named) {
      this.#at += named[0].length;
      return `(?<${named[1]}>`;
    }
    const flags = /^\?([imsU]*)(?:-([imsU]+))?([:)])/.exec(rest);
    if (!flags) throw new SyntaxProblem(`invalid or unsupported Perl syntax: \`(${rest.slice(0, 2)}\``);
    this.#at += flags[0].length;
    return this.#flagGroup(flags[1] ?? "", flags[2] ?? "", flags[3] === ":");
  }

  #flagGroup(on: string, off: string, opensGroup: boolean): string {
    if (opensGroup) {
      if (on === "" && off === "") return "(?:";
      const supported = /^[i]*$/.test(on) && off === "";
      if (!supported) throw new SyntaxProblem(`unsupported flags in group: \`(?${on}${off && `-${off}`}:\``);
      return "(?i:";
    }
    this.#depth--;
    const leads = this.#at === on.length + 3;
    if (off !== "" || on.includes("U") || !leads) {
      throw new SyntaxProblem(
        `unsupported flags: \`(?${on}${off && `-${off}`})\`; only a leading (?i), (?m) or (?s) is`,
      );
    }
    this.#ignoreCase ||= on.includes("i");
    this.#multiline ||= on.includes("m");
    this.#dotAll ||= on.includes("s");
    return "";
  }

  #escape(): string {
    const character = this.#take();
    if (character === "A") return "(?<![^])";
    if (character === "z") return "(?![^])";
    if (character === "b" || character === "B") return `\\${character}`;
    if (character === "Q") return this.#quoted();
    if (character === "C") throw new SyntaxProblem("invalid escape sequence: `\\C`");
    const ascii = ASCII_CLASSES[character.toLowerCase()];
    if (ascii !== undefined) return character === character.toLowerCase() ? `[${ascii}]` : `[^${ascii}]`;
    return this.#characterEscape(character);
  }

  #characterEscape(character: string): string {
    const simple = SIMPLE_ESCAPES[character];
    if (simple !== undefined) return simple;
    if (character === "x") return this.#hex();
    if (character === "p" || character === "P") return this.#property(character);
    if (/^[1-7]$/.test(character)) return this.#octal(character);
    if (character === "0") return "\\x00";
    if (/^[A-Za-z89]$/.test(character)) throw new SyntaxProblem(`invalid escape sequence: \`\\${character}\``);
    return literal(character);
  }

  #octal(first: string): string {
    const more = /^[0-7]{1,2}/.exec(this.#pattern.slice(this.#at, this.#at + 2));
    if (!more) throw new SyntaxProblem(`invalid escape sequence: \`\\${first}\``);
    this.#at += more[0].length;
    return `\\u{${Number.parseInt(first + more[0], 8).toString(16)}}`;
  }

  #hex(): string {
    const match = /^(?:([0-9A-Fa-f]{2})|\{([0-9A-Fa-f]{1,6})\})/.exec(this.#pattern.slice(this.#at, this.#at + 8));
    if (!match) throw new SyntaxProblem("invalid escape sequence: `\\x`");
    this.#at += match[0].length;
    return `\\u{${match[1] ?? match[2]}}`;
  }

  #property(letter: string): string {
    const match = /^(?:\{(\^?)(\w+)\}|([A-Z]))/.exec(this.#pattern.slice(this.#at, this.#at + 40));
    if (!match) throw new SyntaxProblem(`invalid character class range: \`\\${letter}\``);
    this.#at += match[0].length;
    const name = match[2] ?? match[3] ?? "";
    const negated = (letter === "P") !== (match[1] === "^");
    const property = /^[A-Z][a-z]?$/.test(name) ? name : `Script=${name}`;
    return `\\${negated ? "P" : "p"}{${property}}`;
  }

  #quoted(): string {
    const end = this.#pattern.indexOf("\\E", this.#at);
    const text = this.#pattern.slice(this.#at, end < 0 ? undefined : end);
    this.#at = end < 0 ? this.#pattern.length : end + 2;
    return [...text].map(literal).join("");
  }

  #class(): string {
    const start = this.#at - 1;
    let out = "[";
    if (this.#pattern[this.#at] === "^") {
      out += "^";
      this.#at++;
    }
    for (let first = true; ; first = false) {
      if (this.#at >= this.#pattern.length) {
        throw new SyntaxProblem(`missing closing ]: \`${this.#pattern.slice(start)}\``);
      }
      if (this.#pattern[this.#at] === "]" && !first) break;
      out += this.#classItem();
    }
    this.#at++;
    return `${out}]`;
  }

  #classItem(): string {
    const posix = /^\[:(\^?)(\w+):\]/.exec(this.#pattern.slice(this.#at, this.#at + 14));
    if (posix) {
      const members = POSIX_CLASSES[posix[2] ?? ""];
      if (members === undefined || posix[1] === "^") {
        throw new SyntaxProblem(`invalid character class range: \`${posix[0]}\``);
      }
      this.#at += posix[0].length;
      return members;
    }
    const character = this.#take();
    if (character === "-") return this.#hyphen();
    if (character !== "\\") return literal(character);
    const escaped = this.#take();
    const ascii = ASCII_CLASSES[escaped];
    if (ascii !== undefined) return ascii;
    if (/^[DWS]$/.test(escaped)) return escaped === "S" ? "\\S" : `\\${escaped}`;
    return this.#characterEscape(escaped);
  }

  /** A hyphen at either end of a class stands for itself, as does one after a class such as `\w`. */
  #hyphen(): string {
    const before = this.#pattern[this.#at - 2];
    const after = this.#pattern[this.#at];
    const atEdge = before === "[" || before === "^" || after === "]";
    const afterClass = /\\[dws]-$/.test(this.#pattern.slice(0, this.#at));
    return atEdge || afterClass ? "\\-" : "-";
  }
}

/** Good inside a class and outside. */
const literal = (character: string): string => {
  if (character === "-") return "\\x2d";
  return /[\\^$.*+?()[\]{}|/]/.test(character) ? `\\${character}` : character;
};
