import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { messageOf, UsageError } from "../base/errors.ts";
import type { Logger } from "../base/logger.ts";
import { EmbeddedServer } from "../embedded/embedded-server.ts";
import { writeKubeconfig } from "../embedded/http/kubeconfig-file.ts";
import { createLocalTransport } from "../embedded/http/local-transport.ts";
import { isSameToken, type Serving, serve } from "../embedded/http/serve.ts";
import { SqliteJournal } from "../embedded/sqlite-journal.ts";
import { createKubeClient } from "../kube/kube-client.ts";
import type { Kube } from "../kube/port.ts";
import { type HttpEndpoints, parseBindAddress, startHttpEndpoints } from "../runtime/http-endpoints.ts";
import { Metrics } from "../runtime/metrics.ts";
import { Operator } from "../runtime/operator.ts";
import type { Shutdown } from "../runtime/shutdown.ts";
import type { ExitCode, Flags, World } from "./command.ts";
import { readWholeNumber } from "./flag-values.ts";
import { installDefinitions, installExamples } from "./install.ts";
import { LiveView } from "./live-view.ts";
import { readControllers, readLogger } from "./operator-options.ts";
import { writePrivateFile } from "./private-file.ts";
import { runUntilStopped } from "./run-until-stopped.ts";
import { loadIdentity, saveIdentity } from "./server-identity.ts";

interface Parts {
  readonly folder: string;
  readonly server: EmbeddedServer;
  readonly serving: Serving;
  readonly kube: Kube;
  readonly operator: Operator;
  readonly endpoints: HttpEndpoints | undefined;
}

/** `keyturn up`: puts together the embedded API, the operator and what is shown, and runs until it is told to stop. */
export async function runUp(flags: Flags, world: World): Promise<ExitCode> {
  const folder = await prepareFolder(flags, world);
  try {
    const logger = readLogger(flags, world, "text");
    return await runUntilStopped(world, logger, (shutdown) => start({ folder, flags, world, logger, shutdown }));
  } finally {
    if (flags.isOn("ephemeral")) await rm(folder, { recursive: true, force: true });
  }
}

interface Start {
  readonly folder: string;
  readonly flags: Flags;
  readonly world: World;
  readonly logger: Logger;
  readonly shutdown: Shutdown;
}

async function start(options: Start): Promise<void> {
  const { folder, flags, world, shutdown } = options;
  const readyFile = await clearReadyFile(flags, world);
  const parts = await assemble(options);
  const { server, kube, operator } = parts;
  const isNew = server.store.list("customresourcedefinitions.apiextensions.k8s.io").length === 0;
  await installDefinitions(kube);
  const view = new LiveView({
    objects: server.objects,
    registry: server.registry,
    clock: world.clock,
    output: world.stdout,
  });
  if (shutdown.isUnderWay) return;
  operator.start();
  await operator.synced();
  const kubeconfig = join(folder, "kubeconfig");
  const hasExamples =
    server.store.get("deployments.apps", "shop/orders") !== undefined || (isNew && flags.isOn("examples"));
  world.stdout.write(banner(kubeconfig, parts, { isEphemeral: flags.isOn("ephemeral"), hasExamples }));
  if (!flags.isOn("quiet")) view.start();
  shutdown.addStep({ name: "live view", boundMs: 100, run: () => view.stop() });
  if (isNew && flags.isOn("examples")) await installExamples(kube);
  if (readyFile === undefined) return;
  await announceReady(readyFile, world, { kubeconfig, parts });
  shutdown.addStep({ name: "ready file", boundMs: 100, run: () => rm(readyFile, { force: true }) });
}

async function assemble({ folder, flags, world, logger, shutdown }: Start): Promise<Parts> {
  const { clock, random } = world;
  const controllers = readControllers(flags);
  const workersPerController = readWholeNumber(flags, "workers", { min: 1, max: 1024 });
  const bind = parseBindAddress(flags.text("metrics-bind") ?? "0");
  const wantedPort = readWholeNumber(flags, "port", { min: 0, max: 65535 });
  const isKept = !flags.isOn("ephemeral");
  const identity = await loadIdentity(folder, { clock, random });
  const server = new EmbeddedServer({
    clock,
    random,
    logger,
    rootCertificate: identity.certificate.authorityPem,
    isKnownToken: (given) => isSameToken(given, identity.token),
    ...(isKept && { journal: new SqliteJournal(join(folder, "state.db")) }),
  });
  server.start();
  const serving = await serveOnPort({ server, identity, wantedPort, clock, logger });
  await saveIdentity(folder, { ...identity, port: serving.port });
  await writeKubeconfig(join(folder, "kubeconfig"), {
    url: serving.url,
    authorityPem: identity.certificate.authorityPem,
    token: identity.token,
  });
  const kube = createKubeClient({
    transport: createLocalTransport(server.api),
    clock,
    userAgent: `keyturn/${world.version}`,
  });
  const metrics = new Metrics();
  const onLost = (reason: string): void => void shutdown.leave(reason, 1);
  const operator = new Operator({ kube, controllers, clock, random, logger, metrics, workersPerController, onLost });
  const { readiness, liveness } = operator;
  const endpoints = bind && (await startHttpEndpoints({ bind, readiness, liveness, metrics, logger }));
  operator.addShutdownSteps(shutdown);
  if (endpoints) shutdown.addStep({ name: "endpoints", boundMs: 500, run: () => endpoints.close() });
  shutdown.addStep({ name: "API", boundMs: 1500, run: () => serving.stop() });
  shutdown.addStep({ name: "storage", boundMs: 500, run: () => server.stop() });
  return { folder, server, serving, kube, operator, endpoints };
}

/** The port of the last run if it is still free, so that kubeconfigs and open shells go on working. */
async function serveOnPort(options: {
  readonly server: EmbeddedServer;
  readonly identity: Awaited<ReturnType<typeof loadIdentity>>;
  readonly wantedPort: number;
  readonly clock: World["clock"];
  readonly logger: Parameters<typeof serve>[0]["logger"] & object;
}): Promise<Serving> {
  const { server, identity, wantedPort, clock, logger } = options;
  const { certificate, token } = identity;
  const common = { api: server.api, certificate, token, clock, logger };
  if (wantedPort !== 0) return serve({ ...common, port: wantedPort });
  try {
    return await serve({ ...common, port: identity.port });
  } catch (error) {
    if (identity.port === 0) throw error;
    logger.info("the port of the last run is taken; using another one", { port: identity.port });
    return serve(common);
  }
}

async function prepareFolder(flags: Flags, world: World): Promise<string> {
  if (flags.isOn("ephemeral")) return mkdtemp(join(tmpdir(), "keyturn-"));
  const folder = resolve(world.workingDirectory, flags.text("data-dir") ?? ".keyturn");
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new UsageError(
      `cannot use --data-dir ${folder}: ${messageOf(error)}; choose another one, or --ephemeral`,
      error,
    );
  }
  return folder;
}

/** A file of an earlier run would tell a script where things were: it goes first, which also shows that it can be written. */
async function clearReadyFile(flags: Flags, world: World): Promise<string | undefined> {
  const file = flags.text("ready-file");
  if (file === undefined) return undefined;
  const path = isAbsolute(file) ? file : resolve(world.workingDirectory, file);
  try {
    // Tried out beside it: a script that waits for the file must never find an empty one.
    const trial = `${path}.trial`;
    await writePrivateFile(trial, "");
    await rm(trial);
    await rm(path, { force: true });
  } catch (error) {
    throw new UsageError(`cannot write --ready-file ${path}: ${messageOf(error)}`, error);
  }
  return path;
}

async function announceReady(
  path: string,
  world: World,
  { kubeconfig, parts }: { readonly kubeconfig: string; readonly parts: Parts },
): Promise<void> {
  const content = {
    kubeconfig,
    api: parts.serving.url,
    ...(parts.endpoints && { metrics: `http://${parts.endpoints.address}` }),
    processId: world.processId,
  };
  await writePrivateFile(path, `${JSON.stringify(content, null, 2)}\n`);
}

function banner(
  kubeconfig: string,
  parts: Parts,
  { isEphemeral, hasExamples }: { readonly isEphemeral: boolean; readonly hasExamples: boolean },
): string {
  const metrics = parts.endpoints ? `  metrics     http://${parts.endpoints.address}/metrics\n` : "";
  return `
Keyturn is up.

  API         ${parts.serving.url}
  kubeconfig  ${kubeconfig}
${metrics}  state       ${isEphemeral ? "nothing is kept" : parts.folder}

Try, in another terminal:

  export KUBECONFIG=${shellWord(kubeconfig)}
  kubectl get pods -A -w
  kubectl get servicebindings
${hasExamples ? "  kubectl -n shop rollout restart deployment/orders\n" : ""}
Ctrl-C stops it.${isEphemeral ? "" : " The next start goes on from here."} What happens now:

`;
}

/** As a shell reads it: quoted only where it has to be. */
const shellWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
