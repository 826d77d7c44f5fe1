import type { CloudFoundrySnapshot } from "../cloud-foundry/records.ts";
import { SandboxCloudFoundry } from "../cloud-foundry/sandbox-cloud-foundry.ts";
import type { IssuedLogin } from "../cloud-foundry/tokens.ts";
import { keeping, type Listening, type ServingOptions, serveOnLoopback } from "./serve-on-loopback.ts";

export interface ServedCloudFoundry extends Listening {
  /** A user who may do everything. */
  readonly login: IssuedLogin;
  /** Controls, oracles, and `snapshot()` for a caller that wants to go on another time. */
  readonly sandbox: SandboxCloudFoundry;
}

/** A Cloud Foundry of its own on a loopback port, with one user. */
export async function startCloudFoundry(options: ServingOptions<CloudFoundrySnapshot>): Promise<ServedCloudFoundry> {
  const sandbox = new SandboxCloudFoundry(options);
  const listening = await serveOnLoopback(keeping(sandbox, options.keep), options);
  const { url } = listening;
  return { ...listening, login: sandbox.controls.login(url) ?? sandbox.controls.issueLogin(url), sandbox };
}
