/**
 * The wire format of protobuf, as a walk over the fields of one message. Every read is bounded by the message, so hostile
 * bytes end in a `ProtobufError` and in nothing else. Must not: know what fields mean.
 */
export class ProtobufError extends Error {}

export type WireValue =
  | { readonly kind: "varint"; readonly value: bigint }
  | { readonly kind: "fixed"; readonly bytes: Uint8Array }
  | { readonly kind: "bytes"; readonly bytes: Uint8Array };

export interface WireField {
  readonly number: number;
  readonly value: WireValue;
}

export function* fieldsOf(message: Uint8Array): Generator<WireField> {
  let at = 0;
  const varint = (): bigint => {
    const read = readVarint(message, at);
    at = read.next;
    return read.value;
  };
  const take = (length: number): Uint8Array => {
    if (length > message.length - at) throw new ProtobufError("a field goes beyond the end of its message");
    at += length;
    return message.subarray(at - length, at);
  };
  while (at < message.length) {
    const tag = varint();
    const number = Number(tag >> 3n);
    if (number === 0) throw new ProtobufError("a field has the number 0");
    switch (Number(tag & 7n)) {
      case 0:
        yield { number, value: { kind: "varint", value: varint() } };
        break;
      case 1:
        yield { number, value: { kind: "fixed", bytes: take(8) } };
        break;
      case 2: {
        const length = varint();
        if (length > BigInt(message.length)) throw new ProtobufError("a field is longer than its message");
        yield { number, value: { kind: "bytes", bytes: take(Number(length)) } };
        break;
      }
      case 5:
        yield { number, value: { kind: "fixed", bytes: take(4) } };
        break;
      default:
        throw new ProtobufError("a field has an unknown wire type");
    }
  }
}

/** Every varint of a packed list. */
export function packedVarints(bytes: Uint8Array): readonly bigint[] {
  const values: bigint[] = [];
  for (let at = 0; at < bytes.length; ) {
    const { value, next } = readVarint(bytes, at);
    values.push(value);
    at = next;
  }
  return values;
}

function readVarint(bytes: Uint8Array, from: number): { readonly value: bigint; readonly next: number } {
  let value = 0n;
  for (let i = 0; i < 10; i++) {
    const byte = bytes[from + i];
    if (byte === undefined) break;
    value |= BigInt(byte & 0x7f) << BigInt(7 * i);
    if (byte < 0x80) return { value: BigInt.asUintN(64, value), next: from + i + 1 };
  }
  throw new ProtobufError("a number does not end");
}
