/** Just enough of DER (X.690) to write a certificate. Pure. Must not: know what is written. */
export const sequence = (...parts: readonly Buffer[]): Buffer => tagged(0x30, Buffer.concat(parts));
export const set = (...parts: readonly Buffer[]): Buffer => tagged(0x31, Buffer.concat(parts));
export const boolean = (value: boolean): Buffer => tagged(0x01, Buffer.from([value ? 0xff : 0]));
export const octetString = (content: Buffer): Buffer => tagged(0x04, content);
export const utf8String = (text: string): Buffer => tagged(0x0c, Buffer.from(text, "utf8"));

/** `[number] { content }`, constructed. */
export const explicit = (number: number, content: Buffer): Buffer => tagged(0xa0 | number, content);

/** `[number] content`, primitive: the content replaces that of the type it stands for. */
export const implicit = (number: number, content: Buffer): Buffer => tagged(0x80 | number, content);

/** A whole number that is not negative, from its big-endian bytes. */
export function integer(bytes: Uint8Array): Buffer {
  let start = 0;
  while (start < bytes.length - 1 && bytes[start] === 0) start++;
  const significant = Buffer.from(bytes.subarray(start));
  const first = significant[0] ?? 0;
  return tagged(0x02, first >= 0x80 ? Buffer.concat([Buffer.from([0]), significant]) : significant);
}

/** Bits from the most significant of the first byte on; `unusedBits` at the end do not count. */
export const bitString = (content: Buffer, unusedBits = 0): Buffer =>
  tagged(0x03, Buffer.concat([Buffer.from([unusedBits]), content]));

export function objectIdentifier(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  return tagged(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

function base128(value: number): readonly number[] {
  const bytes = [value & 0x7f];
  for (let rest = Math.floor(value / 128); rest > 0; rest = Math.floor(rest / 128)) bytes.unshift(0x80 | (rest & 0x7f));
  return bytes;
}

/** UTCTime until 2049 and GeneralizedTime from then on, as RFC 5280 wants it. */
export function time(at: number): Buffer {
  const digits = new Date(at)
    .toISOString()
    .replace(/\.\d+Z$/, "Z")
    .replace(/[-:T]/g, "");
  const isShort = Number(digits.slice(0, 4)) < 2050;
  return isShort ? tagged(0x17, Buffer.from(digits.slice(2))) : tagged(0x18, Buffer.from(digits));
}

function tagged(tag: number, content: Buffer): Buffer {
  return Buffer.concat([Buffer.from([tag]), lengthOf(content.length), content]);
}

function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length]);
  const bytes: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest & 0xff);
  return Buffer.from([0x80 | bytes.length, ...bytes]);
}
