import { OWNER_LABELS } from "../../api/custom-resource.ts";
import { korifiResources } from "../../api/korifi/korifi-resources.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import { ifFound } from "../../kube/if-found.ts";
import type { Kube } from "../../kube/port.ts";
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
  readonly caches: Pick<KorifiCaches, "strangeObject">;
}

/** No more often is the server asked whose the kinds are. */
const ASK_MS = 60_000;

/**
 * Whether the controllers of Korifi itself look after these kinds: its CRDs are installed, or somebody else has written a
 * status. Then all of them are left alone, unless whoever runs the operator has said otherwise: of two that write the same
 * Secrets, each undoes what the other does. Must not: write anything.
 */
export class Strangers {
  readonly #options: StrangersOptions;
  #asked: { readonly at: number; readonly answer: Promise<string | undefined> } | undefined;
  #told: string | undefined;

  constructor(options: StrangersOptions) {
    this.#options = options;
  }

  /** When to look again, where everything is to be left alone; undefined: it is ours. */
  async leaveAlone(signal: AbortSignal): Promise<Outcome | undefined> {
    const { mode, clock, logger, caches } = this.#options;
    if (mode === "on") return undefined;
    const reason = caches.strangeObject() ?? (await this.#definedBy(signal));
    if (reason !== this.#told) {
      if (reason !== undefined) logger.info("service instances and bindings of Korifi are left alone", { reason });
      else logger.info("service instances and bindings of Korifi are looked after again");
      this.#told = reason;
    }
    return reason === undefined ? undefined : { kind: "recheck", at: clock.now() + ASK_MS };
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
