import { ANCHOR_SECRET } from "../../src/audit/audit-ledger.ts";
import { type KubeObject, keyOf } from "../../src/kube/objects.ts";
import type { Kube } from "../../src/kube/port.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { managedKinds } from "../../src/reconcile/managed-kinds.ts";
import { Mirror } from "../rotation/mirror.ts";

/** Stands in every secret that a sandbox gives out. */
const CANARY = "sandbox-secret";
/** Long enough to be no word of anybody's. */
const SECRET_WORD = /[\w+/=-]{16,}/g;

/**
 * What has ever stood in a Secret while somebody looked on, and never in a resource that may be read without the right to
 * read Secrets. Must not: say what it was; only whose.
 */
export class KeyMaterial {
  readonly #kube: Kube;
  readonly #mirrors: readonly Mirror[];
  /** Whose it is, by how it would be written. */
  readonly #forms = new Map<string, string>([[CANARY, "a sandbox"]]);
  readonly #open = new Set<string>();

  static async watch(kube: Kube): Promise<KeyMaterial> {
    const material = new KeyMaterial(kube);
    await material.#mirrors[0]?.synced();
    return material;
  }

  private constructor(kube: Kube) {
    this.#kube = kube;
    this.#mirrors = [
      new Mirror(kube, secretType, (secret) => this.#remember(secret)),
      ...managedKinds.map(({ type }) => new Mirror(kube, type, (object) => this.#allow(object))),
    ];
  }

  /** The Secrets of which something stands in a text. */
  async leaksIn(...texts: readonly string[]): Promise<readonly string[]> {
    const found = (): readonly (readonly [string, string])[] =>
      [...this.#forms].filter(([form]) => !this.#open.has(form) && texts.some((text) => text.includes(form)));
    // A watch may be behind with what anybody may read.
    if (found().length > 0) await this.#readOpen();
    return [...new Set(found().map(([, whose]) => whose))];
  }

  async stop(): Promise<void> {
    await Promise.all(this.#mirrors.map((mirror) => mirror.stop()));
  }

  #remember({ metadata, data = {} }: KubeObject): void {
    // Kept where few may write, and told to whoever verifies the log.
    if (metadata.name === ANCHOR_SECRET) return;
    this.#allow(metadata);
    for (const [field, value] of Object.entries(data as Readonly<Record<string, string>>)) {
      const words = Buffer.from(value, "base64").toString().match(SECRET_WORD) ?? [];
      const forms = words.flatMap((word) => [word, Buffer.from(word).toString("hex")]);
      if (words.length > 0) forms.push(value);
      for (const form of forms) this.#forms.set(form, `Secret ${keyOf(metadata)}, ${field}`);
    }
  }

  /** Whatever stands there, anybody may know. */
  #allow(object: object): void {
    for (const [word] of JSON.stringify(object).matchAll(SECRET_WORD)) this.#open.add(word);
  }

  async #readOpen(): Promise<void> {
    for (const { type } of managedKinds) {
      const { items } = await this.#kube.list(type).catch(() => ({ items: [] }));
      for (const item of items) this.#allow(item);
    }
  }
}
