import { crc32, deflateSync, inflateSync } from "node:zlib";

/**
 * A screenshot with a palette: a third of the bytes, and to the eye the same. Pages have few colours, and the edges of
 * letters many that are nearly alike: the most frequent 256 stay, those first that are not nearly one of these, and every
 * other one becomes the nearest of them. Takes 8-bit RGB or RGBA that is opaque, as browsers write it. Pure.
 */
export function palettePng(png: Buffer): Buffer {
  const { width, height, pixels } = decode(png);
  const { palette, indexes } = quantize(pixels);
  const rows = Buffer.alloc(height * (width + 1));
  for (let y = 0; y < height; y++) rows.set(indexes.subarray(y * width, (y + 1) * width), y * (width + 1) + 1);
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // 8 bits a pixel, with a palette.
  header.set([8, 3, 0, 0, 0], 8);
  const colours = Buffer.from(palette.flatMap((colour) => [colour >> 16, (colour >> 8) & 255, colour & 255]));
  return Buffer.concat([
    SIGNATURE,
    chunk("IHDR", header),
    chunk("PLTE", colours),
    chunk("IDAT", deflateSync(rows, { level: 9, memLevel: 9 })),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const MOST_COLOURS = 256;

interface Picture {
  readonly width: number;
  readonly height: number;
  /** A number for each: 0xRRGGBB. */
  readonly pixels: Uint32Array;
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}

export function decode(png: Buffer): Picture {
  const parts: Buffer[] = [];
  let header: Buffer = Buffer.alloc(13);
  for (let at = SIGNATURE.length; at < png.length; ) {
    const length = png.readUInt32BE(at);
    const type = png.toString("latin1", at + 4, at + 8);
    const data = png.subarray(at + 8, at + 8 + length);
    if (type === "IHDR") header = data;
    if (type === "IDAT") parts.push(data);
    at += length + 12;
  }
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  const channels = { 2: 3, 6: 4 }[header[9] ?? 0];
  if (header[8] !== 8 || channels === undefined || header[12] !== 0) throw new Error("a picture of another kind");
  const bytes = unfilter(inflateSync(Buffer.concat(parts)), width * channels, channels);
  const pixels = new Uint32Array(width * height);
  for (let index = 0; index < pixels.length; index++) {
    const at = index * channels;
    pixels[index] = ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
  }
  return { width, height, pixels };
}

/** Every row begins with how it differs from what is left of it and above it. */
function unfilter(raw: Buffer, rowBytes: number, channels: number): Uint8Array {
  const height = raw.length / (rowBytes + 1);
  const bytes = new Uint8Array(height * rowBytes);
  for (let y = 0; y < height; y++) {
    const filter = raw[y * (rowBytes + 1)] ?? 0;
    for (let x = 0; x < rowBytes; x++) {
      const at = y * rowBytes + x;
      const left = x < channels ? 0 : (bytes[at - channels] ?? 0);
      const above = y === 0 ? 0 : (bytes[at - rowBytes] ?? 0);
      const corner = x < channels || y === 0 ? 0 : (bytes[at - rowBytes - channels] ?? 0);
      const guess = [0, left, above, (left + above) >> 1, paeth(left, above, corner)][filter] ?? 0;
      bytes[at] = (raw[y * (rowBytes + 1) + 1 + x] ?? 0) + guess;
    }
  }
  return bytes;
}

function paeth(left: number, above: number, corner: number): number {
  const estimate = left + above - corner;
  const [a, b, c] = [Math.abs(estimate - left), Math.abs(estimate - above), Math.abs(estimate - corner)];
  return a <= b && a <= c ? left : b <= c ? above : corner;
}

function quantize(pixels: Uint32Array): { readonly palette: readonly number[]; readonly indexes: Uint8Array } {
  const counts = new Map<number, number>();
  for (const colour of pixels) counts.set(colour, (counts.get(colour) ?? 0) + 1);
  const frequent = [...counts].sort(([one, few], [other, many]) => many - few || one - other).map(([colour]) => colour);
  const palette = frequent.length > MOST_COLOURS ? distinct(frequent) : frequent;
  const indexOf = new Map(palette.map((colour, index) => [colour, index]));
  const indexes = new Uint8Array(pixels.length);
  for (const [at, colour] of pixels.entries()) {
    const index = indexOf.get(colour) ?? nearest(palette, colour);
    indexOf.set(colour, index);
    indexes[at] = index;
  }
  return { palette, indexes };
}

/** A small sign of a colour of its own keeps it, however many shades the edges of letters have. */
const ALIKE = 24;

function distinct(frequent: readonly number[]): readonly number[] {
  const palette = new Set<number>();
  for (const colour of frequent) {
    if (palette.size === MOST_COLOURS) break;
    if (![...palette].some((other) => distance(other, colour) <= ALIKE)) palette.add(colour);
  }
  for (const colour of frequent) if (palette.size < MOST_COLOURS) palette.add(colour);
  return [...palette];
}

function distance(one: number, other: number): number {
  const red = (one >> 16) - (other >> 16);
  const green = ((one >> 8) & 255) - ((other >> 8) & 255);
  const blue = (one & 255) - (other & 255);
  return red * red + green * green + blue * blue;
}

function nearest(palette: readonly number[], colour: number): number {
  let [best, least] = [0, Infinity];
  for (const [index, other] of palette.entries()) {
    const away = distance(other, colour);
    if (away < least) [best, least] = [index, away];
  }
  return best;
}
