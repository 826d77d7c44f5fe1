import { keyOf, type ObjectRef } from "../../kube/objects.ts";
import type { RndcKeyMetrics, RndcKeyView } from "../../report/rndc-key-metrics.ts";
import type { RotationObserver } from "../managed/managed-reporter.ts";
import type { CredentialRecord } from "../managed/managed-watches.ts";

export interface RndcKeyObserverOptions {
  readonly metrics: RndcKeyMetrics;
  /** Counts what all kinds have in common. */
  readonly general: RotationObserver | undefined;
  /** The Secret of a key, as far as the watch knows it. */
  readonly secretOf: (key: string) => string | undefined;
}

/** Counts rotations of RNDC keys by the names that their document gives, beside those of all kinds. */
export function rndcKeyObserver({ metrics, general, secretOf }: RndcKeyObserverOptions): RotationObserver {
  const labelsOf = (ref: ObjectRef): readonly [namespace: string, secret: string] => [
    ref.namespace ?? "",
    // What is not known yet is mostly called as its Secret is.
    secretOf(keyOf(ref)) ?? ref.name,
  ];
  return {
    activated: (cause, latenessMs, resource) => {
      general?.activated(cause, latenessMs, resource);
      // A first key replaces none.
      if (cause !== "first" && cause !== "adopted") metrics.rotated(...labelsOf(resource));
    },
    deleted: (cause) => general?.deleted(cause),
    secretRestored: () => general?.secretRestored(),
    failed: (code, resource) => {
      general?.failed(code, resource);
      metrics.failed(...labelsOf(resource), code);
    },
  };
}

/** What the watch knows of all keys, for `RndcKeyMetrics.addProbe`. */
export function* rndcKeyViews(
  records: Iterable<Pick<CredentialRecord, "activeSince" | "dueAt" | "isHealthy"> & { readonly key: string }>,
  secretOf: (key: string) => string | undefined,
): Iterable<RndcKeyView> {
  for (const { key, activeSince, dueAt, isHealthy } of records) {
    const slash = key.indexOf("/");
    const [namespace, name] = [key.slice(0, Math.max(0, slash)), key.slice(slash + 1)];
    yield { namespace, secret: secretOf(key) ?? name, activeSince, dueAt, isHealthy };
  }
}
