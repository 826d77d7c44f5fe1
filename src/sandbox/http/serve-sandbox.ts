import type { SandboxSnapshot } from "../service-manager/records.ts";
import { SandboxServiceManager } from "../service-manager/sandbox-service-manager.ts";
import type { IssuedCredentials } from "../service-manager/tokens.ts";
import { keeping, type Listening, type ServingOptions, serveOnLoopback } from "./serve-on-loopback.ts";

export interface ServedSandbox extends Listening {
  /** The content of a `service-manager` credential Secret. */
  readonly credentials: IssuedCredentials;
  /** Controls, oracles, and `snapshot()` for a caller that wants to go on another time. */
  readonly sandbox: SandboxServiceManager;
}

/** A Service Manager of its own on a loopback port, with one client. */
export async function startSandbox(options: ServingOptions<SandboxSnapshot>): Promise<ServedSandbox> {
  const sandbox = new SandboxServiceManager(options);
  const listening = await serveOnLoopback(keeping(sandbox, options.keep), options);
  const { url } = listening;
  return {
    ...listening,
    credentials: sandbox.controls.credentials(url) ?? sandbox.controls.issueClient(url),
    sandbox,
  };
}
