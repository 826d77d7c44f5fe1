import { Buffer } from "node:buffer";
import type { RndcKey } from "../../../rndc/key.ts";
import { type DnsMessage, type DnsRecord, encodeDns } from "./dns-message.ts";
import { MalformedDns } from "./malformed-dns.ts";
import { CLASS, FLAG, OPCODE, opcodeOf, RCODE, TSIG_ERROR, TYPE } from "./numbers.ts";
import { openDns, signedDns, type Tsig, timeBytes, tsigError, withTsig } from "./tsig.ts";
import type { Zone } from "./zone.ts";

/**
 * Answers DNS messages as an authoritative server with updates does: signatures are checked first, then the zone, then
 * who may. Must not: recurse, or apply part of an update.
 */
interface DnsHost {
  now(): number;
  keyNamed(name: string): RndcKey | undefined;
  /** The zone that a name is in. */
  zoneOf(name: string): Zone | undefined;
  mayUpdate(zone: Zone, keyName: string | undefined): boolean;
}

type Outcome = Partial<Pick<DnsMessage, "answers" | "authorities">> & {
  readonly rcode: number;
  readonly flags?: number;
};

const SMALLEST_UDP = 512;
const OUR_UDP = 1232;
const LARGEST_TCP = 65_535;

/** The answer; undefined where there is none to give. */
export function dnsAnswer(bytes: Uint8Array, host: DnsHost, isUdp: boolean): Buffer | undefined {
  try {
    const { message, tsig } = openDns(bytes);
    if (message.flags & FLAG.RESPONSE) return undefined;
    const room = isUdp ? roomOf(message) : LARGEST_TCP;
    if (!tsig) return fitting(room, message, (reply) => encodeDns(reply), outcomeOf(message, host, undefined));
    const key = host.keyNamed(tsig.keyName);
    const error = tsigError(bytes, tsig, { key, now: host.now() });
    if (!key || error !== TSIG_ERROR.NONE) return refusedSignature(message, tsig, { error, key, now: host.now() });
    const sign = (reply: DnsMessage): Buffer => signedDns(reply, { key, signedAt: host.now(), requestMac: tsig.mac });
    return fitting(room, message, sign, outcomeOf(message, host, tsig.keyName));
  } catch (error) {
    if (!(error instanceof MalformedDns)) throw error;
    return malformed(bytes);
  }
}

/** A wrong time is told in a signed answer, with the time of here; about anything else there is nothing to sign with. */
function refusedSignature(
  message: DnsMessage,
  tsig: Tsig,
  { error, key, now }: { readonly error: number; readonly key: RndcKey | undefined; readonly now: number },
): Buffer {
  const reply = replyTo(message, { rcode: RCODE.NOTAUTH });
  if (key && error === TSIG_ERROR.BADTIME) {
    return signedDns(reply, { key, signedAt: tsig.signedAt, requestMac: tsig.mac, error, other: timeBytes(now) });
  }
  return withTsig(reply, { ...tsig, error, mac: new Uint8Array(), other: new Uint8Array() });
}

function outcomeOf(message: DnsMessage, host: DnsHost, keyName: string | undefined): Outcome {
  const opcode = opcodeOf(message.flags);
  if (opcode === OPCODE.QUERY) return queried(message, host);
  return opcode === OPCODE.UPDATE ? updated(message, host, keyName) : { rcode: RCODE.NOTIMP };
}

function queried({ questions: [question, ...others] }: DnsMessage, host: DnsHost): Outcome {
  if (!question || others.length > 0) return { rcode: RCODE.FORMERR };
  const zone = host.zoneOf(question.name);
  if (!zone || question.class !== CLASS.IN) return { rcode: RCODE.REFUSED };
  const answers = zone.at(question.name).filter(({ type }) => [type, TYPE.ANY].includes(question.type));
  const flags = FLAG.AUTHORITATIVE;
  if (answers.length > 0) return { rcode: RCODE.NOERROR, flags, answers };
  const authorities = zone.soa ? [zone.soa] : [];
  return { rcode: zone.hasName(question.name) ? RCODE.NOERROR : RCODE.NXDOMAIN, flags, authorities };
}

function updated({ questions, answers, authorities }: DnsMessage, host: DnsHost, keyName: string | undefined): Outcome {
  const [question, ...others] = questions;
  if (question?.type !== TYPE.SOA || others.length > 0) return { rcode: RCODE.FORMERR };
  const zone = host.zoneOf(question.name);
  if (zone?.name !== question.name) return { rcode: RCODE.NOTAUTH };
  if (!host.mayUpdate(zone, keyName)) return { rcode: RCODE.REFUSED };
  // Prerequisites are not known here, nor are records that would need more than their bytes.
  if (answers.length > 0 || !authorities.every((change) => isKnownChange(change))) return { rcode: RCODE.NOTIMP };
  if (!authorities.every(({ name }) => zone.contains(name))) return { rcode: RCODE.REFUSED };
  zone.update(authorities);
  return { rcode: RCODE.NOERROR };
}

function isKnownChange({ type, class: dnsClass, data }: DnsRecord): boolean {
  const isRemovalOfAll = dnsClass === CLASS.ANY && data.length === 0;
  if (isRemovalOfAll && type === TYPE.ANY) return true;
  const isKnownType = type === TYPE.A || type === TYPE.AAAA || type === TYPE.TXT;
  return isKnownType && (isRemovalOfAll || dnsClass === CLASS.IN || dnsClass === CLASS.NONE);
}

function replyTo(message: DnsMessage, { rcode, flags = 0, answers = [], authorities = [] }: Outcome): DnsMessage {
  const kept = message.flags & 0x7900;
  const isExtended = message.additionals.some(({ type }) => type === TYPE.OPT);
  return {
    id: message.id,
    flags: FLAG.RESPONSE | kept | flags | rcode,
    questions: message.questions,
    answers,
    authorities,
    additionals: isExtended ? [{ name: "", type: TYPE.OPT, class: OUR_UDP, ttl: 0, data: new Uint8Array() }] : [],
  };
}

/** What does not fit is left out, and said to be: the client asks again over TCP. */
function fitting(room: number, message: DnsMessage, write: (reply: DnsMessage) => Buffer, outcome: Outcome): Buffer {
  const whole = write(replyTo(message, outcome));
  if (whole.length <= room) return whole;
  return write(replyTo(message, { rcode: outcome.rcode, flags: (outcome.flags ?? 0) | FLAG.TRUNCATED }));
}

/** An OPT record has the client's room where others have their class. */
const roomOf = ({ additionals }: DnsMessage): number =>
  Math.max(SMALLEST_UDP, additionals.find(({ type }) => type === TYPE.OPT)?.class ?? 0);

function malformed(bytes: Uint8Array): Buffer | undefined {
  const header = Buffer.from(bytes.subarray(0, 12));
  if (header.length < 12 || header.readUInt16BE(2) & FLAG.RESPONSE) return undefined;
  const flags = FLAG.RESPONSE | (header.readUInt16BE(2) & 0x7900) | RCODE.FORMERR;
  return encodeDns({ id: header.readUInt16BE(0), flags, questions: [], answers: [], authorities: [], additionals: [] });
}
