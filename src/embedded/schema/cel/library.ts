import { Environment } from "@marcbachmann/cel-js";
import { Duration } from "@marcbachmann/cel-js/evaluator";
import { formatCheck } from "../formats.ts";
import { compilePattern, type Pattern } from "../pattern.ts";
import { formatString, quoteString } from "./format-string.ts";
import { registerHas } from "./has-macro.ts";
import { registerLists } from "./lists.ts";
import {
  CelUrl,
  Cidr,
  IpAddress,
  isGlobalUnicast,
  isLinkLocalMulticast,
  isLinkLocalUnicast,
  isLoopback,
  isUnspecified,
  parseCidr,
  parseIp,
} from "./network.ts";
import { OVERRIDE_PREFIX } from "./override-prefix.ts";
import { parseQuantity, Quantity, quantityFromInteger, quantityToInteger, quantityToNumber } from "./quantity.ts";

/**
 * The functions that rules may call: CEL's own as the API server has them, and the Kubernetes libraries that CRD authors
 * use. What the server knows and this library does not is listed, so that a CRD that needs it is refused by name. Must
 * not: touch anything outside a rule: no clock, no I/O, and results of bounded size.
 */
export function baseEnvironment(): Environment {
  environment ??= build();
  return environment;
}

let environment: Environment | undefined;

function build(): Environment {
  const built = new Environment({
    enableOptionalTypes: true,
    homogeneousAggregateLiterals: false,
    limits: { maxAstNodes: 5_000, maxDepth: 100 },
  });
  registerHas(built);
  registerStrings(built);
  registerConversions(built);
  registerLists(built);
  registerUrls(built);
  registerQuantities(built);
  registerAddresses(built);
  registerNetworks(built);
  return built;
}

/** Called under `OVERRIDE_PREFIX`. */
export const OVERRIDDEN: ReadonlySet<string> = new Set([
  "matches",
  "lowerAscii",
  "upperAscii",
  "indexOf",
  "lastIndexOf",
  "substring",
]);

/** Everything a rule may call; names outside are refused, also where the CEL engine would know them. */
export const KNOWN_FUNCTIONS: ReadonlySet<string> = new Set(
  (
    "has all exists exists_one map filter size type dyn bool int uint double string bytes duration timestamp " +
    "contains startsWith endsWith matches lowerAscii upperAscii trim replace split join substring charAt indexOf " +
    "lastIndexOf format quote find findAll getDate getDayOfMonth getDayOfWeek getDayOfYear getFullYear getHours " +
    "getMilliseconds getMinutes getMonth getSeconds isSorted sum min max reverse slice distinct sort " +
    "isURL url getScheme getHost getHostname getPort getEscapedPath getQuery " +
    "quantity isQuantity compareTo isGreaterThan isLessThan add sub asInteger isInteger asApproximateFloat sign " +
    "ip isIP isCanonical family isUnspecified isLoopback isLinkLocalMulticast isLinkLocalUnicast isGlobalUnicast " +
    "cidr isCIDR containsIP containsCIDR prefixLength masked intersects equivalent " +
    "optional of none hasValue value or orValue"
  ).split(" "),
);

/** What a real API server would take: named in the refusal, so that nobody looks for a mistake of their own. */
export const UNSUPPORTED_FUNCTIONS: ReadonlySet<string> = new Set(
  (
    "semver isSemver dns1123Label dns1123Subdomain dns1035Label qualifiedName named validate sortBy flatten range first " +
    "last optMap optFlatMap transformList transformMap transformMapEntry ofNonZeroValue authorizer major minor patch"
  ).split(" "),
);

/** Longer strings than a request can carry are not built. */
const MAX_TEXT_LENGTH = 3 * 1024 * 1024;
/** Beyond this a pattern is not tried: matching may take time that grows faster than the text. */
const MAX_MATCHED_LENGTH = 64 * 1024;

function registerStrings(env: Environment): void {
  const asciiCase = (pattern: RegExp, change: (text: string) => string) => (text: string) =>
    text.replace(pattern, change);
  env.registerFunction(`string.${OVERRIDE_PREFIX}matches(string): bool`, (text: string, pattern: string) =>
    compiled(pattern, text).matches(text),
  );
  env.registerFunction(
    `string.${OVERRIDE_PREFIX}lowerAscii(): string`,
    asciiCase(/[A-Z]+/g, (part) => part.toLowerCase()),
  );
  env.registerFunction(
    `string.${OVERRIDE_PREFIX}upperAscii(): string`,
    asciiCase(/[a-z]+/g, (part) => part.toUpperCase()),
  );
  env.registerFunction("string.find(string): string", (text: string, pattern: string) => {
    const { expression, matches } = compiled(pattern, text);
    return matches(text) ? (expression.exec(text)?.[0] ?? "") : "";
  });
  env.registerFunction("string.findAll(string): list<string>", (text: string, pattern: string) =>
    findAll(text, pattern, -1n),
  );
  env.registerFunction("string.findAll(string, int): list<string>", findAll);
  env.registerFunction("string.replace(string, string): string", (text: string, from: string, to: string) =>
    replace(text, from, to, -1n),
  );
  env.registerFunction("string.replace(string, string, int): string", replace);
  env.registerFunction("string.charAt(int): string", (text: string, index: bigint) => {
    const characters = [...text];
    if (index < 0n || index > BigInt(characters.length)) throw new Error(`index out of range: ${index}`);
    return characters[Number(index)] ?? "";
  });
  env.registerFunction("string.format(list<dyn>): string", formatString);
  class StringsNamespace {}
  env.registerType("StringsNamespace", StringsNamespace);
  env.registerConstant("strings", "StringsNamespace", new StringsNamespace());
  env.registerFunction("StringsNamespace.quote(string): string", (_: unknown, text: string) => quoteString(text));
  registerPositions(env);
}

function registerPositions(env: Environment): void {
  const p = OVERRIDE_PREFIX;
  env.registerFunction(`string.${p}indexOf(string): int`, (text: string, part: string) => position(text, part, 0n, 1));
  env.registerFunction(`string.${p}indexOf(string, int): int`, (text: string, part: string, from: bigint) =>
    position(text, part, from, 1),
  );
  env.registerFunction(`string.${p}lastIndexOf(string): int`, (text: string, part: string) =>
    position(text, part, BigInt([...text].length), -1),
  );
  env.registerFunction(`string.${p}lastIndexOf(string, int): int`, (text: string, part: string, from: bigint) =>
    position(text, part, from, -1),
  );
  env.registerFunction(`string.${p}substring(int): string`, (text: string, from: bigint) =>
    substring(text, from, BigInt([...text].length)),
  );
  env.registerFunction(`string.${p}substring(int, int): string`, substring);
}

function compiled(pattern: string, text: string): Extract<Pattern, { ok: true }> {
  if (text.length > MAX_MATCHED_LENGTH) throw new Error("the text is too long to be matched");
  const result = compilePattern(pattern);
  if (!result.ok) throw new Error(result.reason);
  return result;
}

function findAll(text: string, pattern: string, limit: bigint): readonly string[] {
  const { expression, matches } = compiled(pattern, text);
  if (!matches(text)) return [];
  const { source, flags } = expression;
  const found = [...text.matchAll(new RegExp(source, `${flags}g`))].map((match) => match[0]);
  return limit < 0n ? found : found.slice(0, Number(limit));
}

function replace(text: string, from: string, to: string, limit: bigint): string {
  const parts = from === "" ? ["", ...text, ""] : text.split(from);
  const count = limit < 0n ? parts.length : Number(limit);
  if (text.length + Math.min(parts.length, count) * to.length > MAX_TEXT_LENGTH)
    throw new Error("the text gets too long");
  const head = parts.slice(0, count + 1).join(to);
  return parts.length > count + 1 ? `${head}${from}${parts.slice(count + 1).join(from)}` : head;
}

/** Counted in characters, not in UTF-16 units. */
function position(text: string, part: string, from: bigint, direction: 1 | -1): bigint {
  const characters = [...text];
  const wanted = [...part];
  if (from < 0n || from > BigInt(characters.length)) throw new Error(`index out of range: ${from}`);
  const last = characters.length - wanted.length;
  const start = direction === 1 ? Number(from) : Math.min(Number(from), last);
  for (let at = start; at >= 0 && at <= last; at += direction) {
    if (wanted.every((character, offset) => characters[at + offset] === character)) return BigInt(at);
  }
  return -1n;
}

function substring(text: string, from: bigint, to: bigint): string {
  const characters = [...text];
  const size = BigInt(characters.length);
  if (from < 0n || from > size) throw new Error(`index out of range: ${from}`);
  if (to < 0n || to > size) throw new Error(`index out of range: ${to}`);
  if (from > to) throw new Error(`invalid substring range. start: ${from}, end: ${to}`);
  return characters.slice(Number(from), Number(to)).join("");
}

function registerConversions(env: Environment): void {
  env.registerFunction("string(google.protobuf.Duration): string", (value: Duration) => value.toString());
  env.registerFunction("string(google.protobuf.Timestamp): string", (value: Date) =>
    value
      .toISOString()
      .replace(/\.000Z$/, "Z")
      .replace(/0+Z$/, "Z"),
  );
  env.registerFunction("int(google.protobuf.Timestamp): int", (value: Date) =>
    BigInt(Math.floor(value.getTime() / 1000)),
  );
  env.registerFunction("timestamp(google.protobuf.Timestamp): google.protobuf.Timestamp", (value: Date) => value);
  env.registerFunction("duration(google.protobuf.Duration): google.protobuf.Duration", (value: Duration) => value);
  env.registerFunction("duration(int): google.protobuf.Duration", (seconds: bigint) => new Duration(seconds, 0));
}

const orThrow = <T>(value: T | undefined, message: string): T => {
  if (value === undefined) throw new Error(message);
  return value;
};

function registerUrls(env: Environment): void {
  const isUrl = orThrow(formatCheck("uri"), "the uri format is missing");
  const parse = (text: string): CelUrl => {
    if (!isUrl(text)) throw new Error("URL parse error during conversion from string: invalid URI for request");
    return new CelUrl(text);
  };
  env.registerType("kubernetes.URL", { ctor: CelUrl, fields: {} });
  env.registerFunction("url(string): kubernetes.URL", parse);
  env.registerFunction("isURL(string): bool", isUrl);
  env.registerFunction("kubernetes.URL.getScheme(): string", (url: CelUrl) => url.scheme);
  env.registerFunction("kubernetes.URL.getHost(): string", (url: CelUrl) => url.host);
  env.registerFunction("kubernetes.URL.getHostname(): string", (url: CelUrl) => url.hostname);
  env.registerFunction("kubernetes.URL.getPort(): string", (url: CelUrl) => url.port);
  env.registerFunction("kubernetes.URL.getEscapedPath(): string", (url: CelUrl) => url.path);
  env.registerFunction("kubernetes.URL.getQuery(): map<string, list<string>>", (url: CelUrl) => url.query);
  env.registerOperator("kubernetes.URL == kubernetes.URL", (a: CelUrl, b: CelUrl) => a.text === b.text);
}

function registerQuantities(env: Environment): void {
  const type = "kubernetes.Quantity";
  const order = (a: Quantity, b: Quantity): bigint => (a.nanos < b.nanos ? -1n : a.nanos > b.nanos ? 1n : 0n);
  env.registerType(type, { ctor: Quantity, fields: {} });
  env.registerFunction(`quantity(string): ${type}`, (text: string) =>
    orThrow(
      parseQuantity(text),
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    ),
  );
  env.registerFunction("isQuantity(string): bool", (text: string) => parseQuantity(text) !== undefined);
  env.registerFunction(`sign(${type}): int`, (q: Quantity) => order(q, new Quantity(0n)));
  env.registerFunction(`${type}.compareTo(${type}): int`, order);
  env.registerFunction(`${type}.isGreaterThan(${type}): bool`, (a: Quantity, b: Quantity) => a.nanos > b.nanos);
  env.registerFunction(`${type}.isLessThan(${type}): bool`, (a: Quantity, b: Quantity) => a.nanos < b.nanos);
  env.registerFunction(`${type}.asApproximateFloat(): double`, quantityToNumber);
  env.registerFunction(`${type}.isInteger(): bool`, (q: Quantity) => q.isInteger);
  env.registerFunction(`${type}.asInteger(): int`, (q: Quantity) => {
    if (!q.isInteger) throw new Error("cannot convert value to integer");
    return quantityToInteger(q);
  });
  env.registerFunction(`${type}.add(${type}): ${type}`, (a: Quantity, b: Quantity) => new Quantity(a.nanos + b.nanos));
  env.registerFunction(
    `${type}.add(int): ${type}`,
    (a: Quantity, b: bigint) => new Quantity(a.nanos + quantityFromInteger(b).nanos),
  );
  env.registerFunction(`${type}.sub(${type}): ${type}`, (a: Quantity, b: Quantity) => new Quantity(a.nanos - b.nanos));
  env.registerFunction(
    `${type}.sub(int): ${type}`,
    (a: Quantity, b: bigint) => new Quantity(a.nanos - quantityFromInteger(b).nanos),
  );
  env.registerOperator(`${type} == ${type}`, (a: Quantity, b: Quantity) => a.nanos === b.nanos);
}

function registerAddresses(env: Environment): void {
  class IpNamespace {}
  const parse = (text: string): IpAddress =>
    orThrow(parseIp(text), `IP Address "${text}" parse error during conversion from string`);
  env.registerType("net.IP", { ctor: IpAddress, fields: {} });
  env.registerType("IpNamespace", IpNamespace);
  env.registerConstant("ip", "IpNamespace", new IpNamespace());
  env.registerFunction("ip(string): net.IP", parse);
  env.registerFunction("isIP(string): bool", (text: string) => parseIp(text) !== undefined);
  env.registerFunction(
    "IpNamespace.isCanonical(string): bool",
    (_: unknown, text: string) => String(parse(text)) === text,
  );
  env.registerFunction("net.IP.family(): int", (ip: IpAddress) => BigInt(ip.family));
  env.registerFunction("net.IP.isUnspecified(): bool", isUnspecified);
  env.registerFunction("net.IP.isLoopback(): bool", isLoopback);
  env.registerFunction("net.IP.isLinkLocalMulticast(): bool", isLinkLocalMulticast);
  env.registerFunction("net.IP.isLinkLocalUnicast(): bool", isLinkLocalUnicast);
  env.registerFunction("net.IP.isGlobalUnicast(): bool", isGlobalUnicast);
  env.registerFunction("string(net.IP): string", String);
  env.registerOperator("net.IP == net.IP", (a: IpAddress, b: IpAddress) => a.family === b.family && a.bits === b.bits);
}

function registerNetworks(env: Environment): void {
  const parse = (text: string): Cidr =>
    orThrow(parseCidr(text), `network address parse error during conversion from string: "${text}"`);
  const address = (text: string): IpAddress => orThrow(parseIp(text), `IP Address "${text}" parse error`);
  env.registerType("net.CIDR", { ctor: Cidr, fields: {} });
  env.registerFunction("cidr(string): net.CIDR", parse);
  env.registerFunction("isCIDR(string): bool", (text: string) => parseCidr(text) !== undefined);
  env.registerFunction("net.CIDR.containsIP(string): bool", (c: Cidr, text: string) => c.contains(address(text)));
  env.registerFunction("net.CIDR.containsIP(net.IP): bool", (c: Cidr, ip: IpAddress) => c.contains(ip));
  env.registerFunction("net.CIDR.containsCIDR(string): bool", (c: Cidr, text: string) => c.containsCidr(parse(text)));
  env.registerFunction("net.CIDR.containsCIDR(net.CIDR): bool", (c: Cidr, other: Cidr) => c.containsCidr(other));
  env.registerFunction("net.CIDR.ip(): net.IP", (c: Cidr) => c.ip);
  env.registerFunction("net.CIDR.prefixLength(): int", (c: Cidr) => BigInt(c.prefixLength));
  env.registerFunction("net.CIDR.masked(): net.CIDR", (c: Cidr) => c.masked);
  env.registerFunction("string(net.CIDR): string", String);
  env.registerOperator("net.CIDR == net.CIDR", (a: Cidr, b: Cidr) => String(a) === String(b));
}
