import { isIPv4, isIPv6 } from "node:net";

/** An IP address as CEL's `ip()` knows it. */
export class IpAddress {
  readonly family: 4 | 6;
  readonly bits: bigint;

  constructor(family: 4 | 6, bits: bigint) {
    this.family = family;
    this.bits = bits;
  }

  toString(): string {
    return this.family === 4 ? ipv4Text(this.bits) : ipv6Text(this.bits);
  }
}

/** Leading zeros, zones and IPv4 addresses written as IPv6 are refused, as the API server does. */
export function parseIp(text: string): IpAddress | undefined {
  if (isIPv4(text)) return new IpAddress(4, ipv4Bits(text));
  if (!isIPv6(text) || text.includes("%")) return undefined;
  const bits = ipv6Bits(text);
  return bits >> 32n === 0xffffn ? undefined : new IpAddress(6, bits);
}

const ipv4Bits = (text: string): bigint => text.split(".").reduce((bits, octet) => (bits << 8n) | BigInt(octet), 0n);

function ipv6Bits(text: string): bigint {
  const dotted = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(text);
  const low = dotted ? ipv4Bits(dotted[2] ?? "") : 0n;
  const hex = dotted ? `${dotted[1]}${(low >> 16n).toString(16)}:${(low & 0xffffn).toString(16)}` : text;
  const [head = "", tail] = hex.split("::");
  const left = head === "" ? [] : head.split(":");
  const right = tail === undefined || tail === "" ? [] : tail.split(":");
  const middle = tail === undefined ? [] : new Array<string>(8 - left.length - right.length).fill("0");
  return [...left, ...middle, ...right].reduce((bits, group) => (bits << 16n) | BigInt(`0x${group}`), 0n);
}

const ipv4Text = (bits: bigint): string => [24n, 16n, 8n, 0n].map((shift) => String((bits >> shift) & 0xffn)).join(".");

function ipv6Text(bits: bigint): string {
  const groups = Array.from({ length: 8 }, (_, index) => ((bits >> BigInt(112 - 16 * index)) & 0xffffn).toString(16));
  const runs = [...groups.join(":").matchAll(/(?:^|:)0(?::0)+(?=:|$)/g)];
  const longest = runs.reduce<RegExpMatchArray | undefined>(
    (best, run) => (run[0].replace(/^:/, "").length > (best?.[0].replace(/^:/, "").length ?? 0) ? run : best),
    undefined,
  );
  const text = groups.join(":");
  if (!longest) return text;
  const start = longest.index ?? 0;
  return `${text.slice(0, start)}::${text.slice(start + longest[0].length).replace(/^:/, "")}`;
}

const within = (ip: IpAddress, prefix: string): boolean => parseCidr(prefix)?.contains(ip) ?? false;

export const isUnspecified = (ip: IpAddress): boolean => ip.bits === 0n;
export const isLoopback = (ip: IpAddress): boolean => (ip.family === 4 ? within(ip, "127.0.0.0/8") : ip.bits === 1n);
export const isLinkLocalMulticast = (ip: IpAddress): boolean =>
  ip.family === 4 ? within(ip, "224.0.0.0/24") : ((ip.bits >> 112n) & 0xff0fn) === 0xff02n;
export const isLinkLocalUnicast = (ip: IpAddress): boolean =>
  within(ip, ip.family === 4 ? "169.254.0.0/16" : "fe80::/10");
export const isGlobalUnicast = (ip: IpAddress): boolean => {
  const isMulticast = within(ip, ip.family === 4 ? "224.0.0.0/4" : "ff00::/8");
  const isBroadcast = ip.family === 4 && ip.bits === 0xffffffffn;
  return !isMulticast && !isBroadcast && !isUnspecified(ip) && !isLoopback(ip) && !isLinkLocalUnicast(ip);
};

/** A network prefix as CEL's `cidr()` knows it. */
export class Cidr {
  readonly ip: IpAddress;
  readonly prefixLength: number;

  constructor(ip: IpAddress, prefixLength: number) {
    this.ip = ip;
    this.prefixLength = prefixLength;
  }

  get masked(): Cidr {
    const rest = this.#hostBits;
    return new Cidr(new IpAddress(this.ip.family, (this.ip.bits >> rest) << rest), this.prefixLength);
  }

  get #hostBits(): bigint {
    return BigInt((this.ip.family === 4 ? 32 : 128) - this.prefixLength);
  }

  contains(ip: IpAddress): boolean {
    return ip.family === this.ip.family && ip.bits >> this.#hostBits === this.ip.bits >> this.#hostBits;
  }

  containsCidr(other: Cidr): boolean {
    return other.prefixLength >= this.prefixLength && this.contains(other.ip);
  }

  toString(): string {
    return `${this.ip}/${this.prefixLength}`;
  }
}

export function parseCidr(text: string): Cidr | undefined {
  const match = /^([^/]+)\/(0|[1-9]\d{0,2})$/.exec(text);
  const ip = match ? parseIp(match[1] ?? "") : undefined;
  const length = Number(match?.[2]);
  return ip && length <= (ip.family === 4 ? 32 : 128) ? new Cidr(ip, length) : undefined;
}

/** A URL as CEL's `url()` knows it: an absolute one, or an absolute path. */
export class CelUrl {
  readonly scheme: string;
  readonly host: string;
  readonly path: string;
  readonly query: ReadonlyMap<string, readonly string[]>;
  readonly text: string;

  constructor(text: string) {
    const match = /^(?:([a-zA-Z][a-zA-Z0-9+.-]*):)?(?:\/\/(?:[^/?#@]*@)?([^/?#]*))?([^?]*)(?:\?(.*))?$/s.exec(text);
    this.text = text;
    this.scheme = (match?.[1] ?? "").toLowerCase();
    this.host = match?.[2] ?? "";
    this.path = match?.[3] ?? "";
    const query = new Map<string, string[]>();
    for (const [key, value] of new URLSearchParams(match?.[4] ?? "")) {
      query.set(key, [...(query.get(key) ?? []), value]);
    }
    this.query = query;
  }

  get hostname(): string {
    return this.host.replace(/:\d*$/, "").replace(/^\[(.*)\]$/, "$1");
  }

  get port(): string {
    return /:(\d*)$/.exec(this.host)?.[1] ?? "";
  }
}
