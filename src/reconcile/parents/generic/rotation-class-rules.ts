import { formatDuration, parseDuration } from "../../../base/duration.ts";
import { KeyturnError, never } from "../../../base/errors.ts";
import type { KubeObject } from "../../../kube/objects.ts";
import { fieldsOf, itemsOf, textOf } from "../../managed/read-fields.ts";
import { describeKind, isForbiddenGroup, type KindName } from "./admissible-kind.ts";

/** A RotationClass, as far as rules go. What cannot be read allows nothing. */
export interface RotationClassRules {
  readonly name: string;
  readonly kinds: readonly { readonly group: string; readonly kind: string; readonly version: string | undefined }[];
  readonly serviceAccounts: readonly string[];
  /** Absent: everywhere. */
  readonly namespaces: readonly string[] | undefined;
  readonly minFrequencyMs: number;
}

/** What a RotatingResource is about to do under its class. */
export interface ClassUse {
  readonly namespace: string;
  readonly kind: KindName;
  readonly serviceAccount: string;
  readonly frequencyMs: number;
}

/** The class does not allow it, or does not any more; the message says which rule. It is looked at again when the class changes. */
export class RotationNotAllowed extends KeyturnError {
  constructor(message: string) {
    super("RotationNotAllowed", message, { retry: never });
  }
}

export function readClass({ metadata, spec }: KubeObject): RotationClassRules {
  const fields = fieldsOf(spec);
  return {
    name: metadata.name,
    kinds: itemsOf(fields.kinds).flatMap((entry) => {
      const [group, kind] = [textOf(entry.group), textOf(entry.kind)];
      return group === undefined || kind === undefined ? [] : [{ group, kind, version: textOf(entry.version) }];
    }),
    serviceAccounts: textsOf(fields.serviceAccounts),
    // A list that is damaged is one without names: it allows nothing.
    namespaces: fields.namespaces === undefined ? undefined : textsOf(fields.namespaces),
    minFrequencyMs: minFrequency(fields.minFrequency),
  };
}

const textsOf = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];

function minFrequency(value: unknown): number {
  if (value === undefined) return 0;
  try {
    return parseDuration(String(value));
  } catch {
    return Infinity;
  }
}

/** Throws `RotationNotAllowed` for the first rule that is broken. */
export function ensureAllowed(rules: RotationClassRules, use: ClassUse): void {
  const refuse = (message: string): RotationNotAllowed =>
    new RotationNotAllowed(`RotationClass ${rules.name}: ${message}`);
  const { kind, serviceAccount, namespace, frequencyMs } = use;
  const isListed = rules.kinds.some(
    (one) => one.group === kind.group && one.kind === kind.kind && (one.version ?? kind.version) === kind.version,
  );
  if (!isListed) throw refuse(`${describeKind(kind)} (${kind.version}) is not among its kinds`);
  if (isForbiddenGroup(kind.group)) throw refuse(`${describeKind(kind)} is never allowed, whatever a class lists`);
  if (!rules.serviceAccounts.includes(serviceAccount)) {
    throw refuse(`the ServiceAccount ${serviceAccount} is not among its serviceAccounts`);
  }
  if (rules.namespaces?.includes(namespace) === false)
    throw refuse(`the namespace ${namespace} is not among its namespaces`);
  const { minFrequencyMs } = rules;
  if (frequencyMs >= minFrequencyMs) return;
  throw refuse(
    Number.isFinite(minFrequencyMs)
      ? `spec.rotation is more frequent than its minFrequency of ${formatDuration(minFrequencyMs)}`
      : "its minFrequency is no duration, so nothing may be rotated",
  );
}
