import assert from "node:assert/strict";
import { inlineSecret } from "../../../src/bind/bind-objects.fixture.ts";
import { installForeignKind } from "../../../src/reconcile/objects.fixture.ts";
import type { BindStage } from "../../bind-cluster/bind-stage.ts";
import { applyManifest, manifests } from "../../bind-cluster/document-stories.ts";
import { Consumers } from "../../failover/consumers.ts";
import { documentStories } from "../../korifi/document-stories.ts";
import type { KorifiScene } from "../../korifi/korifi-scene.ts";
import type { KorifiWorld } from "../../korifi/korifi-world.ts";
import { tell } from "../../korifi/story.ts";
import { applyDocument, documentManifests, serviceInstances } from "../../rotation/document-manifests.ts";
import type { Stage } from "../../rotation/stage.ts";
import { StoryBinding } from "../../rotation/story-binding.ts";
import { eventually } from "../../support/eventually.ts";

/** Stories of applications that need no pod; what they leave is there to be upgraded. */
const TOLD = ["instance", "example", "services"];
/** Servers whose key is rotated every few seconds. */
const QUICK_DNS = "quick-dns";

export interface DocumentsOptions {
  readonly stage: Stage;
  readonly bind: BindStage;
  readonly korifi: KorifiWorld;
}

/**
 * What the five documents write down, applied and seen to work; it is rotated after days, if at all, so that nothing of it
 * may change while somebody upgrades the operator.
 */
export class Documents {
  readonly #options: DocumentsOptions;
  readonly #consumers: Consumers;
  readonly #bindings: StoryBinding[] = [];
  readonly #scenes: KorifiScene[] = [];

  constructor(options: DocumentsOptions) {
    this.#options = options;
    this.#consumers = new Consumers(options.stage.kube, { replicas: 0 });
  }

  async begin(): Promise<void> {
    const { stage, bind } = this.#options;
    await installForeignKind(stage.kube, serviceInstances);
    await Promise.all([
      this.#applyBindings("first"),
      this.#tellStories(),
      ...manifests.map((file) => applyManifest(bind, file)),
      this.#quickServers(),
    ]);
  }

  /** What can be applied under other names is, beside what is there. */
  async again(): Promise<void> {
    await Promise.all([this.#applyBindings("again"), this.#tellStories()]);
  }

  /** What was wrong at any moment, or is not as it was. */
  async problems(logs: readonly string[]): Promise<readonly string[]> {
    const { korifi, bind } = this.#options;
    const { rolls, changes } = this.#consumers.ledger;
    const told = await Promise.all(this.#scenes.map(({ namespace }) => korifi.problemsIn(namespace)));
    return [
      ...told.flat(),
      ...(await korifi.leaks(logs)),
      ...bind.guard.problems,
      ...bind.kubelet.problems,
      ...(rolls + changes === 0 ? [] : [`${changes} changes and ${rolls} restarts of what is not to be rotated`]),
      ...this.#bindings.flatMap(({ name, stage }) => stage.guard.problemsOf(name)),
    ];
  }

  /** The bindings go, and their keys with them. */
  async end(): Promise<void> {
    await Promise.all(this.#bindings.map((binding) => binding.end()));
  }

  async close(): Promise<void> {
    await this.#consumers.stop();
  }

  async #applyBindings(round: string): Promise<void> {
    const { stage } = this.#options;
    const applied = documentManifests.map(async (manifest, index) => {
      const { family } = manifest;
      const name = `upgrade-${family.controller}-${round}-${"abcdef"[index]}`;
      const binding = new StoryBinding(stage, { family, name, patienceMs: 90_000 });
      this.#bindings.push(binding);
      await applyDocument(binding, manifest);
      // Somebody who has opted in, and has no reason to be restarted.
      await this.#consumers.add(stage, binding.secretRef);
    });
    await Promise.all(applied);
  }

  async #tellStories(): Promise<void> {
    const { korifi, stage } = this.#options;
    const stories = documentStories.filter(({ name }) => TOLD.includes(name));
    assert.equal(stories.length, TOLD.length);
    const told = stories.map(async (story) => {
      const scene = await korifi.scene(story.name);
      this.#scenes.push(scene);
      await tell(story, scene, stage);
      if (story.name === "example") await this.#runApp(scene);
    });
    await Promise.all(told);
  }

  /** The application of that binding, which has opted in. */
  async #runApp(scene: KorifiScene): Promise<void> {
    await scene.app("web", { isOptedIn: true, replicas: 0 });
    await scene.running("web", "web-db");
  }

  async #quickServers(): Promise<void> {
    const scene = await this.#options.bind.scene(QUICK_DNS);
    const rndcKeys = { autoRotate: true, rotateAfter: "8s", overlap: "4s", secret: inlineSecret(`${QUICK_DNS}-key`) };
    await scene.create("Bind9Cluster", QUICK_DNS, { spec: { global: { rndcKeys }, primary: { replicas: 1 } } });
    await eventually(
      "its key to be published",
      async () => (await scene.get("Secret", `${QUICK_DNS}-key`)) ?? undefined,
    );
  }
}
