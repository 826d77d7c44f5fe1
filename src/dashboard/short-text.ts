import { ownName } from "../base/own-names.ts";

/**
 * Texts of JSON that are alike, in fewer characters: what stands in nearly all of them has a sign of its own. The signs are
 * control characters, which JSON never has in it as they are, so that what is short can always be told from what is not.
 * Pure; whatever text of JSON is made short reads as before.
 */
const FRAGMENTS: readonly string[] = [
  '{"metadata":{"name":"',
  '","uid":"',
  '","creationTimestamp":"',
  '"},"spec":{',
  `,"finalizers":["${ownName("keys")}"]`,
  ',"annotations":{"crossplane.io/external-name":"',
  '"deletionPolicy":"Delete","managementPolicies":["*"],',
  '"providerConfigRef":{"name":"',
  '"writeConnectionSecretToRef":{',
  '"rotation":{"frequency":"',
  '","ttl":"',
  '"forProvider":{',
  '","serviceInstanceId":"',
  '"status":{"atProvider":{"',
  '","name":"',
  '"namespace":"',
  '","createdDate":"',
  '","createdAt":"',
  '","retiredDate":"',
  '","retiredAt":"',
  '","replacedDate":"',
  '","deletionDate":"',
  '","overlap":"',
  '","cause":"rotated"}',
  '"retiredKeys":[{"',
  ',"sequence":',
  ',"madeFrom":"',
  '"history":[',
  '"RotationDue"',
  '"],["',
  '"}',
];

const signOf = (index: number): string => String.fromCharCode(index + 1);
const SIGNS = new Map(FRAGMENTS.map((fragment, index) => [fragment, signOf(index)]));

const escaped = (fragment: string): string => fragment.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
const longestFirst = FRAGMENTS.toSorted((a, b) => b.length - a.length);
const ANY_FRAGMENT = new RegExp(longestFirst.map(escaped).join("|"), "g");
const ANY_SIGN = new RegExp(`[${signOf(0)}-${signOf(FRAGMENTS.length - 1)}]`, "g");

/** Of a text that `JSON.stringify` has made. */
export const shortText = (json: string): string =>
  json.replace(ANY_FRAGMENT, (fragment) => SIGNS.get(fragment) ?? fragment);

export const wholeText = (short: string): string =>
  short.replace(ANY_SIGN, (sign) => FRAGMENTS[sign.charCodeAt(0) - 1] ?? "");
