import { AccountStore } from "../ground/account-store.ts";
import { Ground } from "../ground/ground.ts";
import { BindingStore } from "./binding-store.ts";
import type {
  Attempt,
  BindingRecord,
  ClientRecord,
  InstanceRecord,
  OperationRecord,
  SandboxSnapshot,
  TokenRecord,
} from "./records.ts";
import { defaultInstance, defaultSwitches, type Switches } from "./switches.ts";

/** Finished operations can be polled, and deleted ids are remembered, for so long; of many, the last ones. */
const MEMORY_MS = 3_600_000;
const MOST_REMEMBERED = 10_000;

/** The state that the parts of the sandbox share. */
export class SandboxWorld extends Ground {
  readonly bindings = new BindingStore();
  readonly clients = new Map<string, ClientRecord>();
  readonly tokens = new Map<string, TokenRecord>();
  readonly instances = new Map<string, InstanceRecord>();
  readonly accounts = new AccountStore();
  readonly operations = new Map<string, OperationRecord>();
  readonly deleted = new Map<string, number>();
  /** By operation, in the order they began. */
  readonly attempts = new Map<string, Attempt>();
  switches: Switches = defaultSwitches;

  beginOperation(type: OperationRecord["type"], resourceId: string): OperationRecord {
    this.#forgetTheOld();
    const operation: OperationRecord = {
      id: this.uuid(),
      type,
      resourceId,
      correlationId: this.uuid(),
      startedAt: this.now(),
      startedTick: this.tick(),
      state: "in progress",
      updatedAt: this.now(),
    };
    this.operations.set(operation.id, operation);
    return operation;
  }

  #forgetTheOld(): void {
    const before = this.tick() - MEMORY_MS;
    for (const [id, { startedTick }] of this.operations) {
      if (startedTick >= before && this.operations.size < MOST_REMEMBERED) break;
      if (!this.attempts.has(id)) this.operations.delete(id);
    }
    for (const [id, tick] of this.deleted) {
      if (tick >= before && this.deleted.size < MOST_REMEMBERED) break;
      this.deleted.delete(id);
    }
  }

  snapshot(): SandboxSnapshot {
    return structuredClone({
      version: 1,
      ...this.groundSnapshot(),
      switches: this.switches,
      clients: [...this.clients.values()],
      tokens: [...this.tokens.values()],
      instances: [...this.instances.values()],
      accounts: Array.from(this.accounts.all()),
      bindings: Array.from(this.bindings.all()),
      tombstones: [...this.bindings.tombstones(this.tick())],
      operations: [...this.operations.values()],
      deleted: [...this.deleted],
      attempts: [...this.attempts.values()],
    });
  }

  /** Fills a world that has had no request yet. */
  restore(saved: SandboxSnapshot): void {
    const snapshot = structuredClone(saved);
    this.restoreGround(snapshot);
    this.switches = { ...defaultSwitches, ...snapshot.switches };
    for (const client of snapshot.clients) this.clients.set(client.id, client);
    for (const token of snapshot.tokens) this.tokens.set(token.token, token);
    for (const instance of snapshot.instances) this.instances.set(instance.id, { ...defaultInstance, ...instance });
    for (const account of snapshot.accounts) this.accounts.add(account);
    for (const operation of snapshot.operations) this.operations.set(operation.id, operation);
    for (const binding of snapshot.bindings) this.bindings.add(this.#relinked(binding));
    for (const { binding, untilTick } of snapshot.tombstones) this.bindings.bury(this.#relinked(binding), untilTick);
    for (const [id, tick] of snapshot.deleted) this.deleted.set(id, tick);
    // Nobody waits for an answer after a restart: what was waited for has been forsaken.
    for (const attempt of snapshot.attempts) {
      if (attempt.kind === "create" && attempt.mode !== "background") attempt.isForsaken = true;
      this.attempts.set(attempt.operationId, attempt);
    }
  }

  /** A binding and the list of operations share one record of the binding's last operation. */
  #relinked(binding: BindingRecord): BindingRecord {
    binding.lastOperation = this.operations.get(binding.lastOperation.id) ?? binding.lastOperation;
    return binding;
  }
}
