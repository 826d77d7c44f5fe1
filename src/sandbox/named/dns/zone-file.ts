import { Buffer } from "node:buffer";
import { isIPv4 } from "node:net";
import type { DnsRecord } from "./dns-message.ts";
import { encodeName } from "./dns-name.ts";
import { CLASS, TYPE } from "./numbers.ts";

/**
 * The little of the master file format (RFC 1035, 5) that the examples use: one record a line, `$TTL`, `@`, names within
 * the zone, comments after `;`, records of type SOA, NS, A and TXT. Undefined where a line is anything else.
 */
export function parseZoneFile(text: string, zone: string): readonly DnsRecord[] | undefined {
  const records: DnsRecord[] = [];
  let ttl = 3600;
  for (const line of text.split("\n")) {
    const words = (line.match(/"[^"]*"|;.*|[^\s;"]+/g) ?? []).filter((word) => !word.startsWith(";"));
    if (words.length === 0) continue;
    if (words[0] === "$TTL") ttl = Number(words[1]);
    else {
      const record = recordFrom(words, zone, ttl);
      if (!record) return undefined;
      records.push(record);
    }
  }
  return records.some(({ type }) => type === TYPE.SOA) ? records : undefined;
}

function recordFrom(words: readonly string[], zone: string, defaultTtl: number): DnsRecord | undefined {
  const [owner = "", ...rest] = words;
  const ttl = /^\d+$/.test(rest[0] ?? "") ? Number(rest.shift()) : defaultTtl;
  if (rest[0]?.toUpperCase() === "IN") rest.shift();
  const type = rest.shift()?.toUpperCase();
  const data = dataOf(type, rest, zone);
  if (!data || (type !== "SOA" && type !== "NS" && type !== "A" && type !== "TXT")) return undefined;
  return { name: absolute(owner, zone), type: TYPE[type], class: CLASS.IN, ttl, data };
}

function dataOf(type: string | undefined, words: readonly string[], zone: string): Buffer | undefined {
  const [first = "", second = "", ...numbers] = words;
  if (type === "A") return isIPv4(first) ? Buffer.from(first.split(".").map(Number)) : undefined;
  if (type === "NS") return encodeName(absolute(first, zone));
  if (type === "TXT") return Buffer.concat(words.map((word) => textBytes(word.replaceAll('"', ""))));
  if (type !== "SOA" || numbers.length !== 5 || !numbers.every((number) => /^\d{1,9}$/.test(number))) return undefined;
  const counts = Buffer.alloc(20);
  for (const [index, number] of numbers.entries()) counts.writeUInt32BE(Number(number), index * 4);
  return Buffer.concat([encodeName(absolute(first, zone)), encodeName(absolute(second, zone)), counts]);
}

function textBytes(text: string): Buffer {
  const bytes = Buffer.from(text, "latin1").subarray(0, 255);
  return Buffer.concat([Buffer.of(bytes.length), bytes]);
}

function absolute(name: string, zone: string): string {
  if (name === "@") return zone;
  return name.endsWith(".") ? name.slice(0, -1).toLowerCase() : `${name.toLowerCase()}.${zone}`;
}
