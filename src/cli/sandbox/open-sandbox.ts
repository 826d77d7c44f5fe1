import { readFile } from "node:fs/promises";
import type { Clock } from "../../base/clock.ts";
import { messageOf, UsageError } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import type { Random } from "../../base/random.ts";
import { type ServedCloudFoundry, startCloudFoundry } from "../../sandbox/http/serve-cloud-foundry.ts";
import type { Listening, ServingOptions } from "../../sandbox/http/serve-on-loopback.ts";
import { type ServedSandbox, startSandbox } from "../../sandbox/http/serve-sandbox.ts";
import { writePrivateFile } from "../private-file.ts";
import { onUsualPort } from "../usual-port.ts";
import { SandboxKeeper } from "./sandbox-keeper.ts";

export interface OpenSandboxOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** 0: the one of the last run, or a free one. */
  readonly port: number;
  /** Where it is kept from one run to the next; nothing is kept without. */
  readonly stateFile?: string;
}

/** There was no state to go on from when `isNew`. */
type Opened<Served> = Served & { readonly isNew: boolean };

export type OpenSandbox = Opened<ServedSandbox>;
export type OpenCloudFoundry = Opened<ServedCloudFoundry>;

/** A kind of sandbox, and how it is started. */
interface Kind<Snapshot, Served> {
  /** As people call it. */
  readonly what: string;
  readonly start: (options: ServingOptions<Snapshot>) => Promise<Served>;
}

type ServedKind<Snapshot> = Listening & { readonly sandbox: { snapshot(): Snapshot } };

/** What a state file holds. */
interface Kept<Snapshot> {
  readonly port: number;
  readonly snapshot: Snapshot;
}

/** Starts the sandbox Service Manager on loopback, where it left off if its state is kept. */
export const openSandbox = (options: OpenSandboxOptions): Promise<OpenSandbox> =>
  open({ what: "sandbox", start: startSandbox }, options);

/** The same for the sandbox Cloud Foundry. */
export const openCloudFoundry = (options: OpenSandboxOptions): Promise<OpenCloudFoundry> =>
  open({ what: "sandbox Cloud Foundry", start: startCloudFoundry }, options);

async function open<Snapshot extends { readonly version: 1 }, Served extends ServedKind<Snapshot>>(
  kind: Kind<Snapshot, Served>,
  options: OpenSandboxOptions,
): Promise<Opened<Served>> {
  const { stateFile } = options;
  if (stateFile === undefined) return { ...(await listen(kind, options, {})), isNew: true };
  const kept = await readKept<Snapshot>(kind.what, stateFile);
  const keeper = new SandboxKeeper({ ...options, save: () => writeKept(stateFile, served) });
  const keeping = { ...(kept && { kept }), keep: () => keeper.saved() };
  const served: Served = await listen(kind, options, keeping);
  await keeper.start().catch((error: unknown) => {
    throw new UsageError(`cannot keep the state of the ${kind.what} in ${stateFile}: ${messageOf(error)}`, error);
  });
  return {
    ...served,
    isNew: kept === undefined,
    // First no more requests, then the last state.
    stop: () => served.stop().then(() => keeper.stop()),
  };
}

async function listen<Snapshot, Served>(
  { what, start }: Kind<Snapshot, Served>,
  { clock, random, logger, port }: OpenSandboxOptions,
  { kept, keep }: { readonly kept?: Kept<Snapshot>; readonly keep?: () => Promise<void> },
): Promise<Served> {
  const usual = { wanted: port, last: kept?.port ?? 0, what, logger };
  const keeping = { ...(kept && { snapshot: kept.snapshot }), ...(keep && { keep }) };
  try {
    return await onUsualPort(usual, (at) => start({ clock, random, port: at, ...keeping }));
  } catch (error) {
    throw new UsageError(`the ${what} cannot listen on 127.0.0.1:${port}: ${messageOf(error)}`, error);
  }
}

async function writeKept<Snapshot>(path: string, { url, sandbox }: ServedKind<Snapshot>): Promise<void> {
  const kept: Kept<Snapshot> = { port: Number(new URL(url).port), snapshot: sandbox.snapshot() };
  await writePrivateFile(path, `${JSON.stringify(kept)}\n`);
}

async function readKept<Snapshot extends { readonly version: 1 }>(
  what: string,
  path: string,
): Promise<Kept<Snapshot> | undefined> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw new UsageError(`cannot read the state of the ${what}: ${messageOf(error)}`, error);
  }
  const kept = parsed<Snapshot>(text);
  if (kept === undefined) throw new UsageError(`${path} is damaged: remove it, and a new sandbox is made`);
  return kept;
}

function parsed<Snapshot extends { readonly version: 1 }>(text: string): Kept<Snapshot> | undefined {
  try {
    const kept = JSON.parse(text) as Kept<Snapshot>;
    return kept.snapshot.version === 1 && Number.isInteger(kept.port) ? kept : undefined;
  } catch {
    return undefined;
  }
}
