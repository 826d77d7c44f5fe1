import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { test } from "node:test";
import { CLASS, TYPE } from "./numbers.ts";
import { Zone } from "./zone.ts";
import { parseZoneFile } from "./zone-file.ts";

const SOA = "@ IN SOA ns hostmaster.example.test. 7 3600 600 86400 60";
const serialOf = (zone: Zone): number =>
  Buffer.from(zone.soa?.data ?? Buffer.alloc(20)).readUInt32BE((zone.soa?.data.length ?? 20) - 20);
const zoneOf = (lines: string): Zone =>
  new Zone("example.test", parseZoneFile(`${SOA}\n${lines}`, "example.test") ?? []);

test("reads records, comments, a default for their life and names of both kinds", () => {
  const zone = zoneOf('$TTL 60\n\nwww IN A 192.0.2.1 ; c\nWWW 30 TXT "a b" c\nother.test. A 192.0.2.2\n');
  assert.deepEqual(zone.at("www.example.test"), [
    { name: "www.example.test", type: TYPE.A, class: CLASS.IN, ttl: 60, data: Buffer.of(192, 0, 2, 1) },
    { name: "www.example.test", type: TYPE.TXT, class: CLASS.IN, ttl: 30, data: Buffer.from("\x03a b\x01c") },
  ]);
  assert.equal(zone.at("other.test").length, 1);
  assert.equal(serialOf(zone), 7);
});

for (const [reason, text] of [
  ["no SOA", "www A 192.0.2.1"],
  ["a type that is not known", `${SOA}\nwww MX 10 mail`],
  ["an address that is none", `${SOA}\nwww A 192.0.2.999`],
  ["an SOA that is cut off", "@ IN SOA ns hostmaster 7"],
] as const) {
  test(`is nothing with ${reason}`, () => assert.equal(parseZoneFile(text, "example.test"), undefined));
}

test("a change counts the serial up, once however many there are; what changes nothing does not", () => {
  const zone = zoneOf("www A 192.0.2.1\nwww A 192.0.2.2\nwww TXT t");
  const change = { name: "www.example.test", type: TYPE.A, class: CLASS.IN, ttl: 60, data: Buffer.of(192, 0, 2, 3) };
  zone.update([change, { ...change, data: Buffer.of(192, 0, 2, 4) }]);
  assert.deepEqual([zone.at("www.example.test").length, serialOf(zone)], [5, 8]);
  zone.update([{ ...change, class: CLASS.NONE }]);
  assert.deepEqual([zone.at("www.example.test").length, serialOf(zone)], [4, 9]);
  zone.update([{ ...change, class: CLASS.NONE }]);
  assert.deepEqual([zone.at("www.example.test").length, serialOf(zone)], [4, 9]);
  zone.update([{ ...change, class: CLASS.ANY, data: Buffer.of() }]);
  assert.deepEqual(
    zone.at("www.example.test").map(({ type }) => type),
    [TYPE.TXT],
  );
  zone.update([{ ...change, name: "example.test", type: TYPE.ANY, class: CLASS.ANY, data: Buffer.of() }]);
  assert.equal(zone.at("example.test").length, 1, "the SOA stays, whatever is removed");
});
