import type { ObjectRef } from "../kube/objects.ts";

/** A step that matters to whoever asks later what was done to which key, and why. Never key material. */
export interface AuditEntry {
  readonly controller: string;
  /** CamelCase: the reason of the event where there is one. */
  readonly action: string;
  readonly object: ObjectRef & { readonly kind: string; readonly uid?: string | undefined };
  /** As events name it: what it is called outside, and its id there. */
  readonly key?: { readonly id?: string | undefined; readonly name: string };
  /** Why, in one word: of the engine, or an error code. */
  readonly cause?: string;
  readonly outcome: "done" | "intended" | "held" | "refused";
  readonly note: string;
}

/** Where steps are written down. Must be quick and must not throw: no rotation waits for its record. */
export interface AuditTrail {
  record(entry: AuditEntry): void;
}
