/**
 * Matches a regular expression in time that grows with the text times the expression, never faster: all possible states
 * are followed at once, as Go's engine does. For expressions on which a backtracking engine could take for ever. It only
 * answers yes or no. Must not: read RE2 syntax; it takes what `pattern.ts` makes of it.
 */
export function compileLinear(source: string, flags: string): ((text: string) => boolean) | undefined {
  const program = new Compiler(source, flags).run();
  return program && ((text) => run(program, text));
}

type Assertion = "textStart" | "textEnd" | "lineStart" | "lineEnd" | "wordBoundary" | "noWordBoundary";

type Node =
  | { readonly kind: "character"; readonly test: CharacterTest }
  | { readonly kind: "assertion"; readonly assertion: Assertion }
  | { readonly kind: "sequence"; readonly parts: readonly Node[] }
  | { readonly kind: "choice"; readonly options: readonly Node[] }
  | { readonly kind: "repeat"; readonly body: Node; readonly low: number; readonly high: number };

type Instruction =
  | { readonly op: "character"; readonly test: CharacterTest }
  | { readonly op: "assertion"; readonly assertion: Assertion }
  | { readonly op: "split"; targets: readonly number[] }
  | { readonly op: "match" };

/** Whether one character belongs, remembered for each character that was asked about. */
type CharacterTest = (character: string) => boolean;

function characterTest(atom: string, flags: string): CharacterTest {
  const expression = new RegExp(`^(?:${atom})$`, flags);
  const known = new Map<string, boolean>();
  return (character) => {
    let answer = known.get(character);
    if (answer === undefined) {
      answer = expression.test(character);
      if (known.size < 512) known.set(character, answer);
    }
    return answer;
  };
}

/** The look-arounds that `pattern.ts` writes for Go's anchors, and JavaScript's own. */
const ASSERTIONS: readonly (readonly [string, Assertion])[] = [
  ["(?<![^\\n])", "lineStart"],
  ["(?![^\\n])", "lineEnd"],
  ["(?<![^])", "textStart"],
  ["(?![^])", "textEnd"],
  ["^", "textStart"],
  ["$", "textEnd"],
  ["\\b", "wordBoundary"],
  ["\\B", "noWordBoundary"],
];

const ATOM = /^(?:\[(?:\\.|[^\]\\])*\]|\\u\{[0-9a-fA-F]+\}|\\x[0-9a-fA-F]{2}|\\[pP]\{[^}]*\}|\\.|[^()|*+?{}[\]\\^$])/su;
const MAX_INSTRUCTIONS = 10_000;

class TooLarge extends Error {}

class Compiler {
  #rest: string;
  #flags: string;
  readonly #program: Instruction[] = [];

  constructor(source: string, flags: string) {
    this.#rest = source;
    this.#flags = flags;
  }

  /** Undefined where the expression is too large, or not what this matcher reads. */
  run(): readonly Instruction[] | undefined {
    try {
      const node = this.#choice();
      if (this.#rest !== "") return undefined;
      this.#emit(node);
      this.#add({ op: "match" });
      return this.#program;
    } catch (error) {
      if (error instanceof TooLarge || error instanceof SyntaxError) return undefined;
      throw error;
    }
  }

  #choice(): Node {
    const options = [this.#sequence()];
    while (this.#eat("|")) options.push(this.#sequence());
    return options.length === 1 ? (options[0] ?? EMPTY) : { kind: "choice", options };
  }

  #sequence(): Node {
    const parts: Node[] = [];
    while (this.#rest !== "" && !this.#rest.startsWith("|") && !this.#rest.startsWith(")")) {
      parts.push(this.#quantified(this.#atom()));
    }
    return { kind: "sequence", parts };
  }

  #atom(): Node {
    for (const [text, assertion] of ASSERTIONS) if (this.#eat(text)) return { kind: "assertion", assertion };
    const group = /^\((?:\?(?:(i)?:|<\w+>))?/.exec(this.#rest);
    if (group) {
      const outer = this.#flags;
      if (group[1] === "i") this.#flags = "iu";
      this.#rest = this.#rest.slice(group[0].length);
      const body = this.#choice();
      this.#flags = outer;
      if (!this.#eat(")")) throw new SyntaxError("group");
      return body;
    }
    const atom = ATOM.exec(this.#rest)?.[0];
    if (atom === undefined) throw new SyntaxError("atom");
    this.#rest = this.#rest.slice(atom.length);
    return { kind: "character", test: characterTest(atom, this.#flags) };
  }

  #quantified(body: Node): Node {
    const match = /^(?:([*+?])|\{(\d+)(,(\d*))?\})\??/.exec(this.#rest);
    if (!match) return body;
    this.#rest = this.#rest.slice(match[0].length);
    if (match[1] !== undefined) {
      return {
        kind: "repeat",
        body,
        low: match[1] === "+" ? 1 : 0,
        high: match[1] === "?" ? 1 : Number.POSITIVE_INFINITY,
      };
    }
    const low = Number(match[2]);
    const open = match[4] === "" ? Number.POSITIVE_INFINITY : Number(match[4]);
    return { kind: "repeat", body, low, high: match[3] === undefined ? low : open };
  }

  #eat(text: string): boolean {
    if (!this.#rest.startsWith(text)) return false;
    this.#rest = this.#rest.slice(text.length);
    return true;
  }

  #add(instruction: Instruction): number {
    if (this.#program.length >= MAX_INSTRUCTIONS) throw new TooLarge();
    return this.#program.push(instruction) - 1;
  }

  #emit(node: Node): void {
    switch (node.kind) {
      case "character":
        this.#add({ op: "character", test: node.test });
        return;
      case "assertion":
        this.#add({ op: "assertion", assertion: node.assertion });
        return;
      case "sequence":
        for (const part of node.parts) this.#emit(part);
        return;
      case "choice":
        this.#emitChoice(node.options);
        return;
      case "repeat":
        this.#emitRepeat(node);
    }
  }

  #emitChoice(options: readonly Node[]): void {
    const split: { op: "split"; targets: readonly number[] } = { op: "split", targets: [] };
    const ends: { op: "split"; targets: readonly number[] }[] = [];
    this.#add(split);
    const starts = options.map((option) => {
      const start = this.#program.length;
      const end: { op: "split"; targets: readonly number[] } = { op: "split", targets: [] };
      this.#emit(option);
      this.#add(end);
      ends.push(end);
      return start;
    });
    split.targets = starts;
    for (const end of ends) end.targets = [this.#program.length];
  }

  #emitRepeat({ body, low, high }: Extract<Node, { kind: "repeat" }>): void {
    for (let count = 0; count < low; count++) this.#emit(body);
    const splits: { op: "split"; targets: readonly number[] }[] = [];
    const copies = high === Number.POSITIVE_INFINITY ? 1 : high - low;
    for (let count = 0; count < copies; count++) {
      const split: { op: "split"; targets: readonly number[] } = { op: "split", targets: [] };
      const at = this.#add(split);
      this.#emit(body);
      if (high === Number.POSITIVE_INFINITY) this.#add({ op: "split", targets: [at] });
      split.targets = [at + 1];
      splits.push(split);
    }
    const end = this.#program.length;
    for (const split of splits) split.targets = [...split.targets, end];
  }
}

const EMPTY: Node = { kind: "sequence", parts: [] };
const isWord = (character: string | undefined): boolean => character !== undefined && /\w/.test(character);

function holds(assertion: Assertion, before: string | undefined, after: string | undefined): boolean {
  switch (assertion) {
    case "textStart":
      return before === undefined;
    case "textEnd":
      return after === undefined;
    case "lineStart":
      return before === undefined || before === "\n";
    case "lineEnd":
      return after === undefined || after === "\n";
    case "wordBoundary":
      return isWord(before) !== isWord(after);
    case "noWordBoundary":
      return isWord(before) === isWord(after);
  }
}

/** Each state is entered at most once for each character: that is the bound. */
function run(program: readonly Instruction[], text: string): boolean {
  const characters = [...text];
  const enteredAt = new Int32Array(program.length).fill(-1);
  let waiting: number[] = [];
  for (let position = 0; position <= characters.length; position++) {
    const [before, after] = [characters[position - 1], characters[position]];
    const pending = [...waiting, 0];
    waiting = [];
    for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
      if (enteredAt[at] === position) continue;
      enteredAt[at] = position;
      const instruction = program[at];
      if (instruction?.op === "match") return true;
      if (instruction?.op === "split") pending.push(...instruction.targets);
      else if (instruction?.op === "assertion") {
        if (holds(instruction.assertion, before, after)) pending.push(at + 1);
      } else if (instruction && after !== undefined && instruction.test(after)) waiting.push(at + 1);
    }
  }
  return false;
}
