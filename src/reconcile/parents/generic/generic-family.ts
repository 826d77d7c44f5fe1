import type { Clock } from "../../../base/clock.ts";
import { parseInstant } from "../../../base/instant.ts";
import { Forbidden } from "../../../kube/errors.ts";
import type { KubeObject } from "../../../kube/objects.ts";
import type { Kube } from "../../../kube/port.ts";
import { ProviderError } from "../../../providers/provider-error.ts";
import type { Fingerprinter } from "../../../publish/fingerprint.ts";
import { SecretPublisher, secretType } from "../../../publish/secret-publisher.ts";
import { isKeyName, mentionsKeyName } from "../../managed/key-name.ts";
import type { ManagedKind } from "../../managed/managed-kind.ts";
import { fieldsOf } from "../../managed/read-fields.ts";
import { ReferenceProblem, SpecProblem } from "../../managed/spec-problem.ts";
import type { ChildPlan } from "../child-plan.ts";
import type { ParentAccess, ParentFamily } from "../parent-family.ts";
import { type ActingOptions, actingKube } from "./acting-kube.ts";
import { secretNameOf } from "./child-secret.ts";
import { ChildTypes } from "./child-types.ts";
import { genericPlan } from "./generic-plan.ts";
import { IllnessLog } from "./illness-log.ts";
import { type RotatingSpec, readRotatingSpec } from "./rotating-spec.ts";
import { ensureAllowed, type RotationClassRules, RotationNotAllowed } from "./rotation-class-rules.ts";

export interface GenericFamilyOptions {
  readonly kind: ManagedKind;
  /** With the operator's own rights: for discovery, and to act as somebody else. */
  readonly kube: Kube;
  readonly clock: Clock;
  readonly fingerprinter: Fingerprinter;
  /** The class of this name as it is known now. */
  readonly classOf: (name: string) => RotationClassRules | undefined;
}

export const ROTATING_RESOURCE = "rotating-resource";

/**
 * RotatingResources: children of any kind, made with the rights of a ServiceAccount that the resource names, within what
 * its RotationClass allows. Must not: touch a child or a Secret with the operator's own rights.
 */
export function createGenericFamily(options: GenericFamilyOptions): ParentFamily {
  const { kind, clock, kube } = options;
  const types = new ChildTypes(kube, clock);
  const illness = new IllnessLog();
  return {
    name: ROTATING_RESOURCE,
    kind,
    planOf: async (object, signal) => {
      const spec = readRotatingSpec(object);
      guardOf(object, spec, options)();
      return withIllness(
        genericPlan(spec, await types.typeOf(spec.kind, signal), surroundings(clock, illness)),
        illness,
      );
    },
    accessOf: (object) => accessOf(object, options),
  };
}

const surroundings = (clock: Clock, illness: IllnessLog) => ({
  now: clock.now(),
  illSince: (uid: string) => illness.since(uid, clock.now()),
});

/** A child that is well again begins anew when it falls ill again. */
const withIllness = (plan: ChildPlan, illness: IllnessLog): ChildPlan => ({
  ...plan,
  healthOf: (child) => {
    const health = plan.healthOf(child);
    if (health.kind === "well") illness.recovered(child.metadata.uid ?? "");
    return health;
  },
});

function accessOf(object: KubeObject, options: GenericFamilyOptions): ParentAccess {
  const spec = readRotatingSpec(object);
  const kube = actingKube({
    kube: options.kube,
    account: spec.account,
    isWithinBounds: boundsOf(spec, options.kind.readSpec(object).baseName),
    ensureAllowed: guardOf(object, spec, options),
  });
  return { kube, publisher: new SecretPublisher(kube, options.fingerprinter) };
}

/**
 * Children are those whose names are ours to give: what others have made is not taken over, copied or deleted, whatever
 * marks somebody has put on it. Of Secrets only the stable one and those of children are read and written; one that was
 * the stable one before is found by its marks, and deleted.
 */
const boundsOf =
  ({ kind, stableSecret }: RotatingSpec, baseName: string): ActingOptions["isWithinBounds"] =>
  ({ verb, type, name }) => {
    if (type.group === kind.group && type.kind === kind.kind) return name === undefined || isKeyName(baseName, name);
    if (type.group !== secretType.group || type.kind !== secretType.kind) return false;
    const isOwn = name === undefined || name === stableSecret || mentionsKeyName(baseName, name);
    return isOwn || verb === "list" || verb === "delete";
  };

/** Asks whether the class allows it now. What is asked throws `RotationNotAllowed`, and names what it leaves alone. */
function guardOf(object: KubeObject, spec: RotatingSpec, { kind, classOf }: GenericFamilyOptions): () => void {
  const { frequencyMs } = kind.readSpec(object).policy;
  const { namespace, name: serviceAccount } = spec.account;
  const children = childrenOf(kind, object);
  const isLeaving = object.metadata.deletionTimestamp !== undefined;
  const fate = isLeaving
    ? `these children go with it, and those of their Secrets that they own: ${children.map((name) => `${name} (Secret ${secretNameOf(spec.childSecret, name)})`).join(", ")}`
    : `these children are left as they are: ${children.join(", ")}`;
  return () => {
    const rules = classOf(spec.rotationClass);
    try {
      if (!rules)
        throw new RotationNotAllowed(`spec.rotationClassName: there is no RotationClass ${spec.rotationClass}`);
      ensureAllowed(rules, { namespace, kind: spec.kind, serviceAccount, frequencyMs });
    } catch (error) {
      if (!(error instanceof RotationNotAllowed) || children.length === 0) throw error;
      throw new RotationNotAllowed(`${error.message}; ${fate}`);
    }
  };
}

function childrenOf(kind: ManagedKind, object: KubeObject): readonly string[] {
  const { active, pending, retired } = kind.readState(object);
  const names = [active, pending, ...retired].flatMap((key) => (key && key.name !== "" ? [key.name] : []));
  return [...new Set(names)].sort();
}

/** How long a resource whose children are to stay waits for the right to let go of them. */
const ORPHAN_PATIENCE_MS = 600_000;

/**
 * Whether a RotatingResource may go although its children are still there: nobody may, or can, remove them in its name any
 * more, and they go with it, because they name it as their owner. Where they are to stay, that is waited for a while.
 */
export function leavesOn(error: unknown, { metadata, spec }: KubeObject, now: number): boolean {
  const isHelpless =
    error instanceof RotationNotAllowed ||
    error instanceof SpecProblem ||
    error instanceof ReferenceProblem ||
    error instanceof Forbidden ||
    (error instanceof ProviderError && error.code === "ProviderForbidden");
  const leavingSince = parseInstant(metadata.deletionTimestamp) ?? now;
  const isPatient = fieldsOf(spec).deletionPolicy === "Orphan" && now - leavingSince < ORPHAN_PATIENCE_MS;
  return isHelpless && !isPatient;
}
