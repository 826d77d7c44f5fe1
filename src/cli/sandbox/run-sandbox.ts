import { join, parse, resolve } from "node:path";
import { stringify } from "yaml";
import { UsageError } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import { type Random, seededRandom } from "../../base/random.ts";
import { createLogWriter } from "../../runtime/log-writer.ts";
import type { Shutdown } from "../../runtime/shutdown.ts";
import type { ExitCode, Flags, World } from "../command.ts";
import { readChoice, readDuration, readWholeNumber } from "../flag-values.ts";
import { prepareReadyFile } from "../ready-file.ts";
import { runUntilStopped } from "../run-until-stopped.ts";
import { cloudFoundryAccess, credentialManifests, serviceManagerAccess } from "./credential-manifests.ts";
import { type OpenCloudFoundry, type OpenSandbox, openCloudFoundry, openSandbox } from "./open-sandbox.ts";
import { sandboxPlace } from "./sandbox-place.ts";

/** The instance that is there from the start in either, so that a first binding needs nothing else. */
const INSTANCE_ID = "00000000-0000-4000-8000-000000000001";

/** Where a sandbox listens, what it draws from, and where it is kept. */
interface Place {
  readonly port: number;
  readonly random: Random;
  readonly stateFile?: string;
}

interface Settings {
  readonly serviceManager: Place;
  readonly cloudFoundry: Place;
  readonly latencyMs: number | undefined;
  readonly namespace: string;
  readonly format: "text" | "json";
}

/** `keyturn sandbox`: the sandboxes over HTTP, until they are told to stop. */
export async function runSandbox(flags: Flags, world: World): Promise<ExitCode> {
  const settings = readSettings(flags, world);
  const write = (line: string): void => world.stderr.write(line);
  const logger = createLogWriter({ clock: world.clock, level: "warn", format: "text", write });
  return runUntilStopped(world, logger, async (shutdown) => {
    const readyFile = await prepareReadyFile(flags, world, shutdown);
    const sandboxes = await start(settings, world, { logger, shutdown });
    world.stdout.write(settings.format === "json" ? asJson(sandboxes, settings) : asText(sandboxes, settings));
    const { serviceManager, cloudFoundry } = sandboxes;
    await readyFile?.write({ sandbox: sandboxPlace(serviceManager), cloudFoundry: cloudFoundry.login });
  });
}

function readSettings(flags: Flags, world: World): Settings {
  const stateFile = flags.text("state");
  const seed = flags.text("seed") === undefined ? undefined : readWholeNumber(flags, "seed", { min: 0, max: 2 ** 31 });
  if (seed !== undefined && stateFile !== undefined) {
    throw new UsageError(
      "--seed and --state exclude each other: a sandbox that goes on must not draw the same ids again",
    );
  }
  const place = (portFlag: string, path: string | undefined, offset: number): Place => ({
    port: readWholeNumber(flags, portFlag, { min: 0, max: 65535 }),
    // No two secrets are the same, so that one that turns up in the wrong place is seen.
    random: seed === undefined ? world.random : seededRandom(seed + offset),
    ...(path !== undefined && { stateFile: resolve(world.workingDirectory, path) }),
  });
  return {
    serviceManager: place("port", stateFile, 0),
    cloudFoundry: place("cloud-foundry-port", stateFile && besides(stateFile), 1),
    latencyMs: flags.text("latency") === undefined ? undefined : readDuration(flags, "latency"),
    namespace: flags.text("namespace") ?? "default",
    format: readChoice(flags, "output", ["text", "json"]),
  };
}

/** `sandbox.json` → `sandbox.cloud-foundry.json`. */
function besides(path: string): string {
  const { dir, name, ext } = parse(path);
  return join(dir, `${name}.cloud-foundry${ext}`);
}

interface Sandboxes {
  readonly serviceManager: OpenSandbox;
  readonly cloudFoundry: OpenCloudFoundry;
}

async function start(
  { serviceManager: place, cloudFoundry: otherPlace, latencyMs }: Settings,
  { clock }: World,
  { logger, shutdown }: { readonly logger: Logger; readonly shutdown: Shutdown },
): Promise<Sandboxes> {
  const serviceManager = await openSandbox({ clock, logger, ...place });
  shutdown.addStep({ name: "sandbox", boundMs: 3000, run: () => serviceManager.stop() });
  const cloudFoundry = await openCloudFoundry({ clock, logger, ...otherPlace });
  shutdown.addStep({ name: "sandbox Cloud Foundry", boundMs: 3000, run: () => cloudFoundry.stop() });
  for (const { sandbox, isNew } of [serviceManager, cloudFoundry]) {
    if (latencyMs !== undefined) sandbox.controls.set({ latencyMs });
    if (isNew) sandbox.controls.putInstance({ name: "example" }, INSTANCE_ID);
  }
  return { serviceManager, cloudFoundry };
}

const manifestsFor = (
  { serviceManager: { credentials }, cloudFoundry: { login } }: Sandboxes,
  { namespace }: Settings,
) =>
  [serviceManagerAccess(credentials), cloudFoundryAccess(login)].flatMap((access) =>
    credentialManifests(access, namespace),
  );

const instancesOf = ({ sandbox }: OpenSandbox | OpenCloudFoundry) =>
  sandbox.controls.instances().map(({ id, name }) => ({ id, name }));

function asJson(sandboxes: Sandboxes, settings: Settings): string {
  const { serviceManager, cloudFoundry } = sandboxes;
  const content = {
    ...sandboxPlace(serviceManager),
    instances: instancesOf(serviceManager),
    manifests: { apiVersion: "v1", kind: "List", items: manifestsFor(sandboxes, settings) },
    cloudFoundry: { ...cloudFoundry.login, instances: instancesOf(cloudFoundry) },
  };
  return `${JSON.stringify(content, null, 2)}\n`;
}

function asText(sandboxes: Sandboxes, settings: Settings): string {
  const { serviceManager, cloudFoundry } = sandboxes;
  const { url } = serviceManager;
  const lines = (sandbox: OpenSandbox | OpenCloudFoundry): string =>
    instancesOf(sandbox)
      .map(({ id, name }) => `  ${id}  ${name}`)
      .join("\n");
  const manifests = manifestsFor(sandboxes, settings).map((manifest) => stringify(manifest, { lineWidth: 0 }));
  const login = Object.entries(cloudFoundry.login).map(([key, value]) => `  ${key.padEnd(12)}  ${value}`);
  return `
The sandbox is up: ${url}

Service instances to bind:

${lines(serviceManager)}

What makes a cluster use it, and the Cloud Foundry below (kubectl apply -f - and paste):

${manifests.join("---\n")}
Try, in another terminal:

  curl ${url}/sandbox/state
  curl -X PATCH ${url}/sandbox/switches -d '{"outage":"unavailable"}'
  curl -X DELETE ${url}/sandbox/switches
  curl ${url}/sandbox/                         lists the rest

A Cloud Foundry is up, too: ${cloudFoundry.url}

${login.join("\n")}

Its service instances, and its controls:

${lines(cloudFoundry)}
  curl ${cloudFoundry.url}/sandbox/

Ctrl-C stops both.${settings.serviceManager.stateFile === undefined ? " Nothing is kept." : " The next start goes on from here."}
`;
}
