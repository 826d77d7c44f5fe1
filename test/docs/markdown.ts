import { anchorsOf } from "../../tools/reference/anchor.ts";

/** What stands in a page of Markdown, as far as the tests about pages need it. Code is no text. */
export interface Page {
  /** In their order, as they are written. */
  readonly headings: readonly string[];
  /** What a link may name after `#`; of equal headings the later ones have a number. */
  readonly anchors: ReadonlySet<string>;
  readonly links: readonly string[];
  readonly blocks: readonly Block[];
}

interface Block {
  readonly language: string;
  readonly text: string;
  /** Of its first line, from 1. */
  readonly line: number;
}

const FENCE = /^ *```(\w*)/;

export function readPage(source: string): Page {
  const { text, blocks } = splitBlocks(source);
  const headings = [...text.matchAll(/^#{1,6} +(.+?)\s*$/gm)].map(([, heading = ""]) => heading);
  const prose = text.replace(/`[^`\n]*`/g, "");
  const links = [...prose.matchAll(/\]\(([^()\s]+)\)/g)].map(([, link = ""]) => link);
  return { headings, anchors: new Set(anchorsOf(headings)), links, blocks };
}

function splitBlocks(source: string): { readonly text: string; readonly blocks: readonly Block[] } {
  const [text, blocks]: [string[], Block[]] = [[], []];
  let open: { readonly language: string; readonly lines: string[]; readonly line: number } | undefined;
  for (const [index, line] of source.split("\n").entries()) {
    const fence = FENCE.exec(line);
    if (open && fence) {
      blocks.push({ language: open.language, text: open.lines.join("\n"), line: open.line });
      open = undefined;
    } else if (open) open.lines.push(line);
    else if (fence) open = { language: fence[1] ?? "", lines: [], line: index + 2 };
    else text.push(line);
  }
  return { text: text.join("\n"), blocks };
}
