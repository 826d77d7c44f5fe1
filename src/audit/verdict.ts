import { type Anchor, type AnchorList, MOST_ANCHORS } from "./anchor.ts";
import type { Begin, Fault, FileFindings, Segment } from "./file-check.ts";

export interface VerdictOptions {
  readonly files: readonly FileFindings[];
  readonly anchors: AnchorList;
  /** Lines from before need not be there; `-Infinity`: all of them must. */
  readonly sinceAt: number;
  /** Only chains of this process are expected. */
  readonly instance?: string | undefined;
}

/** What became of one chain. */
export interface ChainVerdict {
  readonly chain: string;
  readonly instance: string;
  readonly firstSequence: number;
  readonly lastSequence: number;
  /** How far its anchor says that it had come; undefined where none does. */
  readonly anchored: number | undefined;
  /** It has come to its end in order. */
  readonly isEnded: boolean;
}

export interface Verdict {
  readonly isSound: boolean;
  readonly lines: number;
  readonly foreign: number;
  readonly chains: readonly ChainVerdict[];
  readonly faults: readonly Fault[];
  /** What is not wrong, and worth knowing. */
  readonly notes: readonly string[];
}

/**
 * Whether all that was written is there as it was written, over all files. Pure. A chain whose file goes further than its
 * anchor was written by a process that died, or still works: that is told, and is no fault. One whose anchor goes further
 * was cut off.
 */
export function judge(options: VerdictOptions): Verdict {
  const { files, anchors } = options;
  const segments = files.flatMap((file) => file.segments);
  const begins = files.flatMap((file) => file.begins);
  const faults: Fault[] = files.flatMap((file) => file.faults);
  const notes: string[] = [];
  if (anchors.damaged > 0)
    faults.push({ kind: "anchor", words: `${anchors.damaged} anchors were changed, or written by somebody else` });
  const known = knownAnchors(anchors.anchors, begins);
  const chains: ChainVerdict[] = [];
  for (const [chain, own] of Map.groupBy(segments, (segment) => segment.chain)) {
    const anchor = known.get(chain);
    faults.push(...orderFaults(chain, own, options.sinceAt));
    const last = own.reduce((a, b) => (b.last > a.last ? b : a));
    const end = judgeEnd(last, anchor, anchors.anchors);
    faults.push(...end.faults);
    notes.push(...end.notes);
    chains.push(chainVerdict(chain, { own, last, anchor, begins }));
  }
  faults.push(...missingChains([...known.values()], new Set(chains.map(({ chain }) => chain)), options));
  const isTorn = files.some((file) => file.isTorn);
  if (isTorn) notes.push("a file ends in the middle of a line: it is being written, or its process died then");
  const count = (of: (file: FileFindings) => number): number => files.reduce((sum, file) => sum + of(file), 0);
  const lines = count((file) => file.lines);
  return { isSound: faults.length === 0, lines, foreign: count((file) => file.foreign), chains, faults, notes };
}

/** The furthest that is known of each chain: by the Secret, and by those that were begun after it. */
function knownAnchors(anchors: readonly Anchor[], begins: readonly Begin[]): ReadonlyMap<string, Anchor> {
  const known = new Map<string, Anchor>();
  for (const anchor of [...anchors, ...begins.flatMap(({ after }) => after ?? [])]) {
    const before = known.get(anchor.chain);
    if (!before || before.sequence < anchor.sequence) known.set(anchor.chain, anchor);
  }
  return known;
}

function orderFaults(chain: string, own: readonly Segment[], sinceAt: number): readonly Fault[] {
  const faults: Fault[] = [];
  const left = new Set<string>();
  let [last, mac, lastFile] = [0, "", ""];
  for (const segment of own.toSorted((a, b) => a.first - b.first || a.last - b.last)) {
    const { file, fromLine: line, first } = segment;
    const isForgiven = last === 0 && segment.firstAt <= sinceAt;
    if (first > last + 1 && !isForgiven) {
      const words = first - last === 2 ? `line ${last + 1} of its chain is missing` : lost(last + 1, first - 1);
      faults.push({ kind: "missing", file, line, chain, words: `${words} before it` });
    } else if (first <= last) {
      faults.push({ kind: "repeated", file, line, chain, words: `line ${first} of its chain is there twice` });
    } else if (first === last + 1 && segment.before !== mac) {
      faults.push({ kind: "changed", file, line, chain, words: "it does not follow the line before it" });
    }
    if (file !== lastFile) left.add(lastFile);
    if (left.has(file))
      faults.push({ kind: "reordered", file, line, chain, words: "what comes before it is in another file" });
    lastFile = file;
    if (segment.last > last) [last, mac] = [segment.last, segment.mac];
  }
  return faults;
}

const lost = (from: number, to: number): string => `lines ${from} to ${to} of its chain are missing`;

function judgeEnd(
  last: Segment,
  anchor: Anchor | undefined,
  kept: readonly Anchor[],
): { readonly faults: readonly Fault[]; readonly notes: readonly string[] } {
  const { chain, file } = last;
  if (!anchor) {
    // Where as many are kept as can be, the oldest have given way.
    const isTooOld = kept.length >= MOST_ANCHORS && kept.every(({ at }) => Date.parse(at) > last.firstAt);
    if (isTooOld) return { faults: [], notes: [`chain ${chain}: its anchor is not kept any more, nor is its end`] };
    const words = "no anchor knows this chain: it is of another operator, or the anchors were taken away";
    return { faults: [{ kind: "unanchored", file, chain, words }], notes: [] };
  }
  const ahead = anchor.sequence - last.last;
  if (ahead > 0) {
    const words = `cut off: the anchor is ahead of the file by ${counted(ahead)}, at line ${anchor.sequence}`;
    return { faults: [{ kind: "cutOff", file, chain, words }], notes: [] };
  }
  if (ahead === 0) {
    if (anchor.mac === last.mac) return { faults: [], notes: [] };
    return {
      faults: [{ kind: "changed", file, chain, words: "its last line is not the one of the anchor" }],
      notes: [],
    };
  }
  const words = `${counted(-ahead)} after the anchor: its process works still, or died before it could anchor them`;
  return { faults: [], notes: [`chain ${chain}: ${words}`] };
}

const counted = (lines: number): string => (lines === 1 ? "1 line" : `${lines} lines`);

function missingChains(
  known: readonly Anchor[],
  present: ReadonlySet<string>,
  { sinceAt, instance }: VerdictOptions,
): readonly Fault[] {
  return known
    .filter((anchor) => !present.has(anchor.chain) && anchor.sequence > 0)
    .filter((anchor) => Date.parse(anchor.at) >= sinceAt && (instance === undefined || anchor.instance === instance))
    .map(({ chain, sequence, instance: whose, at }) => ({
      kind: "missing",
      chain,
      words: `nothing is there of this chain of ${whose}, which had ${counted(sequence)} at ${at}`,
    }));
}

function chainVerdict(
  chain: string,
  what: {
    readonly own: readonly Segment[];
    readonly last: Segment;
    readonly anchor: Anchor | undefined;
    readonly begins: readonly Begin[];
  },
): ChainVerdict {
  const { own, last, anchor, begins } = what;
  return {
    chain,
    instance: begins.find((begin) => begin.chain === chain)?.instance ?? anchor?.instance ?? "",
    firstSequence: Math.min(...own.map(({ first }) => first)),
    lastSequence: last.last,
    anchored: anchor?.sequence,
    isEnded: anchor?.isEnded === true && anchor.sequence === last.last,
  };
}
