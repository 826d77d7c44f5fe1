import { cfServiceBinding } from "../../api/korifi/cf-service-binding.ts";
import { cfServiceInstance } from "../../api/korifi/cf-service-instance.ts";
import type { Clock } from "../../base/clock.ts";
import { mountSecretNames, planBinding } from "../../korifi/binding-plan.ts";
import { finding } from "../../korifi/finding.ts";
import type { Binding, Instance, SecretView } from "../../korifi/model.ts";
import { type BindingStatusWrite, bindingStatus, nothingBut, type Plan } from "../../korifi/plan.ts";
import { isRefused, readBinding } from "../../korifi/read-objects.ts";
import { Conflict } from "../../kube/errors.ts";
import { ifFound } from "../../kube/if-found.ts";
import { type KubeObject, keyOf } from "../../kube/objects.ts";
import type { Kube } from "../../kube/port.ts";
import { recordOf, recordsIn } from "../../kube/record.ts";
import type { Outcome } from "../../runtime/workers.ts";
import { attempt, type Look, type Looker } from "../objects/object-reconcile.ts";
import type { Trouble } from "../objects/object-status.ts";
import { SharedReads } from "../restart/shared-reads.ts";
import type { AppSecrets } from "./app-secrets.ts";
import type { KorifiCaches, Seen } from "./korifi-caches.ts";
import type { LiveSecrets } from "./live-secrets.ts";
import type { MountUsers } from "./mount-users.ts";
import type { Projected, Projections } from "./projections.ts";
import { keptStatus, readyOf, troublesOf } from "./report-words.ts";
import { isSameBinding, isSameInstance } from "./same-objects.ts";
import { knownWord, SecretSights } from "./secret-sights.ts";
import { SoundLooks, signatureOf } from "./sound-looks.ts";
import type { Strangers } from "./strangers.ts";
import { writeSecrets } from "./write-secrets.ts";

export interface BindingLookOptions {
  readonly kube: Pick<Kube, "get">;
  readonly clock: Clock;
  readonly caches: KorifiCaches;
  readonly secrets: LiveSecrets;
  readonly apps: AppSecrets;
  readonly projections: Projections;
  readonly users: MountUsers;
  readonly strangers: Strangers;
}

/** Pods that still have a former Secret mounted are looked for so often. */
const IN_USE_MS = 30_000;
/** What keeps a name from us is mostly nothing that is watched. */
const TAKEN_MS = 60_000;
const READS_AT_A_TIME = 8;

/**
 * One CFServiceBinding: the Secret that is projected, what has it projected, and the two names in its status. Must not:
 * delete a Secret that a status names, or that pods use.
 */
export class BindingLook implements Looker {
  readonly #options: BindingLookOptions;
  readonly #sound = new SoundLooks();
  readonly #instanceReads = new SharedReads<KubeObject | undefined>(READS_AT_A_TIME);

  constructor(options: BindingLookOptions) {
    this.#options = options;
  }

  forget(key: string): void {
    this.#sound.forget(key);
  }

  async look(object: KubeObject, signal: AbortSignal): Promise<Look | Outcome> {
    const { strangers, projections } = this.#options;
    const alone = await strangers.leaveObjectAlone(object, signal);
    if (alone) return alone;
    const binding = readBinding(object);
    if (isRefused(binding)) return reportOf({ object, troubles: troublesOf(binding.findings), isGivenOut: false });
    const work = this.#workOn(object, binding);
    if (this.#isSound(work)) {
      const { troubles, againAt } = await projections.put(binding, object, signal);
      if (troubles.length === 0) return againAt === undefined ? { kind: "settled" } : { kind: "recheck", at: againAt };
    }
    const plan = await this.#plan(work, signal);
    if (!work.sights.isOurs || isRenewal(plan)) return this.#carryOut(work, plan, signal);
    const again: BindingWork = { ...this.#workOn(object, binding), isLive: true };
    return this.#carryOut(again, await this.#plan(again, signal), signal);
  }

  #workOn(object: KubeObject, binding: Binding): BindingWork {
    const { caches, secrets } = this.#options;
    const { namespace = "" } = object.metadata;
    const instance = caches.instanceOf(namespace, binding);
    return { object, binding, instance, sights: new SecretSights(secrets, namespace, binding.uid), isLive: false };
  }

  async #plan(work: BindingWork, signal: AbortSignal): Promise<Plan> {
    const { object, binding, instance, sights } = work;
    const { namespace = "" } = object.metadata;
    const credentials = await this.#gather(work, signal);
    const isUnreadable =
      instance === undefined && this.#options.caches.instance(keyOf({ namespace, name: binding.instanceName }));
    return isUnreadable
      ? nothingBut(finding("InstanceNotReady", `the service ${binding.instanceName} says what cannot be followed`))
      : planBinding({ binding, instance: instance?.said, credentials, secrets: sights.present });
  }

  /** What may be written over is looked at before what it is made from. */
  async #gather(work: BindingWork, signal: AbortSignal): Promise<SecretView | undefined> {
    const { secrets } = this.#options;
    const { binding, instance, sights, object, isLive } = work;
    const { namespace = "" } = object.metadata;
    const credentialsName = instance?.said.credentialsName;
    if (binding.mountName !== undefined && binding.mountName !== credentialsName) {
      await sights.lookLive(binding.mountName, signal);
    }
    let missing = this.#ownNames(work);
    for (;;) {
      await sights.look(missing, signal);
      if (credentialsName === undefined) return undefined;
      const credentials =
        sights.isOurs && !isLive
          ? await secrets.watched(namespace, credentialsName, signal)
          : await secrets.shared(namespace, credentialsName, secrets.mark(), signal);
      sights.add(credentialsName, credentials);
      const names = mountSecretNames({ binding, credentials }).filter((name) => name !== credentialsName);
      missing = names.filter((name) => !sights.has(name) && secrets.mayBe(namespace, name));
      if (missing.length === 0) return credentials;
    }
  }

  /** Of its name, and those that were made for it. */
  #ownNames({ object, binding, instance }: BindingWork): readonly string[] {
    const owned = this.#options.caches.secretsOf(object).map(({ key }) => key.slice(key.indexOf("/") + 1));
    const names = [binding.name, binding.mountName, ...owned].filter((name) => name !== undefined);
    return [...new Set(names)].filter((name) => name !== instance?.said.credentialsName);
  }

  async #carryOut(work: BindingWork, plan: Plan, signal: AbortSignal): Promise<Look> {
    const { object, binding, sights } = work;
    const moved = plan.writes.find((write) => write.kind === "binding-status");
    let projected: Projected = { troubles: [] };
    const refusals = await attempt(async () => {
      const { secrets } = this.#options;
      const assertCurrent = (): Promise<void> => this.#assertCurrent(work, signal);
      await writeSecrets({ object, plan, sights, secrets, assertCurrent }, signal);
      if (moved) await this.#serveFirst(work, moved, signal);
      const mountName = moved?.mountName ?? binding.mountName;
      if (plan.findings.length > 0 || mountName === undefined) return;
      projected = await this.#options.projections.put({ ...binding, mountName }, object, signal);
    });
    const isDone = refusals.length === 0;
    const troubles = [...troublesOf(plan.findings), ...refusals, ...projected.troubles];
    const ofApp = this.#troublesOfApp(work);
    const mountName = isDone ? (moved?.mountName ?? binding.mountName) : binding.mountName;
    const againAt = this.#againAt(troubles, projected);
    const note = moved || troubles.length > 0 ? undefined : await this.#farewell(work, plan, signal);
    return {
      ...reportOf({
        object,
        troubles: [...troubles, ...ofApp],
        note,
        isGivenOut: mountName !== undefined && sights.isThere(mountName),
        ...(isDone && moved && { moved }),
      }),
      ...(againAt !== undefined && { againAt }),
      afterwards: (stored) => (isDone ? this.#afterwards(work, { plan, troubles, ofApp, stored }, signal) : nothing()),
    };
  }

  #againAt(troubles: readonly Trouble[], { againAt }: Projected): number | undefined {
    const isTaken = troubles.some(({ reason }) => reason === "SecretTaken");
    return isTaken ? this.#options.clock.now() + TAKEN_MS : againAt;
  }

  /** Before the reference moves, and workloads with it: pods that start for it find VCAP_SERVICES as it is to be. */
  async #serveFirst({ object, binding }: BindingWork, moved: BindingStatusWrite, signal: AbortSignal): Promise<void> {
    const { namespace = "" } = object.metadata;
    if (binding.appName === undefined || moved.mountName === binding.mountName) return;
    // What was read here may be newer than what the watches know.
    await this.#options.apps.look(namespace, binding.appName, signal, true);
  }

  /** Somebody may have made the Secret from a newer binding or instance than the caches know. */
  async #assertCurrent({ object, binding, instance }: BindingWork, signal: AbortSignal): Promise<void> {
    const { kube } = this.#options;
    const { namespace = "", name } = object.metadata;
    const reads = this.#instanceReads;
    const instanceRef = { namespace, name: binding.instanceName };
    const [live, liveInstance] = await Promise.all([
      ifFound(kube.get(cfServiceBinding, { namespace, name }, { signal })),
      reads.read(keyOf(instanceRef), reads.mark(), () => ifFound(kube.get(cfServiceInstance, instanceRef, { signal }))),
    ]);
    if (isSameBinding(live, { object, said: binding }) && isSameInstance(liveInstance, instance)) return;
    throw new Conflict(`CFServiceBinding ${namespace}/${name} or its instance has changed`);
  }

  /**
   * What is said before Secrets go that the status does not name, other than what is said now: by that write, another process
   * that is about to name one of them is refused.
   */
  async #farewell({ object }: BindingWork, plan: Plan, signal: AbortSignal): Promise<string | undefined> {
    const left = leftBy(plan);
    if (left.length === 0) return undefined;
    const used = await this.#options.users.usedIn(object.metadata.namespace ?? "", signal);
    const names = left.map(({ name }) => name).filter((name) => !used.has(name));
    const said = noteIn(object);
    if (names.length === 0) return said;
    const words = `nothing names ${names.sort().join(", ")} any more, and nobody uses it: it goes`;
    return said === words ? undefined : words;
  }

  /** Once the status names another one. */
  async #afterwards(
    work: BindingWork,
    { plan, troubles, ofApp, stored }: Done,
    signal: AbortSignal,
  ): Promise<number | undefined> {
    const { clock, users, secrets, kube } = this.#options;
    const { namespace = "", name } = work.object.metadata;
    const left = leftBy(plan);
    if (left.length === 0) {
      if (troubles.length === 0) this.#noteSound(work, { plan, ofApp, stored });
      return undefined;
    }
    const used = await users.usedIn(namespace, signal);
    // The cache may know less than the status says.
    const live = await ifFound(kube.get(cfServiceBinding, { namespace, name }, { signal }));
    const said = live && readBinding(live);
    const named = said && !isRefused(said) ? [said.mountName, said.envName] : [];
    // Without a write of its own, this look has refused nobody.
    const isFirst = stored.metadata.resourceVersion !== work.object.metadata.resourceVersion;
    const isSame = isFirst && live?.metadata.resourceVersion === stored.metadata.resourceVersion;
    const isOver = (secret: string): boolean => isSame && !used.has(secret) && !named.includes(secret);
    for (const secret of left) if (isOver(secret.name)) await secrets.remove(namespace, secret, signal);
    return left.every((secret) => isOver(secret.name)) ? undefined : clock.now() + IN_USE_MS;
  }

  #isSound(work: BindingWork): boolean {
    const { namespace = "" } = work.object.metadata;
    const { mountName } = work.binding;
    const wordOf = (name: string): string => knownWord(this.#options.caches, namespace, name);
    const said = { stored: work.object, mountName, ofApp: this.#troublesOfApp(work) };
    return this.#sound.isSound(keyOf(work.object.metadata), this.#signature(work, said, wordOf));
  }

  /** What keeps VCAP_SERVICES from being what it is to be. */
  #troublesOfApp({ object, binding }: BindingWork): readonly Trouble[] {
    const { namespace = "" } = object.metadata;
    const { appName } = binding;
    return appName === undefined ? [] : this.#options.apps.troubles.of(keyOf({ namespace, name: appName }));
  }

  #noteSound(work: BindingWork, { plan, ofApp, stored }: Omit<Done, "troubles">): void {
    const { namespace = "" } = work.object.metadata;
    const moved = plan.writes.find((write) => write.kind === "binding-status");
    const wordOf = (name: string): string =>
      work.sights.wordOf(name) ?? knownWord(this.#options.caches, namespace, name);
    const said = { stored, mountName: moved?.mountName ?? work.binding.mountName, ofApp };
    this.#sound.note(keyOf(work.object.metadata), this.#signature(work, said, wordOf));
  }

  #signature(work: BindingWork, { stored, mountName, ofApp }: SaidOfBinding, wordOf: (name: string) => string): string {
    const { uid, source, credentialsName } = work.instance?.said ?? {};
    const names = [...this.#ownNames(work), mountName, credentialsName];
    return signatureOf([stored.metadata.resourceVersion, uid, source, ofApp], names, wordOf);
  }
}

interface BindingWork {
  readonly object: KubeObject;
  readonly binding: Binding;
  readonly instance: Seen<Instance> | undefined;
  readonly sights: SecretSights;
  /** Whatever the watch tells of the credentials, they are read. */
  readonly isLive: boolean;
}

interface Done {
  readonly plan: Plan;
  readonly troubles: readonly Trouble[];
  /** Those of its application. */
  readonly ofApp: readonly Trouble[];
  readonly stored: KubeObject;
}

interface SaidOfBinding extends Pick<Done, "stored" | "ofApp"> {
  readonly mountName: string | undefined;
}

/** Nothing but other values for what is there: all else is decided by credentials as they are, not as they were told of. */
const isRenewal = ({ writes, findings }: Plan): boolean =>
  findings.length === 0 && writes.every((write) => write.kind === "secret" && write.over !== undefined);

const leftBy = ({ writes }: Plan) => writes.filter((write) => write.kind === "delete-secret");

/** What was said of Secrets that go. */
const noteIn = ({ status }: KubeObject): string | undefined => {
  const { message } = recordsIn(recordOf(status).conditions).find(({ type }) => type === "Synced") ?? {};
  return /^nothing names .*?: it goes/.exec(String(message))?.[0];
};

const nothing = async (): Promise<undefined> => undefined;

interface Reported {
  readonly object: KubeObject;
  readonly troubles: readonly Trouble[];
  readonly isGivenOut: boolean;
  readonly note?: string | undefined;
  readonly moved?: BindingStatusWrite;
}

function reportOf({ object, troubles, isGivenOut, note, moved }: Reported): Look {
  const fields = { ...keptStatus(object), ...(moved && bindingStatus(moved)) };
  const told = note !== undefined && { note };
  return { ready: readyOf(isGivenOut, troubles), troubles, ...told, warnings: [], fields };
}
