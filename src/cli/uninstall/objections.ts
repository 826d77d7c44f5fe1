import { describeType, type KubeObject, keyOf } from "../../kube/objects.ts";
import { recordOf } from "../../kube/record.ts";
import { ANNOTATIONS, FINALIZER } from "../../reconcile/managed/managed-kind.ts";
import { managedKinds } from "../../reconcile/managed-kinds.ts";
import { recordOf as leaseRecordOf } from "../../runtime/lease-record.ts";
import { few } from "../check/finding.ts";
import { isFresh } from "../check/judge/operator.ts";
import { installerOf, isOurs } from "../check/judge/whose.ts";
import { type Refusal, refusal } from "../import/plan.ts";
import { type Inventory, type Item, isHeld, isLeaving, objectsOf, titleOf } from "./inventory.ts";
import type { Wish } from "./wish.ts";

/** What speaks against it. While there is anything, nothing is done. Pure. */
export function objectionsTo(inventory: Inventory, wish: Wish): readonly Refusal[] {
  return [
    ...inventory.unseen.map(({ what, why }) =>
      refusal(`${what} may not be listed: ${why}`, "have somebody do it who may see everything"),
    ),
    ...whileOthersRun(inventory),
    ...whileSomebodyLeads(inventory, wish),
    ...whileNobodyLeads(inventory, wish),
    ...whileOthersDefine(inventory, wish),
    ...whileOnTheirWayOut(inventory, wish),
    ...whileDefinitionsAreNeeded(inventory, wish),
  ];
}

export const wantedReplicas = ({ spec }: KubeObject): number => Number(recordOf(spec).replicas ?? 1);

/** An operator in the namespace runs, or is just ending. */
const runsHere = ({ operators, namespace, pods }: Inventory): boolean =>
  pods.length > 0 ||
  operators.some((operator) => operator.metadata.namespace === namespace && wantedReplicas(operator) > 0);

function whileOthersRun({ operators, namespace }: Inventory): readonly Refusal[] {
  const others = operators.filter(
    (operator) => operator.metadata.namespace !== namespace && wantedReplicas(operator) > 0,
  );
  return others.map(({ metadata }) =>
    refusal(
      `another operator runs: Deployment ${keyOf(metadata)}; it would put finalizers back`,
      `name its installation with --namespace ${metadata.namespace}; or, where there are two: kubectl scale deployment ${metadata.name} -n ${metadata.namespace} --replicas 0`,
    ),
  );
}

const leadersIn = ({ leases, now }: Inventory) => leases.filter((lease) => isFresh(lease, now));

/** Nothing here could stop it. While resources are to be deleted, it is what deletes their keys. */
function whileSomebodyLeads(inventory: Inventory, { keys }: Wish): readonly Refusal[] {
  if (runsHere(inventory) || (keys === "delete" && toDelete(inventory).length > 0)) return [];
  return leadersIn(inventory).map((lease) =>
    refusal(
      `an operator runs that is no Deployment of ${inventory.namespace}: ${leaseRecordOf(lease).holder} holds the Lease ${keyOf(lease.metadata)}`,
      `stop it, and call again; of one that was killed the Lease is over after ${recordOf(lease.spec).leaseDurationSeconds} s`,
    ),
  );
}

/** Resources that go, and have keys outside. */
const toDelete = (inventory: Inventory): readonly Item[] => {
  const kinds = inventory.kinds.filter(({ definition }) => definition && isOurs(definition));
  return objectsOf({ kinds }).filter(({ object }) => object.metadata.finalizers?.includes(FINALIZER));
};

/** One that stands for no election has no Lease, and is alone. */
const worksWithoutElection = ({ operators, namespace, leases }: Inventory): boolean =>
  leases.length === 0 &&
  operators.some(({ metadata, status }) => {
    return metadata.namespace === namespace && Number(recordOf(status).availableReplicas ?? 0) > 0;
  });

function whileNobodyLeads(inventory: Inventory, { keys }: Wish): readonly Refusal[] {
  const held = keys === "delete" ? toDelete(inventory) : [];
  if (held.length === 0 || leadersIn(inventory).length > 0 || worksWithoutElection(inventory)) return [];
  return [
    refusal(
      `no operator leads, and nobody else deletes the keys of ${few(held.map(titleOf))}`,
      "start the operator; or leave the keys where they are: --keys keep",
    ),
  ];
}

/** They have keys of ours, and are not ours to delete. */
function whileOthersDefine({ kinds }: Inventory, { keys }: Wish): readonly Refusal[] {
  if (keys === "keep") return [];
  return kinds.flatMap(({ resource, definition, objects }) => {
    const held = objects.filter(({ metadata }) => metadata.finalizers?.includes(FINALIZER));
    if (!definition || isOurs(definition) || held.length === 0) return [];
    const titles = held.map((object) => titleOf({ type: resource, object }));
    return refusal(
      `${few(titles)}: the keys are ours, and the definition belongs to ${installerOf(definition)}; what is of such a kind is not deleted here`,
      "delete them yourself while the operator runs, and call again; or leave the keys where they are: --keys keep",
    );
  });
}

/** Whoever takes the finalizer off lets them go at once, and their keys stay outside for good. */
function whileOnTheirWayOut(inventory: Inventory, { keys, isAbandoning }: Wish): readonly Refusal[] {
  if (isAbandoning || keys === "delete") return [];
  const leaving = objectsOf(inventory).filter(({ object }) => isLeaving(object) && isHeld(object));
  if (leaving.length === 0) return [];
  return [
    refusal(
      `on their way out, and not gone yet: ${few(leaving.map(titleOf))}; without the operator their keys would stay outside, and nobody would know of them`,
      "wait until they are gone (keyturn explain says what they wait for), or leave their keys behind: --abandon",
    ),
  ];
}

function whileDefinitionsAreNeeded(inventory: Inventory, wish: Wish): readonly Refusal[] {
  if (wish.definitions === "keep") return [];
  const { namespace, operators } = inventory;
  const other = operators.find(({ metadata }) => metadata.namespace !== namespace);
  if (other) {
    return [
      refusal(`the installation in ${other.metadata.namespace} needs the definitions`, "leave them: --crds keep"),
    ];
  }
  const left = wish.keys === "keep" ? ourObjects(inventory) : [];
  if (left.length === 0) return [];
  return [
    refusal(
      `with the definitions would go ${few(left.map(titleOf))}, and with these their Secrets and whatever was made for them, while their keys stay outside`,
      "leave the definitions, which do nothing by themselves: --crds keep; or have everything deleted: --keys delete",
    ),
  ];
}

const ourObjects = (inventory: Inventory): readonly Item[] =>
  objectsOf({ kinds: inventory.kinds.filter(({ definition }) => definition && isOurs(definition)) });

/** What somebody should know beforehand, and nothing waits for. */
export function hintsOn(inventory: Inventory, { keys }: Wish): readonly string[] {
  const always = [
    ...inventory.hidden.map(
      ({ what }) => `${what} may not be listed: what there is of it is not told, and not taken away`,
    ),
    "annotations on workloads stay as they are: to take one off a pod template would restart its pods",
  ];
  if (keys === "keep") return always;
  const all = ourObjects(inventory);
  const paused = all.filter(({ object }) => object.metadata.annotations?.[ANNOTATIONS.paused] === "true");
  const kept = all.filter(({ type, object }) => {
    const kind = managedKinds.find((one) => describeType(one.type) === describeType(type));
    const departure = kind?.readDeparture(object);
    return departure !== undefined && (departure.deletionPolicy === "orphan" || !departure.may.delete);
  });
  return [
    ...(paused.length > 0 ? [`paused, and so will not go until somebody lets them: ${few(paused.map(titleOf))}`] : []),
    ...(kept.length > 0 ? [`their keys stay outside, since they say so themselves: ${few(kept.map(titleOf))}`] : []),
    ...always,
  ];
}
