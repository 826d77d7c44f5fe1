import { join } from "node:path";
import type { SandboxPlace } from "../../src/cli/sandbox/sandbox-place.ts";
import type { IssuedLogin } from "../../src/sandbox/cloud-foundry/tokens.ts";
import { type KeyturnProcess, startKeyturn } from "./keyturn-process.ts";

/** What `--ready-file` says. */
export interface ReadyFile {
  readonly kubeconfig: string;
  readonly api: string;
  readonly metrics?: string;
  readonly sandbox: SandboxPlace;
  readonly cloudFoundry: IssuedLogin;
  readonly named: string;
  readonly dashboard?: { readonly url: string; readonly link: string };
  readonly processId: number;
}

export type KeyturnUp = KeyturnProcess<ReadyFile>;

export interface KeyturnUpOptions {
  readonly dataDirectory: string;
  readonly main?: string;
  readonly flags?: readonly string[];
}

/** Starts `keyturn up` as a user would, on state that is kept in a folder, and waits until it says that it is ready. */
export async function startKeyturnUp(options: KeyturnUpOptions): Promise<KeyturnUp> {
  const { dataDirectory, main, flags = ["--no-examples", "--quiet", "--metrics-bind", "0"] } = options;
  return startKeyturn<ReadyFile>({
    words: ["up", "--data-dir", dataDirectory, ...flags],
    readyFile: join(dataDirectory, "ready.json"),
    ...(main !== undefined && { main }),
  });
}
