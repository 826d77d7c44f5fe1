import type { Clock } from "../../base/clock.ts";
import { ifFound } from "../../kube/if-found.ts";
import type { KubeObject } from "../../kube/objects.ts";
import type { Kube } from "../../kube/port.ts";
import type { Fingerprinter } from "../../publish/fingerprint.ts";
import { keyIdOf, type SecretAddress, secretType } from "../../publish/secret-publisher.ts";
import { type Annotations, annotationsOf, digestsAnnotation, OWN_PREFIX } from "../../restart/annotations.ts";
import { lastWrittenAt } from "../../restart/managed-fields.ts";
import type { SourceId } from "../../restart/model.ts";
import { type SourceMarks, sourceMarksOf } from "../../restart/opt-in.ts";
import type { ConsumedSecret } from "../../restart/pod-behind.ts";
import { secretSource } from "../../restart/restart-mark.ts";
import {
  dataOf,
  digestFor,
  digestsOf,
  publishedAtOf,
  type SourceDigests,
  type UsedKeys,
} from "../../restart/source-digests.ts";
import { readDigestsText } from "../../restart/template-digests.ts";
import type { OptInReading } from "./restart-knowledge.ts";

/** A Secret that pods may have keys from, read live; its values are dropped at once. */
export interface ReadSecret {
  readonly source: SourceId;
  /** Undefined: it is not there. */
  readonly digests: SourceDigests | undefined;
  readonly marks: SourceMarks;
  readonly content: Omit<ConsumedSecret, "digest">;
}

export interface SecretReading {
  readonly kube: Kube;
  readonly clock: Clock;
  readonly fingerprinter: Fingerprinter;
  readonly reading: Pick<OptInReading, "reloader">;
}

export async function readConsumedSecret(
  options: SecretReading,
  { namespace, name }: SecretAddress,
  signal: AbortSignal,
): Promise<ReadSecret> {
  const secret = await ifFound(options.kube.get(secretType, { namespace, name }, { signal }));
  if (secret) return consumedSecret(options, secret);
  const content = { keyId: undefined, writtenAt: undefined, publishedAt: Infinity };
  return { source: secretSource(name), digests: undefined, marks: { isMatched: false, isIgnored: false }, content };
}

/** What is kept of one that was just read. */
export function consumedSecret({ clock, fingerprinter, reading }: SecretReading, secret: KubeObject): ReadSecret {
  const { metadata } = secret;
  const { namespace = "", name } = metadata;
  const source = secretSource(name);
  return {
    source,
    digests: digestsOf({ fingerprinter, namespace, source, data: dataOf(secret) }),
    marks: sourceMarksOf(annotationsOf(metadata.annotations), reading),
    content: {
      keyId: keyIdOf(metadata),
      writtenAt: lastWrittenAt(secret, ["data"]),
      publishedAt: publishedAtOf(secret, clock.now()),
    },
  };
}

/** The Secret as it is for whoever uses this much of it. */
export const consumedBy = ({ content, digests }: ReadSecret, used: UsedKeys): ConsumedSecret => ({
  ...content,
  digest: digests && digestFor(digests, used),
});

/** What a pod says that it runs on, under whichever prefix. */
export function saidDigests(
  annotations: Annotations,
  { prefixes }: Pick<OptInReading, "prefixes">,
): ReadonlyMap<SourceId, string> {
  const all = new Set([OWN_PREFIX, ...prefixes]);
  return new Map([...all].flatMap((prefix) => [...readDigestsText(annotations[digestsAnnotation(prefix)])]));
}
