import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serviceBinding } from "../src/api/btp/service-binding.ts";
import { definitionOf } from "../src/api/custom-resource.ts";
import { customResources } from "../src/api/custom-resources.ts";
import { systemClock } from "../src/base/clock.ts";
import { silentLogger } from "../src/base/logger.ts";
import { systemRandom } from "../src/base/random.ts";
import type { KubeObject } from "../src/kube/objects.ts";
import type { Kube } from "../src/kube/port.ts";
import { type Figure, figure, reportFigures } from "../test/bench/figures.ts";
import { createObjects, listSeconds, rate } from "../test/bench/load.ts";
import { measureOperator } from "../test/bench/operator-process.ts";
import { buildClusterTools } from "../test/cluster/build.ts";
import { startControlPlane } from "../test/cluster/control-plane.ts";
import { customResourceDefinitions, namespaces } from "../test/conformance/kinds.ts";
import { connect } from "../test/support/connect.ts";
import { BUILT_MAIN } from "../test/support/keyturn-process.ts";
import { startKeyturnUp } from "../test/support/keyturn-up.ts";
import { buildDist } from "./build-dist.ts";

/**
 * `npm run bench:kube`: the embedded and the real API server side by side in one run, and what the built operator needs
 * to start and to hold 10,000 resources. Batches alternate between the servers, so that noise hits both.
 */
const OBJECTS = 10_000;
const BATCH = 1000;
const NAMESPACE = "bench";

await buildDist();
const folder = await mkdtemp(join(tmpdir(), "keyturn-bench-"));
const tools = await buildClusterTools((line) => console.log(line));
const controlPlane = await startControlPlane(tools);
// It has an operator of its own, which is to leave the bindings alone: it refuses their policies, and that is that.
const upFlags = ["--no-examples", "--quiet", "--metrics-bind", "0", "--min-frequency", "10000h"];
const embedded = await startKeyturnUp({ dataDirectory: folder, main: BUILT_MAIN, flags: upFlags });
try {
  const servers = [
    await serverOf("embedded", embedded.ready.kubeconfig),
    await serverOf("real", controlPlane.kubeconfig),
  ];
  const figures = [
    ...(await inProcessWrites()),
    ...(await compareServers(servers)),
    ...(await operatorFigures(servers)),
  ];
  reportFigures("kube", figures);
} finally {
  await embedded.stop("SIGTERM");
  await controlPlane.stop();
  await rm(folder, { recursive: true, force: true });
}

interface Server {
  readonly name: string;
  readonly kubeconfig: string;
  readonly kube: Kube;
}

async function serverOf(name: string, kubeconfig: string): Promise<Server> {
  return { name, kubeconfig, kube: await connect(kubeconfig, "bench") };
}

/** The store and its verbs without HTTP, as the simulation uses them; compiled code, kept in SQLite and not. */
async function inProcessWrites(): Promise<Figure[]> {
  const dist = new URL("../dist/embedded/", import.meta.url).href;
  const { EmbeddedServer } = (await import(
    `${dist}embedded-server.js`
  )) as typeof import("../src/embedded/embedded-server.ts");
  const { SqliteJournal } = (await import(
    `${dist}sqlite-journal.js`
  )) as typeof import("../src/embedded/sqlite-journal.ts");
  const figures: Figure[] = [];
  for (const kept of [false, true]) {
    const server = new EmbeddedServer({
      clock: systemClock,
      random: systemRandom,
      logger: silentLogger,
      ...(kept && { journal: new SqliteJournal(join(folder, "in-process.db")) }),
    });
    const definition = server.registry.find("", "v1", "configmaps");
    if (!definition) throw new Error("ConfigMaps are not served");
    const write = async (index: number): Promise<void> => {
      const ref = { namespace: "default", name: `object-${index >> 1}` };
      const context = { fieldManager: "bench" };
      if (index % 2 === 0) server.objects.create(definition, "default", { metadata: ref, data: { key: "1" } }, context);
      else server.objects.patch(definition, ref, { type: "merge", body: { data: { key: "2" } } }, context);
    };
    await rate(2000, 1, (index) => write(index + 1_000_000));
    const writes = await rate(OBJECTS, 1, write);
    await server.stop();
    figures.push(figure(`embedded, in process, ${kept ? "kept in SQLite" : "in memory"}: writes/s`, writes, ">= 3000"));
  }
  return figures;
}

async function compareServers(servers: readonly Server[]): Promise<Figure[]> {
  const rates = new Map<string, number[]>(servers.map(({ name }) => [name, []]));
  for (const { kube } of servers) {
    await kube.create<KubeObject>(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } });
    await createObjects(kube, NAMESPACE, { from: 1_000_000, count: 200 });
  }
  for (let from = 0; from < OBJECTS; from += BATCH) {
    for (const { name, kube } of servers)
      rates.get(name)?.push(await createObjects(kube, NAMESPACE, { from, count: BATCH }));
    console.log(`created ${from + BATCH} of ${OBJECTS} on each server`);
  }
  const figures: Figure[] = [];
  const medians = new Map<string, { readonly writes: number; readonly list: number }>();
  for (const { name, kube } of servers) {
    const lists: number[] = [];
    for (let i = 0; i < 5; i++) lists.push((await listSeconds(kube, NAMESPACE)).seconds);
    const [writes, list] = [median(rates.get(name) ?? []), median(lists)];
    medians.set(name, { writes, list });
    figures.push(figure(`${name}, over HTTPS: creates/s`, writes), figure(`${name}, list of ${OBJECTS}: s`, list));
  }
  const [ours, theirs] = [medians.get("embedded"), medians.get("real")];
  if (ours && theirs) {
    figures.push(figure("embedded / real: creates/s", ours.writes / theirs.writes));
    figures.push(figure("embedded / real: time of the list", ours.list / theirs.list));
  }
  return figures;
}

async function operatorFigures(servers: readonly Server[]): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const { name, kube, kubeconfig } of servers) {
    await installCrds(kube);
    const idle = await measureOperator(kubeconfig, kube);
    await rate(OBJECTS, 16, (index) => kube.create<KubeObject>(serviceBinding, binding(index)));
    console.log(`created ${OBJECTS} ServiceBindings on ${name}`);
    const full = await measureOperator(kubeconfig, kube);
    figures.push(
      figure(`operator on ${name}, idle: RSS in MB`, idle.residentMegabytes, "<= 100"),
      figure(`operator on ${name}, ${OBJECTS} resources: RSS in MB`, full.residentMegabytes, "<= 150"),
      figure(`operator on ${name}, ${OBJECTS} resources: start in s`, full.readySeconds, "<= 5"),
    );
  }
  return figures;
}

async function installCrds(kube: Kube): Promise<void> {
  for (const resource of customResources) {
    const body = definitionOf(resource);
    await kube.patch(
      customResourceDefinitions,
      { name: `${resource.plural}.${resource.group}` },
      { type: "apply", body },
      { fieldManager: "bench" },
    );
  }
  for (let served = 0; served < customResources.length; ) {
    served = (await kube.discover(serviceBinding.group, serviceBinding.version)).length;
  }
}

/** About 2.4 KB with what the server adds, the size of a typical managed resource. */
function binding(index: number): KubeObject {
  return {
    apiVersion: `${serviceBinding.group}/${serviceBinding.version}`,
    kind: serviceBinding.kind,
    metadata: {
      name: `binding-${index}`,
      annotations: { "example.com/note": "n".repeat(600), "crossplane.io/external-name": `id-${index}` },
      labels: { team: `team-${index % 20}`, app: `app-${index % 500}` },
    },
    spec: {
      rotation: { ttl: "336h", frequency: "288h" },
      forProvider: {
        name: `binding-${index}`,
        serviceInstanceId: `instance-${index % 100}`,
        parameters: { role: "reader" },
      },
      writeConnectionSecretToRef: { name: `binding-${index}`, namespace: "bench" },
    },
  };
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? Number.NaN;
}
