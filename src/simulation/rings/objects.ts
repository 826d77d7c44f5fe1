import { CREATED_AT } from "../../api/bind/names.ts";
import { rndcKey } from "../../api/keyturn/rndc-key.ts";
import { apiVersionOf, type KubeObject } from "../../kube/objects.ts";
import { deploymentType, podType } from "../../restart/workload-kinds.ts";
import { keyIdIn } from "../truth.ts";

/** What there is in the world of rings, and what its Secrets say. Must not: ask production code what it has written. */
const NAMESPACE = "default";
export const KEY = { namespace: NAMESPACE, name: "web-rndc" } as const;
/** The Secret that users take the key from has the name of its resource. */
export const PUBLISHED = `${NAMESPACE}/web-rndc`;
export const RING_REF = { namespace: NAMESPACE, name: "web-rndc-ring" } as const;
export const RING = `${NAMESPACE}/web-rndc-ring`;
const INSTANCE = "web";

type Fields = Readonly<Record<string, unknown>>;
type SecretData = Readonly<Record<string, string>>;

export const draftKey = (spec: Fields = {}): KubeObject => ({
  apiVersion: apiVersionOf(rndcKey),
  kind: rndcKey.kind,
  metadata: KEY,
  spec: {
    secret: { name: KEY.name },
    keyName: "bindy-operator",
    strategy: "Overlap",
    instances: [INSTANCE],
    rotation: { ttl: "336h", frequency: "288h" },
    ...spec,
  },
});

const LABELS = { "app.kubernetes.io/name": "bind9", "app.kubernetes.io/instance": INSTANCE };
const containers = [{ name: "named", image: "bind9" }];

export const draftPod = (number: number): KubeObject => ({
  apiVersion: "v1",
  kind: podType.kind,
  metadata: { namespace: NAMESPACE, name: `${INSTANCE}-${number}`, labels: LABELS },
  spec: { containers },
});

/** What makes the pods that read the key when they start. */
export const WORKLOAD = { namespace: NAMESPACE, name: INSTANCE } as const;

export const draftWorkload = (replicas: number): KubeObject => ({
  apiVersion: apiVersionOf(deploymentType),
  kind: deploymentType.kind,
  metadata: WORKLOAD,
  spec: {
    replicas,
    selector: { matchLabels: LABELS },
    template: {
      metadata: { labels: { ...LABELS, app: INSTANCE } },
      spec: { containers, volumes: [{ name: "key", secret: { secretName: KEY.name } }] },
    },
  },
});

/** A key as named and its users know it. */
export interface KeyText {
  readonly name: string;
  readonly algorithm: string;
  readonly secret: string;
}

export const isSame = (a: Omit<KeyText, "name">, b: Omit<KeyText, "name">): boolean =>
  a.secret === b.secret && a.algorithm === b.algorithm;

/** A key of the ring. */
export interface SeenKey extends KeyText {
  readonly id: string;
  readonly phase: "adding" | "accepted" | "removing";
  readonly sequence: number;
}

const textsIn = ({ data }: KubeObject): SecretData =>
  Object.fromEntries(
    Object.entries((data ?? {}) as SecretData).map(([name, value]) => [name, Buffer.from(value, "base64").toString()]),
  );

const KEY_STATEMENT = /key "([^"]+)" \{\s*algorithm ([a-z0-9-]+);\s*secret "([^"]+)";\s*\};\s*/g;

const keysIn = (text = ""): readonly KeyText[] =>
  [...text.matchAll(KEY_STATEMENT)].map(([, name = "", algorithm = "", secret = ""]) => ({ name, algorithm, secret }));

/** Stored objects never change, so what was read out of one holds for good. */
const rings = new WeakMap<KubeObject, readonly SeenKey[] | undefined>();

/** Undefined where there is none, or none that can be read. */
export function ringIn(secret: KubeObject | undefined): readonly SeenKey[] | undefined {
  if (!secret) return undefined;
  if (!rings.has(secret)) rings.set(secret, readRing(secret));
  return rings.get(secret);
}

function readRing(secret: KubeObject): readonly SeenKey[] | undefined {
  try {
    const { keys } = JSON.parse(textsIn(secret)["ring.json"] ?? "") as {
      readonly keys: readonly (Omit<SeenKey, "sequence"> & { readonly marks?: { readonly sequence: number } })[];
    };
    return keys.map(({ marks, ...key }) => ({ ...key, sequence: marks?.sequence ?? 0 }));
  } catch {
    return undefined;
  }
}

export const acceptable = (keys: readonly SeenKey[] = []): readonly SeenKey[] =>
  keys.filter(({ phase }) => phase !== "removing");

/** The key that users take from a Secret: its file, with which the single fields must agree. */
export function publishedIn(secret: KubeObject | undefined): (KeyText & { readonly id: string }) | undefined {
  if (!secret) return undefined;
  const texts = textsIn(secret);
  const [key, ...more] = keysIn(texts["rndc.key"]);
  const id = keyIdIn(secret);
  const isWhole = key?.name === texts["key-name"] && key?.algorithm === texts.algorithm && key?.secret === texts.secret;
  return key && id !== undefined && isWhole && more.length === 0 ? { ...key, id } : undefined;
}

export const createdAtOn = (secret: KubeObject | undefined): string | undefined =>
  secret?.metadata.annotations?.[CREATED_AT];

/** What named makes of the files that it is given; undefined where it refuses them as a whole. */
export function configIn(secret: KubeObject): readonly KeyText[] | undefined {
  const texts = textsIn(secret);
  const { "keys.conf": file = texts["rndc.key"] ?? "" } = texts;
  const keys = keysIn(file);
  if (file.replace(KEY_STATEMENT, "").trim() !== "") return undefined;
  const { "controls.conf": controls, "acl.conf": acl } = texts;
  const named = ({ name }: KeyText): boolean => controls === undefined || controls.includes(` "${name}";`);
  // Who may give commands and may not update is let in by halves.
  const isWhole = ({ name }: KeyText): boolean => acl === undefined || acl.includes(`key "${name}";`);
  return keys.filter((key) => named(key) && isWhole(key));
}
