import { Buffer } from "node:buffer";
import { MalformedDns } from "./malformed-dns.ts";

/**
 * Names of domains as bytes and as text in lower case. Writes no pointers, and follows only such as lead back, so that
 * no name has no end. Knows plain characters alone: names that would need escapes are refused.
 */
const LONGEST_LABEL = 63;
const LONGEST_NAME = 255;
const POINTER = 0xc0;

export function encodeName(name: string): Buffer {
  const labels = name === "" ? [] : name.split(".");
  const pieces = labels.map((label) => {
    const bytes = Buffer.from(label.toLowerCase(), "latin1");
    if (bytes.length === 0 || bytes.length > LONGEST_LABEL) throw new MalformedDns("a label has no usable length");
    return Buffer.concat([Buffer.from([bytes.length]), bytes]);
  });
  const encoded = Buffer.concat([...pieces, Buffer.of(0)]);
  if (encoded.length > LONGEST_NAME) throw new MalformedDns("a name is too long");
  return encoded;
}

/** `end` is where the name ends in the place it was read from, whatever pointers it has. */
export function decodeName(bytes: Buffer, start: number): { readonly name: string; readonly end: number } {
  const labels: string[] = [];
  let end: number | undefined;
  let at = start;
  let lowest = start;
  let length = 1;
  for (;;) {
    const size = byteAt(bytes, at);
    if (size === 0) return { name: labels.join("."), end: end ?? at + 1 };
    if (size >= POINTER) {
      const target = ((size & ~POINTER) << 8) | byteAt(bytes, at + 1);
      if (target >= lowest) throw new MalformedDns("a name points ahead");
      end ??= at + 2;
      at = target;
      lowest = target;
      continue;
    }
    length += size + 1;
    if (size > LONGEST_LABEL || length > LONGEST_NAME) throw new MalformedDns("a name is too long");
    labels.push(labelText(bytes, at + 1, size));
    at += size + 1;
  }
}

function labelText(bytes: Buffer, start: number, size: number): string {
  if (start + size > bytes.length) throw new MalformedDns("a name is cut off");
  const label = bytes.toString("latin1", start, start + size).toLowerCase();
  if (!/^[!-~]+$/.test(label) || /[.\\]/.test(label)) throw new MalformedDns("a name needs escapes");
  return label;
}

function byteAt(bytes: Buffer, at: number): number {
  const byte = bytes[at];
  if (byte === undefined) throw new MalformedDns("a name is cut off");
  return byte;
}
