import assert from "node:assert/strict";
import { systemClock } from "../../src/base/clock.ts";
import { systemRandom } from "../../src/base/random.ts";
import type { SandboxCloudFoundry } from "../../src/sandbox/cloud-foundry/sandbox-cloud-foundry.ts";
import type { IssuedLogin } from "../../src/sandbox/cloud-foundry/tokens.ts";
import { startCloudFoundry } from "../../src/sandbox/http/serve-cloud-foundry.ts";
import { CloudFoundryClient } from "../support/cloud-foundry-client.ts";
import { type OutsideKey, StandIn } from "./stand-in.ts";

export class CloudFoundryStandIn extends StandIn<SandboxCloudFoundry> {
  /** Of those who stand in for programs beside the operator. */
  readonly ownLogin: IssuedLogin;
  readonly #client: CloudFoundryClient;

  static async open(): Promise<CloudFoundryStandIn> {
    return new CloudFoundryStandIn(await startCloudFoundry({ clock: systemClock, random: systemRandom }));
  }

  private constructor(served: Awaited<ReturnType<typeof startCloudFoundry>>) {
    super(served);
    this.ownLogin = served.login;
    this.#client = new CloudFoundryClient(served.login);
  }

  keys(): readonly OutsideKey[] {
    return this.sandbox.liveKeys().map(({ id, name, instanceId, metadata, lastOperation: { type, state } }) => ({
      id,
      name: name ?? "",
      instanceId,
      isReady: type === "delete" || state === "succeeded",
      marks: { ...metadata.annotations, ...metadata.labels },
    }));
  }

  isAtBroker(instances: readonly string[]): boolean {
    return this.keys().some(({ isReady, instanceId }) => !isReady && instances.includes(instanceId));
  }

  async makeByHand(name: string, instanceId: string): Promise<string> {
    return (await this.#client.createKey(name, instanceId)).guid;
  }

  login(url: string): object {
    return this.sandbox.controls.login(url) ?? this.sandbox.controls.issueLogin(url);
  }

  furtherLogin(): object {
    return this.sandbox.controls.issueLogin(this.url);
  }

  /** A login of its own, and the means to take its role away: without one everything looks deleted to it. */
  loginWithRole(): { readonly login: object; setRole(role: "space-developer" | "none"): void } {
    const login = this.sandbox.controls.issueLogin(this.url);
    assert.ok("username" in login);
    return { login, setRole: (role) => void this.sandbox.controls.setRole(login.username, role) };
  }
}
