import { keyOf, type ObjectMeta } from "../../kube/objects.ts";

interface Asked {
  readonly uid: string | undefined;
  readonly sequence: number;
  readonly at: number;
}

/**
 * When this process asked the outside for the keys that are pending: an intent may be much older than that, where the
 * outside could not be asked. Only tells how soon to look again; forgetting is always safe.
 */
export class AskedKeys {
  readonly #asked = new Map<string, Asked>();

  remember(metadata: ObjectMeta, sequence: number, at: number): void {
    this.#asked.set(keyOf(metadata), { uid: metadata.uid, sequence, at });
  }

  at(metadata: ObjectMeta, sequence: number | undefined): number | undefined {
    const asked = this.#asked.get(keyOf(metadata));
    return asked && asked.uid === metadata.uid && asked.sequence === sequence ? asked.at : undefined;
  }

  forget(key: string): void {
    this.#asked.delete(key);
  }
}
