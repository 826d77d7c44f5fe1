import { OWNER_LABELS } from "../../api/custom-resource.ts";
import { korifiResources } from "../../api/korifi/korifi-resources.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import { ifFound } from "../../kube/if-found.ts";
import type { KubeObject } from "../../kube/objects.ts";
import type { Kube } from "../../kube/port.ts";
import type { EventRecorder } from "../../report/event-recorder.ts";
import { crdType } from "../../runtime/operator.ts";
import type { Outcome } from "../../runtime/workers.ts";
import type { KorifiCaches } from "./korifi-caches.ts";

/** Whether the kinds are looked after although somebody else seems to. */
export type KorifiMode = "auto" | "on";

export interface StrangersOptions {
  readonly mode: KorifiMode;
  readonly kube: Pick<Kube, "get">;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly caches: Pick<KorifiCaches, "strangeObject" | "isStrange">;
  readonly events: Pick<EventRecorder, "record">;
}

/** No more often is the server asked whose the kinds are. */
const ASK_MS = 60_000;
const REMEDY = "where no other controller looks after them any more, run the operator with --korifi on";
const EVERYWHERE = "";

/**
 * Whether the controllers of Korifi itself look after these kinds: everywhere where its CRDs are installed, and in a
 * namespace where somebody else has written a status. There all of them are left alone, unless whoever runs the operator has
 * said otherwise: of two that write the same Secrets, each undoes what the other does. Must not: write to any of them.
 */
export class Strangers {
  readonly #options: StrangersOptions;
  #asked: { readonly at: number; readonly answer: Promise<string | undefined> } | undefined;
  /** Why, by namespace. */
  readonly #told = new Map<string, string>();
  readonly #toldOf = new WeakMap<KubeObject, string>();

  constructor(options: StrangersOptions) {
    this.#options = options;
  }

  /** When to look again, where everything in the namespace is to be left alone; undefined: it is ours. */
  async leaveAlone(namespace: string, signal: AbortSignal): Promise<Outcome | undefined> {
    return (await this.#reason(namespace, signal)) === undefined ? undefined : this.#later();
  }

  /** The same for an object, which is told of it where nobody else looks after it either. */
  async leaveObjectAlone(object: KubeObject, signal: AbortSignal): Promise<Outcome | undefined> {
    const reason = await this.#reason(object.metadata.namespace ?? "", signal);
    if (reason === undefined) return undefined;
    const { caches, events } = this.#options;
    const isNews = this.#toldOf.get(object) !== reason;
    this.#toldOf.set(object, reason);
    if (isNews && !this.#told.has(EVERYWHERE) && !caches.isStrange(object)) {
      const note = `left alone, since ${reason}: ${REMEDY}`;
      await events.record(
        object,
        { type: "Warning", reason: "LeftAlone", action: "Reconcile", note, id: note },
        signal,
      );
    }
    return this.#later();
  }

  #later(): Outcome {
    return { kind: "recheck", at: this.#options.clock.now() + ASK_MS };
  }

  async #reason(namespace: string, signal: AbortSignal): Promise<string | undefined> {
    const { mode, caches } = this.#options;
    if (mode === "on") return undefined;
    const everywhere = await this.#definedBy(signal);
    this.#tell(EVERYWHERE, everywhere);
    if (everywhere !== undefined) return everywhere;
    const here = caches.strangeObject(namespace);
    this.#tell(namespace, here);
    return here;
  }

  #tell(namespace: string, reason: string | undefined): void {
    if (reason === this.#told.get(namespace)) return;
    const { logger } = this.#options;
    const where = namespace === EVERYWHERE ? {} : { namespace };
    if (reason === undefined) {
      this.#told.delete(namespace);
      logger.info("service instances and bindings of Korifi are looked after again", where);
    } else {
      this.#told.set(namespace, reason);
      logger.warn("service instances and bindings of Korifi are left alone", { ...where, reason, remedy: REMEDY });
    }
  }

  #definedBy(signal: AbortSignal): Promise<string | undefined> {
    const now = this.#options.clock.monotonic();
    if (this.#asked === undefined || now - this.#asked.at >= ASK_MS) {
      const answer = this.#ask(signal);
      this.#asked = { at: now, answer };
      // Whoever asks next asks again.
      answer.catch(() => {
        this.#asked = undefined;
      });
    }
    return this.#asked.answer;
  }

  async #ask(signal: AbortSignal): Promise<string | undefined> {
    for (const { plural, group } of korifiResources) {
      const name = `${plural}.${group}`;
      const definition = await ifFound(this.#options.kube.get(crdType, { name }, { metadataOnly: true, signal }));
      const labels = definition?.metadata.labels ?? {};
      const isOurs = Object.entries(OWNER_LABELS).every(([label, value]) => labels[label] === value);
      if (!isOurs) return `the CustomResourceDefinition ${name} is not Keyturn's`;
    }
    return undefined;
  }
}
