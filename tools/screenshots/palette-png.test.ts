import assert from "node:assert/strict";
import { test } from "node:test";
import { crc32, deflateSync } from "node:zlib";
import { decode, palettePng } from "./palette-png.ts";

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), data]);
  const numbers = Buffer.alloc(8);
  numbers.writeUInt32BE(data.length, 0);
  numbers.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([numbers.subarray(0, 4), body, numbers.subarray(4)]);
}

/** Rows of RGB, each with the filter that it says: what is given are the bytes as they are stored. */
function png(width: number, rows: readonly (readonly number[])[], type = 2): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(rows.length, 4);
  header.set([8, type, 0, 0, 0], 8);
  const data = deflateSync(Buffer.from(rows.flat()));
  const signature = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]);
  return Buffer.concat([signature, chunk("IHDR", header), chunk("IDAT", data), chunk("IEND", Buffer.alloc(0))]);
}

/** What the palette and the indexes of a picture say, as 0xRRGGBB. */
function coloursOf(picture: Buffer): readonly number[] {
  const at = picture.indexOf("PLTE");
  const length = picture.readUInt32BE(at - 4);
  return Array.from({ length: length / 3 }, (_, index) => picture.readUIntBE(at + 4 + index * 3, 3));
}

test("every filter is read", () => {
  const rows = [
    [0, 10, 20, 30, 40, 50, 60],
    [1, 10, 20, 30, 30, 30, 30],
    [2, 0, 0, 0, 0, 0, 0],
    [3, 5, 10, 15, 15, 15, 15],
    [4, 0, 0, 0, 0, 0, 0],
  ];
  const { pixels } = decode(png(2, rows));
  const [left, right] = [0x0a141e, 0x28323c];
  assert.deepEqual([...pixels.subarray(0, 6)], [left, right, left, right, left, right]);
  assert.equal(pixels[6], 0x0a141e, "the mean of nothing and what is above, and the difference");
  assert.deepEqual(pixels.subarray(8), pixels.subarray(6, 8), "as the row above");
});

test("few colours stay as they are", () => {
  const rows = [
    [0, 255, 255, 255, 0, 0, 0],
    [0, 255, 255, 255, 18, 52, 86],
  ];
  assert.deepEqual(coloursOf(palettePng(png(2, rows))), [0xffffff, 0, 0x123456]);
});

test("of many the frequent ones stay", () => {
  const white = Array.from({ length: 600 }, () => [250, 250, 250]).flat();
  const many = Array.from({ length: 600 }, (_, index) => [index % 256, index >> 8, 0]).flat();
  const colours = coloursOf(
    palettePng(
      png(600, [
        [0, ...white],
        [0, ...many],
      ]),
    ),
  );
  assert.equal(colours.length, 256);
  assert.equal(colours[0], 0xfafafa);
});

test("of shades that are nearly alike the rarest yield to a colour that is like none of them", () => {
  const grey = (shade: number): number[] => [shade, shade, 100 + (shade % 3)];
  // Three hundred shades, each twice as often as the one pixel of red.
  const shades = Array.from({ length: 600 }, (_, index) => [(index % 300) >> 1, (index % 300) >> 1, index % 2]).flat();
  const rest = Array.from({ length: 599 }, (_, index) => grey(index % 250)).flat();
  const picture = palettePng(
    png(600, [
      [0, ...shades],
      [0, ...rest, 255, 0, 0],
    ]),
  );
  assert.ok(coloursOf(picture).includes(0xff0000));
});

test("a picture of another kind is refused", () => {
  assert.throws(() => palettePng(png(1, [[0, 1]], 0)), /another kind/);
});
