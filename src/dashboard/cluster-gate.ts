import { createHash } from "node:crypto";
import type { Clock } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import { Redacted } from "../base/redacted.ts";
import { KubeError } from "../kube/errors.ts";
import { describeType } from "../kube/objects.ts";
import type { Kube } from "../kube/port.ts";
import type { ManagedKind } from "../reconcile/managed/managed-kind.ts";
import { managedKinds } from "../reconcile/managed-kinds.ts";
import { mayList, type User, whoseToken } from "./access-reviews.ts";
import type { Gate, Guest } from "./gate.ts";
import type { ReadModel } from "./read-model.ts";
import { CannotServe, NotAdmitted } from "./refusals.ts";
import type { Sight } from "./sight.ts";

export interface ClusterGateOptions {
  /** With the operator's own rights: it asks about others. */
  readonly kube: Kube;
  /** The cluster for whoever bears this token. */
  readonly kubeFor: (token: Redacted<string>) => Kube;
  readonly model: ReadModel;
  readonly clock: Clock;
}

/** How old what the API server has said of a token may be. */
const TOKEN_MS = 60_000;
/** A token that is nobody's is soon asked about again: it may be new. */
const STRANGER_MS = 5_000;
const RIGHTS_MS = 30_000;
const MAX_KNOWN = 512;
/** So many questions about tokens are open at a time; whoever sends made-up ones must not keep the API server busy. */
const MAX_ASKING = 16;
/** In more namespaces than these, somebody who may not list everywhere is asked about none. */
const MAX_NAMESPACES = 200;
const NAMESPACES_AT_ONCE = 8;

const STRANGER =
  "the cluster does not know this token, or it is over: get another one, with kubectl create token for instance";

interface Known {
  readonly tick: number;
  readonly guest: Promise<ClusterGuest | undefined>;
  isOpen: boolean;
}

/**
 * Lets in whoever the cluster knows, as who they are there. Tokens are kept as digests alone, and for a minute. Must not: let
 * anybody see or do anything by the operator's own rights.
 */
export class ClusterGate implements Gate {
  readonly by = "cluster-token";
  readonly #options: ClusterGateOptions;
  readonly #known = new Map<string, Known>();
  #asking = 0;

  constructor(options: ClusterGateOptions) {
    this.#options = options;
  }

  async admit(token: string): Promise<Guest> {
    const digest = createHash("sha256").update(token).digest("base64url");
    this.#forget();
    const known = this.#known.get(digest) ?? this.#ask(digest, new Redacted(token));
    const guest = await known.guest;
    if (!guest) throw new NotAdmitted(STRANGER);
    return guest;
  }

  #ask(digest: string, token: Redacted<string>): Known {
    if (this.#asking >= MAX_ASKING) throw new CannotServe("too many tokens are being asked about: try again");
    this.#asking++;
    const known: Known = { tick: this.#options.clock.monotonic(), guest: this.#guestOf(token), isOpen: true };
    known.guest
      .then((guest) => {
        known.isOpen = guest !== undefined;
      })
      .catch(() => this.#known.delete(digest))
      .finally(() => {
        this.#asking--;
      });
    this.#known.set(digest, known);
    return known;
  }

  async #guestOf(token: Redacted<string>): Promise<ClusterGuest | undefined> {
    const { kube, kubeFor } = this.#options;
    const user = await whoseToken(kube, token).catch(cannotAsk);
    return user && new ClusterGuest(this.#options, user, kubeFor(token));
  }

  #forget(): void {
    const now = this.#options.clock.monotonic();
    for (const [digest, { tick, isOpen }] of this.#known) {
      if (now - tick > (isOpen ? TOKEN_MS : STRANGER_MS)) this.#known.delete(digest);
    }
    while (this.#known.size >= MAX_KNOWN) this.#known.delete(this.#known.keys().next().value ?? "");
  }
}

/** What is wrong is between the operator and the API server, and not with whoever asks. */
function cannotAsk(error: unknown): never {
  if (!(error instanceof KubeError)) throw error;
  throw new CannotServe(`the API server could not be asked who you are, or what you may see: ${messageOf(error)}`);
}

class ClusterGuest implements Guest {
  readonly kube: Kube;
  readonly #options: ClusterGateOptions;
  readonly #user: User;
  #sight: { readonly tick: number; readonly sight: Promise<Sight> } | undefined;

  constructor(options: ClusterGateOptions, user: User, kube: Kube) {
    this.kube = kube;
    this.#options = options;
    this.#user = user;
  }

  get name(): string {
    return this.#user.name;
  }

  sight(): Promise<Sight> {
    const tick = this.#options.clock.monotonic();
    if (this.#sight && tick - this.#sight.tick <= RIGHTS_MS) return this.#sight.sight;
    const sight = this.#look().catch(cannotAsk);
    const asked = { tick, sight };
    this.#sight = asked;
    sight.catch(() => {
      if (this.#sight === asked) this.#sight = undefined;
    });
    return sight;
  }

  async #look(): Promise<Sight> {
    const scopes = await Promise.all(managedKinds.map(async (kind) => ({ kind, scope: await this.#scopeOf(kind) })));
    const byKind = new Map(scopes.map(({ kind, scope }) => [kind.type.kind, scope]));
    return {
      key: scopes
        .map(({ kind, scope }) => `${kind.type.kind}:${scope === "all" ? "*" : [...scope].sort().join(",")}`)
        .join(" "),
      sees: ({ kind, namespace }) => {
        const scope = byKind.get(kind.type.kind);
        return scope === "all" || (namespace !== undefined && scope?.has(namespace) === true);
      },
      unseen: scopes.flatMap(({ kind, scope }) => (scope === "all" ? [] : [unseenWords(kind, scope)])),
    };
  }

  async #scopeOf({ type }: ManagedKind): Promise<"all" | ReadonlySet<string>> {
    const { kube } = this.#options;
    if (await mayList(kube, this.#user, type)) return "all";
    const allowed = new Set<string>();
    const namespaces = type.namespaced ? this.#namespacesOf(type.kind) : [];
    for (let start = 0; start < namespaces.length; start += NAMESPACES_AT_ONCE) {
      const some = namespaces.slice(start, start + NAMESPACES_AT_ONCE);
      const answers = await Promise.all(some.map((namespace) => mayList(kube, this.#user, type, namespace)));
      for (const [index, namespace] of some.entries()) if (answers[index]) allowed.add(namespace);
    }
    return allowed;
  }

  /** Of those that there is something in. */
  #namespacesOf(kind: string): readonly string[] {
    const namespaces = new Set<string>();
    for (const entry of this.#options.model.entries()) {
      if (entry.kind.type.kind === kind && entry.namespace !== undefined) namespaces.add(entry.namespace);
    }
    return [...namespaces].slice(0, MAX_NAMESPACES);
  }
}

/** Says nothing of where there would be something to see. */
function unseenWords({ type }: ManagedKind, scope: ReadonlySet<string>): string {
  if (scope.size === 0) return `${describeType(type)}: you may not list them`;
  return `${describeType(type)}: you may list them only in ${[...scope].sort().join(", ")}`;
}
