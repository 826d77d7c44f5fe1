import { Buffer } from "node:buffer";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { systemClock } from "../../src/base/clock.ts";
import type { RndcKey } from "../../src/rndc/key.ts";
import { type DnsMessage, encodeDns } from "../../src/sandbox/named/dns/dns-message.ts";
import { CLASS, OPCODE, rcodeOf, TYPE } from "../../src/sandbox/named/dns/numbers.ts";
import { openDns, signedDns, tsigError } from "../../src/sandbox/named/dns/tsig.ts";
import { HOST, type NamedPlace, ZONE } from "./named-stage.ts";

export interface DnsOutcome {
  readonly rcode: number;
  /** What the server says of our signature; undefined where its answer has none. */
  readonly tsigError?: number;
  /** What we say of the server's, which covers ours. */
  readonly isAuthentic: boolean;
  readonly texts: readonly string[];
}

interface Signed {
  readonly key?: RndcKey;
  readonly aheadMs?: number;
  readonly timeoutMs?: number;
}

const PATIENCE_MS = 20_000;

/** Adds a TXT record to the zone. */
export function addText(place: NamedPlace, name: string, text: string, signed: Signed = {}): Promise<DnsOutcome> {
  const data = Buffer.concat([Buffer.of(text.length), Buffer.from(text, "latin1")]);
  const authorities = [{ name: `${name}.${ZONE}`, type: TYPE.TXT, class: CLASS.IN, ttl: 30, data }];
  const questions = [{ name: ZONE, type: TYPE.SOA, class: CLASS.IN }];
  return ask(place, { ...empty(OPCODE.UPDATE), questions, authorities }, signed);
}

export function queryText(place: NamedPlace, name: string, signed: Signed = {}): Promise<DnsOutcome> {
  const questions = [{ name: `${name}.${ZONE}`, type: TYPE.TXT, class: CLASS.IN }];
  return ask(place, { ...empty(OPCODE.QUERY), questions }, signed);
}

const empty = (opcode: number): DnsMessage => ({
  id: Math.floor(Math.random() * 65_536),
  flags: opcode << 11,
  questions: [],
  answers: [],
  authorities: [],
  additionals: [],
});

async function ask(place: NamedPlace, message: DnsMessage, signed: Signed): Promise<DnsOutcome> {
  const { key, aheadMs = 0, timeoutMs = PATIENCE_MS } = signed;
  const signedAt = systemClock.now() + aheadMs;
  const request = key ? signedDns(message, { key, signedAt }) : encodeDns(message);
  const requestMac = openDns(request).tsig?.mac;
  const reply = await exchange(place, request, timeoutMs);
  const { message: answer, tsig } = openDns(reply);
  const now = systemClock.now();
  const isAuthentic =
    key !== undefined &&
    tsig !== undefined &&
    tsigError(reply, tsig, { key, now, ...(requestMac && { requestMac }) }) === 0;
  return {
    rcode: rcodeOf(answer.flags),
    ...(tsig && { tsigError: tsig.error }),
    isAuthentic,
    texts: answer.answers.map(({ data }) => Buffer.from(data.subarray(1)).toString("latin1")),
  };
}

async function exchange({ dnsPort, host = HOST }: NamedPlace, request: Uint8Array, timeoutMs: number): Promise<Buffer> {
  const socket = createSocket("udp4");
  try {
    socket.send(request, dnsPort, host);
    const [reply] = await once(socket, "message", { signal: AbortSignal.timeout(timeoutMs) });
    return reply;
  } finally {
    socket.close();
  }
}
