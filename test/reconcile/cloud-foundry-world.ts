import assert from "node:assert/strict";
import { serviceCredentialBinding } from "../../src/api/cloudfoundry/service-credential-binding.ts";
import type { KubeObject } from "../../src/kube/objects.ts";
import { createCloudFoundryFamily } from "../../src/reconcile/cloudfoundry/cloud-foundry-family.ts";
import {
  credentialBindingOf,
  putProviderConfig,
} from "../../src/reconcile/cloudfoundry/cloud-foundry-objects.fixture.ts";
import { type LiveKey, SandboxCloudFoundry } from "../../src/sandbox/cloud-foundry/sandbox-cloud-foundry.ts";
import { CANARY, ManagedWorld, SANDBOX_URL } from "./managed-world.ts";

type Fields = Readonly<Record<string, unknown>>;

export interface BindingStatus {
  readonly atProvider: Fields & {
    readonly guid: string;
    readonly name: string;
    readonly createdAt: string;
    readonly retiredKeys?: readonly (Fields & { readonly guid: string; readonly deletionDate: string })[];
  };
  readonly sequence: number;
  readonly conditions: readonly {
    readonly type: string;
    readonly status: string;
    readonly reason: string;
    readonly message?: string;
  }[];
}

export const FORCE_ANNOTATION = "servicecredentialbinding.cloudfoundry.crossplane.io/force-rotation";

/** The world of service keys at a sandbox Cloud Foundry. */
export class CloudFoundryWorld extends ManagedWorld<SandboxCloudFoundry> {
  readonly createFamily = createCloudFoundryFamily;
  readonly instanceId: string;
  readonly #user: string;
  readonly #login: ReturnType<SandboxCloudFoundry["controls"]["issueLogin"]>;

  constructor() {
    super((around) => new SandboxCloudFoundry({ ...around, canary: CANARY, url: SANDBOX_URL }));
    const { controls } = this.sandbox;
    this.instanceId = controls.putInstance({ name: "my-database" }).id;
    // Tokens outlive every story, so that a log-in that shows up is one too many.
    controls.set({ tokenLifetimeMs: 10 * 365 * 86_400_000 });
    this.#login = controls.issueLogin(SANDBOX_URL);
    assert.ok("username" in this.#login);
    this.#user = this.#login.username;
  }

  async create(name: string, forProvider: Fields = {}, spec: Fields = {}): Promise<KubeObject> {
    const fields = { serviceInstance: this.instanceId, ...forProvider };
    const binding = credentialBindingOf({ metadata: { name }, forProvider: fields, spec });
    return this.kube.create<KubeObject>(serviceCredentialBinding, binding);
  }

  patch(name: string, body: Fields): Promise<KubeObject> {
    return this.kube.patch(serviceCredentialBinding, { name }, { type: "merge", body });
  }

  async statusOf(name: string): Promise<BindingStatus> {
    return (await this.get(name)).status as BindingStatus;
  }

  /** The reason and message of Synced. */
  async problemOf(name: string): Promise<string> {
    const { conditions } = await this.statusOf(name);
    const synced = conditions.find(({ type }) => type === "Synced");
    return `${synced?.status} ${synced?.reason}: ${synced?.message ?? ""}`;
  }

  live(): readonly LiveKey[] {
    return this.sandbox.liveKeys();
  }

  setRole(role: Parameters<SandboxCloudFoundry["controls"]["setRole"]>[1]): void {
    this.sandbox.controls.setRole(this.#user, role);
  }

  protected configure(): Promise<void> {
    return putProviderConfig(this.kube, this.#login);
  }
}
