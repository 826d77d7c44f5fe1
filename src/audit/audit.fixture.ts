import { formatInstant } from "../base/instant.ts";
import { Redacted } from "../base/redacted.ts";
import type { Anchor } from "./anchor.ts";
import { beginFields, endFields, type LineFields } from "./audit-lines.ts";
import { ChainKey, seal, startOf } from "./chain.ts";
import { FileCheck } from "./file-check.ts";
import { judge, type Verdict, type VerdictOptions } from "./verdict.ts";

export const KEY = new ChainKey(new Redacted(new Uint8Array(32).fill(7)));
export const OTHER_KEY = new ChainKey(new Redacted(new Uint8Array(32).fill(8)));

const BEGIN_AT = Date.UTC(2026, 0, 1);

export interface Written {
  readonly lines: readonly string[];
  readonly anchors: readonly Anchor[];
}

/** The lines of one process that has left in order, and their anchor. */
export function chainOf(
  chain: string,
  notes: readonly string[],
  what: {
    readonly after?: Anchor | undefined;
    readonly torn?: number;
    readonly instance?: string;
    readonly second?: number;
  } = {},
): { readonly lines: readonly string[]; readonly anchor: Anchor } {
  const { after, torn = 0, instance = "pod-0", second = 0 } = what;
  const at = (index: number): string => formatInstant(BEGIN_AT + (second + index) * 1000);
  const fields: readonly LineFields[] = [
    beginFields({ at: at(0), instance, version: "0", after, torn }),
    ...notes.map((note, index) => ({ at: at(index + 1), note })),
    endFields(at(notes.length + 1)),
  ];
  let head = startOf(chain);
  const lines = fields.map((each) => {
    const sealed = seal(KEY, head, each);
    head = sealed.head;
    return sealed.line;
  });
  return { lines, anchor: { ...head, instance, at: at(notes.length + 1), isEnded: true } };
}

/** Processes one after the other, a line each second. */
export function writtenBy(processes: readonly (readonly string[])[]): Written {
  const lines: string[] = [];
  const anchors: Anchor[] = [];
  for (const [index, notes] of processes.entries()) {
    const what = { after: anchors.at(-1), instance: `pod-${index}`, second: lines.length };
    const written = chainOf(`chain-${index}`, notes, what);
    lines.push(...written.lines);
    anchors.push(written.anchor);
  }
  return { lines, anchors };
}

export function judgeLines(
  files: readonly (readonly string[])[],
  anchors: readonly Anchor[],
  options: Partial<Pick<VerdictOptions, "sinceAt" | "instance">> & { readonly isMixed?: boolean } = {},
): Verdict {
  const { isMixed = false, sinceAt = -Infinity, instance } = options;
  const findings = files.map((lines, index) => {
    const check = new FileCheck({ file: `file ${index}`, key: KEY, isMixed });
    for (const line of lines) check.next(line, Buffer.byteLength(line));
    return check.finish(0);
  });
  return judge({ files: findings, anchors: { anchors, damaged: 0 }, sinceAt, instance });
}
