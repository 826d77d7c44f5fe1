import type { KubeObject } from "../../kube/objects.ts";
import { CANARY } from "../scene.ts";
import { keyIdIn } from "../truth.ts";

/**
 * The credentials of a service as people write them, each another version, and what has to become of them. Must not: ask
 * production code.
 */
export interface Version {
  /** As one JSON object: the very text that VCAP_SERVICES has. */
  readonly text: string;
  /** What is projected of them, in a Secret of this type. */
  readonly type: string;
  readonly flat: Texts;
  /** The key that the Secret held which they are taken from, where it tells. */
  readonly keyId?: string;
}

export type Texts = Readonly<Record<string, string>>;

type Members = readonly (readonly [name: string, json: string])[];

const said = (what: string, number: number): string => `${CANARY}-${what}-${number}`;

/** Numbers that no double holds, characters that encoders like to escape, and a key that no other version has. */
const nestedMembers = (number: number, type: string): Members => [
  ["user", JSON.stringify(said("user", number))],
  ["password", JSON.stringify(`${said("password", number)} é&<>"`)],
  ["port", `12345678901234567890${number}`],
  ["hosts", `[{"name":"${said("host", number)}","options":"a&b<c>"},null]`],
  [`only-${number}`, "1.10"],
  ["type", JSON.stringify(type)],
];

const flatMembers = (number: number, type: string): Members => [
  ["password", JSON.stringify(said("password", number))],
  ["type", JSON.stringify(type)],
  ["user", JSON.stringify(said("user", number))],
];

const versionOf = (members: Members, type: string, keyId?: string): Version => ({
  text: `{${members.map(([name, json]) => `${JSON.stringify(name)}:${json}`).join(",")}}`,
  type: `servicebinding.io/${type}`,
  flat: Object.fromEntries(
    members.map(([name, json]) => [name, json.startsWith('"') ? String(JSON.parse(json)) : json]),
  ),
  ...(keyId !== undefined && { keyId }),
});

/** An object with objects in it, as it is kept now. */
export const nested = (number: number, type: string): Version => versionOf(nestedMembers(number, type), type);

/** Texts alone, as they were kept once, and as other Secrets have them. */
export const flat = (number: number, type: string, keyId?: string): Version =>
  versionOf(flatMembers(number, type), type, keyId);

/** Which of the values of a Secret are taken, where one is followed. */
export const TAKEN_KEYS: readonly string[] = ["password", "type", "user"];

export const encoded = (texts: Texts): Texts =>
  Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, Buffer.from(text).toString("base64")]));

/** Stored objects never change, so what was read out of one holds for good. */
const decoded = new WeakMap<KubeObject, Texts>();

export function textsIn(secret: KubeObject): Texts {
  const known = decoded.get(secret);
  if (known) return known;
  const texts = Object.fromEntries(
    Object.entries((secret.data ?? {}) as Texts).map(([name, value]) => [
      name,
      Buffer.from(value, "base64").toString(),
    ]),
  );
  decoded.set(secret, texts);
  return texts;
}

export const isSameTexts = (a: Texts, b: Texts): boolean =>
  Object.keys(a).length === Object.keys(b).length && Object.entries(a).every(([name, text]) => b[name] === text);

const numberIn = (text: string | undefined): number => Number(/-(\d+)(?:\D*)$/.exec(text ?? "")?.[1]);

/** What the Secret says that the credentials of a service are taken from; undefined where it can say nothing of use. */
export function versionIn(secret: KubeObject): Version | undefined {
  const { credentials, ...texts } = textsIn(secret);
  if (credentials !== undefined) return versionInText(credentials);
  const taken = Object.fromEntries(TAKEN_KEYS.flatMap((key) => (texts[key] === undefined ? [] : [[key, texts[key]]])));
  const version = flat(numberIn(texts.user), texts.type ?? "", keyIdIn(secret));
  return isSameTexts(version.flat, taken) ? version : undefined;
}

function versionInText(text: string): Version | undefined {
  const [, type = ""] = /"type":"([^"]*)"/.exec(text) ?? [];
  const number = numberIn(/"user":"([^"]*)"/.exec(text)?.[1]);
  return [nested(number, type), flat(number, type)].find((version) => version.text === text);
}
