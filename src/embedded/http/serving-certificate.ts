import { createHash, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { isIPv4 } from "node:net";
import type { Clock } from "../../base/clock.ts";
import type { Random } from "../../base/random.ts";
import * as der from "./der.ts";

/**
 * A certificate authority of this server's own and one serving certificate under it, so that kubectl can check who it is
 * talking to without anything installed. The authority's private key is dropped as soon as it has signed: nobody can ever
 * sign with it again. Must not: be trusted by anything but the kubeconfig that carries it.
 */
export interface ServingCertificate {
  /** What clients trust. */
  readonly authorityPem: string;
  /** The serving certificate, followed by the authority. */
  readonly chainPem: string;
  readonly privateKeyPem: string;
  readonly expiresAt: number;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Clients whose clock is a little behind must not find it "not yet valid". */
const BACKDATED_MS = HOUR_MS;
const VALIDITY_MS = 365 * DAY_MS;

const DNS_NAMES = ["localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"];
const ADDRESSES = ["127.0.0.1", "::1"];

const OID = {
  ecdsaWithSha256: "1.2.840.10045.4.3.2",
  commonName: "2.5.4.3",
  subjectKeyIdentifier: "2.5.29.14",
  keyUsage: "2.5.29.15",
  subjectAltName: "2.5.29.17",
  basicConstraints: "2.5.29.19",
  authorityKeyIdentifier: "2.5.29.35",
  extendedKeyUsage: "2.5.29.37",
  serverAuth: "1.3.6.1.5.5.7.3.1",
} as const;

export function createServingCertificate(options: {
  readonly clock: Clock;
  readonly random: Random;
}): ServingCertificate {
  const { clock, random } = options;
  const validity = { from: clock.now() - BACKDATED_MS, until: clock.now() + VALIDITY_MS };
  const authority = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const leaf = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const authorityName = "keyturn embedded API server CA";
  const common = { issuer: authorityName, issuerKey: authority, validity };
  const authorityDer = certificate({
    ...common,
    subject: authorityName,
    subjectKey: authority.publicKey,
    serial: random.bytes(16),
    extensions: authorityExtensions(authority.publicKey),
  });
  const leafDer = certificate({
    ...common,
    subject: "keyturn embedded API server",
    subjectKey: leaf.publicKey,
    serial: random.bytes(16),
    extensions: servingExtensions(leaf.publicKey, authority.publicKey),
  });
  const authorityPem = pem(authorityDer);
  return {
    authorityPem,
    chainPem: pem(leafDer) + authorityPem,
    privateKeyPem: leaf.privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    expiresAt: validity.until,
  };
}

interface CertificateFields {
  readonly subject: string;
  readonly subjectKey: KeyObject;
  readonly issuer: string;
  readonly issuerKey: { readonly privateKey: KeyObject };
  readonly serial: Uint8Array;
  readonly validity: { readonly from: number; readonly until: number };
  readonly extensions: readonly Buffer[];
}

function certificate(fields: CertificateFields): Buffer {
  const algorithm = der.sequence(der.objectIdentifier(OID.ecdsaWithSha256));
  const toBeSigned = der.sequence(
    der.explicit(0, der.integer(Uint8Array.of(2))),
    der.integer(positiveSerial(fields.serial)),
    algorithm,
    distinguishedName(fields.issuer),
    der.sequence(der.time(fields.validity.from), der.time(fields.validity.until)),
    distinguishedName(fields.subject),
    publicKeyInfo(fields.subjectKey),
    der.explicit(3, der.sequence(...fields.extensions)),
  );
  const signature = sign("sha256", toBeSigned, fields.issuerKey.privateKey);
  return der.sequence(toBeSigned, algorithm, der.bitString(signature));
}

/** Never zero and always of full length, whatever the random source gave. */
function positiveSerial(bytes: Uint8Array): Uint8Array {
  return Uint8Array.from(bytes, (byte, index) => (index === 0 ? (byte & 0x7f) | 0x40 : byte));
}

const distinguishedName = (commonName: string): Buffer =>
  der.sequence(der.set(der.sequence(der.objectIdentifier(OID.commonName), der.utf8String(commonName))));

const publicKeyInfo = (key: KeyObject): Buffer => key.export({ type: "spki", format: "der" });

/** SHA-1 over the key bits, the usual way to name a key; nothing rests on its strength. */
const keyIdentifier = (key: KeyObject): Buffer => createHash("sha1").update(publicKeyInfo(key).subarray(-65)).digest();

function extension(oid: string, value: Buffer, isCritical = false): Buffer {
  const flags = isCritical ? [der.boolean(true)] : [];
  return der.sequence(der.objectIdentifier(oid), ...flags, der.octetString(value));
}

const authorityExtensions = (key: KeyObject): readonly Buffer[] => [
  extension(OID.basicConstraints, der.sequence(der.boolean(true), der.integer(Uint8Array.of(0))), true),
  // keyCertSign is bit 5.
  extension(OID.keyUsage, der.bitString(Buffer.from([0x04]), 2), true),
  extension(OID.subjectKeyIdentifier, der.octetString(keyIdentifier(key))),
];

const servingExtensions = (key: KeyObject, authorityKey: KeyObject): readonly Buffer[] => [
  extension(OID.basicConstraints, der.sequence(), true),
  // digitalSignature is bit 0.
  extension(OID.keyUsage, der.bitString(Buffer.from([0x80]), 7), true),
  extension(OID.extendedKeyUsage, der.sequence(der.objectIdentifier(OID.serverAuth))),
  extension(OID.subjectKeyIdentifier, der.octetString(keyIdentifier(key))),
  extension(OID.authorityKeyIdentifier, der.sequence(der.implicit(0, keyIdentifier(authorityKey)))),
  extension(
    OID.subjectAltName,
    der.sequence(
      ...DNS_NAMES.map((name) => der.implicit(2, Buffer.from(name, "ascii"))),
      ...ADDRESSES.map((address) => der.implicit(7, addressBytes(address))),
    ),
  ),
];

function addressBytes(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split(".").map(Number));
  const [head = "", tail = ""] = address.split("::");
  const groupsOf = (text: string): number[] =>
    text === "" ? [] : text.split(":").map((group) => Number.parseInt(group, 16));
  const [before, after] = [groupsOf(head), groupsOf(tail)];
  const groups = [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after];
  return Buffer.from(groups.flatMap((group) => [group >> 8, group & 0xff]));
}

function pem(content: Buffer): string {
  const lines = content.toString("base64").match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`;
}
