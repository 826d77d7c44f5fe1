/**
 * What was in order when it was last looked at, as one text of all that counts: a look at the same costs no request. Every
 * start begins without. Must not: be told of anything but versions and names.
 */
export class SoundLooks {
  readonly #signatures = new Map<string, string>();

  isSound(key: string, signature: string): boolean {
    return this.#signatures.get(key) === signature;
  }

  note(key: string, signature: string): void {
    this.#signatures.set(key, signature);
  }

  forget(key: string): void {
    this.#signatures.delete(key);
  }
}

/** `wordOf` tells the version of each Secret. */
export const signatureOf = (
  facts: readonly unknown[],
  names: Iterable<string | undefined>,
  wordOf: (name: string) => string,
): string =>
  JSON.stringify([
    ...facts,
    ...[...new Set(names)]
      .filter((name) => name !== undefined)
      .sort()
      .map((name) => `${name}=${wordOf(name)}`),
  ]);
