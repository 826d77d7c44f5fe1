import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { NotServed } from "../../src/kube/errors.ts";
import { apiVersionOf, type KubeObject, type ResourceType } from "../../src/kube/objects.ts";
import { btp } from "../families/btp.ts";
import { cloudFoundry } from "../families/cloud-foundry.ts";
import type { Family, Fields } from "../families/family.ts";
import { rotatingKeys } from "../families/rotating-keys.ts";
import { eventually } from "../support/eventually.ts";
import type { StoryBinding } from "./story-binding.ts";

const HOUR_MS = 3_600_000;

/** A manifest of a document: what its keys are called, and after how long they are replaced. */
export interface DocumentManifest {
  readonly file: string;
  readonly family: Family;
  readonly keyName: RegExp;
  readonly rotation: Fields;
  readonly frequencyMs: number;
}

const twelveDays = { ttl: "336h", frequency: "228h" };
export const documentManifests: readonly DocumentManifest[] = [
  ...["service-binding.yaml", "service-binding-status.yaml"].map((file) => ({
    file,
    family: btp,
    keyName: /^my-sample-[a-z0-9]+$/,
    rotation: { rotation: twelveDays },
    frequencyMs: 228 * HOUR_MS,
  })),
  {
    file: "service-credential-binding.yaml",
    family: cloudFoundry,
    keyName: /^my-rotating-service-key-[a-z0-9]+$/,
    rotation: { forProvider: { rotation: { ttl: "1440h", frequency: "720h" } } },
    frequencyMs: 720 * HOUR_MS,
  },
  {
    file: "rotating-credential-binding.yaml",
    family: rotatingKeys,
    // A child bears the name of its parent, which is the story's here.
    keyName: /^[a-z]+-cloudfoundry-rotating-[a-z-]+-[a-z0-9]{8}$/,
    rotation: { rotation: { ttl: "1440h", frequency: "720h" } },
    frequencyMs: 720 * HOUR_MS,
  },
];

/** Somebody else's kind, to which the manifests of Cloud Foundry refer. */
export const serviceInstances: ResourceType = {
  group: "cloudfoundry.crossplane.io",
  version: "v1alpha1",
  plural: "serviceinstances",
  kind: "ServiceInstance",
  namespaced: false,
};

/** Applied as it is: the binding works, what the user wrote stays, and it says when it will be rotated. */
export async function applyDocument(binding: StoryBinding, manifest: DocumentManifest): Promise<void> {
  const { file, keyName, rotation, frequencyMs } = manifest;
  await apply(binding, await filledIn(binding, file));
  const view = await binding.calm();
  assert.match(view.activeName ?? "", keyName);
  assert.match(view.condition("Ready"), /^True/);
  assert.match(view.condition("Synced"), /^True/);
  assertHolds(view.object?.spec, rotation);
  const dueAt = new Date(view.createdAt + frequencyMs).toISOString().replace(".000Z", "Z");
  const said = view.condition("RotationStatus");
  assert.ok(said.startsWith("True Enabled: ") && said.includes(dueAt), `${said} names ${dueAt}`);
}

/**
 * The manifest of a document with its placeholders filled and what it leaves to the reader added: names that are free,
 * service instance, ProviderConfig and Secret.
 */
async function filledIn(binding: StoryBinding, file: string): Promise<KubeObject> {
  const text = readFileSync(join(import.meta.dirname, "manifests", file), "utf8");
  // One document repeats two keys in its status, which is left out anyway.
  const { status: _, ...manifest } = parse(text.replace("(...)", binding.name), { uniqueKeys: false }) as KubeObject;
  const spec = manifest.spec as { readonly forProvider: Fields };
  return {
    ...manifest,
    metadata: { ...manifest.metadata, name: binding.name },
    spec: {
      ...spec,
      forProvider: { ...spec.forProvider, ...(await instanceFor(binding, spec.forProvider)) },
      providerConfigRef: { name: binding.stage.namespace },
      writeConnectionSecretToRef: binding.secretRef,
    },
  };
}

/** The service instance by its id; where the document refers to an object, by an object that knows the id. */
async function instanceFor(binding: StoryBinding, forProvider: Fields): Promise<Fields> {
  const { name, instanceId, stage, family } = binding;
  if (!("serviceInstanceRef" in forProvider)) return family.instanceSpec(instanceId).forProvider as Fields;
  await eventually("service instances to be served", async () => {
    const object = { apiVersion: apiVersionOf(serviceInstances), kind: serviceInstances.kind, metadata: { name } };
    const status = { atProvider: { id: instanceId } };
    return stage.kube.create<KubeObject>(serviceInstances, { ...object, status }).catch((error: unknown) => {
      if (!(error instanceof NotServed)) throw error;
      return undefined;
    });
  });
  return { serviceInstanceRef: { name } };
}

/** What the user wrote stays as it is. */
function assertHolds(actual: unknown, expected: Fields): void {
  for (const [key, value] of Object.entries(expected)) {
    const found = (actual as Fields)[key];
    if (typeof value === "object") assertHolds(found, value as Fields);
    else assert.equal(found, value, key);
  }
}

async function apply({ stage, family, name }: StoryBinding, body: KubeObject): Promise<void> {
  await stage.kube.patch(family.type, { name }, { type: "apply", body }, { fieldManager: "kubectl" });
}
