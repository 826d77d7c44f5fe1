import { setTimeout as sleep } from "node:timers/promises";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { cloudFoundry } from "../families/cloud-foundry.ts";
import type { Family } from "../families/family.ts";
import { rotatingKeys } from "../families/rotating-keys.ts";
import { rotatingResources } from "../families/rotating-resources.ts";
import { eventually } from "../support/eventually.ts";
import { Gateway } from "../support/gateway.ts";
import { PATIENCE_MS, ROTATIONS_ONLY } from "./bench-flags.ts";
import { type DueAtOnceResult, measureDueAtOnce } from "./due-at-once.ts";
import { type Figure, type Findings, figure } from "./figures.ts";
import { JobWatch } from "./job-watch.ts";
import {
  BENCH,
  changeRotation,
  createBindings,
  indexOf,
  inMs,
  listAll,
  listBindings,
  NOT_YET,
} from "./many-bindings.ts";
import { LatenessWatch } from "./punctuality.ts";
import { onRealServer } from "./real-server.ts";
import { apiServerMeter, between, isWrite, sandboxMeter, sumOf } from "./request-counts.ts";
import { kubeFigures } from "./request-figures.ts";
import type { RotationWorld } from "./rotation-world.ts";

/**
 * 200 service keys of Cloud Foundry, rotated by the resource itself or by a parent. What a rotation asks of both servers,
 * counted there, in how many objects it is kept, and how long it takes; for the former also what doing nothing asks, how
 * soon a finished job is noticed, and whether keys that are due at once wait for one another's jobs.
 */
const KEYS = 200;
const INSTANCE_ID = "00000000-0000-4000-8000-000000000001";
const SLOW_MS = 5_000;
/** Brokers that take half a second more each, up to what jobs are watched closely for. */
const BROKERS = Array.from({ length: 19 }, (_, index) => ({ id: `broker-${index}`, workMs: 500 * (index + 1) }));
const DRIFT_CHECK_MS = 30_000;
const QUIET_INTERVALS = 4;
const SLACK_MS = 1_000;

/** Option 1 of the document. */
export async function measureServiceKeys(): Promise<Findings> {
  const workMs = new Map(BROKERS.map(({ id, workMs: takes }) => [id, takes]));
  const jobs = new JobWatch((instanceId) => workMs.get(instanceId) ?? 0);
  let gateway: Gateway | undefined;
  const wayOutside = async (url: string): Promise<string> => {
    gateway = await Gateway.before(url);
    gateway.carryBy(jobs.carry);
    return gateway.url;
  };
  try {
    return await onRealServer({ family: cloudFoundry, wayOutside }, (world) => measure(world, jobs));
  } finally {
    await gateway?.close();
  }
}

/** Option 2. */
export const measureRotatingKeys = (): Promise<Findings> => measureParents(rotatingKeys);

/** What makes children of any kind: here of one whose controller the bench plays. */
export const measureRotatingResources = (): Promise<Findings> => measureParents(rotatingResources);

const measureParents = (family: Family): Promise<Findings> =>
  onRealServer({ family }, async (world) => {
    const { cost, figures } = await measureRotations(world, {});
    return { figures, details: { requests: { kube: cost.kube, cloudFoundry: cost.outside } } };
  });

/** What a rotation of a direct key may cost; that of a parent is only counted. */
interface Goals {
  readonly mostRequests?: number;
  readonly mostWrites?: number;
}

interface Rotations {
  readonly cost: DueAtOnceResult;
  readonly figures: readonly Figure[];
}

/** What all of them cost, and how long one takes. */
async function measureRotations(world: RotationWorld, goals: Goals): Promise<Rotations> {
  // A token that ends while something is counted would be a log-in that no rotation has asked for.
  await world.control("PATCH", "switches", { tokenLifetimeMs: 86_400_000 });
  await world.startOperator(ROTATIONS_ONLY);
  await createBindings(world, { from: 0, count: KEYS, rotationOf: () => NOT_YET });
  await atRest(world, KEYS);
  console.log("making all of them due at once …");
  const cost = await measureDueAtOnce(world, {
    count: KEYS,
    everyMinutes: 2,
    overlapMs: 30_000,
    patienceMs: PATIENCE_MS,
    kubeMeter: apiServerMeter(world.kube),
  });
  const atRestObjects = await objectsOf(world);
  const quick = await measureOne(world);
  const figures = [
    ...costFigures(cost, goals),
    figure("1 key, a broker that answers at once: seconds from due to in use", quick),
    figure("objects for one resource, at rest", atRestObjects),
    figure("objects for one resource, while a retired key lives", await objectsOf(world)),
  ];
  return { cost, figures };
}

/** The resource that is measured alone, its children, and the Secrets of all of them. */
async function objectsOf({ kube, family }: RotationWorld): Promise<number> {
  const types = [family.type, ...(family.children ? [family.children.type] : [])];
  const lists = [...types.map((type) => listAll(kube, type)), listAll(kube, secretType, BENCH)];
  const objects = (await Promise.all(lists)).flat();
  return objects.filter(({ metadata }) => /^binding-0(-[a-z0-9]{8})?$/.test(metadata.name)).length;
}

async function measure(world: RotationWorld, jobs: JobWatch): Promise<Findings> {
  const { cost, figures } = await measureRotations(world, { mostRequests: 7, mostWrites: 8 });
  console.log(`… and with a broker that takes ${SLOW_MS / 1000} s …`);
  await world.control("PUT", `instances/${INSTANCE_ID}`, { broker: "asynchronous", brokerWorkMs: SLOW_MS });
  const slow = await measureOne(world);
  const together = await measureDone(world, () => true);
  const noticed = await measureNotices(world, jobs);
  console.log("… and nothing at all …");
  const idle = await measureIdle(world);
  const further = [
    figure(`1 key, a broker that takes ${SLOW_MS / 1000} s: seconds from due to in use`, slow),
    figure(`${KEYS} keys at once, the same broker: seconds until the last is in use`, together),
    figure(`${KEYS} keys at once ÷ 1 key`, together / slow, "<= 3"),
    figure(`${noticed.length} jobs of 0.5 to 9.5 s: noticed after, median: ms`, median(noticed)),
    figure(`${noticed.length} jobs of 0.5 to 9.5 s: noticed after, largest: ms`, Math.max(...noticed), "<= 1000"),
    ...idle,
  ];
  return { figures: [...figures, ...further], details: { requests: { kube: cost.kube, cloudFoundry: cost.outside } } };
}

async function atRest(world: RotationWorld, count: number): Promise<void> {
  await world.untilHealthy(count, PATIENCE_MS);
  await world.untilIdle(PATIENCE_MS);
}

function costFigures(cost: DueAtOnceResult, goals: Goals): readonly Figure[] {
  const { outside } = cost;
  const isLogIn = (key: string): boolean => key.includes("/oauth/") || key === "GET /";
  const logIns = sumOf(outside, isLogIn);
  const requests = (sumOf(outside, () => true) - logIns) / KEYS;
  const { mostRequests } = goals;
  const most = mostRequests === undefined ? undefined : `<= ${mostRequests}`;
  return [
    figure("per rotation and deletion: Cloud Foundry requests", requests, most),
    figure("per rotation and deletion: log-ins", logIns / KEYS, "<= 0"),
    ...kubeFigures({ ...cost, count: KEYS }, goals),
  ];
}

/** Seconds from due to in use, of a single key. */
const measureOne = (world: RotationWorld): Promise<number> => measureDone(world, (index) => index === 0);

/** Makes these bindings due at one instant; seconds from then until the last of them has its next key in use. */
async function measureDone(world: RotationWorld, isMeant: (index: number) => boolean): Promise<number> {
  const { family } = world;
  const watch = new LatenessWatch(world);
  try {
    await watch.synced();
    const meant = (await listBindings(world)).filter((binding) => isMeant(indexOf(binding)));
    const dueAt = Date.now() + 5_000 + 20 * meant.length;
    await changeRotation(world, meant, (binding) => {
      const frequencyMs = dueAt - family.readStatus(binding).createdAt;
      return { frequency: inMs(frequencyMs), ttl: inMs(frequencyMs + 86_400_000) };
    });
    const isDone = async () => watch.doneMs.size === meant.length || undefined;
    await eventually("all to be rotated", isDone, PATIENCE_MS);
    await changeRotation(world, meant, () => NOT_YET);
    await world.untilIdle(PATIENCE_MS);
    return Math.max(...watch.doneMs.values()) / 1000;
  } finally {
    await watch.stop();
  }
}

/** Further keys, one for each of the brokers: how long after their jobs had finished that was noticed, in ms. */
async function measureNotices(world: RotationWorld, jobs: JobWatch): Promise<readonly number[]> {
  for (const { id, workMs } of BROKERS) {
    await world.control("PUT", `instances/${id}`, { broker: "asynchronous", brokerWorkMs: workMs });
  }
  jobs.noticedMs.length = 0;
  await createBindings(world, {
    from: KEYS,
    count: BROKERS.length,
    instanceOf: (index) => BROKERS[index - KEYS]?.id,
  });
  await atRest(world, KEYS + BROKERS.length);
  return [...jobs.noticedMs];
}

/** What an operator asks for that has nothing to do but to look, for each resource and drift interval. */
async function measureIdle(world: RotationWorld): Promise<readonly Figure[]> {
  await world.startOperator(["--min-frequency", "1s", "--drift-check", `${DRIFT_CHECK_MS / 1000}s`]);
  await atRest(world, KEYS + BROKERS.length);
  await sleep(DRIFT_CHECK_MS);
  const meters = [apiServerMeter(world.kube), sandboxMeter(world)] as const;
  const [kubeBefore, outsideBefore] = await Promise.all(meters.map((read) => read()));
  // A little less, so that there is no room for one look more.
  await sleep(QUIET_INTERVALS * DRIFT_CHECK_MS - SLACK_MS);
  const [kubeAfter, outsideAfter] = await Promise.all(meters.map((read) => read()));
  const outside = between(outsideBefore ?? {}, outsideAfter ?? {});
  const kube = between(kubeBefore ?? {}, kubeAfter ?? {});
  const looks = (KEYS + BROKERS.length) * QUIET_INTERVALS;
  return [
    figure("idle, per resource and drift interval: Cloud Foundry requests", sumOf(outside, () => true) / looks, "<= 1"),
    figure("idle: Kubernetes writes", sumOf(kube, isWrite), "<= 0"),
  ];
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
