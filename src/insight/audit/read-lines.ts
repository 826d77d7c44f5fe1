import { createReadStream } from "node:fs";
import { createGunzip } from "node:zlib";

/** A line without its end; `text` is undefined where its bytes are no text. The last one may have no end. */
export interface RawLine {
  readonly text: string | undefined;
  readonly bytes: number;
  readonly hasEnd: boolean;
}

/** Lines of ours are much shorter: what is longer is none of them, and must not fill the memory. */
const MAX_LINE_BYTES = 1024 * 1024;
const NEWLINE = 0x0a;
/** Two files that differ must not read the same. */
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The lines of a file; of one that logrotate has compressed, too. */
export function linesOfFile(path: string): AsyncIterable<RawLine> {
  const file = createReadStream(path);
  if (!path.endsWith(".gz")) return linesOf(file);
  const unpacked = createGunzip();
  file.on("error", (error) => unpacked.destroy(error)).pipe(unpacked);
  return linesOf(unpacked);
}

export async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncIterable<RawLine> {
  let parts: Uint8Array[] = [];
  let [length, kept] = [0, 0];
  const keep = (part: Uint8Array): void => {
    length += part.length;
    if (length > MAX_LINE_BYTES) return;
    parts.push(part);
    kept += part.length;
  };
  const take = (hasEnd: boolean): RawLine => {
    const line = { text: kept < length ? undefined : textOf(Buffer.concat(parts)), bytes: length, hasEnd };
    parts = [];
    [length, kept] = [0, 0];
    return line;
  };
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      keep(chunk.subarray(start, end));
      yield take(true);
      start = end + 1;
    }
    keep(chunk.subarray(start));
  }
  if (length > 0) yield take(false);
}

function textOf(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}
