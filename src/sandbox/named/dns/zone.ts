import { Buffer } from "node:buffer";
import type { DnsRecord } from "./dns-message.ts";
import { CLASS, TYPE } from "./numbers.ts";

/** The records of one zone, and how updates change them (RFC 2136, 3.4.2). A change gives its SOA the next serial. */
export class Zone {
  readonly name: string;
  #records: readonly DnsRecord[];

  constructor(name: string, records: readonly DnsRecord[]) {
    this.name = name;
    this.#records = records;
  }

  contains(name: string): boolean {
    return this.name === "" || name === this.name || name.endsWith(`.${this.name}`);
  }

  get soa(): DnsRecord | undefined {
    return this.#records.find(({ type }) => type === TYPE.SOA);
  }

  at(name: string): readonly DnsRecord[] {
    return this.#records.filter((record) => record.name === name);
  }

  /** Whether anything is at the name or below it: if not, there is no such name. */
  hasName(name: string): boolean {
    return this.#records.some((record) => record.name === name || record.name.endsWith(`.${name}`));
  }

  update(changes: readonly DnsRecord[]): void {
    const before = this.#records;
    for (const change of changes) this.#records = changed(this.#records, change);
    if (this.#records !== before) this.#records = this.#records.map(withNextSerial);
  }
}

/** The same list where there was nothing to change. */
function changed(records: readonly DnsRecord[], change: DnsRecord): readonly DnsRecord[] {
  const isSame = (record: DnsRecord): boolean =>
    record.name === change.name && record.type === change.type && Buffer.compare(record.data, change.data) === 0;
  if (change.class === CLASS.IN) return [...records.filter((record) => !isSame(record)), { ...change }];
  const isRemoved = (record: DnsRecord): boolean => {
    if (record.type === TYPE.SOA || record.type === TYPE.NS) return false;
    if (change.class === CLASS.NONE) return isSame(record);
    return record.name === change.name && (change.type === TYPE.ANY || record.type === change.type);
  };
  return records.some(isRemoved) ? records.filter((record) => !isRemoved(record)) : records;
}

/** The serial is the first of the five numbers at the end. */
function withNextSerial(record: DnsRecord): DnsRecord {
  if (record.type !== TYPE.SOA) return record;
  const data = Buffer.from(record.data);
  data.writeUInt32BE((data.readUInt32BE(data.length - 20) + 1) >>> 0, data.length - 20);
  return { ...record, data };
}
