import type { Random } from "../../src/base/random.ts";
import type { Rotation } from "../families/family.ts";

/** How many of what there is, and how often it is rotated. Pure. */
export const KINDS = [
  "ServiceBinding",
  "ServiceCredentialBinding",
  "RotatingCredentialBinding",
  "RotatingResource",
  "Bind9Cluster",
  "Bind9Instance",
  "RndcKey",
  "CFServiceInstance",
  "CFServiceBinding",
  "Deployment",
] as const;
export type SoakKind = (typeof KINDS)[number];

/**
 * Of a thousand. What makes others for each of its keys is rare, as it is in clusters; so is BIND. Three in ten have no key
 * of their own, and follow that of another.
 */
const SHARES: Readonly<Record<SoakKind, number>> = {
  ServiceBinding: 401,
  ServiceCredentialBinding: 270,
  RotatingCredentialBinding: 10,
  RotatingResource: 10,
  Bind9Cluster: 3,
  Bind9Instance: 3,
  RndcKey: 3,
  CFServiceInstance: 80,
  CFServiceBinding: 160,
  Deployment: 60,
};
const THOUSAND = Object.values(SHARES).reduce((sum, share) => sum + share, 0);

/** As many of each kind as its share is, and at least one; the most common one takes up what is left. */
export function countsOf(resources: number): Readonly<Record<SoakKind, number>> {
  const count = (kind: SoakKind): number => Math.max(1, Math.round((resources * SHARES[kind]) / THOUSAND));
  const others = KINDS.slice(1).map((kind) => [kind, count(kind)] as const);
  const left = resources - others.reduce((sum, [, each]) => sum + each, 0);
  if (left < 1) throw new RangeError(`${resources} resources are too few for one of each kind`);
  return { ...Object.fromEntries(others), ServiceBinding: left } as Readonly<Record<SoakKind, number>>;
}

/** From and to, in seconds. */
export type PolicyRange = readonly [shortest: number, longest: number];

/** One in ten is anywhere; the others are near the longest: whoever rotates every minute is the exception. */
const ANYWHERE = 1 / 10;
const NEAR = 1 / 8;
/** Of the frequency, and no less than this. */
const OVERLAP = { share: 1 / 4, leastSeconds: 5 };

export function drawPolicy(random: Random, [shortest, longest]: PolicyRange): Rotation {
  const share = random.next() < ANYWHERE ? 1 : NEAR;
  const frequency = Math.round(longest - (longest - shortest) * share * random.next());
  const overlap = Math.max(OVERLAP.leastSeconds, Math.round(frequency * OVERLAP.share));
  return { frequency: `${frequency}s`, ttl: `${frequency + overlap}s` };
}
