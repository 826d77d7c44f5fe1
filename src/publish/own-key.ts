import type { KeyturnError } from "../base/errors.ts";
import type { Random } from "../base/random.ts";
import { Redacted } from "../base/redacted.ts";
import { AlreadyExists, NotFound } from "../kube/errors.ts";
import type { KubeObject } from "../kube/objects.ts";
import type { Kube } from "../kube/port.ts";
import { secretType } from "./secret-publisher.ts";

const SECRET_KEY = "key";
const KEY_BYTES = 32;

export interface OwnKeyOptions {
  readonly kube: Kube;
  readonly random: Random;
  /** Where the operator keeps what is its own. */
  readonly namespace: string;
  readonly name: string;
  /** The error for a Secret that holds no usable key: it gets the words for that, and says what to do. */
  readonly damaged: (what: string) => KeyturnError;
  readonly signal: AbortSignal;
}

/** A key of the operator's own: whoever is the first to need it makes it. Must not: replace a key that is there. */
export async function ensureOwnKey(options: OwnKeyOptions): Promise<Redacted<Uint8Array>> {
  const { kube, random, namespace, name, signal } = options;
  const ref = { namespace, name };
  try {
    return keyIn(await kube.get(secretType, ref, { signal }), options);
  } catch (error) {
    if (!(error instanceof NotFound)) throw error;
  }
  const key = new Redacted(random.bytes(KEY_BYTES));
  if (await createOwnKey(key, options)) return key;
  return keyIn(await kube.get(secretType, ref, { signal }), options);
}

/** Whether it was written; false where such a Secret is there, whatever it holds. */
export async function createOwnKey(
  key: Redacted<Uint8Array>,
  { kube, namespace, name, signal }: Pick<OwnKeyOptions, "kube" | "namespace" | "name" | "signal">,
): Promise<boolean> {
  const secret: KubeObject = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { namespace, name, labels: { "app.kubernetes.io/part-of": "keyturn" } },
    immutable: true,
    type: "Opaque",
    data: { [SECRET_KEY]: Buffer.from(key.reveal()).toString("base64") },
  };
  try {
    await kube.create(secretType, secret, { signal });
    return true;
  } catch (error) {
    if (error instanceof AlreadyExists) return false;
    throw error;
  }
}

/** The key that such a Secret holds. Throws where it holds none. */
export function keyIn(secret: KubeObject, { damaged }: Pick<OwnKeyOptions, "damaged">): Redacted<Uint8Array> {
  const { data } = secret as { readonly data?: Readonly<Record<string, string>> };
  const key = Buffer.from(data?.[SECRET_KEY] ?? "", "base64");
  if (key.length >= KEY_BYTES) return new Redacted(new Uint8Array(key));
  const { namespace, name } = secret.metadata;
  throw damaged(`the Secret ${namespace}/${name} holds no key of ${KEY_BYTES} bytes`);
}
