import { ownName } from "../base/own-names.ts";
import type { KubeObject } from "../kube/objects.ts";
import { fieldAt } from "./fields.ts";

/** On what runs the pods: the Secrets of the key, as they were when it was last applied. */
const KEY_SECRETS = ownName("key-secrets");
/** On the pods: the ring that was made anew with nothing of what servers knew. */
const RING_MADE_ANEW = ownName("ring-made-anew");

/** A Secret as the cluster knows it. */
interface SecretIdentity {
  readonly name: string;
  readonly uid: string;
}

/** The Secrets that pods have their keys from, and what runs the pods now. */
export interface KeySecrets {
  readonly published: SecretIdentity;
  readonly ring: SecretIdentity;
  readonly live: KubeObject | undefined;
}

export interface KeySecretsMarks {
  readonly workload: Readonly<Record<string, string>>;
  readonly template: Readonly<Record<string, string>>;
}

/**
 * Each of the two Secrets brings the key back that the other one lacks. Where both were made anew since they were last
 * seen, nothing has, and servers that run know no key by which they could be told of another: then their pods are
 * replaced. Pure. Must not: replace them for one of the two.
 */
export function keySecretsMarks({ published, ring, live }: KeySecrets): KeySecretsMarks {
  const known = textAt(live, ["metadata", "annotations", KEY_SECRETS]).split(" ");
  const replaced = textAt(live, ["spec", "template", "metadata", "annotations", RING_MADE_ANEW]);
  const isAnother = ({ name, uid }: SecretIdentity, before = ""): boolean =>
    before.startsWith(`${name}=`) && before !== `${name}=${uid}`;
  const isAnew = isAnother(published, known[0]) && isAnother(ring, known[1]);
  const anew = isAnew ? ring.uid : replaced;
  return {
    workload: { [KEY_SECRETS]: [published, ring].map(({ name, uid }) => `${name}=${uid}`).join(" ") },
    template: anew === "" ? {} : { [RING_MADE_ANEW]: anew },
  };
}

function textAt(object: KubeObject | undefined, path: readonly string[]): string {
  const value = fieldAt(object, path);
  return typeof value === "string" ? value : "";
}
