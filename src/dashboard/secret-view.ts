import { parseInstant } from "../base/instant.ts";
import { ownName } from "../base/own-names.ts";
import { Forbidden, KubeError, NotFound } from "../kube/errors.ts";
import type { KubeObject } from "../kube/objects.ts";
import type { Kube } from "../kube/port.ts";
import { keyIdOf, type SecretAddress, secretType } from "../publish/secret-publisher.ts";
import type { SecretView } from "./wire.ts";

/** What a Secret says of itself: only its metadata is asked for, so that its data is never here. */
export async function lookAtSecret(kube: Kube, { namespace, name }: SecretAddress): Promise<SecretView> {
  try {
    const { metadata } = await kube.get(secretType, { namespace, name }, { metadataOnly: true });
    return { namespace, name, isThere: true, ...marksOf(metadata) };
  } catch (error) {
    if (error instanceof NotFound) return { namespace, name, isThere: false };
    if (error instanceof Forbidden || error instanceof KubeError) return { namespace, name };
    throw error;
  }
}

function marksOf(metadata: KubeObject["metadata"]): Pick<SecretView, "keyId" | "fingerprint" | "publishedAt"> {
  const { annotations = {} } = metadata;
  const keyId = keyIdOf(metadata);
  const fingerprint = annotations[ownName("fingerprint")];
  const publishedAt = parseInstant(annotations[ownName("published-at")]);
  return {
    ...(keyId !== undefined && { keyId }),
    ...(fingerprint !== undefined && { fingerprint }),
    ...(publishedAt !== undefined && { publishedAt }),
  };
}
