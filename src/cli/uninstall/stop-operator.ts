import { Conflict } from "../../kube/errors.ts";
import { ifFound } from "../../kube/if-found.ts";
import { type KubeObject, keyOf } from "../../kube/objects.ts";
import { deploymentType, podType } from "../../restart/workload-kinds.ts";
import { type Lease, leaseType, recordOf } from "../../runtime/lease-record.ts";
import { FIELD_MANAGER } from "../field-manager.ts";
import { withoutReplicasOf } from "./disown.ts";
import { refOf, titleOf } from "./inventory.ts";
import { lookAtOperators } from "./look-around.ts";
import { wantedReplicas } from "./objections.ts";
import { goOn, NotTakenAway, seeing, toEach, until, type Work } from "./work.ts";

/** Where a Lease does not say for how long it is. */
const USUAL_LEASE_MS = 15_000;

/** A state of a Lease in which nobody was heard of for as long as it lasts. */
export type FreeLeases = ReadonlySet<string>;

/**
 * Stops the operator of this installation, and waits until it has ended and nobody leads: whoever works puts finalizers back
 * as fast as they are taken off. Must not: take for ended what only could not be seen.
 */
export async function stopOperator(work: Work): Promise<FreeLeases> {
  let pods: readonly KubeObject[] = [];
  let leases: readonly Lease[] = [];
  await until(
    work,
    async () => {
      const seen = await seeing((unseen) => lookAtOperators(work, unseen));
      ({ pods, leases } = seen);
      const running = runningIn(seen.operators, work);
      await toEach(work, running, async (operator) => disown(work, await scaleToNothing(work, operator)));
      // One that a former call has left at that.
      const owned = ownIn(seen.operators, work).filter((operator) => releasedFields(operator) !== undefined);
      await toEach(work, owned, (operator) => disown(work, operator));
      return running.length === 0 && owned.length === 0 && pods.length === 0;
    },
    () => `pods of the operator are still there: ${pods.map(({ metadata }) => keyOf(metadata)).join(", ")}`,
  );
  const free: string[] = [];
  for (const lease of leases) free.push(await untilFree(work, lease));
  return new Set(free);
}

/** Throws where somebody has begun to work since the operator was stopped. */
export async function ensureStopped(work: Work, free: FreeLeases): Promise<void> {
  goOn(work);
  const { operators, leases, pods } = await seeing((unseen) => lookAtOperators(work, unseen));
  const [started] = [
    ...runningIn(operators, work).map((object) => ({ type: deploymentType, object })),
    ...pods.map((object) => ({ type: podType, object })),
  ];
  if (started) {
    throw new NotTakenAway(
      `somebody has started the operator again (${titleOf(started)}), and it puts its finalizers back: find out who does that, and call again`,
    );
  }
  for (const lease of leases) if (!free.has(stateOf(lease))) await untilFree(work, lease);
}

const ownIn = (operators: readonly KubeObject[], { namespace }: Work): readonly KubeObject[] =>
  operators.filter((operator) => operator.metadata.namespace === namespace);

const runningIn = (operators: readonly KubeObject[], work: Work): readonly KubeObject[] =>
  ownIn(operators, work).filter((operator) => wantedReplicas(operator) > 0);

async function scaleToNothing({ kube, tell }: Work, operator: KubeObject): Promise<KubeObject> {
  const { uid, resourceVersion } = operator.metadata;
  const body = { metadata: { uid, resourceVersion }, spec: { replicas: 0 } };
  const how = { fieldManager: FIELD_MANAGER };
  const stopped = await kube.patch(deploymentType, refOf(operator), { type: "merge", body }, how);
  tell(`Deployment ${keyOf(operator.metadata)}: is being stopped`);
  return stopped;
}

const releasedFields = ({ metadata }: KubeObject): readonly unknown[] | undefined =>
  withoutReplicasOf(FIELD_MANAGER, metadata.managedFields);

/** Its controller is writing as well, now that pods go. */
const DISOWN_TRIES = 10;

/** Where it ends here, the manifests are applied again as ever, and start it: the number is nobody's. */
async function disown({ kube }: Work, operator: KubeObject): Promise<void> {
  let seen: KubeObject | undefined = operator;
  for (let tries = 0; seen && tries < DISOWN_TRIES; tries++) {
    const managedFields = releasedFields(seen);
    if (managedFields === undefined) return;
    const { uid, resourceVersion } = seen.metadata;
    const body = { metadata: { uid, resourceVersion, managedFields } };
    try {
      await kube.patch(deploymentType, refOf(seen), { type: "merge", body }, { fieldManager: FIELD_MANAGER });
      return;
    } catch (error) {
      if (!(error instanceof Conflict)) throw error;
      const { namespace = "", name } = operator.metadata;
      // Who does this for a release may list them, and get none.
      [seen] = (await kube.list(deploymentType, { namespace, fieldSelector: `metadata.name=${name}` })).items;
    }
  }
}

const stateOf = (lease: Lease): string => {
  const { holder, spec } = recordOf(lease);
  return `${keyOf(lease.metadata)} ${holder} ${spec.renewTime}`;
};

/** One renewal may be the last sign of life of somebody who was just killed. */
const MOST_RENEWALS = 2;

/**
 * A Lease is free when its holder has let go, or is not heard of for as long as it lasts: by our own watch, since clocks may
 * be apart. One that goes on being renewed is held by somebody whom nothing here can stop.
 */
async function untilFree(work: Work, lease: Lease): Promise<string> {
  const { kube, clock } = work;
  let seen = lease;
  let sinceTick = clock.monotonic();
  let renewals = 0;
  let isTold = false;
  await until(
    work,
    async () => {
      const found = await ifFound(kube.get<Lease>(leaseType, refOf(lease)));
      if (!found || recordOf(found).holder === "") return true;
      if (stateOf(found) !== stateOf(seen)) {
        [seen, sinceTick] = [found, clock.monotonic()];
        if (++renewals > MOST_RENEWALS) throw new NotTakenAway(stillLed(found));
      }
      if (!isTold) work.tell(`Lease ${keyOf(lease.metadata)}: waiting until ${recordOf(found).holder} has let go`);
      isTold = true;
      return clock.monotonic() - sinceTick >= (recordOf(found).leaseDurationMs ?? USUAL_LEASE_MS);
    },
    () => stillLed(seen),
  );
  return stateOf(seen);
}

const stillLed = (lease: Lease): string =>
  `${recordOf(lease).holder} goes on leading (Lease ${keyOf(lease.metadata)}), and is no Deployment of this installation: stop it, and call again`;
