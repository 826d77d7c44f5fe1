import { isDeepStrictEqual } from "node:util";
import type { KubeObject } from "../../src/kube/objects.ts";
import type { Happening } from "./history.ts";
import { bindingType, instanceType } from "./kinds.ts";
import { type Fields, fields, isOwnedBy, nameIn, objectIn, projectedSecrets, textsOf } from "./secret-texts.ts";

/**
 * What was wrong at any moment in one namespace, however briefly: a Secret that a binding names and that is not there, is of
 * another type than it says, or has something of two versions of the credentials; one that is taken away while pods have it
 * projected; a VCAP_SERVICES that nobody can read, or with an entry that no version of the credentials ever was. Reads what people and programs would read, by the letter of
 * the specifications. Must not: use the product's code.
 */
export function judge(history: readonly Happening[]): readonly string[] {
  const moment = new Moment();
  return history.flatMap((happening) =>
    moment.after(happening).map((problem) => `at version ${happening.version}: ${problem}`),
  );
}

class Moment {
  readonly #secrets = new Map<string, KubeObject>();
  readonly #bindings = new Map<string, KubeObject>();
  readonly #instances = new Map<string, KubeObject>();
  /** Workloads and pods. */
  readonly #users = new Map<string, KubeObject>();
  /** Everything that credentials ever were. */
  readonly #versions: Fields[] = [];

  after({ kind, isEnd, object }: Happening): readonly string[] {
    const { name } = object.metadata;
    const objects = this.#objectsOf(kind);
    const key = objects === this.#users ? `${kind}/${name}` : name;
    if (isEnd) objects.delete(key);
    else objects.set(key, object);
    if (kind === bindingType.kind) return this.#problemsOf(object);
    if (kind !== "Secret") return [];
    if (!isEnd) this.#learn(object);
    return [
      ...this.#usersOf(name).flatMap((binding) => this.#problemsOf(binding)),
      ...(isEnd ? this.#problemsOfEnd(object) : this.#problemsOfServices(object)),
    ];
  }

  #objectsOf(kind: string): Map<string, KubeObject> {
    if (kind === "Secret") return this.#secrets;
    if (kind === bindingType.kind) return this.#bindings;
    return kind === instanceType.kind ? this.#instances : this.#users;
  }

  /** What is projected goes with its binding, not before. */
  #problemsOfEnd(secret: KubeObject): readonly string[] {
    const isMade = [...this.#bindings.values()].some((binding) => isOwnedBy(secret, binding));
    if (!isMade) return [];
    const { name } = secret.metadata;
    return [...this.#users]
      .filter(([, { metadata }]) => metadata.deletionTimestamp === undefined)
      .filter(([, user]) => projectedSecrets(user).includes(name))
      .map(([user]) => `${name} went while ${user} has it projected`);
  }

  /** One object under one key; or, from the time when credentials were flat, the values of an instance's Secret. */
  #learn(secret: KubeObject): void {
    const texts = textsOf(secret);
    const isMade = secret.metadata.ownerReferences?.some(({ kind }) => kind === bindingType.kind) === true;
    const isLegacy = typeof secret.type === "string" && secret.type.startsWith("servicebinding.io/") && !isMade;
    const version = isLegacy ? texts : objectIn(texts.credentials);
    if (version !== undefined) this.#versions.push(version);
  }

  #usersOf(secretName: string): readonly KubeObject[] {
    return [...this.#bindings.values()].filter((binding) =>
      [nameIn(binding, "binding"), nameIn(binding, "credentials")].includes(secretName),
    );
  }

  #problemsOf(binding: KubeObject): readonly string[] {
    const { name, deletionTimestamp } = binding.metadata;
    const instance = this.#instances.get(String(fields(fields(binding.spec).service).name));
    const isLeaving = !this.#bindings.has(name) || deletionTimestamp !== undefined;
    // Without its service a binding is worth nothing, and what belongs to the service goes with it.
    if (isLeaving || instance === undefined || instance.metadata.deletionTimestamp !== undefined) return [];
    const [mountName, envName] = [nameIn(binding, "binding"), nameIn(binding, "credentials")];
    const twins = [
      [mountName, nameIn(binding, "mountSecretRef")],
      [envName, nameIn(binding, "envSecretRef")],
    ];
    const isTwice = twins.every(([one, other]) => other === undefined || one === other);
    return [
      ...(isTwice ? [] : [`${name} says two things under two names`]),
      ...(mountName === undefined ? [] : this.#problemsOfMount(binding, mountName)),
      ...(envName === undefined || objectIn(this.#textsOf(envName)?.credentials) !== undefined
        ? []
        : this.#problemsOfEnv(name, envName)),
    ];
  }

  #textsOf(name: string): Readonly<Record<string, string>> | undefined {
    const secret = this.#secrets.get(name);
    return secret && textsOf(secret);
  }

  #problemsOfMount(binding: KubeObject, secretName: string): readonly string[] {
    const secret = this.#secrets.get(secretName);
    const { name } = binding.metadata;
    if (secret === undefined) return [`${name} has ${secretName} projected, which is not there`];
    const texts = textsOf(secret);
    const saysItsType = secret.type === `servicebinding.io/${texts.type}` || !isOwnedBy(secret, binding);
    return [
      ...(saysItsType ? [] : [`${secretName} is of type ${secret.type}, and says that it is ${texts.type}`]),
      ...(this.#versions.some((version) => isFlatOf(version, texts)) ? [] : [`${secretName} is of no one version`]),
    ];
  }

  /** What people write there may be refused, as long as they do; that it is there at all is not up to them. */
  #problemsOfEnv(name: string, secretName: string): readonly string[] {
    return this.#secrets.has(secretName) ? [] : [`${name} has its credentials in ${secretName}, which is not there`];
  }

  #problemsOfServices(secret: KubeObject): readonly string[] {
    const { VCAP_SERVICES: text } = textsOf(secret);
    const { name } = secret.metadata;
    if (text === undefined) return [];
    const services = objectIn(text);
    if (services === undefined) return [`${name} cannot be read`];
    return Object.values(services)
      .flatMap((entries) => entries as readonly Fields[])
      .filter(({ credentials }) => !this.#versions.some((version) => isDeepStrictEqual(version, credentials)))
      .map((entry) => `${name} has credentials of no one version for ${entry.binding_guid}`);
  }
}

/** Whether these are the files of these credentials: a string is what it says, everything else is its JSON. */
function isFlatOf(version: Fields, texts: Readonly<Record<string, string>>): boolean {
  const names = new Set([...Object.keys(version), "type"]);
  if (Object.keys(texts).some((name) => !names.has(name))) return false;
  return Object.entries(version).every(([name, value]) => {
    const text = texts[name];
    if (typeof value === "string" || text === undefined) return text === value;
    return isJsonOf(text, value);
  });
}

function isJsonOf(text: string, value: unknown): boolean {
  try {
    return isDeepStrictEqual(JSON.parse(text), value);
  } catch {
    return false;
  }
}
