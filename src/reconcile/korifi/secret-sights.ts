import type { SecretView } from "../../korifi/model.ts";
import { keyOf } from "../../kube/objects.ts";
import type { KorifiCaches } from "./korifi-caches.ts";
import { type LiveSecrets, type SecretVersion, versionWord } from "./live-secrets.ts";

const ABSENT = "-";

/** The Secrets that one look has looked at, in the order in which it did. */
export class SecretSights {
  readonly #secrets: LiveSecrets;
  readonly #namespace: string;
  readonly #ownerUid: string | undefined;
  readonly #views = new Map<string, SecretView | undefined>();
  readonly #words = new Map<string, string>();
  #isRead = false;

  /** Where an owner is told, what this process wrote for it is not read again. */
  constructor(secrets: LiveSecrets, namespace: string, ownerUid?: string) {
    this.#secrets = secrets;
    this.#namespace = namespace;
    this.#ownerUid = ownerUid;
  }

  /** Those that the watch knows nothing of are not there. */
  async look(names: Iterable<string>, signal: AbortSignal): Promise<void> {
    const unseen = [...new Set(names)].filter((name) => !this.#views.has(name));
    await Promise.all(
      unseen.map(async (name) => {
        if (this.#secrets.mayBe(this.#namespace, name)) await this.lookLive(name, signal);
        else this.add(name, undefined);
      }),
    );
  }

  async lookLive(name: string, signal: AbortSignal): Promise<SecretView | undefined> {
    const remembered = this.#remembered(name);
    if (!remembered) this.#isRead = true;
    const view = remembered ?? (await this.#secrets.read(this.#namespace, name, signal));
    this.add(name, view);
    return view;
  }

  /** One that others are made from, as the watch tells of it. */
  async lookWatched(name: string, signal: AbortSignal): Promise<SecretView | undefined> {
    const view = await this.#secrets.watched(this.#namespace, name, signal);
    this.add(name, view);
    return view;
  }

  #remembered(name: string): SecretView | undefined {
    const uid = this.#ownerUid;
    const view = uid === undefined ? undefined : this.#secrets.remembered(this.#namespace, name);
    return view?.ownerUids.includes(uid ?? "") ? view : undefined;
  }

  /** Nothing had to be read: whatever is there, this process has written. */
  get isOurs(): boolean {
    return !this.#isRead;
  }

  add(name: string, view: SecretView | undefined): void {
    this.#views.set(name, view);
    this.#words.set(name, view ? versionWord(view.uid, view.version) : ABSENT);
  }

  has(name: string): boolean {
    return this.#views.has(name);
  }

  get(name: string): SecretView | undefined {
    return this.#views.get(name);
  }

  get present(): readonly SecretView[] {
    return [...this.#views.values()].filter((view) => view !== undefined);
  }

  noteWritten(name: string, { uid, version }: SecretVersion): void {
    this.#words.set(name, versionWord(uid, version));
  }

  /** Whether it is there by now. */
  isThere(name: string): boolean {
    return (this.#words.get(name) ?? ABSENT) !== ABSENT;
  }

  /** The version that was seen, or written since; undefined: nobody has looked. */
  wordOf(name: string): string | undefined {
    return this.#words.get(name);
  }
}

/** The version of a Secret as the watch knows it. */
export function knownWord(caches: Pick<KorifiCaches, "secret">, namespace: string, name: string): string {
  const entry = caches.secret(keyOf({ namespace, name }));
  return entry ? versionWord(entry.uid, entry.resourceVersion) : ABSENT;
}
