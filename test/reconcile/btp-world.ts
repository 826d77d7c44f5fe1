import { serviceBinding } from "../../src/api/btp/service-binding.ts";
import type { KubeObject } from "../../src/kube/objects.ts";
import { createBtpFamily } from "../../src/reconcile/btp/btp-family.ts";
import { bindingOf, putProviderConfig } from "../../src/reconcile/btp/btp-objects.fixture.ts";
import { SandboxServiceManager } from "../../src/sandbox/service-manager/sandbox-service-manager.ts";
import { CANARY, ManagedWorld, SANDBOX_URL } from "./managed-world.ts";

/** The world of service bindings at a sandbox Service Manager. */
export class BtpWorld extends ManagedWorld<SandboxServiceManager> {
  readonly createFamily = createBtpFamily;
  readonly instanceId: string;

  constructor() {
    super((around) => new SandboxServiceManager({ ...around, canary: CANARY }));
    this.instanceId = this.sandbox.controls.putInstance().id;
  }

  async create(name: string, spec: Readonly<Record<string, unknown>> = {}): Promise<KubeObject> {
    const { instanceId } = this;
    return this.kube.create<KubeObject>(serviceBinding, bindingOf({ instanceId, metadata: { name }, spec }));
  }

  protected configure(): Promise<void> {
    return putProviderConfig(this.kube, this.sandbox.controls.issueClient(SANDBOX_URL));
  }
}
