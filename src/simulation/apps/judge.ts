import type { KubeObject } from "../../kube/objects.ts";
import { serviceBindingType } from "../../reconcile/korifi/korifi-sources.ts";
import { podType } from "../../restart/workload-kinds.ts";
import { isTelling } from "../judge.ts";
import { type Call, type Doer, describeCall } from "../process.ts";
import { type AppBooks, NO_APP_BOOKS } from "./app-books.ts";
import { isSameTexts, textsIn, type Version, versionIn } from "./credentials.ts";
import {
  APP,
  type Bound,
  bindingsIn,
  derivedFrom,
  NAMESPACE,
  ROTATED,
  type Service,
  VCAP,
  vcapCredentials,
} from "./objects.ts";

/** What the judge may look at. */
export interface AppCourt {
  readonly stepCount: number;
  services(): readonly Service[];
  bindings(): readonly Bound[];
  /** By name, read without a call. */
  secret(name: string): KubeObject | undefined;
  /** Whether a pod uses the Secret of this name. */
  isUsed(secretName: string): boolean;
  /** What a call is about, as it is stored. */
  objectOf(call: Call): KubeObject | undefined;
  trace(line: string): void;
}

/** As it was before an effect. */
interface Before {
  readonly object: KubeObject | undefined;
  readonly bindings: readonly Bound[];
}

/** When a process last took something in hand. */
export const TAKEN = "taken";

/** Whatever gives credentials out. */
interface Gift {
  readonly what: string;
  readonly service: string;
  readonly secret: string | undefined;
  /** Who has written last; undefined where nobody has. */
  readonly doer: Doer | undefined;
}

const PROJECTED = "servicebinding.io/";
const SECRET_TARGET = `Secret ${NAMESPACE}/`;

/**
 * S10: looks at every Secret that a status names, and at VCAP_SERVICES, after each effect, and says which promise was
 * broken. Which credentials there were it knows from its own books. Must not: change anything.
 */
export class AppJudge {
  readonly violations: string[] = [];
  readonly #court: AppCourt;
  readonly #books: AppBooks;
  #before: Before | undefined;
  #personStep = -1;
  /** What was said once is not said again. */
  readonly #accused = new Set<string>();
  /** How often the operator has written a Secret since the scene was set. */
  secretWrites = 0;
  /** Of each Secret, by processes. */
  readonly #lastWrites = new Map<string, { readonly by: Doer; readonly step: number }>();

  constructor(court: AppCourt, books: AppBooks = NO_APP_BOOKS) {
    this.#court = court;
    this.#books = structuredClone(books);
  }

  copyBooks(): AppBooks {
    return structuredClone(this.#books);
  }

  accuse(violation: string): void {
    if (this.#accused.has(violation)) return;
    this.#accused.add(violation);
    this.violations.push(violation);
    this.#court.trace(`      !!! ${violation}`);
  }

  /** S6. */
  heard(text: string): void {
    if (isTelling(text)) this.accuse("S6 key material was said aloud");
  }

  /** Somebody who is not the operator has changed or taken away these Secrets, and perhaps more. */
  personActed(secretNames: Iterable<string>): void {
    this.#personStep = this.#court.stepCount;
    const { touched, refused } = this.#books;
    for (const name of secretNames) touched.add(name);
    this.noteSources();
    // Whoever changes credentials where they come from does what is meant to be done.
    for (const { name, sourceName } of this.#court.services()) if (!refused.has(name)) touched.delete(sourceName);
    this.#look(undefined);
  }

  /** Whoever comes to say something else has another version. */
  noteSources(): void {
    const { versions, refused } = this.#books;
    for (const { name, sourceName } of this.#court.services()) {
      const source = this.#court.secret(sourceName);
      const version = source && versionIn(source);
      const known = versions.get(name) ?? [];
      const last = known.at(-1);
      if (!version) refused.add(name);
      else {
        refused.delete(name);
        const isSame = version.text === last?.text && version.keyId === last.keyId;
        if (!isSame) versions.set(name, [...known, version]);
      }
    }
  }

  before(call: Call): void {
    this.#before = { object: this.#court.objectOf(call), bindings: this.#court.bindings() };
  }

  after(doer: Doer, call: Call): void {
    const before = this.#before;
    this.#before = undefined;
    if (!before) return;
    const is = this.#court.objectOf(call);
    // Whoever comes second to make an object of others' kinds applies the same to it.
    const isOurs = is?.kind !== serviceBindingType.kind;
    if (isOurs && before.object && is && sayingOf(before.object) === sayingOf(is))
      this.accuse(`S10 something was written that says the same: ${describeCall(call)}`);
    if (call.target.startsWith(SECRET_TARGET)) this.#afterSecret(doer, call, before.object, is);
    else if (is) this.heard(JSON.stringify(is));
    this.#look(doer);
    for (const was of before.bindings) this.#judgeMove(was, doer);
  }

  #afterSecret(doer: Doer, { target }: Call, was: KubeObject | undefined, is: KubeObject | undefined): void {
    const { made, touched } = this.#books;
    const name = target.slice(SECRET_TARGET.length);
    if (is) this.secretWrites++;
    // Who starts after the pods were listed nobody can see.
    else if (this.#court.isUsed(name) && this.#personStep < (doer.readAt.get(podType.kind) ?? -1))
      this.accuse(`S10 the Secret ${name} was deleted while a pod uses it`);
    if (was && !made.has(was.metadata.uid ?? "")) this.accuse(`S10 the Secret ${name} is somebody else's`);
    if (!was && is) made.add(is.metadata.uid ?? "");
    if (is) this.heard(JSON.stringify(is.metadata));
    touched.delete(name);
    this.#lastWrites.set(name, { by: doer, step: this.#court.stepCount });
    this.noteSources();
  }

  /** At any time: whatever a status names is there, and of one version. */
  #look(doer: Doer | undefined): void {
    for (const service of this.#court.services()) this.#lookAtService(service, doer);
    for (const bound of this.#court.bindings()) this.#lookAtBinding(bound, doer);
    this.#lookAtVcap(doer);
  }

  #lookAtService(service: Service, doer: Doer | undefined): void {
    const { name, uid, credentials, sourceName } = service;
    const secret = this.#named(credentials, `the service ${name}`);
    if (!secret || credentials === sourceName || this.isTouched(credentials)) return;
    const indices = this.#indicesOf(name, (version) => isCredentials(secret, version));
    const what = `the Secret ${credentials}`;
    this.#give(`${uid} itself`, indices, { what, service: name, secret: credentials, doer });
  }

  #lookAtBinding({ name, uid, service, mounts, envs }: Bound, doer: Doer | undefined): void {
    for (const [former, later] of [mounts, envs])
      if (former !== undefined && later !== undefined && former !== later)
        this.accuse(`S10 the binding ${name} names two Secrets: ${former}, ${later}`);
    this.#named(envs[0], `the binding ${name}`);
    const secret = this.#named(mounts[0], `the binding ${name}`);
    if (!secret || this.isTouched(mounts[0]) || !this.#isForProjection(secret)) return;
    const indices = this.#indicesOf(service, (version) => isProjected(secret, version));
    this.#give(uid, indices, { what: `the Secret ${mounts[0]}`, service, secret: secret.metadata.name, doer });
  }

  /** Ours, or of former times: what a person has put in its place is none. */
  #isForProjection({ metadata, type }: KubeObject): boolean {
    return this.#books.made.has(metadata.uid ?? "") || String(type).startsWith(PROJECTED);
  }

  /** Undefined where nothing is named, or where somebody else has taken it away. */
  #named(name: string | undefined, by: string): KubeObject | undefined {
    const secret = name === undefined ? undefined : this.#court.secret(name);
    if (name !== undefined && !secret && !this.isTouched(name))
      this.accuse(`S10 ${by} names a Secret that is not there: ${name}`);
    return secret;
  }

  #lookAtVcap(doer: Doer | undefined): void {
    const secret = this.#court.secret(VCAP);
    if (!secret || this.isTouched(VCAP)) return;
    const names = bindingsIn(textsIn(secret).VCAP_SERVICES ?? "");
    if (!names || new Set(names).size < names.length) {
      this.accuse("S10 VCAP_SERVICES cannot be read, or says something twice");
      return;
    }
    for (const name of names) {
      const what = `what VCAP_SERVICES of ${APP} says of ${name}`;
      this.#give(`${name} ${VCAP}`, this.#vcapIndices(secret, name), {
        what,
        service: serviceNamed(name),
        secret: VCAP,
        doer,
      });
    }
  }

  #vcapIndices(secret: KubeObject, bindingName: string): readonly number[] {
    const { VCAP_SERVICES: text = "" } = textsIn(secret);
    const isSaid = (version: Version): boolean =>
      text.includes(vcapCredentials(bindingName, version.text)) && isOfKey(secret, version);
    return this.#indicesOf(serviceNamed(bindingName), isSaid);
  }

  /** Credentials that were restored are of several versions. */
  #indicesOf(service: string, isMeant: (version: Version) => boolean): readonly number[] {
    const versions = this.#books.versions.get(service) ?? [];
    return versions.flatMap((version, index) => (isMeant(version) ? [index] : []));
  }

  /** What is given out is of one version, and of none before the last one. */
  #give(key: string, indices: readonly number[], { what, service, secret, doer }: Gift): void {
    const { given } = this.#books;
    const last = given.get(key) ?? 0;
    // Of several versions that say the same, it may be any.
    const index = indices.find((one) => one >= last) ?? indices.at(-1);
    if (index === undefined) this.accuse(`S10 ${what} is of no version of the credentials`);
    else if (index < last && !this.#isExcused(doer, secret) && !this.#isAllThereIs(service, index))
      this.accuse(`S10 ${what} went back to older credentials`);
    if (index !== undefined) given.set(key, index);
  }

  /** Where somebody has taken away what credentials come from, nothing later is left than what was made of it. */
  #isAllThereIs(service: string, index: number): boolean {
    const { versions, refused } = this.#books;
    const held = this.#heldBy(service);
    return refused.has(service) && held !== undefined && index >= (versions.get(service) ?? []).lastIndexOf(held);
  }

  /** A reference moves only for other credentials, and once VCAP_SERVICES says the same. */
  #judgeMove(was: Bound, doer: Doer): void {
    const is = this.#court.bindings().find(({ uid }) => uid === was.uid);
    if (!is) return;
    const [from, to] = [was.mounts[0], is.mounts[0]];
    if ((from !== undefined && to === undefined) || (was.envs[0] !== undefined && is.envs[0] === undefined))
      this.accuse(`S10 the binding ${is.name} names nothing any more`);
    if (from === undefined || to === undefined || from === to) return;
    const [old, fresh] = [this.#court.secret(from), this.#court.secret(to)];
    const isRight = old && isProjected(old, this.#heldBy(is.service));
    // What a person does meanwhile is seen by the next look.
    const isSeen = this.#personStep < (doer.readAt.get(TAKEN) ?? -1);
    if (isRight && isSeen && !this.isTouched(from) && !this.#isOvertaken(is.service, doer))
      this.accuse(`S10 the binding ${is.name} moved for no change`);
    const vcap = this.#court.secret(VCAP);
    if (is.isKey || !fresh || !isSeen || this.isTouched(VCAP) || this.isTouched(to)) return;
    const [oldest = -1] = this.#indicesOf(is.service, (version) => isProjected(fresh, version));
    if (!vcap || (this.#vcapIndices(vcap, is.name).at(-1) ?? -1) < oldest)
      this.accuse(`S10 the binding ${is.name} moved before VCAP_SERVICES was told`);
  }

  /** Another process has written what the bindings of a service are made from since this one read it. */
  #isOvertaken(service: string, doer: Doer): boolean {
    const { credentials = "" } = this.#court.services().find(({ name }) => name === service) ?? {};
    const last = this.#lastWrites.get(credentials);
    const readAt = doer.readAt.get(`${SECRET_TARGET}${credentials}`) ?? -1;
    return last !== undefined && last.by !== doer && last.step > readAt;
  }

  /** What bindings of a service are made from: that may be behind with where the credentials come from. */
  #heldBy(service: string): Version | undefined {
    const { credentials = "" } = this.#court.services().find(({ name }) => name === service) ?? {};
    const secret = this.#court.secret(credentials);
    return this.#books.versions.get(service)?.findLast((version) => secret && isCredentials(secret, version));
  }

  /** What a person takes away after it was last read nobody can see. */
  #isExcused(doer: Doer | undefined, secretName: string | undefined): boolean {
    return this.#personStep >= (doer?.readAt.get(`${SECRET_TARGET}${secretName}`) ?? -1);
  }

  /** The credentials as they should be given out now. */
  latest(service: string): Version | undefined {
    return this.#books.versions.get(service)?.at(-1);
  }

  /** As they were at the beginning. */
  first(service: string): Version | undefined {
    return this.#books.versions.get(service)?.[0];
  }

  /** They are missing, or of no use. */
  isRefused(service: string): boolean {
    return this.#books.refused.has(service);
  }

  isTouched(secretName: string | undefined): boolean {
    return this.#books.touched.has(secretName ?? "");
  }
}

/** A binding bears the name of its service, and more. */
const serviceNamed = (bindingName: string): string => bindingName.slice(0, bindingName.indexOf("-"));

/** Where it was made from a Secret whose keys have ids, it says which. */
const isOfKey = (secret: KubeObject, { keyId }: Version): boolean =>
  keyId === undefined || derivedFrom(secret).get(ROTATED) === keyId;

/** Whether it holds these credentials and nothing else, as they are projected. */
export const isProjected = (secret: KubeObject, version: Version | undefined): boolean =>
  version !== undefined &&
  secret.type === version.type &&
  isSameTexts(textsIn(secret), version.flat) &&
  isOfKey(secret, version);

/** The same, as one JSON object. */
export const isCredentials = (secret: KubeObject, version: Version): boolean =>
  isSameTexts(textsIn(secret), { credentials: version.text }) && isOfKey(secret, version);

/** What an object says, whenever it was written and by whom. */
function sayingOf({ metadata, ...object }: KubeObject): string {
  const { resourceVersion: _version, generation: _generation, managedFields: _owners, ...meta } = metadata;
  return JSON.stringify({ ...object, metadata: meta }, (name, value: unknown) =>
    name === "lastTransitionTime" ? undefined : value,
  );
}
