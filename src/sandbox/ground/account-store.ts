import type { Ground } from "./ground.ts";

export type AccountCredentials = {
  readonly username: string;
  readonly password: string;
  readonly hostname: string;
  readonly port: string;
  readonly uri: string;
};

/** A login at the service behind the broker; it works as long as a binding holds it. */
export interface AccountRecord {
  readonly instanceId: string;
  readonly credentials: AccountCredentials;
  readonly holders: string[];
}

/** Logins at the services behind the brokers. One works as long as a binding holds it. */
export class AccountStore {
  readonly #byUsername = new Map<string, AccountRecord>();
  readonly #byHolder = new Map<string, AccountRecord>();
  readonly #byInstance = new Map<string, Set<AccountRecord>>();

  add(account: AccountRecord): void {
    this.#byUsername.set(account.credentials.username, account);
    for (const holder of account.holders) this.#byHolder.set(holder, account);
    const siblings = this.#byInstance.get(account.instanceId);
    if (siblings) siblings.add(account);
    else this.#byInstance.set(account.instanceId, new Set([account]));
  }

  /** A login of the instance for this binding: a new one, or that of the first where all are to share it. */
  open(ground: Ground, instanceId: string, bindingId: string, isShared: boolean): AccountCredentials {
    const account = (isShared ? this.#first(instanceId) : undefined) ?? this.#new(ground, instanceId);
    this.#hold(account, bindingId);
    return account.credentials;
  }

  #new(ground: Ground, instanceId: string): AccountRecord {
    const username = `user-${Buffer.from(ground.random.bytes(8)).toString("hex")}`;
    const password = ground.secret();
    const hostname = `${instanceId}.db.sandbox.internal`;
    const port = "5432";
    const uri = `postgres://${username}:${password}@${hostname}:${port}/main`;
    const account = { instanceId, credentials: { username, password, hostname, port, uri }, holders: [] };
    this.add(account);
    return account;
  }

  #hold(account: AccountRecord, bindingId: string): void {
    account.holders.push(bindingId);
    this.#byHolder.set(bindingId, account);
  }

  /** The last holder's leaving ends the login. */
  release(bindingId: string): void {
    const account = this.#byHolder.get(bindingId);
    if (!account) return;
    this.#byHolder.delete(bindingId);
    account.holders.splice(account.holders.indexOf(bindingId), 1);
    if (account.holders.length > 0) return;
    this.#byUsername.delete(account.credentials.username);
    const siblings = this.#byInstance.get(account.instanceId);
    siblings?.delete(account);
    if (siblings?.size === 0) this.#byInstance.delete(account.instanceId);
  }

  heldBy(bindingId: string): AccountRecord | undefined {
    return this.#byHolder.get(bindingId);
  }

  #first(instanceId: string): AccountRecord | undefined {
    return this.#byInstance.get(instanceId)?.values().next().value;
  }

  holderCount(instanceId: string): number {
    let count = 0;
    for (const { holders } of this.#byInstance.get(instanceId) ?? []) count += holders.length;
    return count;
  }

  lets(username: unknown, password: unknown): boolean {
    return typeof username === "string" && this.#byUsername.get(username)?.credentials.password === password;
  }

  all(): Iterable<AccountRecord> {
    return this.#byUsername.values();
  }
}
