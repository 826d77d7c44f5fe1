import type { Clock } from "../../base/clock.ts";
import type { Random } from "../../base/random.ts";
import { Redacted } from "../../base/redacted.ts";
import { acceptableKeys, type RingKey } from "../../bind/key-ring.ts";
import { isUnused } from "../../engine/dates.ts";
import type { ActiveKey, State } from "../../engine/model.ts";
import { ifFound } from "../../kube/if-found.ts";
import { apiVersionOf, type KubeObject, keyOf, type OwnerReference } from "../../kube/objects.ts";
import type { Kube } from "../../kube/port.ts";
import { type BindMode, type BindParameters, createBindConnection } from "../../providers/bind/bind-connection.ts";
import type { SendCommand } from "../../providers/bind/ports.ts";
import type { Connection } from "../../providers/contract.ts";
import { ProviderError } from "../../providers/provider-error.ts";
import { connectionData } from "../../publish/connection-data.ts";
import type { Fingerprinter } from "../../publish/fingerprint.ts";
import { encodeTexts } from "../../publish/secret-data.ts";
import { isEdited, secretType, sequenceOf } from "../../publish/secret-publisher.ts";
import type { KeyOfBefore } from "../../restart/pod-behind.ts";
import type { FormerOutside } from "../managed/departure.ts";
import type { ManagedKind } from "../managed/managed-kind.ts";
import { marksOf, ownerOf } from "../managed/marks.ts";
import { fieldsOf } from "../managed/read-fields.ts";
import type { Outside } from "../managed/workpiece.ts";
import type { ForeignKeys } from "./foreign-keys.ts";
import { type KeyUsersParts, KubeKeyUsers } from "./key-users.ts";
import { type RingSealing, ringSealing } from "./ring-seals.ts";
import { seenDress, wearFor } from "./rndc-key-dress.ts";
import { type InitialKey, missingInitialKey, NO_INITIAL_KEY, readInitialKey } from "./rndc-key-initial.ts";
import { KubeRingStore, type Recovery } from "./rndc-key-ring-store.ts";
import { KubeServers } from "./rndc-key-servers.ts";
import { type RndcKeySpec, readRndcKeySpec } from "./rndc-key-spec.ts";
import type { RndcKeyTroubles } from "./rndc-key-troubles.ts";

export interface RndcKeySourceOptions {
  readonly kind: ManagedKind;
  readonly kube: Kube;
  readonly clock: Clock;
  readonly random: Random;
  readonly fingerprinter: Fingerprinter;
  readonly clusterId: string;
  readonly troubles: RndcKeyTroubles;
  readonly foreign: ForeignKeys;
  /** With what those are followed who read a key when they start. */
  readonly users: KeyUsersParts;
  /** The way to named; the control protocol itself when left out. */
  readonly send?: SendCommand | undefined;
}

/**
 * Finds what an RndcKey needs: its ring and the servers that follow it as a connection, its first key, and what its Secret
 * is to wear. Must not: write anything.
 */
export class RndcKeySource {
  readonly #options: RndcKeySourceOptions;

  constructor(options: RndcKeySourceOptions) {
    this.#options = options;
  }

  async resolve(object: KubeObject, signal: AbortSignal): Promise<Outside> {
    const { kind, kube, clock, fingerprinter } = this.#options;
    const spec = readRndcKeySpec(object);
    const state = kind.readState(object);
    const { active } = state;
    const published = await ifFound(kube.get(secretType, spec.published, { metadataOnly: true, signal }));
    const initial = await this.#initialKey(spec, signal);
    const { createdAt, lack } = seenDress(spec, { metadata: published?.metadata, active, now: clock.now() });
    const dates = new Map(active && createdAt !== undefined ? [[active.id, createdAt]] : []);
    const next = state.pending?.sequence;
    const unpublished = published && sequenceOf(published.metadata) === next ? undefined : next;
    const connection = this.#connect(object, spec, { state, inUse: active?.id, unpublished, dates });
    return {
      connection,
      instanceId: keyOf(spec.ring),
      takesOverOnlyOwn: true,
      parameters: new Redacted({ ...parametersOf(spec, state, initial) }),
      fingerprint: await fingerprintOf({ connection, active, initial, fingerprinter, signal }),
      dress: { wear: wearFor(spec), extraData: initial.extraData, lack },
      madeFrom: fingerprinter.ofData({ name: spec.keyName, algorithm: spec.algorithm }),
      isComparable: (madeFrom) => fingerprinter.isComparable(madeFrom),
    };
  }

  resolveDeparture(object: KubeObject): FormerOutside {
    const spec = readRndcKeySpec(object);
    return { connection: this.#connect(object, spec, {}), instanceId: undefined };
  }

  #connect(
    object: KubeObject,
    spec: RndcKeySpec,
    how: {
      /** Absent for one that is on its way out. */
      readonly state?: State;
      readonly inUse?: string | undefined;
      readonly unpublished?: number | undefined;
      readonly dates?: ReadonlyMap<string, number>;
    },
  ): Connection {
    const { kind, kube, clock, random, clusterId, fingerprinter, troubles, foreign, send } = this.#options;
    const { state, inUse, unpublished, dates } = how;
    const owner = ownerOf(kind, object);
    const key = keyOf(object.metadata);
    return createBindConnection({
      place: keyOf(spec.ring),
      mode: this.#modeOf(spec, state),
      store: new KubeRingStore({
        kube,
        ring: spec.ring,
        published: spec.published,
        owner: ownerReferenceOf(kind, object),
        marksOf: (sequence) => marksOf(owner, clusterId, sequence),
        now: () => clock.now(),
        sealing: ringSealing(fingerprinter, spec.ring, state ? knownTo(state) : () => true),
        ...(state && {
          recovery: { isWanted: wantedBy(state), isEdited: (secret) => isEdited(secret, fingerprinter) },
        }),
      }),
      strangers: { tell: (keys, signal) => foreign.tell(object, keys, signal) },
      servers: new KubeServers({ kube, namespace: spec.ring.namespace, instances: spec.instances }),
      clock,
      random,
      ...(send && { send }),
      inUse,
      unpublished,
      isLeaving: state === undefined,
      ...(dates && { dates }),
      illnesses: { since: (id, now) => troubles.note(key, id, now), recovered: () => troubles.over(key) },
    });
  }

  #modeOf({ strategy, keyName, published: secret }: RndcKeySpec, state: State | undefined): BindMode {
    if (strategy === "Overlap") return { kind: "overlap" };
    if (!state) return { kind: "restart", keyName };
    const { users } = this.#options;
    const what = { secret, replaced: lastReplaced(state), isUrgent: isUrgent(state) };
    return { kind: "restart", keyName, users: new KubeKeyUsers({ ...users, ...what }) };
  }

  async #initialKey({ initialKey: name, ring }: RndcKeySpec, signal: AbortSignal): Promise<InitialKey> {
    if (name === undefined) return NO_INITIAL_KEY;
    const { kube } = this.#options;
    const secret = await ifFound(kube.get(secretType, { namespace: ring.namespace, name }, { signal }));
    if (!secret) throw missingInitialKey(name);
    return readInitialKey(new Redacted(fieldsOf(secret.data) as Readonly<Record<string, string>>));
  }
}

/** The key whose place the active one has taken; those that nobody ever had do not count. */
function lastReplaced({ retired }: State): KeyOfBefore | undefined {
  const replaced = retired.flatMap(({ replacedAt, ...key }) =>
    replacedAt === undefined || isUnused(key) ? [] : [{ id: key.id, replacedAt, isLast: true }],
  );
  return replaced.sort((a, b) => b.replacedAt - a.replacedAt)[0];
}

/** What is published is known to others: it is replaced whoever may be restarted for it. */
const isUrgent = ({ retired, pending, request }: State): boolean =>
  (pending !== undefined && request?.isCompromised === true) ||
  retired.some(({ cause, replacedAt }) => cause === "compromised" && replacedAt === undefined);

/**
 * A status that was lost, or is from before the key, says nothing of it: then the Secret does. Where the ring has a later key
 * that servers accept, the Secret may be from a backup, and the status too: what the ring lacks then has gone.
 */
const wantedBy =
  ({ active, pending, sequence }: State): Recovery["isWanted"] =>
  (key, ring) => {
    // A ring that is made anew has nothing but the Secret to go by, and so have those who take their key from there, unless
    // the status knows a later one.
    if (acceptableKeys(ring).length === 0 && key.sequence >= (active?.sequence ?? 0)) return true;
    const isLater = ({ phase, marks }: RingKey): boolean =>
      phase === "accepted" && (marks?.sequence ?? 0) > key.sequence;
    const isKnown = key.id === active?.id || key.sequence === pending?.sequence;
    return (key.sequence > sequence || isKnown) && !ring.keys.some(isLater);
  };

const knownTo = ({ active, pending, retired }: State): RingSealing["isKnown"] => {
  const ids = new Set([active?.id, pending?.id, ...retired.map((key) => key.id)]);
  return (id) => ids.has(id);
};

/** The key that was written out is the first one, and is never made again. */
function parametersOf({ algorithm }: RndcKeySpec, { active, retired }: State, { key }: InitialKey): BindParameters {
  const isFirst = !active && retired.length === 0;
  return { algorithm, ...(isFirst && key && { key }) };
}

/** Of what the Secret should hold now; undefined while the ring does not tell. */
async function fingerprintOf(what: {
  readonly connection: Connection;
  readonly active: ActiveKey | undefined;
  readonly initial: InitialKey;
  readonly fingerprinter: Fingerprinter;
  readonly signal: AbortSignal;
}): Promise<string | undefined> {
  const { connection, active, initial, fingerprinter, signal } = what;
  if (!active) return undefined;
  try {
    const credentials = (await connection.readCredentials(active.id, signal)).reveal();
    const { values } = encodeTexts(connectionData(credentials, { kind: "fields" }));
    return fingerprinter.ofData({ ...initial.extraData.reveal(), ...values });
  } catch (error) {
    if (error instanceof ProviderError && MISSING.has(error.code)) return undefined;
    throw error;
  }
}

const MISSING: ReadonlySet<string> = new Set(["ProviderUnavailable", "ProviderBusy"]);

function ownerReferenceOf({ type }: ManagedKind, { metadata }: KubeObject): OwnerReference {
  const { name, uid = "" } = metadata;
  return { apiVersion: apiVersionOf(type), kind: type.kind, name, uid, controller: true, blockOwnerDeletion: true };
}
