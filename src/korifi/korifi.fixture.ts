import { DERIVED_FROM, DERIVED_LABEL, SERVICES_OF } from "../api/korifi/names.ts";
import { fc } from "../base/properties.fixture.ts";
import { Redacted } from "../base/redacted.ts";
import type { KubeObject } from "../kube/objects.ts";
import { type Credentials, readCredentials } from "./credentials.ts";
import type { Binding, Instance, SecretView } from "./model.ts";
import type { Plan } from "./plan.ts";
import { isRefused, type Read, readBinding, readInstance, viewSecret } from "./read-objects.ts";

/** The kinds of Korifi, small, with a UID each, and JSON that JavaScript alone would not get right. */
const API_VERSION = "korifi.cloudfoundry.org/v1alpha1";
const NAMESPACE = "space";

export const uidOf = (name: string): string => `uid-of-${name}`;

interface Said {
  readonly spec?: object;
  readonly status?: object;
  readonly metadata?: object;
}

const cfObject = (kind: string, name: string, { spec = {}, status = {}, metadata = {} }: Said): KubeObject => ({
  apiVersion: API_VERSION,
  kind,
  metadata: { name, namespace: NAMESPACE, uid: uidOf(name), ...metadata },
  spec,
  status,
});

export const instanceObject = (said: Said = {}, name = "db"): KubeObject =>
  cfObject("CFServiceInstance", name, { ...said, spec: { type: "user-provided", ...said.spec } });

export const bindingObject = (said: Said = {}, name = "b1"): KubeObject =>
  cfObject("CFServiceBinding", name, {
    ...said,
    spec: {
      type: "app",
      service: { apiVersion: API_VERSION, kind: "CFServiceInstance", name: "db" },
      ...APP,
      ...said.spec,
    },
  });

const APP = { appRef: { name: "shop" } };

function followed<T extends object>(read: Read<T>): T {
  if (isRefused(read)) throw new TypeError(read.findings.map(({ message }) => message).join("; "));
  return read;
}

export const instanceOf = (said: Said = {}, name = "db"): Instance =>
  followed(readInstance(instanceObject(said, name)));
export const bindingOf = (said: Said = {}, name = "b1"): Binding => followed(readBinding(bindingObject(said, name)));

interface SecretSaid {
  readonly type?: string;
  readonly owner?: string;
  readonly derivedFrom?: string;
  readonly servicesOf?: string;
  readonly version?: string;
}

export function secretOf(
  name: string,
  texts: Readonly<Record<string, string | Buffer>>,
  said: SecretSaid = {},
): SecretView {
  const { type = "Opaque", owner, derivedFrom, servicesOf, version = "1" } = said;
  const annotations = {
    ...(derivedFrom !== undefined && { [DERIVED_FROM]: derivedFrom }),
    ...(servicesOf !== undefined && { [SERVICES_OF]: servicesOf }),
  };
  const owners = owner === undefined ? [] : [{ apiVersion: "v1", kind: "X", name: owner, uid: uidOf(owner) }];
  return viewSecret({
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      name,
      namespace: NAMESPACE,
      uid: uidOf(`secret-${name}`),
      resourceVersion: version,
      ownerReferences: owners,
      annotations,
      ...(derivedFrom !== undefined && { labels: { [DERIVED_LABEL]: "true" } }),
    },
    type,
    data: Object.fromEntries(
      Object.entries(texts).map(([key, text]) => [key, Buffer.from(text as string).toString("base64")]),
    ),
  });
}

/** What a Secret says, as texts. */
export const textsIn = (data: SecretView["data"]): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(data.reveal()).map(([key, encoded]) => [key, Buffer.from(encoded, "base64").toString()]),
  );

export function credentialsOf(text: string): Credentials {
  const read = readCredentials(new Redacted(text));
  if (read.kind === "refused") throw new TypeError(read.findings.map(({ message }) => message).join("; "));
  return read.credentials;
}

/** A plan in a few words. */
export const told = ({ writes, findings }: Plan): readonly string[] => [
  ...writes.map((write) => {
    if (write.kind === "secret") return `${write.over ? "update" : "create"} ${write.name} from ${write.derivedFrom}`;
    if (write.kind === "instance-status") return `status ${write.credentialsName} at ${write.observedVersion}`;
    if (write.kind === "binding-status") return `status ${write.mountName}, ${write.envName}`;
    return `${write.kind === "release-secret" ? "release" : "delete"} ${write.name}`;
  }),
  ...findings.map(({ reason, message }) => `${reason}: ${message}`),
];

const number = fc.oneof(
  fc.stringMatching(/^-?(0|[1-9][0-9]{0,39})([.][0-9]{1,25})?([eE][+-]?[0-9]{1,3})?$/),
  fc.constantFrom("12345678901234567890", "0.1000", "-0", "1e400", "1E+2"),
);
const words = fc.oneof(
  fc.string({ unit: "binary", maxLength: 12 }),
  fc.constantFrom("", "&<>", "null", "1", "ä€😀", '"', "\\", "\u2028", "\u0000", '{"a":1}', "https://u:p@h/?a=1&b=<2>"),
);
/** Some write `&` as Go does. */
const string = fc.tuple(words, fc.boolean()).map(([text, isEscaped]) => {
  const json = JSON.stringify(text);
  return isEscaped ? json.replace(/[&<>]/g, (char) => `\\u00${char.charCodeAt(0).toString(16)}`) : json;
});

/** One JSON as somebody wrote it, with white space between its tokens, and the same without. */
export interface WrittenJson {
  readonly written: string;
  readonly compact: string;
}

type Member = readonly [name: string, value: WrittenJson];

const space = fc.constantFrom("", "", " ", "\n", "\t ", "\r\n  ");
const plain = (text: string): WrittenJson => ({ written: text, compact: text });

const listOf = (items: readonly WrittenJson[], gap: string): WrittenJson => ({
  written: `[${gap}${items.map(({ written }) => written).join(`,${gap}`)}${gap}]`,
  compact: `[${items.map(({ compact }) => compact).join(",")}]`,
});

const objectOf = (members: readonly Member[], gap: string): WrittenJson => ({
  written: `{${gap}${members.map(([name, { written }]) => `${name}${gap}:${gap}${written}`).join(`${gap},`)}${gap}}`,
  compact: `{${members.map(([name, { compact }]) => `${name}:${compact}`).join(",")}}`,
});

/** Any JSON, with numbers that JavaScript cannot hold. */
export const { json: anyJson } = fc.letrec<{ json: WrittenJson }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.oneof(number, string, fc.constantFrom("true", "false", "null")).map(plain),
    fc.tuple(fc.array(tie("json"), { maxLength: 4 }), space).map(([items, gap]) => listOf(items, gap)),
    fc
      .tuple(fc.array(fc.tuple(string, tie("json")), { maxLength: 4 }), space)
      .map(([members, gap]) => objectOf(members, gap)),
  ),
}));

export const secretKey = fc.oneof(
  fc.constantFrom("type", "provider", "host", "__proto__", "constructor", "10", "9", "a.b", "-", "_"),
  fc.stringMatching(/^[-_a-zA-Z0-9][-._a-zA-Z0-9]{0,20}$/),
);

/** Credentials that can be published. */
export const anyCredentials = fc
  .tuple(fc.uniqueArray(fc.tuple(secretKey, anyJson), { maxLength: 6, selector: ([key]) => key }), space)
  .map(([members, gap]) => ({
    ...objectOf(
      members.map(([key, value]) => [`"${key}"`, value] as const),
      gap,
    ),
    members,
  }));
