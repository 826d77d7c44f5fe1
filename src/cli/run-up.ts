import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { messageOf, UsageError } from "../base/errors.ts";
import type { Logger } from "../base/logger.ts";
import { EmbeddedServer } from "../embedded/embedded-server.ts";
import { writeKubeconfig } from "../embedded/http/kubeconfig-file.ts";
import { createLocalTransport } from "../embedded/http/local-transport.ts";
import { isSameToken, type Serving, serve } from "../embedded/http/serve.ts";
import { SqliteJournal } from "../embedded/sqlite-journal.ts";
import { ClockSkew } from "../kube/clock-skew.ts";
import { createKubeClient } from "../kube/kube-client.ts";
import type { Kube } from "../kube/port.ts";
import { type HttpEndpoints, parseBindAddress, startHttpEndpoints } from "../runtime/http-endpoints.ts";
import { Metrics } from "../runtime/metrics.ts";
import { Operator } from "../runtime/operator.ts";
import type { Shutdown } from "../runtime/shutdown.ts";
import { openAuditLog } from "./audit/open-audit-log.ts";
import type { ExitCode, Flags, World } from "./command.ts";
import { exampleKeys, exampleManifests, exampleServices, type Manifest, nameServers } from "./examples.ts";
import { readWholeNumber } from "./flag-values.ts";
import { createMissing, installDefinitions } from "./install.ts";
import { LiveView } from "./live-view.ts";
import { createControllers, readControllers, readLogger } from "./operator-options.ts";
import { SYSTEM_NAMESPACE } from "./own-namespace.ts";
import { prepareReadyFile } from "./ready-file.ts";
import { runUntilStopped } from "./run-until-stopped.ts";
import {
  cloudFoundryAccess,
  credentialManifests,
  refreshCredentials,
  serviceManagerAccess,
} from "./sandbox/credential-manifests.ts";
import { type NamedPlan, openNamed, planNamed, readNamed } from "./sandbox/open-named.ts";
import {
  type OpenCloudFoundry,
  type OpenSandbox,
  type OpenSandboxOptions,
  openCloudFoundry,
  openSandbox,
} from "./sandbox/open-sandbox.ts";
import { isNamedPod } from "./sandbox/pod-volumes.ts";
import { sandboxPlace } from "./sandbox/sandbox-place.ts";
import { loadIdentity, saveIdentity } from "./server-identity.ts";
import { upBanner } from "./up-banner.ts";
import { UpDashboard } from "./up-dashboard.ts";
import { onUsualPort } from "./usual-port.ts";

/** For the credentials for the sandbox, and what the operator keeps for itself. */
const systemNamespace: Manifest = { apiVersion: "v1", kind: "Namespace", metadata: { name: SYSTEM_NAMESPACE } };

interface Start {
  readonly folder: string;
  readonly flags: Flags;
  readonly world: World;
  readonly logger: Logger;
  readonly shutdown: Shutdown;
}

interface Api {
  readonly server: EmbeddedServer;
  readonly serving: Serving;
  readonly kube: Kube;
  readonly kubeconfig: string;
  /** Nothing was in the cluster yet. */
  readonly isNew: boolean;
}

interface Parts extends Api {
  readonly sandbox: OpenSandbox;
  readonly cloudFoundry: OpenCloudFoundry;
  readonly named: NamedPlan;
  /** Absent: somebody runs it elsewhere. */
  readonly operator: Operator | undefined;
  readonly endpoints: HttpEndpoints | undefined;
  readonly dashboard: UpDashboard | undefined;
}

/** `keyturn up`: puts together the embedded API, the sandboxes, the operator and what is shown, and runs until it is told to stop. */
export async function runUp(flags: Flags, world: World): Promise<ExitCode> {
  const folder = await prepareFolder(flags, world);
  try {
    const logger = readLogger(flags, world, "text");
    return await runUntilStopped(world, logger, (shutdown) => start({ folder, flags, world, logger, shutdown }));
  } finally {
    if (flags.isOn("ephemeral")) await rm(folder, { recursive: true, force: true });
  }
}

async function start(options: Start): Promise<void> {
  const { folder, flags, world, shutdown } = options;
  const readyFile = await prepareReadyFile(flags, world, shutdown);
  const parts = await assemble(options);
  const { server, serving, kube, kubeconfig, isNew, sandbox, cloudFoundry, named, operator, endpoints } = parts;
  await installDefinitions(kube);
  await createMissing(kube, [systemNamespace]);
  const accesses = [serviceManagerAccess(sandbox.credentials), cloudFoundryAccess(cloudFoundry.login)];
  for (const access of accesses) await refreshCredentials(kube, access, SYSTEM_NAMESPACE);
  const addsExamples = isNew && flags.isOn("examples");
  const hasExamples = addsExamples || server.store.get("deployments.apps", "shop/orders") !== undefined;
  if (hasExamples) addInstances(parts, addsExamples);
  if (shutdown.isUnderWay) return;
  operator?.start();
  await operator?.synced();
  const metrics = endpoints && `http://${endpoints.address}`;
  const served = await parts.dashboard?.serve(kube, operator);
  world.stdout.write(
    upBanner({
      api: serving.url,
      kubeconfig,
      sandbox: sandbox.url,
      cloudFoundry: cloudFoundry.url,
      named: named.words,
      metrics,
      dashboard: served?.link,
      folder: flags.isOn("ephemeral") ? undefined : folder,
      hasExamples,
      hasNameServers: hasExamples && named.program !== undefined,
      hasOperator: operator !== undefined,
      program: world.environment.npm_lifecycle_event === "start" ? "npm run -s keyturn --" : "keyturn",
    }),
  );
  showLive(parts, options);
  if (addsExamples) {
    const credentials = accesses.flatMap((access) => credentialManifests(access, SYSTEM_NAMESPACE));
    // Without anybody to answer for them, keys of name servers would wait for ever.
    await createMissing(kube, [...credentials, ...exampleManifests, ...(named.program ? nameServers : [])]);
  }
  await readyFile?.write({
    kubeconfig,
    api: serving.url,
    ...(metrics !== undefined && { metrics }),
    ...(served && { dashboard: { url: served.server.url, link: served.link } }),
    sandbox: sandboxPlace(sandbox),
    cloudFoundry: cloudFoundry.login,
    named: named.program?.name ?? "off",
  });
}

function showLive({ server }: Parts, { flags, world, shutdown }: Start): void {
  const { objects, registry } = server;
  const view = new LiveView({ objects, registry, clock: world.clock, output: world.stdout });
  if (!flags.isOn("quiet")) view.start();
  shutdown.addStep({ name: "live view", boundMs: 100, run: () => view.stop() });
}

/** To sandboxes that do not have them yet: what somebody has removed is not put back. */
function addInstances({ sandbox, cloudFoundry }: Parts, isFirst: boolean): void {
  if (isFirst || sandbox.isNew) {
    for (const { instanceId, instance } of exampleServices) sandbox.sandbox.controls.putInstance(instance, instanceId);
  }
  if (isFirst || cloudFoundry.isNew) {
    const { controls } = cloudFoundry.sandbox;
    for (const { instanceId, instance } of exampleKeys) controls.putInstance(instance, instanceId);
  }
}

async function assemble(options: Start): Promise<Parts> {
  const { flags, world, logger, shutdown } = options;
  const { clock, random } = world;
  const choice = readControllers(flags);
  const workersPerController = readWholeNumber(flags, "workers", { min: 1, max: 1024 });
  const bind = parseBindAddress(flags.text("metrics-bind") ?? "0");
  const apiPort = readPort(flags, "port");
  const sandboxPort = readPort(flags, "sandbox-port");
  const cloudFoundryPort = readPort(flags, "cloud-foundry-port");
  const dashboardPort = readPort(flags, "dashboard-port");
  const named = await planNamed(readNamed(flags), options);
  const metrics = new Metrics();
  const api = await startApi(options, { wanted: apiPort, named });
  const { kube, serving, server } = api;
  const auditFile = join(options.folder, "audit.log");
  const audit = flags.isOn("operator")
    ? await openAuditLog(auditFile, world, { kube, namespace: SYSTEM_NAMESPACE, logger, metrics })
    : undefined;
  const dashboard = flags.isOn("dashboard")
    ? new UpDashboard({ world, logger, shutdown, port: dashboardPort, auditPaths: audit ? [auditFile] : [] })
    : undefined;
  const switchedOn = await createControllers(choice, {
    world,
    metrics,
    skew: new ClockSkew(clock),
    namespace: SYSTEM_NAMESPACE,
    audit,
    onCompared: (at) => dashboard?.compared(at),
  });
  const { controllers } = switchedOn;
  const sandbox = await openSandbox(kept(options, "sandbox.json", sandboxPort));
  const cloudFoundry = await openCloudFoundry(kept(options, "cloud-foundry.json", cloudFoundryPort));
  const kubelet =
    named.program && (await openNamed(named.program, { server, folder: join(options.folder, "named") }, options));
  const onLost = (reason: string): void => void shutdown.leave(reason, 1);
  const operator = flags.isOn("operator")
    ? new Operator({
        kube,
        controllers,
        clock,
        random,
        logger,
        metrics,
        workersPerController,
        onLost,
        ...(dashboard && { onlookers: dashboard.onlookers }),
      })
    : undefined;
  const endpoints = bind && operator && (await startHttpEndpoints({ ...healthOf(operator), bind, metrics, logger }));
  operator?.addShutdownSteps(shutdown);
  switchedOn.addShutdownSteps(shutdown);
  if (audit) shutdown.addStep({ name: "audit log", boundMs: 1000, run: (signal) => audit.close(signal) });
  if (endpoints) shutdown.addStep({ name: "endpoints", boundMs: 500, run: () => endpoints.close() });
  shutdown.addStep({ name: "sandbox", boundMs: 1000, run: () => sandbox.stop() });
  shutdown.addStep({ name: "sandbox Cloud Foundry", boundMs: 1000, run: () => cloudFoundry.stop() });
  if (kubelet) shutdown.addStep({ name: "named", boundMs: 1000, run: () => kubelet.stop() });
  shutdown.addStep({ name: "API", boundMs: 1500, run: () => serving.stop() });
  shutdown.addStep({ name: "storage", boundMs: 500, run: () => server.stop() });
  return { ...api, sandbox, cloudFoundry, named, operator, endpoints, dashboard };
}

const healthOf = ({ readiness, liveness }: Operator) => ({ readiness, liveness });

const readPort = (flags: Flags, name: string): number => readWholeNumber(flags, name, { min: 0, max: 65535 });

async function startApi(
  { folder, flags, world, logger }: Start,
  { wanted, named }: { readonly wanted: number; readonly named: NamedPlan },
): Promise<Api> {
  const { clock, random } = world;
  const identity = await loadIdentity(folder, { clock, random });
  const { certificate, token } = identity;
  const server = new EmbeddedServer({
    clock,
    random,
    logger,
    rootCertificate: certificate.authorityPem,
    isKnownToken: (given) => isSameToken(given, token),
    ...(named.program && { startsElsewhere: isNamedPod }),
    ...(!flags.isOn("ephemeral") && { journal: new SqliteJournal(join(folder, "state.db")) }),
  });
  server.start();
  const { api } = server;
  const serving = await onUsualPort({ wanted, last: identity.port, what: "API", logger }, (port) =>
    serve({ api, certificate, token, clock, logger, port }),
  );
  await saveIdentity(folder, { ...identity, port: serving.port });
  const kubeconfig = join(folder, "kubeconfig");
  await writeKubeconfig(kubeconfig, { url: serving.url, authorityPem: certificate.authorityPem, token });
  const transport = createLocalTransport(api);
  return {
    server,
    serving,
    kube: createKubeClient({ transport, clock, userAgent: `keyturn/${world.version}` }),
    kubeconfig,
    isNew: server.store.list("customresourcedefinitions.apiextensions.k8s.io").length === 0,
  };
}

/** How a sandbox is opened that goes on from one run to the next. */
function kept({ folder, flags, world, logger }: Start, file: string, port: number): OpenSandboxOptions {
  const { clock, random } = world;
  return { clock, random, logger, port, ...(!flags.isOn("ephemeral") && { stateFile: join(folder, file) }) };
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
