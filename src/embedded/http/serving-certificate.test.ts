import assert from "node:assert/strict";
import { createPrivateKey, X509Certificate } from "node:crypto";
import { test } from "node:test";
import { ManualClock } from "../../base/manual-clock.ts";
import { seededRandom, systemRandom } from "../../base/random.ts";
import * as der from "./der.ts";
import { createServingCertificate } from "./serving-certificate.ts";

function make(startAt?: number) {
  const clock = new ManualClock(startAt);
  const made = createServingCertificate({ clock, random: systemRandom });
  const [leafPem = ""] = made.chainPem.split(/(?<=-----END CERTIFICATE-----\n)/);
  return { clock, made, leaf: new X509Certificate(leafPem), authority: new X509Certificate(made.authorityPem) };
}

test("certificate: the authority signed itself and the serving certificate", () => {
  const { leaf, authority } = make();
  assert.ok(authority.verify(authority.publicKey));
  assert.ok(leaf.verify(authority.publicKey));
  assert.ok(leaf.checkIssued(authority));
  assert.equal(authority.ca, true);
  assert.equal(leaf.ca, false);
  assert.notEqual(leaf.serialNumber, authority.serialNumber);
});

test("certificate: it is valid for what kubectl and pods call the server, and for nothing else", () => {
  const { leaf } = make();
  for (const name of ["localhost", "kubernetes", "kubernetes.default.svc"]) assert.equal(leaf.checkHost(name), name);
  for (const address of ["127.0.0.1", "::1"]) assert.equal(leaf.checkIP(address), address);
  assert.equal(leaf.checkHost("example.com"), undefined);
  assert.equal(leaf.checkIP("127.0.0.2"), undefined);
  assert.deepEqual(leaf.keyUsage, ["1.3.6.1.5.5.7.3.1"]);
});

test("certificate: validity comes from the clock, a little backdated", () => {
  const { clock, leaf, made } = make(Date.UTC(2031, 5, 1));
  assert.equal(leaf.validFromDate.getTime(), clock.now() - 3_600_000);
  assert.equal(leaf.validToDate.getTime(), made.expiresAt);
  assert.equal(made.expiresAt, clock.now() + 365 * 86_400_000);
});

test("certificate: dates beyond 2049 are written in four digits", () => {
  const { leaf } = make(Date.UTC(2049, 11, 1));
  assert.equal(leaf.validToDate.getUTCFullYear(), 2050);
  assert.equal(leaf.validFromDate.getUTCFullYear(), 2049);
});

test("certificate: the private key belongs to it", () => {
  const { made, leaf } = make();
  assert.match(made.privateKeyPem, /^-----BEGIN PRIVATE KEY-----/);
  assert.ok(leaf.checkPrivateKey(createPrivateKey(made.privateKeyPem)));
});

const encodings = [
  { actual: der.integer(Uint8Array.of(0)), expected: "020100", reason: "zero has one byte" },
  { actual: der.integer(Uint8Array.of(0, 0, 127)), expected: "02017f", reason: "leading zeros go" },
  { actual: der.integer(Uint8Array.of(128)), expected: "02020080", reason: "a set top bit would mean negative" },
  {
    actual: der.objectIdentifier("1.2.840.10045.4.3.2"),
    expected: "06082a8648ce3d040302",
    reason: "numbers in base 128",
  },
  {
    actual: der.octetString(Buffer.alloc(200)).subarray(0, 3),
    expected: "0481c8",
    reason: "the long form of a length",
  },
  { actual: der.octetString(Buffer.alloc(300)).subarray(0, 4), expected: "0482012c", reason: "two bytes of length" },
  {
    actual: der.time(Date.UTC(2026, 0, 2, 3, 4, 5)),
    expected: Buffer.from("\x17\x0d260102030405Z").toString("hex"),
    reason: "UTCTime",
  },
];

for (const { actual, expected, reason } of encodings) {
  test(`DER: ${reason}`, () => assert.equal(actual.toString("hex"), expected));
}

test("certificate: the serial is positive whatever the random source gives", () => {
  for (let seed = 0; seed < 20; seed++) {
    const made = createServingCertificate({ clock: new ManualClock(), random: seededRandom(seed) });
    const serial = new X509Certificate(made.authorityPem).serialNumber;
    assert.equal(serial.length, 32);
    assert.ok(Number.parseInt(serial.slice(0, 2), 16) < 0x80);
  }
});
