import { DERIVED_FROM, DERIVED_LABEL } from "../../api/korifi/names.ts";
import { type DerivedFrom, readDerivedFrom } from "../../korifi/derived-from.ts";
import { secretType } from "../../publish/secret-publisher.ts";
import { consumedSecret, type ReadSecret, type SecretReading } from "./consumed-secret.ts";
import { SharedReads } from "./shared-reads.ts";

/** A Secret that was made from others. */
export interface DerivedSecret {
  readonly name: string;
  /** Those, each with the key that it held then. */
  readonly origins: DerivedFrom;
  readonly secret: ReadSecret;
}

export const DERIVED_SELECTOR = `${DERIVED_LABEL}=true`;

/** They are read whole. */
const PAGE = 100;
const LISTS_AT_A_TIME = 2;

/**
 * Lists the Secrets of a namespace that were made from others, live. Whoever asks while a list is under way shares the next
 * one. Must not: keep a value.
 */
export class DerivedLister {
  readonly #options: SecretReading;
  readonly #lists = new SharedReads<readonly DerivedSecret[]>(LISTS_AT_A_TIME);

  constructor(options: SecretReading) {
    this.#options = options;
  }

  /** By a list that begins after this call. */
  derivedIn(namespace: string, signal: AbortSignal): Promise<readonly DerivedSecret[]> {
    return this.#lists.read(namespace, this.#lists.mark(), () => this.#list(namespace, signal));
  }

  async #list(namespace: string, signal: AbortSignal): Promise<readonly DerivedSecret[]> {
    const derived: DerivedSecret[] = [];
    let next: string | undefined;
    do {
      const options = { namespace, labelSelector: DERIVED_SELECTOR, limit: PAGE, signal };
      const page = await this.#options.kube.list(secretType, { ...options, ...(next && { continue: next }) });
      for (const object of page.items) {
        const { name, annotations } = object.metadata;
        const origins = readDerivedFrom(annotations?.[DERIVED_FROM] ?? "");
        // Items of a list do not say what they are.
        derived.push({ name, origins, secret: consumedSecret(this.#options, { ...object, kind: secretType.kind }) });
      }
      next = page.continue;
    } while (next);
    return derived;
  }
}
