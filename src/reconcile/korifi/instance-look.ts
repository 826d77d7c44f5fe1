import { cfServiceInstance } from "../../api/korifi/cf-service-instance.ts";
import { type InstanceScene, ownSecretNames, planInstance } from "../../korifi/instance-plan.ts";
import { isForProjection } from "../../korifi/migration.ts";
import type { Instance } from "../../korifi/model.ts";
import type { Plan } from "../../korifi/plan.ts";
import { isRefused, readInstance } from "../../korifi/read-objects.ts";
import { Conflict } from "../../kube/errors.ts";
import { ifFound } from "../../kube/if-found.ts";
import { type KubeObject, keyOf } from "../../kube/objects.ts";
import type { Kube } from "../../kube/port.ts";
import type { Outcome } from "../../runtime/workers.ts";
import { attempt, type Look, type Looker } from "../objects/object-reconcile.ts";
import type { Trouble } from "../objects/object-status.ts";
import type { KorifiCaches } from "./korifi-caches.ts";
import type { LiveSecrets } from "./live-secrets.ts";
import { keptStatus, readyOf, troublesOf } from "./report-words.ts";
import { knownWord, SecretSights } from "./secret-sights.ts";
import { SoundLooks, signatureOf } from "./sound-looks.ts";
import type { Strangers } from "./strangers.ts";
import { writeSecrets } from "./write-secrets.ts";

export interface InstanceLookOptions {
  readonly kube: Pick<Kube, "get">;
  readonly caches: KorifiCaches;
  readonly secrets: LiveSecrets;
  readonly strangers: Strangers;
}

const SETTLED: Outcome = { kind: "settled" };

/** One CFServiceInstance: where its credentials are, and the Secret for them where they come from another one. */
export class InstanceLook implements Looker {
  readonly #options: InstanceLookOptions;
  readonly #sound = new SoundLooks();

  constructor(options: InstanceLookOptions) {
    this.#options = options;
  }

  forget(key: string): void {
    this.#sound.forget(key);
  }

  async look(object: KubeObject, signal: AbortSignal): Promise<Look | Outcome> {
    const alone = await this.#options.strangers.leaveObjectAlone(object, signal);
    if (alone) return alone;
    const instance = readInstance(object);
    if (isRefused(instance)) return reportOf({ object, troubles: troublesOf(instance.findings), isGivenOut: false });
    const { namespace = "", resourceVersion } = object.metadata;
    const key = keyOf(object.metadata);
    const names = namesOf(instance);
    const known = (name: string): string => knownWord(this.#options.caches, namespace, name);
    if (this.#sound.isSound(key, signatureOf([resourceVersion], names, known))) return SETTLED;
    const knownThen = new Map(names.map((name) => [name, known(name)]));
    const sights = new SecretSights(this.#options.secrets, namespace);
    const plan = planInstance(await this.#gather(instance, sights, signal));
    const assertCurrent = (): Promise<void> => this.#assertCurrent(object, instance, signal);
    const { secrets } = this.#options;
    const refusals = await attempt(() => writeSecrets({ object, plan, sights, secrets, assertCurrent }, signal));
    const troubles = [...troublesOf(plan.findings), ...refusals];
    const wordOf = (name: string): string => sights.wordOf(name) ?? knownThen.get(name) ?? "";
    return {
      ...reportOf({
        object,
        troubles,
        isGivenOut: isGivenOut(instance, plan, sights, troubles),
        ...(refusals.length === 0 && { plan }),
      }),
      afterwards: async ({ metadata }) => {
        if (troubles.length === 0) this.#sound.note(key, signatureOf([metadata.resourceVersion], names, wordOf));
        return undefined;
      },
    };
  }

  /** What may be written over is looked at before what it is made from. */
  async #gather(instance: Instance, sights: SecretSights, signal: AbortSignal): Promise<InstanceScene> {
    const { source } = instance;
    if (source.kind === "managed") return { instance, source: undefined, secrets: [] };
    const first = source.kind === "own" ? await sights.lookWatched(source.secretName, signal) : undefined;
    // Nothing is made from credentials of its own, unless they are of the time when those were flat.
    if (first !== undefined && !isForProjection(first)) return { instance, source: first, secrets: [] };
    const others = namesOf(instance).filter((name) => name !== source.secretName);
    await sights.look(others, signal);
    const view = await sights.lookLive(source.secretName, signal);
    return { instance, source: view, secrets: sights.present };
  }

  /** Somebody may have made the Secret from a newer instance than the cache knows. */
  async #assertCurrent({ metadata }: KubeObject, instance: Instance, signal: AbortSignal): Promise<void> {
    const { namespace = "", name } = metadata;
    const live = await ifFound(this.#options.kube.get(cfServiceInstance, { namespace, name }, { signal }));
    const isSame = live !== undefined && JSON.stringify(readInstance(live)) === JSON.stringify(instance);
    if (!isSame) throw new Conflict(`CFServiceInstance ${namespace}/${name} has changed`);
  }
}

/** The Secrets that count for it. */
function namesOf(instance: Instance): readonly string[] {
  const { source, credentialsName } = instance;
  if (source.kind === "managed") return [];
  const names = [source.secretName, ...ownSecretNames(instance), ...(credentialsName ? [credentialsName] : [])];
  return [...new Set(names)];
}

/** A Secret that was made stays good whatever becomes of its source; one that is the source itself does not. */
function isGivenOut(instance: Instance, plan: Plan, sights: SecretSights, troubles: readonly Trouble[]): boolean {
  const written = plan.writes.find((write) => write.kind === "instance-status");
  if (troubles.length === 0) return (written?.credentialsName ?? instance.credentialsName) !== undefined;
  const { credentialsName, source } = instance;
  if (credentialsName === undefined || source.kind === "managed" || credentialsName === source.secretName) return false;
  return sights.isThere(credentialsName);
}

interface Reported {
  readonly object: KubeObject;
  readonly troubles: readonly Trouble[];
  readonly isGivenOut: boolean;
  /** Absent: nothing of it was done. */
  readonly plan?: Plan;
}

function reportOf({ object, troubles, isGivenOut: isGiven, plan }: Reported): Look {
  const written = plan?.writes.find((write) => write.kind === "instance-status");
  const said = written && {
    credentials: { name: written.credentialsName },
    credentialsObservedVersion: written.observedVersion,
  };
  return { ready: readyOf(isGiven, troubles), troubles, warnings: [], fields: { ...keptStatus(object), ...said } };
}
