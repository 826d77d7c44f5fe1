import { isIP, isIPv6 } from "node:net";
import { goDurationNanos } from "./go-duration.ts";

/**
 * The string formats that the API server enforces on custom resources; any other format is a remark and checks nothing.
 * Dashes in a format's name do not matter (`date-time` and `datetime` are one). Must not: report; it only says yes or no.
 */
export function formatCheck(format: string): ((text: string) => boolean) | undefined {
  return CHECKS.get(format.replaceAll("-", ""));
}

const UUID_TAIL = "-?[0-9a-f]{4}-?[0-9a-f]{12}$";
const uuidPattern = (third: string, fourth: string): RegExp =>
  new RegExp(`^[0-9a-f]{8}-?[0-9a-f]{4}-?${third}-?${fourth}-?[0-9a-f]{12}$`, "i");

const SHORT_NAME = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/;
const CREDIT_CARD =
  /^(?:4\d{12}(?:\d{3})?|5[1-5]\d{14}|6(?:011|5\d\d)\d{12}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}|(?:2131|1800|35\d{3})\d{11})$/;
const RGB_PART = "\\s*(?:0|[1-9]\\d?|1\\d\\d?|2[0-4]\\d|25[0-5])\\s*";
const HOST_LABEL = /^[a-zA-Z0-9\p{S}\p{L}](?:[-a-zA-Z0-9\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?$/u;
const TOP_LEVEL_LABEL = /^[a-zA-Z\p{L}]{2,63}$/u;

const CHECKS: ReadonlyMap<string, (text: string) => boolean> = new Map<string, (text: string) => boolean>([
  ["bsonobjectid", (text) => /^[0-9a-fA-F]{24}$/.test(text)],
  ["uri", isRequestUri],
  ["email", isEmail],
  ["hostname", isHostname],
  ["ipv4", (text) => text.includes(".") && isIP(sloppyAddress(text)) !== 0],
  ["ipv6", (text) => text.includes(":") && isIPv6(text) && !text.includes("%")],
  ["cidr", isCidr],
  ["mac", isMac],
  ["uuid", matches(new RegExp(`^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}${UUID_TAIL}`, "i"))],
  ["uuid3", matches(uuidPattern("3[0-9a-f]{3}", "[0-9a-f]{4}"))],
  ["uuid4", matches(uuidPattern("4[0-9a-f]{3}", "[89ab][0-9a-f]{3}"))],
  ["uuid5", matches(uuidPattern("5[0-9a-f]{3}", "[89ab][0-9a-f]{3}"))],
  ["isbn", (text) => isIsbn10(text) || isIsbn13(text)],
  ["isbn10", isIsbn10],
  ["isbn13", isIsbn13],
  ["creditcard", isCreditCard],
  ["ssn", (text) => text.length === 11 && /^\d{3}[- ]?\d{2}[- ]?\d{4}$/.test(text)],
  ["hexcolor", matches(/^#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/)],
  ["rgbcolor", matches(new RegExp(`^rgb\\(${RGB_PART},${RGB_PART},${RGB_PART}\\)$`))],
  ["byte", matches(/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/)],
  ["password", () => true],
  ["date", isDate],
  ["duration", (text) => goDurationNanos(text) !== undefined],
  ["datetime", isDateTime],
  ["k8sshortname", (text) => text.length <= 63 && SHORT_NAME.test(text)],
  ["k8slongname", (text) => text.length <= 253 && text.split(".").every((part) => SHORT_NAME.test(part))],
]);

function matches(expression: RegExp): (text: string) => boolean {
  return (text) => expression.test(text);
}

function isDate(text: string): boolean {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (!match) return false;
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  return month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month);
}

function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

function isDateTime(text: string): boolean {
  const [date, time] = text.toLowerCase().split("t");
  if (date === undefined || time === undefined || !isDate(date)) return false;
  const match = /^(\d{2}):(\d{2}):(\d{2})(?:.\d+)?(?:z|[+-]\d{2}:\d{2})$/.exec(time);
  return match !== null && Number(match[1]) <= 23 && Number(match[2]) <= 59 && Number(match[3]) <= 59;
}

/** The server's parser takes leading zeros in IPv4 octets, as old Go releases did. */
function sloppyAddress(text: string): string {
  return text.includes(":") ? text : text.replace(/(^|\.)0+(?=\d)/g, "$1");
}

function isCidr(text: string): boolean {
  const slash = text.indexOf("/");
  if (slash < 0) return false;
  const family = isIP(sloppyAddress(text.slice(0, slash)));
  const prefix = text.slice(slash + 1);
  return family !== 0 && /^\d{1,3}$/.test(prefix) && Number(prefix) <= (family === 4 ? 32 : 128);
}

function isMac(text: string): boolean {
  const octets = /^(?:[0-9a-fA-F]{2}([:-]))(?:[0-9a-fA-F]{2}\1)*[0-9a-fA-F]{2}$/.exec(text);
  if (octets) return [17, 23, 59].includes(text.length);
  return /^(?:[0-9a-fA-F]{4}\.)+[0-9a-fA-F]{4}$/.test(text) && [14, 19, 49].includes(text.length);
}

/** What Go's `url.ParseRequestURI` takes: an absolute URI with a scheme, or an absolute path. */
function isRequestUri(text: string): boolean {
  if ([...text].some((character) => character < " " || character === "\x7f")) return false;
  if (/%(?![0-9a-fA-F]{2})/.test(text)) return false;
  if (text.startsWith("/")) return true;
  const scheme = /^[a-zA-Z][a-zA-Z0-9+.-]*:(.*)$/s.exec(text);
  if (!scheme) return false;
  const rest = scheme[1] ?? "";
  if (!rest.startsWith("//")) return true;
  const authority = rest.slice(2).split(/[/?#]/, 1)[0] ?? "";
  const host = authority.slice(authority.lastIndexOf("@") + 1);
  return !host.includes(" ") && /^(?:\[[0-9a-fA-F:.%]+\]|[^:[\]]*)(?::\d*)?$/.test(host);
}

function isEmail(text: string): boolean {
  const bracketed = /^[^<>]*<([^<>]+)>$/.exec(text.trim());
  const address = bracketed?.[1] ?? text.trim();
  const at = address.lastIndexOf("@");
  if (at < 1 || at === address.length - 1) return false;
  const local = address.slice(0, at);
  const domain = address.slice(at + 1);
  const atext = /^[\w!#$%&'*+/=?^`{|}~\x80-\uffff-]+(?:\.[\w!#$%&'*+/=?^`{|}~\x80-\uffff-]+)*$/;
  const quoted = /^"(?:[^"\\\n]|\\.)*"$/.test(local);
  return (quoted || atext.test(local)) && (atext.test(domain) || /^\[[^[\]\\]+\]$/.test(domain));
}

function isHostname(text: string): boolean {
  if (Buffer.byteLength(text) > 255) return false;
  const labels = text.split(".");
  if (labels.some((label) => Buffer.byteLength(label) > 63 || !HOST_LABEL.test(label))) return false;
  return labels.length === 1 || TOP_LEVEL_LABEL.test(labels.at(-1) ?? "");
}

function isIsbn10(text: string): boolean {
  const digits = text.replace(/[\s-]+/g, "");
  if (!/^\d{9}[\dX]$/.test(digits)) return false;
  let sum = 0;
  for (let i = 0; i < 9; i++) sum += (i + 1) * Number(digits[i]);
  return (sum + 10 * (digits[9] === "X" ? 10 : Number(digits[9]))) % 11 === 0;
}

function isIsbn13(text: string): boolean {
  const digits = text.replace(/[\s-]+/g, "");
  if (!/^\d{13}$/.test(digits)) return false;
  let sum = 0;
  for (let i = 0; i < 13; i++) sum += (i % 2 === 0 ? 1 : 3) * Number(digits[i]);
  return sum % 10 === 0;
}

function isCreditCard(text: string): boolean {
  const digits = text.replace(/[^0-9]+/g, "");
  if (!CREDIT_CARD.test(digits)) return false;
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const digit = Number(digits[digits.length - 1 - i]);
    const doubled = i % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}
