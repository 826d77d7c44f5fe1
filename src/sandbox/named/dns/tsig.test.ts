import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { test } from "node:test";
import { fc } from "../../../base/properties.fixture.ts";
import { seededRandom } from "../../../base/random.ts";
import { ALGORITHMS, type RndcAlgorithm } from "../../../rndc/algorithms.ts";
import { generateRndcKey } from "../../../rndc/key.ts";
import { type DnsMessage, decodeDns, encodeDns } from "./dns-message.ts";
import { encodeName } from "./dns-name.ts";
import { MalformedDns } from "./malformed-dns.ts";
import { CLASS, TSIG_ERROR, TYPE } from "./numbers.ts";
import { openDns, signedDns, tsigError } from "./tsig.ts";

const now = Date.UTC(2026, 0, 1);
const message: DnsMessage = {
  id: 77,
  flags: 0x2800,
  questions: [{ name: "example.test", type: TYPE.SOA, class: CLASS.IN }],
  answers: [],
  authorities: [{ name: "a.example.test", type: TYPE.A, class: CLASS.IN, ttl: 60, data: Buffer.of(192, 0, 2, 1) }],
  additionals: [],
};
const key = generateRndcKey("op-1", "hmac-sha256", seededRandom(1));

const errorOf = (bytes: Uint8Array, options: { at?: number; requestMac?: Uint8Array } = {}): number | undefined => {
  const { tsig } = openDns(bytes);
  const { at = now, requestMac } = options;
  return tsig && tsigError(bytes, tsig, { key, now: at, ...(requestMac && { requestMac }) });
};

for (const algorithm of Object.keys(ALGORITHMS) as RndcAlgorithm[]) {
  test(`${algorithm}: what is signed is accepted, and is the message without its signature`, () => {
    const mine = generateRndcKey("op-1", algorithm, seededRandom(2));
    const bytes = signedDns(message, { key: mine, signedAt: now });
    const { message: opened, tsig } = openDns(bytes);
    assert.deepEqual(opened, message);
    assert.ok(tsig);
    assert.equal(tsigError(bytes, tsig, { key: mine, now }), TSIG_ERROR.NONE);
  });
}

test("any other bit in what is signed, or in the signature, and it is not accepted", () => {
  const bytes = signedDns(message, { key, signedAt: now });
  const nameLength = encodeName("op-1").length + 10 + encodeName("hmac-sha256").length;
  const { lastRecordAt } = decodeDns(bytes);
  for (let bit = 16; bit < bytes.length * 8; bit++) {
    const at = bit >> 3;
    // The case of the names in the signature itself does not matter, so these are left out.
    if (at >= lastRecordAt && at < lastRecordAt + nameLength) continue;
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] ?? 0) ^ (1 << (bit & 7));
    let error: number | undefined;
    try {
      error = errorOf(changed);
    } catch (thrown) {
      assert.ok(thrown instanceof MalformedDns);
    }
    assert.notEqual(error, TSIG_ERROR.NONE, `bit ${bit}`);
  }
});

test("another id on the way, as a forwarder gives it, is none of the signature's business", () => {
  const bytes = signedDns(message, { key, signedAt: now });
  bytes.writeUInt16BE(78, 0);
  assert.equal(errorOf(bytes), TSIG_ERROR.NONE);
});

test("an answer is bound to its question", () => {
  const requestMac = Buffer.from("the question's HMAC");
  const bytes = signedDns(message, { key, signedAt: now, requestMac });
  assert.equal(errorOf(bytes, { requestMac }), TSIG_ERROR.NONE);
  assert.equal(errorOf(bytes), TSIG_ERROR.BADSIG);
  assert.equal(errorOf(bytes, { requestMac: Buffer.from("another") }), TSIG_ERROR.BADSIG);
});

test("the time may be off by five minutes and no more", () => {
  const bytes = signedDns(message, { key, signedAt: now });
  const offs = [-301_000, -300_000, 300_000, 301_000];
  assert.deepEqual(
    offs.map((off) => errorOf(bytes, { at: now + off })),
    [TSIG_ERROR.BADTIME, TSIG_ERROR.NONE, TSIG_ERROR.NONE, TSIG_ERROR.BADTIME],
  );
});

test("a message without a signature has none, and one behind which something stands is malformed", () => {
  const bytes = signedDns(message, { key, signedAt: now });
  assert.equal(openDns(encodeDns(message)).tsig, undefined);
  const { message: whole } = decodeDns(bytes);
  const [signature] = whole.additionals;
  assert.ok(signature);
  const extra = { name: "", type: TYPE.A, class: CLASS.IN, ttl: 0, data: Buffer.of(1, 2, 3, 4) };
  for (const additionals of [
    [signature, extra],
    [signature, signature],
    [{ ...signature, ttl: 1 }],
    [{ ...signature, class: 1 }],
  ]) {
    assert.throws(() => openDns(encodeDns({ ...message, additionals })), MalformedDns);
  }
});

test("any bytes for a signature are one or malformed", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 80 }), (data) => {
      const record = { name: "op-1", type: TYPE.TSIG, class: CLASS.ANY, ttl: 0, data };
      try {
        assert.ok(openDns(encodeDns({ ...message, additionals: [record] })).tsig);
      } catch (error) {
        if (!(error instanceof MalformedDns)) throw error;
      }
    }),
  );
});
