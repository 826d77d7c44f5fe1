import { Buffer } from "node:buffer";
import { decodeName, encodeName } from "./dns-name.ts";
import { MalformedDns } from "./malformed-dns.ts";

/**
 * DNS messages as bytes (RFC 1035): header, questions and records, whose data is left as it is. Reads strictly: every
 * length within the message, nothing after its end. Must not: know what a record means, or throw anything but
 * `MalformedDns`.
 */
interface DnsQuestion {
  /** In lower case, without the dot at the end; the root is empty. */
  readonly name: string;
  readonly type: number;
  readonly class: number;
}

export interface DnsRecord extends DnsQuestion {
  readonly ttl: number;
  readonly data: Uint8Array;
}

/** In an update the sections are zone, prerequisites, changes and the rest; they are the same bytes. */
export interface DnsMessage {
  readonly id: number;
  /** The second word of the header, with opcode and rcode. */
  readonly flags: number;
  readonly questions: readonly DnsQuestion[];
  readonly answers: readonly DnsRecord[];
  readonly authorities: readonly DnsRecord[];
  readonly additionals: readonly DnsRecord[];
}

const DNS_HEADER_BYTES = 12;

export function encodeDns({ id, flags, questions, answers, authorities, additionals }: DnsMessage): Buffer {
  const sections = [questions, answers, authorities, additionals];
  const header = Buffer.alloc(DNS_HEADER_BYTES);
  for (const [index, word] of [id, flags, ...sections.map(({ length }) => length)].entries()) {
    header.writeUInt16BE(word, index * 2);
  }
  const records = [...answers, ...authorities, ...additionals];
  return Buffer.concat([header, ...questions.map(questionBytes), ...records.map(recordBytes)]);
}

/** The message, and where its last record begins: a signature covers what stands before it. */
export function decodeDns(bytes: Uint8Array): { readonly message: DnsMessage; readonly lastRecordAt: number } {
  const reader = new DnsReader(bytes);
  const [id, flags, ...counts] = [0, 1, 2, 3, 4, 5].map(() => reader.uint16());
  const [questions = 0, answers = 0, authorities = 0, additionals = 0] = counts;
  const message = {
    id: id ?? 0,
    flags: flags ?? 0,
    questions: repeat(questions, () => reader.question()),
    answers: repeat(answers, () => reader.record()),
    authorities: repeat(authorities, () => reader.record()),
    additionals: repeat(additionals, () => reader.record()),
  };
  if (!reader.isAtEnd) throw new MalformedDns("bytes after the end of the message");
  return { message, lastRecordAt: reader.lastRecordAt };
}

const repeat = <T>(count: number, make: () => T): T[] => Array.from({ length: count }, make);

function questionBytes({ name, type, class: dnsClass }: DnsQuestion): Buffer {
  const rest = Buffer.alloc(4);
  rest.writeUInt16BE(type, 0);
  rest.writeUInt16BE(dnsClass, 2);
  return Buffer.concat([encodeName(name), rest]);
}

function recordBytes(record: DnsRecord): Buffer {
  const rest = Buffer.alloc(6);
  rest.writeUInt32BE(record.ttl, 0);
  rest.writeUInt16BE(record.data.length, 4);
  return Buffer.concat([questionBytes(record), rest, record.data]);
}

class DnsReader {
  readonly #bytes: Buffer;
  #at = 0;
  lastRecordAt = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  uint16(): number {
    return this.#take(2).readUInt16BE();
  }

  question(): DnsQuestion {
    const { name, end } = decodeName(this.#bytes, this.#at);
    this.#at = end;
    return { name, type: this.uint16(), class: this.uint16() };
  }

  record(): DnsRecord {
    this.lastRecordAt = this.#at;
    const question = this.question();
    const ttl = this.#take(4).readUInt32BE();
    return { ...question, ttl, data: this.#take(this.uint16()) };
  }

  #take(length: number): Buffer {
    const end = this.#at + length;
    if (end > this.#bytes.length) throw new MalformedDns("the message is cut off");
    const taken = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return taken;
  }
}
