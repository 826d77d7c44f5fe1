import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../base/clock.ts";
import { UsageError } from "../base/errors.ts";
import type { Random } from "../base/random.ts";
import { Redacted } from "../base/redacted.ts";
import { createToken } from "../embedded/http/serve.ts";
import { createServingCertificate, type ServingCertificate } from "../embedded/http/serving-certificate.ts";
import { writePrivateFile } from "./private-file.ts";

/** What makes the embedded API the same server after a restart: a kubeconfig that worked goes on working. */
export interface ServerIdentity {
  readonly certificate: ServingCertificate;
  readonly token: Redacted<string>;
  /** The port of the last run; 0 when there was none. */
  readonly port: number;
}

const FILE = "identity.json";
/** A certificate that would run out while somebody uses it is made anew. */
const RENEW_BEFORE_MS = 7 * 24 * 3_600_000;

export async function loadIdentity(
  folder: string,
  { clock, random }: { readonly clock: Clock; readonly random: Random },
): Promise<ServerIdentity> {
  const known = await read(join(folder, FILE));
  const isFresh = known !== undefined && known.certificate.expiresAt - RENEW_BEFORE_MS > clock.now();
  return {
    certificate: isFresh ? known.certificate : createServingCertificate({ clock, random }),
    token: known?.token ?? createToken(random),
    port: known?.port ?? 0,
  };
}

export async function saveIdentity(folder: string, identity: ServerIdentity): Promise<void> {
  const { certificate, port } = identity;
  const content = JSON.stringify({ certificate, port, token: identity.token.reveal() });
  await writePrivateFile(join(folder, FILE), `${content}\n`);
}

async function read(path: string): Promise<ServerIdentity | undefined> {
  const text = await readFile(path, "utf8").catch(() => undefined);
  if (text === undefined) return undefined;
  try {
    const { certificate, port, token } = JSON.parse(text) as ServerIdentity & { readonly token: string };
    return { certificate, port, token: new Redacted(token) };
  } catch (error) {
    throw new UsageError(`${path} is damaged: remove it, and a new one is made`, error);
  }
}
