import assert from "node:assert/strict";
import { serviceCredentialBinding } from "../../src/api/cloudfoundry/service-credential-binding.ts";
import { apiVersionOf, type KubeObject, type ResourceType } from "../../src/kube/objects.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { createCloudFoundryFamily } from "../../src/reconcile/cloudfoundry/cloud-foundry-family.ts";
import {
  credentialBindingOf,
  putProviderConfig,
} from "../../src/reconcile/cloudfoundry/cloud-foundry-objects.fixture.ts";
import { installForeignKind } from "../../src/reconcile/objects.fixture.ts";
import { type LiveKey, SandboxCloudFoundry } from "../../src/sandbox/cloud-foundry/sandbox-cloud-foundry.ts";
import type { SandboxResponse } from "../../src/sandbox/http/exchange.ts";
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
  readonly conditions: readonly SaidCondition[];
}

export interface SaidCondition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message?: string;
}

const clusterKind = (group: string, version: string, kind: string, plural: string): ResourceType => ({
  group,
  version,
  plural,
  kind,
  namespaced: false,
});
const namespaces = clusterKind("", "v1", "Namespace", "namespaces");
const serviceInstances = clusterKind("cloudfoundry.crossplane.io", "v1alpha1", "ServiceInstance", "serviceinstances");

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

  /** What the document's manifests refer to: a namespace, and a ServiceInstance. */
  async putDocumentObjects(): Promise<void> {
    await this.kube.create<KubeObject>(namespaces, {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: "my-namespace" },
    });
    await installForeignKind(this.kube, serviceInstances);
    await this.kube.create<KubeObject>(serviceInstances, {
      apiVersion: apiVersionOf(serviceInstances),
      kind: serviceInstances.kind,
      metadata: { name: "my-database" },
      status: { atProvider: { id: this.instanceId } },
    });
  }

  /** Whether the Secret that the document's manifests name holds what somebody could log in with; and its UID. */
  async documentSecret(): Promise<{ readonly works: boolean; readonly uid: string | undefined }> {
    const secret = await this.kube.get(secretType, { namespace: "my-namespace", name: "my-service-credentials" });
    const data = Object.entries(secret.data as Readonly<Record<string, string>>);
    const texts = data.map(([name, value]) => [name, Buffer.from(value, "base64").toString()]);
    return { works: this.sandbox.authenticate(Object.fromEntries(texts) as Fields), uid: secret.metadata.uid };
  }

  live(): readonly LiveKey[] {
    return this.sandbox.liveKeys();
  }

  setRole(role: Parameters<SandboxCloudFoundry["controls"]["setRole"]>[1]): void {
    this.sandbox.controls.setRole(this.#user, role);
  }

  /** Somebody at a command line asks for it to be deleted. */
  async deleteByHand(guid: string): Promise<void> {
    assert.equal((await this.asUser("DELETE", `/${guid}`)).status, 202);
  }

  /** What somebody at a command line does with the bindings. */
  asUser(method: "POST" | "PATCH" | "DELETE", place: string, body?: Fields): Promise<SandboxResponse> {
    return this.sandbox.handle({
      method,
      path: `/v3/service_credential_bindings${place}`,
      query: new URLSearchParams(),
      headers: { authorization: `bearer ${this.sandbox.controls.issueToken(this.#user)}` },
      ...(body && { body: JSON.stringify(body) }),
    });
  }

  protected configure(): Promise<void> {
    return putProviderConfig(this.kube, this.#login);
  }
}
