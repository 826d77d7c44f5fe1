import type { ChainKey } from "../../audit/chain.ts";
import { FileCheck, type FileFindings } from "../../audit/file-check.ts";
import { messageOf, UsageError } from "../../base/errors.ts";
import type { RawLine } from "./read-lines.ts";

export interface CheckedFile {
  readonly file: string;
  readonly lines: AsyncIterable<RawLine>;
  readonly key: ChainKey;
  readonly isMixed: boolean;
}

/** What can be found in one file of an audit log alone. */
export async function checkLines({ file, lines, key, isMixed }: CheckedFile): Promise<FileFindings> {
  const check = new FileCheck({ file, key, isMixed });
  let tail = 0;
  try {
    for await (const { text, bytes, hasEnd } of lines) {
      if (hasEnd) check.next(text, bytes);
      else tail = bytes;
    }
  } catch (error) {
    throw new UsageError(`${file}: ${messageOf(error)}`, error);
  }
  return check.finish(tail);
}
