import type { Clock } from "../../base/clock.ts";
import type { Random } from "../../base/random.ts";
import { Redacted } from "../../base/redacted.ts";
import { ifFound } from "../../kube/if-found.ts";
import type { Kube } from "../../kube/port.ts";
import type { Connection } from "../../providers/contract.ts";
import type { HttpPort } from "../../providers/http-port.ts";
import { Fingerprinter } from "../../publish/fingerprint.ts";
import { secretType } from "../../publish/secret-publisher.ts";
import { establishIdentity, FINGERPRINT_KEY_NAME } from "../../reconcile/cluster-identity.ts";
import type { ManagedFamily } from "../../reconcile/managed/family.ts";
import { FamilySource } from "../../reconcile/managed/family-source.ts";
import { namespaceType } from "../../reconcile/restart/restart-sources.ts";

interface BenchParts {
  readonly kube: Kube;
  readonly clock: Clock;
  readonly random: Random;
  readonly http: HttpPort;
  /** Where the operator keeps what is its own. */
  readonly ownNamespace: string;
  readonly signal: AbortSignal;
  /** Whether somebody wants it to end: what is begun is finished, and nothing else is begun. */
  readonly isStopped: () => boolean;
}

/** What the operator is known by here, as far as it is known. */
interface KnownIdentity {
  readonly clusterId: string;
  /** Undefined until the operator, or an import, has made the key of the fingerprints. */
  readonly fingerprinter: Fingerprinter | undefined;
}

/** What looks and steps are done with: the cluster, and the external systems that ProviderConfigs lead to. */
export class Bench {
  readonly parts: BenchParts;
  readonly #connections = new Map<string, Promise<Connection>>();
  #identity: KnownIdentity | undefined;

  constructor(parts: BenchParts) {
    this.parts = parts;
  }

  get kube(): Kube {
    return this.parts.kube;
  }

  get signal(): AbortSignal {
    return this.parts.signal;
  }

  now(): number {
    return this.parts.clock.now();
  }

  /** Read only: what is not there is not made. */
  async identity(): Promise<KnownIdentity> {
    if (this.#identity?.fingerprinter) return this.#identity;
    const { kube, ownNamespace: namespace, signal } = this.parts;
    const ref = { namespace, name: FINGERPRINT_KEY_NAME };
    const isThere = (await ifFound(kube.get(secretType, ref, { metadataOnly: true, signal }))) !== undefined;
    if (isThere) return this.makeIdentity();
    const { metadata } = await kube.get(namespaceType, { name: "kube-system" }, { metadataOnly: true, signal });
    return { clusterId: metadata.uid ?? "", fingerprinter: undefined };
  }

  async makeIdentity(): Promise<KnownIdentity> {
    const { kube, random, ownNamespace: namespace, signal } = this.parts;
    this.#identity = await establishIdentity({ kube, random, namespace, signal });
    return this.#identity;
  }

  /** The external system of a ProviderConfig; nothing is held for it. One log-in for all that is imported. */
  connect(family: ManagedFamily, providerConfig: string): Promise<Connection> {
    const key = `${family.name}/${providerConfig}`;
    const known = this.#connections.get(key);
    if (known) return known;
    const { kube, clock, http, random, signal } = this.parts;
    // To visit nothing is compared, so any key will do.
    const fingerprinter = new Fingerprinter(new Redacted(random.bytes(32)));
    const connecting = new FamilySource(family, { kube, clock, http, fingerprinter }).visit(providerConfig, signal);
    this.#connections.set(key, connecting);
    connecting.catch(() => this.#connections.delete(key));
    return connecting;
  }
}
