import assert from "node:assert/strict";
import { planApp } from "./app-plan.ts";
import { planBinding } from "./binding-plan.ts";
import { flatten } from "./flatten.ts";
import { planInstance } from "./instance-plan.ts";
import { bindingOf, credentialsOf, instanceOf, secretOf, textsIn, uidOf } from "./korifi.fixture.ts";
import type { Binding, Instance, SecretView } from "./model.ts";
import { vcapSecretName } from "./names.ts";
import { bindingStatus, type Plan, type Write } from "./plan.ts";

/**
 * One service of one application, and an operator that may stop after any write. After each, and after whatever a person
 * does, every Secret that a status names must be there, whole and of one version, and none may go back to an older one.
 */
export type Start = "own" | "legacy" | "followed";

const APP = "shop";
/** The Secret that the credentials come from, before anything is moved. */
const SOURCES = { own: "db", legacy: "db", followed: "rotated" } as const;

export class KorifiWorld {
  readonly #start: Start;
  readonly #secrets = new Map<string, SecretView>();
  readonly #bindings = new Map<string, object>();
  /** The latest version that each binding has given out. */
  readonly #given = new Map<string, number>();
  readonly #versions: string[] = [];
  #spec: object;
  #status: { readonly credentials?: { readonly name: string }; readonly credentialsObservedVersion?: string } = {};
  #count = 0;

  constructor(start: Start, bindings: number) {
    this.#start = start;
    this.#spec = start === "followed" ? { credentialsFrom: { secretName: SOURCES[start] } } : {};
    this.changeCredentials();
    for (let made = 0; made < bindings; made++) this.bind();
  }

  /** Of a legacy instance, such as there were before an upgrade: projected is the instance's own Secret. */
  bind(): void {
    const name = `b${this.#bindings.size}`;
    const status = this.#start === "legacy" && this.#count <= 1 ? { binding: { name: "db" } } : {};
    this.#bindings.set(name, status);
  }

  get #sourceName(): string {
    return this.#instance.source.kind === "managed" ? "" : this.#instance.source.secretName;
  }

  get #isMoved(): boolean {
    return this.#start === "legacy" && this.#sourceName !== SOURCES.legacy;
  }

  /** What people do, or a rotation. */
  changeCredentials(type = "user-provided"): void {
    const count = ++this.#count;
    const isFlat = this.#start === "legacy" && !this.#isMoved;
    const members = { count: String(count), type: isFlat ? "user-provided" : type };
    const text = JSON.stringify(isFlat ? members : { ...members, nested: { count } });
    this.#versions.push(text);
    this.#putSource(isFlat ? members : { credentials: text });
  }

  breakCredentials(): void {
    if (this.#start === "legacy" && !this.#isMoved) return;
    this.#putSource({ credentials: '{"no key": 1}' });
  }

  /** The first thing that "credentials set" does to a legacy instance. */
  moveSource(): void {
    const { credentials, credentialsObservedVersion } = this.#status;
    const isSettled = credentialsObservedVersion === this.#secrets.get(this.#sourceName)?.version;
    if (this.#start === "legacy" && credentials && isSettled) this.#spec = { secretName: credentials.name };
  }

  #putSource(texts: Readonly<Record<string, string>>): void {
    const name = this.#sourceName;
    const { type = this.#start === "legacy" ? "servicebinding.io/user-provided" : "Opaque" } =
      this.#secrets.get(name) ?? {};
    const owner = this.#start === "legacy" ? { owner: "db" } : {};
    this.#secrets.set(name, secretOf(name, texts, { ...owner, type, version: this.#nextVersion() }));
    this.#check();
  }

  #revision = 0;
  #nextVersion(): string {
    return String(++this.#revision);
  }

  get #instance(): Instance {
    return instanceOf({ spec: this.#spec, status: this.#status });
  }

  get #all(): readonly Binding[] {
    return Array.from(this.#bindings, ([name, status]) => bindingOf({ status }, name));
  }

  /** One look at everything, which ends after so many writes. Returns how many there were. */
  run(budget = Number.POSITIVE_INFINITY): number {
    let done = 0;
    const carryOut = ({ writes }: Plan, object: string): void => {
      for (const write of writes) {
        if (done >= budget) return;
        this.#do(write, object);
        this.#check();
        done++;
      }
    };
    const secrets = (): readonly SecretView[] => [...this.#secrets.values()];
    const named = (name: string | undefined) => (name === undefined ? undefined : this.#secrets.get(name));
    carryOut(planInstance({ instance: this.#instance, source: named(this.#sourceName), secrets: secrets() }), "db");
    for (const name of this.#bindings.keys()) {
      const [binding, instance] = [this.#binding(name), this.#instance];
      const credentials = named(instance.credentialsName);
      carryOut(planBinding({ binding, instance, credentials, secrets: secrets() }), name);
    }
    const services = this.#all.map((binding) => ({
      binding,
      instance: this.#instance,
      credentials: named(binding.envName),
    }));
    carryOut(planApp({ appName: APP, services, present: named(vcapSecretName(APP)) }), APP);
    return done;
  }

  #binding(name: string): Binding {
    return bindingOf({ status: this.#bindings.get(name) ?? {} }, name);
  }

  #do(write: Write, object: string): void {
    if (write.kind === "instance-status") {
      const { credentialsName: name, observedVersion } = write;
      this.#status = { credentials: { name }, credentialsObservedVersion: observedVersion };
    } else if (write.kind === "binding-status") this.#bindings.set(object, bindingStatus(write));
    else if (write.kind === "delete-secret") {
      assert.equal(this.#secrets.get(write.name)?.version, write.version);
      this.#secrets.delete(write.name);
    } else if (write.kind === "release-secret") {
      const { isMarked: _, ...present } = this.#secrets.get(write.name) ?? assert.fail(write.name);
      assert.equal(present.version, write.version);
      this.#secrets.set(write.name, { ...present, version: this.#nextVersion() });
    } else {
      const present = this.#secrets.get(write.name);
      assert.equal(present?.version, write.over?.version);
      assert.equal(present?.type ?? write.type, write.type, "the type of a Secret cannot change");
      const { name, type, derivedFrom } = write;
      const servicesOf = write.owner === "app" ? { servicesOf: object } : {};
      const said = { type, derivedFrom, ...servicesOf, owner: object, version: this.#nextVersion() };
      this.#secrets.set(name, { ...secretOf(name, {}, said), data: write.data });
    }
  }

  #check(): void {
    const { credentialsName } = this.#instance;
    if (credentialsName !== undefined) assert.ok(this.#secrets.has(credentialsName), `${credentialsName} is missing`);
    for (const binding of this.#all) this.#checkMount(binding);
    for (const [name, text] of this.#vcap) {
      assert.ok(this.#versions.includes(text), `VCAP_SERVICES has a version of ${name} that there never was`);
    }
  }

  #checkMount({ name, mountName, envName }: Binding): void {
    if (envName !== undefined) assert.ok(this.#secrets.has(envName), `${envName} is missing`);
    if (mountName === undefined) return;
    const secret = this.#secrets.get(mountName);
    assert.ok(secret, `${mountName} is missing`);
    const version = this.#versions.findIndex((text) => isMadeFrom(secret, text));
    assert.notEqual(version, -1, `${mountName} is mixed of two versions, or damaged`);
    assert.ok(version >= (this.#given.get(name) ?? 0), `${name} has gone back to an older version`);
    this.#given.set(name, version);
  }

  /** The credentials of each binding in VCAP_SERVICES, as they are written there. */
  get #vcap(): readonly (readonly [string, string])[] {
    const secret = this.#secrets.get(vcapSecretName(APP));
    const text = secret ? (textsIn(secret.data).VCAP_SERVICES ?? "") : "{}";
    const lists = Object.values(JSON.parse(text) as Readonly<Record<string, readonly VcapEntry[]>>);
    return lists.flat().map((entry) => [entry.binding_guid, JSON.stringify(entry.credentials)]);
  }

  /** At rest, with credentials that can be read: everything is of the latest version, and nothing is left over. */
  checkRest(): void {
    const latest = this.#versions.at(-1) ?? "";
    for (const { name, mountName } of this.#all) {
      const secret = this.#secrets.get(mountName ?? "");
      assert.ok(secret && isMadeFrom(secret, latest), `${name} is behind`);
      const owned = [...this.#secrets.values()].filter(({ ownerUids }) => ownerUids.includes(uidOf(name)));
      assert.ok(owned.length <= 1, `${name} has Secrets left over`);
    }
    assert.deepEqual(
      this.#vcap,
      this.#all.map(({ name }) => [name, latest]),
    );
  }

  /** Which Secrets are projected. */
  get mounts(): readonly (string | undefined)[] {
    return this.#all.map(({ mountName }) => mountName);
  }
}

interface VcapEntry {
  readonly binding_guid: string;
  readonly credentials: unknown;
}

function isMadeFrom(secret: SecretView, text: string): boolean {
  const flat = flatten(credentialsOf(text));
  return secret.type === flat.type && same(textsIn(secret.data)) === same(textsIn(flat.data));
}

const same = (texts: Readonly<Record<string, string>>): string => JSON.stringify(Object.entries(texts).sort());
