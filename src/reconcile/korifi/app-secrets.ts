import { cfServiceBinding } from "../../api/korifi/cf-service-binding.ts";
import { cfServiceInstance } from "../../api/korifi/cf-service-instance.ts";
import { KORIFI_GROUP, KORIFI_VERSION, SERVICES_OF } from "../../api/korifi/names.ts";
import { type AppPlan, type AppService, planApp } from "../../korifi/app-plan.ts";
import { type DerivedFrom, originsOf } from "../../korifi/derived-from.ts";
import type { Finding } from "../../korifi/finding.ts";
import type { Binding, Instance, SecretView } from "../../korifi/model.ts";
import { vcapSecretName } from "../../korifi/names.ts";
import type { SecretWrite } from "../../korifi/plan.ts";
import { Conflict, NotServed } from "../../kube/errors.ts";
import { ifFound } from "../../kube/if-found.ts";
import { type KubeObject, keyOf, type ResourceType } from "../../kube/objects.ts";
import type { Kube } from "../../kube/port.ts";
import { ObjectRefused } from "../objects/owned-objects.ts";
import { AppTroubles } from "./app-troubles.ts";
import type { KorifiCaches, Seen } from "./korifi-caches.ts";
import { type LiveSecrets, takenAlongBy, versionWord } from "./live-secrets.ts";
import { troublesOf } from "./report-words.ts";
import { isSameBinding, isSameInstance } from "./same-objects.ts";
import { knownWord } from "./secret-sights.ts";

export interface AppSecretsOptions {
  readonly kube: Pick<Kube, "get">;
  readonly caches: KorifiCaches;
  readonly secrets: LiveSecrets;
}

/** What one look at an application's services came to. */
export interface AppLook {
  readonly findings: readonly Finding[];
  readonly isWritten: boolean;
}

/** Those of the application itself: what is wrong with a service is said at its binding anyway. */
export const ownFindings = ({ findings }: AppLook): readonly Finding[] =>
  findings.filter(({ reason }) => reason !== "BindingNotReady");

/** What is known of the Secret as this process has last seen it to be in order. */
interface Known {
  readonly word: string;
  readonly services: ReadonlyMap<string, KnownService>;
}

interface KnownService {
  readonly signature: string;
  readonly origins: DerivedFrom;
}

interface Service {
  readonly binding: Seen<Binding>;
  readonly instance: Seen<Instance> | undefined;
}

const appType: ResourceType = {
  group: KORIFI_GROUP,
  version: KORIFI_VERSION,
  plural: "cfapps",
  kind: "CFApp",
  namespaced: true,
};

const ATTEMPTS = 3;
const NOTHING: AppLook = { findings: [], isWritten: false };

/**
 * The Secrets with VCAP_SERVICES, one for each application that is or was bound to something. What is in one stays there
 * for a service that has not changed, so that a change costs one read of the Secret, one of the changed credentials and one
 * write; where all of them have, it is not read. Must not: take a service out because it cannot be read.
 */
export class AppSecrets {
  readonly #options: AppSecretsOptions;
  readonly #known = new Map<string, Known>();
  /** Looks at one application, one after the other: all of them write the same Secret. */
  readonly #turns = new Map<string, Promise<AppLook>>();

  constructor(options: AppSecretsOptions) {
    this.#options = options;
  }

  /** What is told at the bindings of applications. */
  readonly troubles = new AppTroubles();

  /** By what the watches know; `isLive`: whatever they do not know yet. Throws `Conflict` and `ObjectRefused`. */
  async look(namespace: string, appName: string, signal: AbortSignal, isLive = false): Promise<AppLook> {
    const key = keyOf({ namespace, name: appName });
    const turn = this.#after(this.#turns.get(key), () => this.#lookAgain({ namespace, appName, isLive }, signal));
    this.#turns.set(key, turn);
    try {
      const look = await turn;
      this.troubles.note(key, troublesOf(ownFindings(look)));
      return look;
    } catch (error) {
      if (error instanceof ObjectRefused) this.troubles.note(key, [{ reason: error.code, message: error.message }]);
      throw error;
    } finally {
      if (this.#turns.get(key) === turn) this.#turns.delete(key);
    }
  }

  async #after(before: Promise<AppLook> | undefined, work: () => Promise<AppLook>): Promise<AppLook> {
    // How it went is told to whoever asked for it.
    await before?.catch(() => {});
    return work();
  }

  /** Another controller may be at the same Secret. */
  async #lookAgain(place: AppPlace, signal: AbortSignal): Promise<AppLook> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#look({ ...place, isLive: place.isLive || attempt > 1 }, signal);
      } catch (error) {
        if (!(error instanceof Conflict) || attempt === ATTEMPTS) throw error;
      }
    }
  }

  async #look(place: AppPlace, signal: AbortSignal): Promise<AppLook> {
    const { namespace, appName } = place;
    const key = keyOf({ namespace, name: appName });
    const services = this.#servicesOf(key, namespace);
    const known = place.isLive ? undefined : this.#known.get(key);
    if (known && this.#isSame(known, services, place)) return NOTHING;
    const look = new AppWork({ ...this.#options, ...place, services, known }, signal);
    const { result, learned } = await look.run();
    if (learned) this.#known.set(key, learned);
    else this.#known.delete(key);
    return result;
  }

  /** Whether a look would bring nothing new, as far as the watches know. */
  isAsKnown(namespace: string, appName: string): boolean {
    const key = keyOf({ namespace, name: appName });
    const known = this.#known.get(key);
    return known !== undefined && this.#isSame(known, this.#servicesOf(key, namespace), { namespace, appName });
  }

  #isSame(known: Known, services: readonly Service[], { namespace, appName }: Omit<AppPlace, "isLive">): boolean {
    const isSeen = known.word === knownWord(this.#options.caches, namespace, vcapSecretName(appName));
    return isSeen && isSameSet(known, services, (service) => this.#signature(namespace, service));
  }

  /** Nothing is bound to it and it has no Secret. */
  isOver(namespace: string, appName: string): boolean {
    const { caches, secrets } = this.#options;
    const isOver =
      caches.bindingsOfApp(keyOf({ namespace, name: appName })).length === 0 &&
      !secrets.mayBe(namespace, vcapSecretName(appName));
    if (isOver) this.#known.delete(keyOf({ namespace, name: appName }));
    return isOver;
  }

  #servicesOf(appKey: string, namespace: string): readonly Service[] {
    const { caches } = this.#options;
    return caches
      .bindingsOfApp(appKey)
      .filter(({ said }) => !said.isDeleting)
      .map((binding) => ({ binding, instance: caches.instanceOf(namespace, binding.said) }));
  }

  #signature(namespace: string, service: Service): string {
    const name = service.instance?.said.credentialsName;
    return signatureOf(service, name === undefined ? "" : knownWord(this.#options.caches, namespace, name));
  }
}

/** No service has this one. */
const BEHIND = "";

/** All that its entry is made of, by version. */
function signatureOf({ binding, instance }: Service, credentialsWord: string): string {
  const { uid, displayName } = binding.said;
  const { uid: of, displayName: called, label, tags, credentialsName, source } = instance?.said ?? {};
  return JSON.stringify([uid, displayName, of, called, label, tags, credentialsName, source?.kind, credentialsWord]);
}

const isSameSet = (known: Known, services: readonly Service[], signature: (service: Service) => string): boolean =>
  known.services.size === services.length &&
  services.every((service) => known.services.get(service.binding.said.name)?.signature === signature(service));

interface AppPlace {
  readonly namespace: string;
  readonly appName: string;
  /** Somebody was faster, or has read it already: there may be what the watch has not brought yet. */
  readonly isLive: boolean;
}

interface AppWorkOptions extends AppSecretsOptions, AppPlace {
  readonly services: readonly Service[];
  readonly known: Known | undefined;
}

/** One service, and what is known of it once it is written. */
interface LookedAt {
  readonly service: AppService;
  readonly learned: readonly [bindingName: string, service: KnownService];
}

interface PlannedApp {
  readonly plan: AppPlan;
  readonly present: SecretView | undefined;
  readonly app: KubeObject | undefined;
  readonly looked: readonly LookedAt[];
}

/** One look, from the Secret to the write. */
class AppWork {
  readonly #options: AppWorkOptions;
  readonly #signal: AbortSignal;

  constructor(options: AppWorkOptions, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
  }

  async run(): Promise<{ readonly result: AppLook; readonly learned: Known | undefined }> {
    const { namespace, appName, secrets } = this.#options;
    const planned = await this.#plan();
    if (!planned) return { result: NOTHING, learned: undefined };
    const { plan, present, app, looked } = planned;
    const [write] = plan.writes.filter((each): each is SecretWrite => each.kind === "secret");
    let word = present && versionWord(present.uid, present.version);
    if (write) {
      if (present && !secrets.isOurs(namespace, present)) await this.#assertCurrent(plan.changed);
      const owner = app && { ...takenAlongBy(app), controller: false };
      const annotations = { [SERVICES_OF]: appName };
      const { uid, version } = await secrets.write(write, { namespace, owner, present, annotations }, this.#signal);
      word = versionWord(uid, version);
    }
    // Then nothing is written at all, and what was read is not what stands there.
    const isKept = plan.findings.some(({ reason }) => reason === "SecretTaken" || reason === "CredentialsTooLarge");
    // What is said of those that are behind was made from something else than what was read: they are looked at again.
    const current = looked.map(
      ({ learned: [each, service] }) =>
        [each, plan.behind.includes(each) ? { ...service, signature: BEHIND } : service] as const,
    );
    const learned = word === undefined || isKept ? undefined : { word, services: new Map(current) };
    return { result: { findings: plan.findings, isWritten: write !== undefined }, learned };
  }

  /** Undefined where there is nothing to be told. What may be written over is looked at before what it is made from. */
  async #plan(): Promise<PlannedApp | undefined> {
    const { namespace, appName, isLive, services, secrets } = this.#options;
    const name = vcapSecretName(appName);
    const known = this.#isAllNew() ? secrets.remembered(namespace, name) : undefined;
    const renewal = known && (await this.#planOver(known, true));
    if (renewal && renewal.plan.findings.length === 0) return renewal;
    const mayBe = isLive || secrets.mayBe(namespace, name);
    const present = mayBe ? await secrets.read(namespace, name, this.#signal) : undefined;
    if (present === undefined && services.length === 0) return undefined;
    const isOurs = !isLive && present !== undefined && secrets.isOurs(namespace, present);
    const planned = await this.#planOver(present, isOurs);
    // Whether something cannot be read is decided by credentials as they are, not as they were told of.
    return isOurs && planned.plan.findings.length > 0 ? this.#planOver(present, false) : planned;
  }

  /** Nothing of what is there stays, so that it need not be looked at. */
  #isAllNew(): boolean {
    const { isLive, services, known } = this.#options;
    return !isLive && services.every((service) => !this.#isUnchanged(service, known));
  }

  #isUnchanged(service: Service, known: Known | undefined): boolean {
    const { namespace, caches } = this.#options;
    const before = known?.services.get(service.binding.said.name);
    if (!before) return false;
    const name = service.instance?.said.credentialsName;
    return before.signature === signatureOf(service, name === undefined ? "" : knownWord(caches, namespace, name));
  }

  async #planOver(present: SecretView | undefined, isOurs: boolean): Promise<PlannedApp> {
    const { appName } = this.#options;
    const looked = await this.#lookAt(present, isOurs);
    const app = present?.servicesOf === undefined ? await this.#app() : undefined;
    const plan = planApp({
      appName,
      ...(app && { appUid: app.metadata.uid ?? "" }),
      services: looked.map(({ service }) => service),
      present,
    });
    return { plan, present, app, looked };
  }

  /** Credentials are read where they have changed since the Secret was as it is. */
  async #lookAt(present: SecretView | undefined, isOurs: boolean): Promise<readonly LookedAt[]> {
    const { namespace, services, secrets, known } = this.#options;
    const isAsKnown = present !== undefined && known?.word === versionWord(present.uid, present.version);
    const mark = secrets.mark();
    return Promise.all(
      services.map(async (service) => {
        const { binding, instance } = service;
        const name = instance?.said.credentialsName;
        const parts = { binding: binding.said, instance: followedBy(instance) };
        const before = known?.services.get(binding.said.name);
        if (before && isAsKnown && this.#isUnchanged(service, known)) {
          const same: AppService = { ...parts, credentials: undefined, unchanged: before.origins };
          return { service: same, learned: [binding.said.name, before] as const };
        }
        const isReadable = name !== undefined && parts.instance !== undefined;
        const read = (secret: string): Promise<SecretView | undefined> =>
          isOurs
            ? secrets.watched(namespace, secret, this.#signal)
            : secrets.shared(namespace, secret, mark, this.#signal);
        const credentials = isReadable ? await read(name) : undefined;
        const word = credentials ? versionWord(credentials.uid, credentials.version) : "";
        const learned: KnownService = {
          signature: signatureOf(service, word),
          origins: originsOf(credentials ? [credentials] : []),
        };
        return { service: { ...parts, credentials }, learned: [binding.said.name, learned] as const };
      }),
    );
  }

  /** Somebody may have made the Secret from newer bindings than the caches know. */
  async #assertCurrent(changed: readonly string[]): Promise<void> {
    const { kube, namespace, services, appName } = this.#options;
    const signal = this.#signal;
    for (const name of changed) {
      const service = services.find(({ binding }) => binding.said.name === name);
      const live = await ifFound(kube.get(cfServiceBinding, { namespace, name }, { signal }));
      const instanceName = service?.binding.said.instanceName;
      const instance =
        instanceName === undefined
          ? undefined
          : await ifFound(kube.get(cfServiceInstance, { namespace, name: instanceName }, { signal }));
      const isSame = isSameBinding(live, service?.binding, appName) && isSameInstance(instance, service?.instance);
      if (!isSame) throw new Conflict(`a binding of ${namespace}/${appName} has changed`);
    }
  }

  /** Its CFApp, where there is one. */
  async #app(): Promise<KubeObject | undefined> {
    const { kube, namespace, appName } = this.#options;
    try {
      return await ifFound(kube.get(appType, { namespace, name: appName }, { signal: this.#signal }));
    } catch (error) {
      if (error instanceof NotServed) return undefined;
      throw error;
    }
  }
}

/** A service of a broker's is not ours to tell of. */
const followedBy = (instance: Seen<Instance> | undefined): Instance | undefined =>
  instance?.said.source.kind === "managed" ? undefined : instance?.said;
