import { createHash } from "node:crypto";
import { sortedJson } from "../base/sorted-json.ts";
import type { SecretValues } from "./credentials.ts";
import type { Finding } from "./finding.ts";
import type { SecretView } from "./model.ts";
import { onceFor } from "./once-for.ts";

/**
 * What is written, in this order, each after the one before it has worked: a Secret before the status that names it, and
 * what nothing names any more at the end. So after any of the writes, every Secret that a status names is there, and is
 * whole: a Secret is only ever written as one. Nothing is planned that is there already. Whoever gathers what is planned
 * from looks at the Secrets that may be written over first, then at what they are made from, and last at the object that
 * says so: together with `over`, an older look then never undoes a newer one.
 */
export interface Plan {
  readonly writes: readonly Write[];
  /** Why something stays as it is. */
  readonly findings: readonly Finding[];
}

export type Write = SecretWrite | InstanceStatusWrite | BindingStatusWrite | SecretRelease | SecretDeletion;

/** All of the Secret's data; what else stands on it is not touched. */
export interface SecretWrite {
  readonly kind: "secret";
  readonly name: string;
  readonly type: string;
  readonly data: SecretValues;
  /** Whose it is to be. */
  readonly owner: "instance" | "binding" | "app";
  /** What it is made from, as it stands on it. */
  readonly derivedFrom: string;
  /** The one that it is written over, to be so still; a Secret without one is created, and never taken over. */
  readonly over?: { readonly uid: string; readonly version: string };
}

interface InstanceStatusWrite {
  readonly kind: "instance-status";
  readonly credentialsName: string;
  readonly observedVersion: string;
}

/** To be written under the names of the document and under the later ones: `bindingStatus`. */
export interface BindingStatusWrite {
  readonly kind: "binding-status";
  readonly mountName: string;
  readonly envName: string;
}

/**
 * It is its instance's own from now on: the label of what is made from others goes, and nothing else. What it was made from
 * stays on it, since that is what it holds until somebody changes it.
 */
interface SecretRelease extends SecretSeen {
  readonly kind: "release-secret";
}

interface SecretDeletion extends SecretSeen {
  readonly kind: "delete-secret";
}

/** The very one that was seen. */
interface SecretSeen {
  readonly name: string;
  readonly uid: string;
  readonly version: string;
}

export const nothingBut = (...findings: readonly Finding[]): Plan => ({ writes: [], findings });

/** The fields of a binding's status that name Secrets. */
export const bindingStatus = ({ mountName, envName }: Omit<BindingStatusWrite, "kind">) => ({
  binding: { name: mountName },
  mountSecretRef: { name: mountName },
  credentials: { name: envName },
  envSecretRef: { name: envName },
});

/** The write that makes a Secret what it is to be; none where it is that already. */
export function secretWrites(
  wanted: Omit<SecretWrite, "kind" | "over">,
  present: SecretView | undefined,
): readonly SecretWrite[] {
  if (present === undefined) return [{ kind: "secret", ...wanted }];
  if (present.isMarked && present.derivedFrom === wanted.derivedFrom && holds(present, wanted.data)) return [];
  return [{ kind: "secret", ...wanted, over: { uid: present.uid, version: present.version } }];
}

const holds = ({ data, digest }: SecretView, wanted: SecretValues): boolean =>
  digest === undefined ? isSameData(data, wanted) : digest === dataDigest(wanted);

/** For comparing in memory; whoever writes it down tells others something of the values. */
export const dataDigest = onceFor((data: SecretValues): string =>
  createHash("sha256").update(sortedJson(data.reveal())).digest("base64url"),
);

function isSameData(a: SecretValues, b: SecretValues): boolean {
  const [these, those] = [a.reveal(), b.reveal()];
  const names = Object.keys(these);
  return (
    names.length === Object.keys(those).length &&
    names.every((name) => Object.hasOwn(those, name) && those[name] === these[name])
  );
}
