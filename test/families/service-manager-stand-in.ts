import assert from "node:assert/strict";
import { systemClock } from "../../src/base/clock.ts";
import { systemRandom } from "../../src/base/random.ts";
import { sandboxPlace } from "../../src/cli/sandbox/sandbox-place.ts";
import { startSandbox } from "../../src/sandbox/http/serve-sandbox.ts";
import type { SandboxServiceManager } from "../../src/sandbox/service-manager/sandbox-service-manager.ts";
import { SandboxClient } from "../support/sandbox-client.ts";
import { type OutsideKey, StandIn } from "./stand-in.ts";

export class ServiceManagerStandIn extends StandIn<SandboxServiceManager> {
  readonly #client: SandboxClient;

  static async open(): Promise<ServiceManagerStandIn> {
    return new ServiceManagerStandIn(await startSandbox({ clock: systemClock, random: systemRandom }));
  }

  private constructor(served: Awaited<ReturnType<typeof startSandbox>>) {
    super(served);
    this.#client = new SandboxClient(sandboxPlace(served));
  }

  keys(): readonly OutsideKey[] {
    return this.sandbox.liveBindings().map(({ id, name, instanceId, isReady, labels }) => ({
      id,
      name,
      instanceId,
      isReady,
      marks: Object.fromEntries(Object.entries(labels).map(([label, values]) => [label, values.join()])),
    }));
  }

  isAtBroker(instances: readonly string[]): boolean {
    return this.sandbox.pendingCreates().some(({ instanceId }) => instances.includes(instanceId));
  }

  async makeByHand(name: string, instanceId: string): Promise<string> {
    const made = await this.#client.call("POST", "/v1/service_bindings", { name, service_instance_id: instanceId });
    assert.equal(made.status, 201);
    return String(made.body.id);
  }

  login(url: string): object {
    return this.sandbox.controls.credentials(url) ?? this.sandbox.controls.issueClient(url);
  }

  furtherLogin(): object {
    return this.sandbox.controls.issueClient(this.url);
  }
}
