import { OWN_GROUP } from "../../base/own-names.ts";
import type { KeyMetadata } from "../contract.ts";
import { ProviderError } from "../provider-error.ts";
import { isRecord } from "../rest/wire.ts";

/** What is ours among the metadata of a key. */
const OUR_PREFIX = `${OWN_GROUP}/`;

const NAME = /^[A-Za-z0-9]([-_.A-Za-z0-9]{0,61}[A-Za-z0-9])?$/;
const DNS_PREFIX = /^(?=.{1,253}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+$/i;
const RESERVED_PREFIX = "cloudfoundry.org";
const MAX_ANNOTATION_CHARS = 5_000;
const MAX_KEY_SHOWN = 80;

export const isLabelValue = (value: string): boolean => value === "" || NAME.test(value);

/**
 * What a user wants to stand on a key, as long as Cloud Foundry can take it: otherwise it would refuse the key for it, in
 * words that nobody could tell from a refusal of metadata altogether. What is under our own prefix is left out: marks are
 * nobody's to give but ours.
 */
export function checkedMetadata({ labels, annotations }: KeyMetadata): KeyMetadata {
  return {
    labels: checked(labels, "label", isLabelValue),
    annotations: checked(annotations, "annotation", (value) => value.length <= MAX_ANNOTATION_CHARS),
  };
}

function checked(
  entries: Readonly<Record<string, string>>,
  what: "label" | "annotation",
  fits: (value: string) => boolean,
): Readonly<Record<string, string>> {
  const kept = notOurs(entries);
  for (const [key, value] of Object.entries(kept)) {
    if (!isMetadataKey(key)) {
      throw new ProviderError(
        "ProviderRefused",
        `the key of the ${what} ${shortened(key)} is none that Cloud Foundry takes: change it`,
      );
    }
    if (!fits(value)) {
      throw new ProviderError(
        "ProviderRefused",
        `the value of the ${what} ${shortened(key)} is none that Cloud Foundry takes: shorten or change it`,
      );
    }
  }
  return kept;
}

export const withoutOurs = ({ labels, annotations }: KeyMetadata): KeyMetadata => ({
  labels: notOurs(labels),
  annotations: notOurs(annotations),
});

const notOurs = (entries: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(entries).filter(([key]) => !key.startsWith(OUR_PREFIX)));

const shortened = (key: string): string =>
  JSON.stringify(key.length <= MAX_KEY_SHOWN ? key : `${key.slice(0, MAX_KEY_SHOWN)}…`);

function isMetadataKey(key: string): boolean {
  const [name = "", prefix, ...rest] = key.split("/").reverse();
  if (rest.length > 0 || !NAME.test(name)) return false;
  return prefix === undefined || (DNS_PREFIX.test(prefix) && prefix.toLowerCase() !== RESERVED_PREFIX);
}

/** Other people's included; what is not a text is left out. */
export function decodeMetadata(value: unknown): KeyMetadata {
  const { labels, annotations } = isRecord(value) ? value : {};
  return { labels: textsIn(labels), annotations: textsIn(annotations) };
}

function textsIn(value: unknown): Readonly<Record<string, string>> {
  const texts: Record<string, string> = Object.create(null);
  for (const [key, text] of Object.entries(isRecord(value) ? value : {})) {
    if (typeof text === "string") texts[key] = text;
  }
  return texts;
}
