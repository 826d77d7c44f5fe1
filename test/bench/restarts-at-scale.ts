import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import type { Kube } from "../../src/kube/port.ts";
import { STATE_ANNOTATION } from "../../src/restart/annotations.ts";
import { deploymentType } from "../../src/restart/workload-kinds.ts";
import { Gateway } from "../support/gateway.ts";
import { PATIENCE_MS } from "./bench-flags.ts";
import { isIdle } from "./bench-operator.ts";
import { type Figure, type Findings, figure, inOneLine } from "./figures.ts";
import { rate } from "./load.ts";
import { createDeployments, createNamespace, deploymentsAtRest, putSecret } from "./many-workloads.ts";
import { residentMegabytes } from "./process-memory.ts";
import { percentile } from "./punctuality.ts";
import { between, gatewayMeter, type RequestCounts, sumOf } from "./request-counts.ts";
import type { RestartWorld } from "./restart-world.ts";

export interface ScaleSizes {
  readonly workloads: number;
  readonly secrets: number;
  /** Secrets that nobody uses, changed one after the other. */
  readonly unused: number;
  /** How often the operator is started at each size of the Secrets. */
  readonly starts: number;
  /** How long it is left alone before its memory is read, and before what it asks for is. */
  readonly restMs: number;
}

const WRITERS = 16;
const NAMESPACES = 20;
const LOOK_EVERY_MS = 50;
const KIB = 1024;
const [SMALL, LARGE] = [KIB, 16 * KIB];

/**
 * Many workloads that have opted in, each of which uses one of many Secrets: what memory it takes to know them, after they
 * became known and after a start, with small Secrets and with large ones; how long a start takes until each workload was
 * compared with what it uses; and what changes of Secrets that nobody uses ask for.
 */
export async function measureScale(world: RestartWorld, sizes: ScaleSizes): Promise<Findings> {
  await populate(world.kube, sizes);
  const small = await measureWith(world, sizes, SMALL);
  const large = await measureWith(world, sizes, LARGE);
  const requests = await countForUnused(world, sizes);
  const asked = sumOf(requests, (key) => !key.startsWith("WATCH "));
  const [resident, smaller] = [percentile(large.startedMegabytes, 0.5), percentile(small.startedMegabytes, 0.5)];
  const held = `${sizes.workloads} workloads, ${sizes.secrets} Secrets of ${LARGE / KIB} KiB`;
  const figures: readonly Figure[] = [
    figure(`${held}, after they became known: RSS in MB`, large.adoptedMegabytes, "<= 130"),
    figure(`${held}, after a start: RSS in MB`, Math.max(...large.startedMegabytes), "<= 130"),
    figure(`the same with ${SMALL / KIB} KiB, after a start: RSS in MB, median`, smaller),
    figure("what larger Secrets add: MB, between medians", resident - smaller, "<= 5"),
    figure(`${held}: s until they became known`, large.adoptSeconds),
    figure(`${held}: s from a start until all were compared`, Math.max(...large.startSeconds), "<= 10"),
    figure(`${sizes.unused} Secrets that nobody uses change: requests`, asked, "<= 0"),
  ];
  return { figures, details: { small: rowsOf(small), large: rowsOf(large), requests } };
}

interface SizeResult {
  readonly adoptSeconds: number;
  readonly adoptedMegabytes: number;
  readonly startSeconds: readonly number[];
  readonly startedMegabytes: readonly number[];
}

const rowsOf = ({ startSeconds, startedMegabytes, ...adoption }: SizeResult) => ({
  ...adoption,
  startSeconds: inOneLine(startSeconds),
  startedMegabytes: inOneLine(startedMegabytes),
});

/** Nothing is known at first: what was known of other content is taken away, while nobody is there to restart anything. */
async function measureWith(world: RestartWorld, sizes: ScaleSizes, bytes: number): Promise<SizeResult> {
  await world.operator.stop();
  await putSecrets(world.kube, sizes, bytes);
  await forgetStates(world.kube);
  const adoption = await start(world, sizes);
  const [startSeconds, startedMegabytes]: [number[], number[]] = [[], []];
  for (let round = 0; round < sizes.starts; round++) {
    const { seconds, megabytes } = await start(world, sizes);
    startSeconds.push(seconds);
    startedMegabytes.push(megabytes);
  }
  const { seconds: adoptSeconds, megabytes: adoptedMegabytes } = adoption;
  const result = { adoptSeconds, adoptedMegabytes, startSeconds, startedMegabytes };
  console.log(`Secrets of ${bytes / KIB} KiB: ${JSON.stringify(result)}`);
  return result;
}

/** Until every workload was looked at and nothing is left to do; then its memory at rest. */
async function start(
  world: RestartWorld,
  { workloads, restMs }: ScaleSizes,
): Promise<{ readonly seconds: number; readonly megabytes: number }> {
  const { operator } = world;
  await operator.stop();
  const startedAt = performance.now();
  const { processId } = await world.startOperator();
  const isDone = (metrics: ReadonlyMap<string, number>): boolean => isIdle(metrics) && looksIn(metrics) >= workloads;
  await operator.untilMetrics("all to be compared", PATIENCE_MS, isDone, LOOK_EVERY_MS);
  const seconds = (performance.now() - startedAt) / 1000;
  await sleep(restMs);
  return { seconds, megabytes: residentMegabytes(processId) };
}

function looksIn(metrics: ReadonlyMap<string, number>): number {
  let looks = 0;
  for (const [name, count] of metrics) {
    if (/^keyturn_reconciles_total\{.*result="(?:settled|recheck)"/.test(name)) looks += count;
  }
  return looks;
}

/** What changes of Secrets that nobody uses ask for. Everything that the operator does passes a gateway, nothing else. */
export async function countForUnused(
  world: RestartWorld,
  { unused, restMs }: Pick<ScaleSizes, "unused" | "restMs">,
): Promise<RequestCounts> {
  const { kube, operator } = world;
  await createNamespaces(kube);
  const changeAll = async (word: string): Promise<void> => {
    for (let index = 0; index < unused; index++)
      await putSecret(kube, { namespace: namespaceOf(index), name: `unused-${index}`, word, bytes: LARGE });
  };
  await changeAll("first");
  const gateway = await Gateway.start(world.kubeconfig);
  try {
    await world.startOperator(gateway.kubeconfig);
    await operator.untilIdle(PATIENCE_MS);
    await sleep(restMs);
    const meter = gatewayMeter(gateway);
    const before = await meter();
    await changeAll("second");
    await sleep(restMs);
    return between(before, await meter());
  } finally {
    await operator.stop();
    await gateway.close();
  }
}

const namespaceOf = (secret: number): string => `team-${secret % NAMESPACES}`;

async function createNamespaces(kube: Kube): Promise<void> {
  for (let index = 0; index < NAMESPACES; index++) await createNamespace(kube, namespaceOf(index));
}

async function populate(kube: Kube, sizes: ScaleSizes): Promise<void> {
  await createNamespaces(kube);
  await putSecrets(kube, sizes, SMALL);
  await createDeployments(kube, sizes.workloads, (index) => {
    const secret = index % sizes.secrets;
    return { namespace: namespaceOf(secret), name: `app-${index}`, secret: `secret-${secret}`, isOptedIn: true };
  });
  await deploymentsAtRest(kube);
  console.log(`made ${sizes.workloads} Deployments and ${sizes.secrets} Secrets`);
}

async function putSecrets(kube: Kube, { secrets }: ScaleSizes, bytes: number): Promise<void> {
  await rate(secrets, WRITERS, (index) =>
    putSecret(kube, { namespace: namespaceOf(index), name: `secret-${index}`, word: "value", bytes }),
  );
}

async function forgetStates(kube: Kube): Promise<void> {
  const deployments = await deploymentsAtRest(kube);
  const known = deployments.filter(({ metadata }) => metadata.annotations?.[STATE_ANNOTATION] !== undefined);
  const body = { metadata: { annotations: { [STATE_ANNOTATION]: null } } };
  await rate(known.length, WRITERS, async (index) => {
    const { namespace = "", name = "" } = known[index]?.metadata ?? {};
    await kube.patch(deploymentType, { namespace, name }, { type: "merge", body });
  });
  await deploymentsAtRest(kube);
}
