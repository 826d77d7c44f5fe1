import { apiVersionOf, type KubeObject, keyOf, type ObjectRef } from "../../src/kube/objects.ts";
import type { Kube } from "../../src/kube/port.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { digestsAnnotation, OWN_PREFIX } from "../../src/restart/annotations.ts";
import { deploymentType, kindOf } from "../../src/restart/workload-kinds.ts";
import { podSpec, secretVolume } from "../restart/shop.ts";
import { Mirror } from "../rotation/mirror.ts";
import { eventually } from "../support/eventually.ts";
import { RolloutLedger } from "./rollout-ledger.ts";

/** Where Secrets can be listened to, state by state. */
interface SecretFeed {
  onSecret(ref: ObjectRef, listener: (secret: KubeObject) => void): void;
}

/**
 * Deployments that have opted in, each to one Secret: how often that changes, and how often they are rolled out for it.
 * What was rolled out before an operator knew the workload is not counted. Must not: touch them after they were made.
 */
export class Consumers {
  readonly ledger = new RolloutLedger();
  readonly #kube: Kube;
  readonly #replicas: number;
  readonly #deployments: Mirror;
  /** As `namespace/name`: there may be others. */
  readonly #own = new Set<string>();
  readonly #digests = new Map<string, string>();
  /** What the Secret of each holds, and what it held when its workload was last rolled out. */
  readonly #contents = new Map<string, string>();
  readonly #runsOn = new Map<string, string>();

  constructor(kube: Kube, { replicas = 1 } = {}) {
    this.#kube = kube;
    this.#replicas = replicas;
    this.#deployments = new Mirror(kube, deploymentType, (deployment) => this.#see(deployment));
  }

  /** One that uses this Secret, from when its baseline is known. */
  async add(feed: SecretFeed, secretRef: ObjectRef & { readonly namespace: string }): Promise<void> {
    const { namespace, name: secretName } = secretRef;
    const name = `uses-${secretName}`;
    const labels = { app: name };
    const annotations = { [`${OWN_PREFIX}/restartOnChange`]: "true" };
    const template = { metadata: { labels, annotations }, spec: podSpec(secretVolume(secretName)) };
    feed.onSecret(secretRef, ({ data }) => this.#seeContent(name, JSON.stringify(data)));
    const { data } = await this.#kube.get(secretType, secretRef);
    // Whoever comes first, the watch or this, says what changes are told from.
    if (!this.#contents.has(name)) this.#contents.set(name, JSON.stringify(data));
    this.#own.add(keyOf({ namespace, name }));
    await this.#kube.create<KubeObject>(deploymentType, {
      apiVersion: apiVersionOf(deploymentType),
      kind: deploymentType.kind,
      metadata: { namespace, name },
      spec: { replicas: this.#replicas, selector: { matchLabels: labels }, template },
    });
    await eventually(`${name} to be known`, async () => {
      const found = this.#deployments.get({ namespace, name });
      return found?.metadata.annotations?.["keyturn.dev/restart-state"];
    });
    this.#settle(name);
  }

  /** Until all of them were rolled out for the last change. */
  async untilCurrent(patienceMs: number): Promise<void> {
    const isCurrent = async (): Promise<true | undefined> => this.ledger.behind().length === 0 || undefined;
    await eventually("the last value to be rolled out to everybody", isCurrent, patienceMs);
  }

  async stop(): Promise<void> {
    await this.#deployments.stop();
  }

  #seeContent(name: string, next: string): void {
    const before = this.#contents.get(name);
    this.#contents.set(name, next);
    if (before === undefined || before === next) return;
    this.ledger.changed(name, Date.now());
    // What is again as it was before anybody was rolled out for it needs no rollout.
    if (this.#runsOn.get(name) === next) this.ledger.settled(name);
  }

  #settle(name: string): void {
    this.ledger.settled(name);
    this.#runsOn.set(name, this.#contents.get(name) ?? "");
  }

  #see(deployment: KubeObject): void {
    const { name } = deployment.metadata;
    if (!this.#own.has(keyOf(deployment.metadata))) return;
    const digests = kindOf(deploymentType.kind)?.templateOf(deployment).annotations[digestsAnnotation(OWN_PREFIX)];
    if (digests === undefined || this.#digests.get(name) === digests) return;
    this.#digests.set(name, digests);
    this.ledger.rolled(name);
    this.#runsOn.set(name, this.#contents.get(name) ?? "");
  }
}
