import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe } from "node:test";
import { parse } from "yaml";
import { NotServed } from "../../src/kube/errors.ts";
import { apiVersionOf, type KubeObject, type ResourceType } from "../../src/kube/objects.ts";
import { installForeignKind } from "../../src/reconcile/objects.fixture.ts";
import { customResourceDefinitions } from "../conformance/kinds.ts";
import { btp } from "../families/btp.ts";
import { cloudFoundry } from "../families/cloud-foundry.ts";
import type { Family, Fields } from "../families/family.ts";
import { rotatingKeys } from "../families/rotating-keys.ts";
import { eventually } from "../support/eventually.ts";
import { Stories, target, together } from "./harness.ts";
import type { StoryBinding } from "./story-binding.ts";

const HOUR_MS = 3_600_000;

/** A manifest of a document: what its keys are called, and after how long they are replaced. */
interface Manifest {
  readonly file: string;
  readonly family: Family;
  readonly keyName: RegExp;
  readonly rotation: Fields;
  readonly frequencyMs: number;
}

const twelveDays = { ttl: "336h", frequency: "228h" };
const manifests: readonly Manifest[] = [
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
    keyName: /^document-cloudfoundry-rotating-[a-z-]+-[a-z0-9]{8}$/,
    rotation: { rotation: { ttl: "1440h", frequency: "720h" } },
    frequencyMs: 720 * HOUR_MS,
  },
];

/** Somebody else's kind, to which the manifests of Cloud Foundry refer. */
const serviceInstances: ResourceType = {
  group: "cloudfoundry.crossplane.io",
  version: "v1alpha1",
  plural: "serviceinstances",
  kind: "ServiceInstance",
  namespaced: false,
};

/** The documents' manifests, applied as they are, and what they say becomes of them. */
describe(`the document on the ${target.name} server`, together, () => {
  // Before the stage is struck: hooks run in the order in which they are named.
  after(() => {
    const name = `${serviceInstances.plural}.${serviceInstances.group}`;
    return stories.stage.kube.delete(customResourceDefinitions, { name });
  });
  const stories = new Stories("document");
  before(() => installForeignKind(stories.stage.kube, serviceInstances));

  for (const { file, family, keyName, rotation, frequencyMs } of manifests) {
    stories.tell(
      file.replace(".yaml", ""),
      `the manifest in ${file} makes a binding, and says when it will be rotated`,
      { isUnmade: true, families: [family] },
      async (binding) => {
        await apply(binding, await filledIn(binding, file));
        const view = await binding.calm();
        assert.match(view.activeName ?? "", keyName);
        assert.match(view.condition("Ready"), /^True/);
        assert.match(view.condition("Synced"), /^True/);
        assertHolds(view.object?.spec, rotation);
        const dueAt = new Date(view.createdAt + frequencyMs).toISOString().replace(".000Z", "Z");
        const said = view.condition("RotationStatus");
        assert.ok(said.startsWith("True Enabled: ") && said.includes(dueAt), `${said} names ${dueAt}`);
      },
    );
  }

  stories.tell(
    "cycle",
    "a key is retired at its frequency, kept until its deletionDate, and deleted then",
    { rotation: { ttl: "6s", frequency: "3s" } },
    async (binding) => {
      const first = binding.view();
      const { activeId: firstId = "" } = first;
      const second = await binding.rotated(first);
      assert.ok(second.createdAt - first.createdAt >= 3_000, "not before its time");
      assert.ok(second.createdAt - first.createdAt <= 6_000, "and not long after it");
      const [retired] = second.retired;
      assert.ok(retired);
      assert.equal(retired.id, firstId);
      assert.equal(retired.name, first.activeName);
      assert.equal(retired.createdAt, first.createdAt);
      assert.ok(retired.deletionAt >= first.createdAt + 6_000, "createdDate + ttl at the earliest");
      assert.ok(second.outside.includes(firstId), "a retired key lives on");
      const without = await binding.until("the first key to be deleted", ({ outside }) => !outside.includes(firstId));
      assert.ok(Date.now() >= retired.deletionAt, "not before its deletionDate");
      assert.ok(without.works);
      await binding.until("it to be forgotten", (view) => !view.retired.some(({ id }) => id === firstId));
      const third = await binding.until("the next rotation", ({ sequence }) => sequence > second.sequence);
      assert.ok(third.createdAt >= second.createdAt);
      const told = await binding.stage.eventsOf(binding.name);
      assert.ok(told.length >= 2, `rotations and deletions are told of: ${told.join(" | ")}`);
    },
  );

  stories.tell(
    "many",
    "more than one key may be retired at a time; that is accepted with a warning",
    { rotation: { ttl: "8s", frequency: "2s" } },
    async (binding) => {
      assert.match(binding.view().condition("RotationStatus"), /^True EnabledWithWarning: .*retired keys/);
      // A key that is still to be made has retired the one before it already.
      await binding.until(
        "two retired keys beside the active one",
        ({ retired, outside, isPending }) => !isPending && retired.length >= 2 && outside.length >= 3,
      );
    },
  );

  stories.tell(
    "no-overlap",
    "ttl = frequency is accepted with a warning",
    { rotation: { ttl: "2s", frequency: "2s" } },
    async (binding) => {
      const first = binding.view();
      assert.match(first.condition("RotationStatus"), /^True EnabledWithWarning: .*overlap/);
      const second = await binding.until(
        "the next key",
        ({ activeId }) => activeId !== undefined && activeId !== first.activeId,
      );
      assert.ok(second.secret !== undefined);
    },
  );

  stories.tell("static", "without spec.rotation there is one key, on the same path, for ever", async (binding) => {
    const first = binding.view();
    assert.match(first.condition("RotationStatus"), /^False Disabled/);
    assert.match(first.condition("Ready"), /^True/);
    assert.equal(first.sequence, 1);
    await binding.remains(4_000, ({ activeId, outside }) => activeId === first.activeId && outside.length === 1);
  });

  stories.tell(
    "pending",
    "while a new key takes its time, atProvider, external-name and Secret stay those of the old one",
    { rotation: { ttl: "1h", frequency: "3s" }, instance: { brokerLatencyMs: 1_000 } },
    async (binding) => {
      const first = binding.view();
      const during = await binding.until("a key to be made", ({ isPending }) => isPending);
      assert.equal(during.activeId, first.activeId);
      assert.equal(during.externalName, first.activeId);
      assert.equal(during.secret?.keyId, first.activeId);
      assert.ok(during.works);
      assert.deepEqual(
        during.retired.map(({ id }) => id),
        [...first.retired.map(({ id }) => id), first.activeId],
        "the just retired key is told of twice",
      );
      await binding.until("the new key", ({ activeId }) => activeId !== first.activeId);
    },
  );
});

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
