import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SandboxPlace } from "../../src/cli/sandbox/sandbox-place.ts";
import type { IssuedLogin } from "../../src/sandbox/cloud-foundry/tokens.ts";
import type { StandInName } from "../families/stand-in.ts";
import { type KeyturnProcess, SOURCE_MAIN, startKeyturn } from "../support/keyturn-process.ts";

interface Places {
  readonly sandbox: SandboxPlace;
  readonly cloudFoundry: IssuedLogin;
}

export const SYSTEMS: readonly StandInName[] = ["serviceManager", "cloudFoundry"];

/** `keyturn sandbox` as a process of its own, and its controls. */
export class SoakSandbox {
  readonly #process: KeyturnProcess<Places>;
  readonly #folder: string;

  static async start(main = SOURCE_MAIN): Promise<SoakSandbox> {
    const folder = mkdtempSync(join(tmpdir(), "keyturn-soak-"));
    const process = await startKeyturn<Places>({ words: ["sandbox"], readyFile: join(folder, "ready.json"), main });
    return new SoakSandbox(process, folder);
  }

  private constructor(process: KeyturnProcess<Places>, folder: string) {
    this.#process = process;
    this.#folder = folder;
  }

  /** A log-in of its own, as a ProviderConfig needs it. */
  login(system: StandInName): Promise<object> {
    return this.control(system, "POST", system === "serviceManager" ? "clients" : "logins", {});
  }

  async setSwitches(system: StandInName, switches: object): Promise<void> {
    await this.control(system, "PATCH", "switches", switches);
  }

  async allIsWell(system: StandInName): Promise<void> {
    await this.control(system, "DELETE", "switches");
  }

  async putInstance(system: StandInName, id: string, settings: object): Promise<void> {
    await this.control(system, "PUT", `instances/${id}`, settings);
  }

  /** Behind every client's back; false where there was none any more. */
  async removeKey(system: StandInName, id: string): Promise<boolean> {
    const answer = await this.#send(system, "DELETE", `bindings/${id}`);
    return answer.ok;
  }

  async keys(system: StandInName): Promise<readonly { readonly id: string; readonly name?: string }[]> {
    const { bindings } = await this.control(system, "GET", "state");
    return bindings as readonly { readonly id: string; readonly name?: string }[];
  }

  /** Whether somebody could log in with these credentials now. */
  async lets(system: StandInName, credentials: object): Promise<boolean> {
    return (await this.control(system, "POST", "authenticate", credentials)).works === true;
  }

  async control(
    system: StandInName,
    method: string,
    path: string,
    json?: object,
  ): Promise<Readonly<Record<string, unknown>>> {
    const answer = await this.#send(system, method, path, json);
    if (!answer.ok) throw new Error(`${method} ${path} at the sandbox: ${answer.status}`);
    return (await answer.json()) as Readonly<Record<string, unknown>>;
  }

  async stop(): Promise<void> {
    await this.#process.stop("SIGTERM");
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #send(system: StandInName, method: string, path: string, json?: object): Promise<Response> {
    const { sandbox, cloudFoundry } = this.#process.ready;
    const url = system === "serviceManager" ? sandbox.url : cloudFoundry.apiEndpoint;
    return fetch(`${url}/sandbox/${path}`, { method, ...(json !== undefined && { body: JSON.stringify(json) }) });
  }
}
