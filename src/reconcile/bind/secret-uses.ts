/**
 * Which Secrets an object depends on, as its last look found: whose keys a change of one concerns. Filled by the looks that
 * every start begins with.
 */
export class SecretUses {
  readonly #names = new Map<string, readonly string[]>();
  readonly #users = new Map<string, Set<string>>();

  /** `key` is `namespace/name`; the Secrets are of its namespace. */
  note(key: string, names: readonly string[]): void {
    this.forget(key);
    const namespace = key.slice(0, key.indexOf("/"));
    const secrets = names.map((name) => `${namespace}/${name}`);
    this.#names.set(key, secrets);
    for (const secret of secrets) {
      const users = this.#users.get(secret) ?? new Set();
      this.#users.set(secret, users.add(key));
    }
  }

  forget(key: string): void {
    for (const secret of this.#names.get(key) ?? []) {
      const users = this.#users.get(secret);
      users?.delete(key);
      if (users?.size === 0) this.#users.delete(secret);
    }
    this.#names.delete(key);
  }

  usersOf(secret: string): readonly string[] {
    return [...(this.#users.get(secret) ?? [])];
  }
}
