import { bind9Instance } from "../../../api/bind/bind9-instance.ts";
import { BINDY_GROUP, CREATED_AT } from "../../../api/bind/names.ts";
import { rndcKey as rndcKeyType } from "../../../api/keyturn/rndc-key.ts";
import { ownName } from "../../../base/own-names.ts";
import { fieldAt } from "../../../bind/fields.ts";
import { apiVersionOf, type KubeObject, keyOf, type ResourceType } from "../../../kube/objects.ts";
import { ownerReference } from "../../../kube/ownership.ts";
import { secretType } from "../../../publish/secret-publisher.ts";
import type { ManagedKind } from "../../../reconcile/managed/managed-kind.ts";
import { ANNOTATIONS } from "../../../reconcile/managed/managed-kind.ts";
import { deploymentType } from "../../../restart/workload-kinds.ts";
import type { Differences } from "../differences.ts";
import { IMPORTING, NOTHING_TO_DO, type Plan, type Refusal, refusal, type Step, seenOf } from "../plan.ts";

/** On the Deployment, for as long as the instance is being made anew: what it is to be. */
export const NOTE = ownName("import-note");
/** When Bindy made the key. */
const BINDY_CREATED_AT = `${BINDY_GROUP}/rndc-created-at`;

export interface BindyFacts {
  readonly kind: ManagedKind;
  readonly name: string;
  /** As it is; undefined between the one and the other. */
  readonly instance: KubeObject | undefined;
  /** Keyturn has made the pods of the instance itself. */
  readonly isRunByUs: boolean;
  readonly deployment: KubeObject | undefined;
  /** What it is to be. */
  readonly wanted: KubeObject | undefined;
  /** Without its data. */
  readonly secret: KubeObject | undefined;
  /** The Secret says that it holds the key of the RndcKey. */
  readonly isMarked: boolean;
  readonly differences: Differences;
  readonly rndcKey: KubeObject | undefined;
  /** What the RndcKey is to be. */
  readonly wantedKey: KubeObject | undefined;
  /** What the instance owns beside the Secret. */
  readonly owned: readonly OwnedObject[];
  /** What cannot be followed. */
  readonly problems: readonly Refusal[];
}

export interface OwnedObject {
  readonly type: ResourceType;
  readonly object: KubeObject;
}

const isNew = (instance: KubeObject): boolean => fieldAt(instance, ["spec", "deploymentRef"]) !== undefined;
const noteOn = (deployment: KubeObject | undefined): string | undefined => deployment?.metadata.annotations?.[NOTE];

/**
 * Pure. First the key is given to an RndcKey, then everything that the instance owns is set free, and only then is the
 * instance made anew: pods never notice. What it is to be stands on the Deployment meanwhile.
 */
export function planBindy(facts: BindyFacts, { acceptChanges }: { readonly acceptChanges: boolean }): Plan {
  const { instance, deployment } = facts;
  const isBegun = noteOn(deployment) !== undefined;
  if (instance && (isNew(instance) || facts.isRunByUs) && !isBegun) {
    return { ...NOTHING_TO_DO, hints: ["Keyturn looks after it already"] };
  }
  return {
    refusals: refusalsOf(facts, { acceptChanges, isBegun }),
    steps: [
      ...noteStep(facts),
      ...keyStep(facts),
      ...ownerStep(facts),
      ...marksStep(facts),
      ...facts.owned.map(freeStep),
      ...anewSteps(facts),
      ...beginStep(facts),
      ...endStep(facts),
    ],
    hints: hintsOf(facts),
  };
}

function refusalsOf(
  { instance, deployment, secret, name, differences, problems }: BindyFacts,
  { acceptChanges, isBegun }: { readonly acceptChanges: boolean; readonly isBegun: boolean },
): readonly Refusal[] {
  const isLeaving = instance?.metadata.deletionTimestamp !== undefined;
  const held = instance?.metadata.finalizers?.join(", ") ?? "";
  return [
    ...problems,
    ...(deployment ? [] : [refusal(`there is no Deployment ${name}, whose pods are to stay`, "leave it to Bindy")]),
    ...(secret ? [] : [refusal("the Secret of its key is missing", "have Bindy make it first")]),
    ...(isLeaving ? [refusal(`it is being deleted, and held by ${held}`, "let whoever holds it let it go")] : []),
    ...(!acceptChanges && !isBegun && differences.changed.length > 0
      ? [
          refusal(
            `in Secret ${secret?.metadata.name} the same key would be written with other white space: ${differences.changed.join(", ")}`,
            "have its users look, and give --accept-changes",
          ),
        ]
      : []),
  ];
}

const hintsOf = ({ differences, name, secret }: BindyFacts): readonly string[] => [
  `its key is rotated by restarts of Deployment ${name} (strategy Restart); nothing restarts before`,
  ...(differences.changed.length > 0
    ? [`the operator writes ${differences.changed.join(", ")} of Secret ${secret?.metadata.name} anew: the same key`]
    : []),
];

function noteStep({ deployment, wanted }: BindyFacts): readonly Step[] {
  if (!deployment || noteOn(deployment) !== undefined || !wanted) return [];
  const body = { metadata: { annotations: { [NOTE]: JSON.stringify(wanted) } } };
  return [
    {
      does: `note on Deployment ${deployment.metadata.name} what the instance is to be`,
      why: "so that it can be made anew whatever happens in between; its pods do not change",
      action: { kind: "patch", type: deploymentType, seen: seenOf(deployment), body },
    },
  ];
}

function keyStep({ rndcKey, wantedKey }: BindyFacts): readonly Step[] {
  if (rndcKey || !wantedKey) return [];
  return [
    {
      does: `make RndcKey ${wantedKey.metadata.name}, paused`,
      why: "it is to have the key that is there; while it is paused nothing is done about it",
      action: { kind: "create", type: rndcKeyType, object: wantedKey },
    },
  ];
}

function ownerStep({ rndcKey, secret, instance }: BindyFacts): readonly Step[] {
  if (!secret) return [];
  const { ownerReferences = [], annotations = {}, name } = secret.metadata;
  if (rndcKey && ownerReferences.some(({ uid }) => uid === rndcKey.metadata.uid)) return [];
  const words = {
    does: `give Secret ${name} to its RndcKey`,
    why: "with the instance it would be deleted; its data stays as it is",
  };
  if (!rndcKey) return [words];
  const owner = {
    apiVersion: apiVersionOf(rndcKeyType),
    kind: rndcKeyType.kind,
    name: rndcKey.metadata.name,
    uid: rndcKey.metadata.uid ?? "",
  };
  const others = ownerReferences.filter(
    ({ uid, kind }) => uid !== instance?.metadata.uid && kind !== bind9Instance.kind,
  );
  const createdAt = annotations[CREATED_AT] ?? annotations[BINDY_CREATED_AT];
  const dated = createdAt !== undefined && { annotations: { [CREATED_AT]: createdAt } };
  const body = { metadata: { ownerReferences: [...others, owner], ...dated } };
  return [{ ...words, action: { kind: "patch", type: secretType, seen: seenOf(secret), body } }];
}

/** Any name for the key will do that no other key has. */
function marksStep({ kind, rndcKey, secret, isMarked }: BindyFacts): readonly Step[] {
  if (!secret || isMarked) return [];
  const { namespace = "", name, uid = "" } = secret.metadata;
  const words = {
    does: `write on Secret ${name} that it holds the first key of its RndcKey`,
    why: "so the operator takes that key for its own, and makes none",
  };
  if (!rndcKey) return [words];
  const publication = { kind, address: { namespace, name }, owner: rndcKey, keyId: uid, sequence: 1, layout: "fields" };
  return [{ ...words, action: { kind: "publish", publication } }];
}

const freeStep = ({ type, object }: OwnedObject): Step => ({
  does: `set ${type.kind} ${object.metadata.name} free`,
  why: "with the instance it would be deleted, and pods with it",
  action: {
    kind: "patch",
    type,
    seen: seenOf(object),
    body: {
      metadata: {
        ownerReferences: (object.metadata.ownerReferences ?? []).filter(({ kind }) => kind !== bind9Instance.kind),
      },
    },
  },
});

function anewSteps({ instance, wanted, name }: BindyFacts): readonly Step[] {
  if (instance && isNew(instance)) return [];
  const make: Step = {
    does: `make Bind9Instance ${name} anew, with the Deployment that is there`,
    why: "spec.deploymentRef can be said only then; no pod is replaced",
    ...(wanted && { action: { kind: "create", type: bind9Instance, object: wanted } as const }),
  };
  if (!instance) return [make];
  const { finalizers = [] } = instance.metadata;
  const others = finalizers.filter((finalizer) => !finalizer.startsWith(`${BINDY_GROUP}/`));
  const release: Step = {
    does: `take Bindy's finalizer off Bind9Instance ${name}`,
    why: "Bindy would delete the Deployment for it",
    action: { kind: "patch", type: bind9Instance, seen: seenOf(instance), body: { metadata: { finalizers: others } } },
  };
  const remove: Step = {
    does: `delete Bind9Instance ${name}`,
    why: "the object alone: it owns nothing any more",
    action: { kind: "delete", type: bind9Instance, seen: seenOf(instance) },
  };
  return [...(others.length < finalizers.length ? [release] : []), remove, make];
}

function beginStep({ instance, rndcKey, wantedKey }: BindyFacts): readonly Step[] {
  if (rndcKey && rndcKey.metadata.annotations?.[IMPORTING] === undefined) return [];
  const words = {
    does: `give RndcKey ${(rndcKey ?? wantedKey)?.metadata.name} to the instance, and let the operator begin`,
    why: "it finds its first key in the Secret",
  };
  if (!instance || !isNew(instance) || !rndcKey) return [words];
  const body = {
    metadata: {
      ownerReferences: [ownerReference(instance)],
      annotations: { [ANNOTATIONS.paused]: null, [IMPORTING]: null },
    },
  };
  return [{ ...words, action: { kind: "patch", type: rndcKeyType, seen: seenOf(rndcKey), body } }];
}

function endStep({ deployment }: BindyFacts): readonly Step[] {
  if (!deployment) return [];
  const words = { does: `take the note off Deployment ${keyOf(deployment.metadata)}`, why: "all is done" };
  if (noteOn(deployment) === undefined) return [words];
  const body = { metadata: { annotations: { [NOTE]: null } } };
  return [{ ...words, action: { kind: "patch", type: deploymentType, seen: seenOf(deployment), body } }];
}
