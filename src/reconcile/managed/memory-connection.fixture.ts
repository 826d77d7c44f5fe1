import { Redacted } from "../../base/redacted.ts";
import type {
  Connection,
  Created,
  CreateRequest,
  DescribedInstance,
  MarkFilter,
  Marks,
  OutsideKey,
} from "../../providers/contract.ts";
import { ProviderError } from "../../providers/provider-error.ts";

export const INSTANCE = "instance-1";

/** An external system that is nothing but a list of keys, and the hands on it that no caller has. */
export class MemoryConnection implements Connection {
  readonly keys = new Map<string, OutsideKey>();
  /** Keys that cannot be deleted now. */
  readonly stuck = new Set<string>();
  /** Keys that lists do not show, though they are there. */
  readonly unlisted = new Set<string>();
  /** Deletes are accepted, and done when somebody says so. */
  isSlow = false;
  hasInstance = true;
  /** The id that is asked for can be no instance at all. */
  refusesInstance = false;
  /** How often it was asked for anything. */
  requests = 0;
  /** Runs after a list is made and before it arrives. */
  onListed: () => Promise<void> = async () => {};

  put(id: string, marks?: Marks, state: OutsideKey["state"] = "ready"): OutsideKey {
    const key: OutsideKey = { id, name: `name-${id}`, instanceId: INSTANCE, state, ...(marks && { marks }) };
    this.keys.set(id, key);
    return key;
  }

  get ids(): readonly string[] {
    return [...this.keys.keys()].sort();
  }

  /** What is being deleted is gone now. */
  finish(): void {
    for (const [id, { state }] of this.keys) if (state === "deleting") this.keys.delete(id);
  }

  async listMarked({ clusterId, owner }: MarkFilter): Promise<readonly OutsideKey[]> {
    this.requests++;
    const listed = [...this.keys.values()].filter(({ id, marks }) => {
      if (marks?.clusterId !== clusterId || this.unlisted.has(id)) return false;
      const isNamed = marks.ownerName === owner?.name && marks.ownerNamespace === owner.namespace;
      return !owner || (marks.ownerKind === owner.kind && (marks.ownerUid === owner.uid || isNamed));
    });
    await this.onListed();
    return listed;
  }

  async findByName(instanceId: string, name: string): Promise<readonly OutsideKey[]> {
    this.requests++;
    return [...this.keys.values()].filter((key) => key.instanceId === instanceId && key.name === name);
  }

  async observe(id: string): Promise<OutsideKey | undefined> {
    this.requests++;
    return this.keys.get(id);
  }

  async create({ name, marks }: CreateRequest): Promise<Created> {
    this.requests++;
    const key = { ...this.put(`id-of-${name}`, marks), name };
    this.keys.set(key.id, key);
    return { kind: "ready", key, credentials: new Redacted({ password: name }) };
  }

  async readCredentials(id: string): Promise<Redacted<Readonly<Record<string, unknown>>>> {
    this.requests++;
    return new Redacted({ password: this.keys.get(id)?.name });
  }

  async delete(id: string): Promise<"gone" | "accepted"> {
    this.requests++;
    if (this.stuck.has(id)) throw new ProviderError("ProviderUnavailable", `${id} cannot be deleted now`);
    const key = this.keys.get(id);
    if (key && this.isSlow) this.keys.set(id, { ...key, state: "deleting" });
    else this.keys.delete(id);
    return key && this.isSlow ? "accepted" : "gone";
  }

  async mark(id: string, marks: Marks | undefined): Promise<void> {
    this.requests++;
    const { marks: _, ...bare } = this.keys.get(id) ?? this.put(id);
    this.keys.set(id, marks ? { ...bare, marks } : bare);
  }

  async observeInstance(): Promise<"present" | "gone"> {
    this.requests++;
    if (this.refusesInstance) throw new ProviderError("ProviderRefused", "that can be no instance");
    return this.hasInstance ? "present" : "gone";
  }

  async describeInstance(id: string): Promise<DescribedInstance | undefined> {
    this.requests++;
    return this.hasInstance ? { id, name: "orders-db", offering: "postgresql", plan: "small", tags: [] } : undefined;
  }
}
