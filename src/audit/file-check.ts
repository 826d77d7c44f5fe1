import type { Anchor } from "./anchor.ts";
import { begunBy } from "./audit-lines.ts";
import { type ChainKey, LINE_START, type SealedLine, unseal } from "./chain.ts";

/** Lines of one chain that follow each other in one file. */
export interface Segment {
  readonly file: string;
  readonly chain: string;
  readonly fromLine: number;
  readonly first: number;
  /** The hash that its first line says the one before it has. */
  readonly before: string;
  readonly firstAt: number;
  last: number;
  mac: string;
}

/** What the first line of a chain says. */
export interface Begin {
  readonly chain: string;
  readonly instance: string;
  readonly after: Anchor | undefined;
}

export type FaultKind =
  | "changed"
  | "missing"
  | "reordered"
  | "repeated"
  | "cutOff"
  | "foreign"
  | "unanchored"
  | "anchor";

/** Something that is not as it was written. */
export interface Fault {
  readonly kind: FaultKind;
  readonly file?: string;
  readonly line?: number;
  readonly chain?: string;
  readonly words: string;
}

export interface FileFindings {
  readonly segments: readonly Segment[];
  readonly begins: readonly Begin[];
  readonly faults: readonly Fault[];
  readonly lines: number;
  /** Lines of somebody else, where those may be. */
  readonly foreign: number;
  /** The file ends in the middle of a line. */
  readonly isTorn: boolean;
}

export interface FileCheckOptions {
  readonly file: string;
  readonly key: ChainKey;
  /** Lines of others, and of several processes, may stand between: what a log collector gives. */
  readonly isMixed: boolean;
}

const SUSPICIONS = {
  changed: "it was changed, or written by somebody without the key",
  foreign: "it is no line of the audit log",
} as const;

/**
 * Reads one file line by line, in order, and finds what can be found in it alone: lines that were changed, that are not
 * ours, or that stand elsewhere than they were written. What is missing is for `verdict.ts` to say, which knows all files.
 */
export class FileCheck {
  readonly #options: FileCheckOptions;
  readonly #segments: Segment[] = [];
  readonly #begins: Begin[] = [];
  readonly #faults: Fault[] = [];
  /** Per chain the segment that a next line goes on with. */
  readonly #open = new Map<string, Segment>();
  #current: string | undefined;
  #number = 0;
  #lines = 0;
  #foreign = 0;
  /** A line that is not as we write them, and is excused if what comes next says that it was left unfinished. */
  #suspect: { readonly kind: "changed" | "foreign"; readonly line: number; readonly bytes: number } | undefined;

  constructor(options: FileCheckOptions) {
    this.#options = options;
  }

  /** The next line without its end; undefined for bytes that are no text. */
  next(text: string | undefined, bytes: number): void {
    this.#number++;
    const { key, isMixed } = this.#options;
    const start = isMixed ? Math.max(0, text?.indexOf(LINE_START) ?? 0) : 0;
    const line = text === undefined ? "foreign" : unseal(key, text.slice(start));
    if (typeof line === "string") {
      this.#settleSuspect(0);
      if (line === "foreign" && isMixed) this.#foreign++;
      else this.#suspect = { kind: line, line: this.#number, bytes };
      return;
    }
    this.#lines++;
    this.#place(line);
  }

  /** `tail` is what follows the last end of a line, in bytes. */
  finish(tail: number): FileFindings {
    this.#settleSuspect(0);
    const { file, isMixed } = this.#options;
    if (tail > 0 && isMixed) this.#foreign++;
    const [segments, begins, faults] = [this.#segments, this.#begins, this.#faults];
    for (const segment of segments) Object.freeze(segment);
    return { segments, begins, faults: faults.map((fault) => ({ ...fault, file })), ...this.#counts(tail) };
  }

  #counts(tail: number): Pick<FileFindings, "lines" | "foreign" | "isTorn"> {
    return { lines: this.#lines, foreign: this.#foreign, isTorn: tail > 0 && !this.#options.isMixed };
  }

  #settleSuspect(torn: number): void {
    const suspect = this.#suspect;
    this.#suspect = undefined;
    if (!suspect || suspect.bytes === torn) return;
    const { kind, line } = suspect;
    this.#faults.push({ kind, line, words: SUSPICIONS[kind] });
  }

  #place(line: SealedLine): void {
    const { chain, sequence, before, mac, fields } = line;
    const begin = begunBy(sequence, fields);
    this.#settleSuspect(begin?.torn ?? 0);
    if (begin) this.#begins.push({ chain, instance: begin.instance, after: begin.after });
    this.#checkOrderOfChains(chain);
    const open = this.#open.get(chain);
    if (open && sequence === open.last + 1 && before === open.mac) {
      open.last = sequence;
      open.mac = mac;
      return;
    }
    if (open && sequence <= open.last)
      this.#fault("reordered", `line ${sequence} of its chain stands behind line ${open.last}`, chain);
    const { file } = this.#options;
    const firstAt = Date.parse(String(fields.at));
    const next = { file, chain, fromLine: this.#number, first: sequence, before, firstAt, last: sequence, mac };
    this.#segments.push(next);
    // A line that came too late leaves the place where the chain goes on.
    if (!open || sequence > open.last) this.#open.set(chain, next);
  }

  /** One process after the other writes to a file: none goes on once the next has begun. */
  #checkOrderOfChains(chain: string): void {
    if (chain === this.#current || this.#options.isMixed) return;
    const isBack = this.#open.has(chain);
    const isOvertaken = !isBack && this.#begins.some(({ after }) => after?.chain === chain);
    this.#current = chain;
    if (isBack || isOvertaken) this.#fault("reordered", "it stands behind lines of a process that began later", chain);
  }

  #fault(kind: FaultKind, words: string, chain?: string): void {
    this.#faults.push({ kind, line: this.#number, ...(chain !== undefined && { chain }), words });
  }
}
