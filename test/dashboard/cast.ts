import { serviceBinding } from "../../src/api/btp/service-binding.ts";
import { NotServed } from "../../src/kube/errors.ts";
import type { KubeObject } from "../../src/kube/objects.ts";
import type { Kube } from "../../src/kube/port.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { PACE_ANNOTATIONS } from "../../src/restart/annotations.ts";
import { namespaces } from "../conformance/kinds.ts";
import { btp } from "../families/btp.ts";
import type { Fields, KeyStatus } from "../families/family.ts";
import { ignoreMissing } from "../rotation/stage.ts";
import { byHandAfterConsumers, StoryConsumer } from "../rotation/story-consumer.ts";
import { eventually } from "../support/eventually.ts";
import type { SandboxClient } from "../support/sandbox-client.ts";

/** Where Secrets and workloads of the stories are. */
const NAMESPACE = "play";
/** Nothing happens to it by itself while stories are told; and yet it rotates within a month. */
const SLOW = { frequency: "240h", ttl: "480h" };
const SOON = { frequency: "50m", ttl: "2h" };
/** Its retired key is due at once, and kept. */
const KEPT = { ...byHandAfterConsumers, frequency: "5s", ttl: "6s" };

const instanceOf = (index: number): string => `00000000-0000-4000-8000-00000000010${index}`;

export interface CastOptions {
  readonly kube: Kube;
  readonly sandbox: SandboxClient;
  /** The ProviderConfig that leads to the sandbox. */
  readonly config: string;
}

/**
 * Who the stories are about: a credential that they act on, with a workload that uses its Secret, one that rotates within the
 * hour, one that fails, and one whose retired key is kept for a workload that has not moved. All of them are made as people
 * make them, and what becomes of them is up to the operator.
 */
export class Cast {
  readonly namespace = NAMESPACE;
  readonly name = "story-db";
  readonly id = `${serviceBinding.kind}/story-db`;
  readonly secret = `${NAMESPACE}/story-db`;
  readonly workload = "story";
  readonly soon = "soon-db";
  readonly broken = "broken-db";
  readonly held = "held-db";
  readonly #options: CastOptions;

  constructor(options: CastOptions) {
    this.#options = options;
  }

  /** Resolves when all of them are what they are to be. */
  async enter(): Promise<void> {
    const { kube } = this.#options;
    await kube.create<KubeObject>(namespaces, {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: NAMESPACE },
    });
    await Promise.all([this.#actedOn(), this.#rotatingSoon(), this.#failing(), this.#keeping()]);
  }

  /** Takes all of it away again, for whoever comes next; an operator has to be there. */
  async leave(): Promise<void> {
    const { kube } = this.#options;
    const names = [this.name, this.soon, this.broken, this.held];
    for (const name of names) await kube.delete(serviceBinding, { name }).catch(ignoreMissing);
    await eventually("all credentials to go", async () => {
      const { items } = await kube.list(serviceBinding);
      return !items.some(({ metadata }) => names.includes(metadata.name)) || undefined;
    });
    await kube.delete(namespaces, { name: NAMESPACE }).catch(ignoreMissing);
  }

  /** Of the credential that is acted on, as the server has it now. */
  async status(): Promise<KeyStatus> {
    return btp.readStatus(await this.object());
  }

  object(): Promise<KubeObject> {
    return this.#options.kube.get(serviceBinding, { name: this.name });
  }

  async annotation(name: string): Promise<string | undefined> {
    return (await this.object()).metadata.annotations?.[name];
  }

  /** By whoever has another way to the cluster. */
  async annotate(annotations: Readonly<Record<string, string | null>>): Promise<void> {
    const body = { metadata: { annotations } };
    await this.#options.kube.patch(serviceBinding, { name: this.name }, { type: "merge", body });
  }

  /** Of its Secret, all but what is in it. */
  async secretMarks(): Promise<Readonly<Record<string, string>>> {
    const ref = { namespace: NAMESPACE, name: this.name };
    return (await this.#options.kube.get(secretType, ref, { metadataOnly: true })).metadata.annotations ?? {};
  }

  /** The ids of the keys that it has outside. */
  async keysOutside(): Promise<readonly string[]> {
    const { body } = await this.#options.sandbox.control("GET", "state");
    const bindings = body.bindings as readonly { readonly id: string; readonly instanceId: string }[];
    return bindings.filter(({ instanceId }) => instanceId === instanceOf(1)).map(({ id }) => id);
  }

  async #actedOn(): Promise<void> {
    // The broker takes its time, so that there is something to see.
    const broker = { broker: "asynchronous", brokerLatencyMs: 100, brokerWorkMs: 1200 };
    await this.#credential(this.name, 1, { rotation: SLOW }, broker);
    // Restarted as often and as soon as stories replace its key.
    const own = { [PACE_ANNOTATIONS.quietPeriod]: "0s", [PACE_ANNOTATIONS.maxPerHour]: "0" };
    await new StoryConsumer(this.#options.kube, NAMESPACE, this.workload).deploy(this.name, { own });
  }

  #rotatingSoon(): Promise<void> {
    return this.#credential(this.soon, 2, { rotation: SOON });
  }

  /** At an instance that the sandbox does not know. */
  async #failing(): Promise<void> {
    await this.#create(this.broken, 3, { rotation: SLOW });
    await this.#until(this.broken, "to fail", (status) => status.condition("Synced").startsWith("False"));
  }

  async #keeping(): Promise<void> {
    const { kube } = this.#options;
    await this.#credential(this.held, 4, { rotation: KEPT });
    const workload = new StoryConsumer(kube, NAMESPACE, "late");
    await workload.deploy(this.held);
    await workload.pause(true);
    const body = { metadata: { annotations: { [btp.forceAnnotation]: "once" } } };
    await kube.patch(serviceBinding, { name: this.held }, { type: "merge", body });
    await this.#until(this.held, "to keep a key", ({ retired }) => retired.some(({ heldFor }) => heldFor));
  }

  async #credential(name: string, index: number, spec: Fields, instance: object = {}): Promise<void> {
    await this.#options.sandbox.control("PUT", `instances/${instanceOf(index)}`, { name, ...instance });
    await this.#create(name, index, spec);
    await this.#until(name, "to have a key", ({ activeId, isPending }) => activeId !== undefined && !isPending);
  }

  async #create(name: string, index: number, spec: Fields): Promise<void> {
    const { kube, config } = this.#options;
    const secretRef = { namespace: NAMESPACE, name };
    const manifest = btp.manifest({ name, instanceId: instanceOf(index), config, secretRef, spec });
    await eventually("bindings to be served", () =>
      kube.create<KubeObject>(serviceBinding, manifest).catch((error: unknown) => {
        if (error instanceof NotServed) return undefined;
        throw error;
      }),
    );
  }

  async #until(name: string, what: string, isSo: (status: KeyStatus) => boolean): Promise<void> {
    await eventually(`${name} ${what}`, async () => {
      const status = btp.readStatus(await this.#options.kube.get(serviceBinding, { name }));
      return isSo(status) || undefined;
    });
  }
}
