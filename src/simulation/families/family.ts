import type { Clock } from "../../base/clock.ts";
import type { Random } from "../../base/random.ts";
import type { Kube } from "../../kube/port.ts";
import type { SecretAddress } from "../../publish/secret-publisher.ts";
import type { ManagedFamily } from "../../reconcile/managed/family.ts";
import type { WatchedFamily } from "../../reconcile/parents/parent-controller.ts";
import type { CommonSwitches } from "../../sandbox/controls/common-switches.ts";
import type { SandboxRequest, SandboxResponse } from "../../sandbox/http/exchange.ts";
import type { InstanceSettings } from "../../sandbox/service-manager/switches.ts";

/** A key that exists outside, whatever lists say, and what stands on it. */
export interface LiveKey {
  readonly id: string;
  readonly name: string;
  readonly instanceId: string;
  readonly createdAt: number;
  readonly isReady: boolean;
  /** Whether somebody could log in with its credentials now; also where nobody was ever told them. */
  readonly credentialsWork: boolean;
  /** What its marks say: undefined, and 0, where it bears none. */
  readonly cluster: string | undefined;
  readonly holder: string | undefined;
  readonly sequence: number;
}

/** What every sandbox can be told of an instance. */
type InstanceWish = Partial<
  Pick<InstanceSettings, "broker" | "brokerWorkMs" | "brokerFailures" | "brokerFailsOn" | "sameCredentials">
>;

/** What every sandbox can be told of itself. */
interface Trouble extends Partial<CommonSwitches> {
  readonly outage?: "none" | "unavailable" | "throttled";
}

/** How the outside behaves in a schedule. */
export interface Climate {
  readonly name: string;
  readonly switches?: Partial<CommonSwitches>;
  readonly instance?: InstanceWish;
  /** Keys are made without marks: nobody can know of one that is made after its intent is over. */
  readonly isMarkedLater?: true;
}

/** What those who call may do there: all, look without seeing secrets, nothing. */
export type Rights = "all" | "few" | "none";

/** A sandbox as the simulated world uses it, whatever it stands in for. */
export interface Outside {
  handle(request: SandboxRequest): Promise<SandboxResponse>;
  /** The whole state, to go on from in another world. */
  snapshot(): unknown;
  liveKeys(): readonly LiveKey[];
  /** What the service would say to these credentials now. */
  authenticate(credentials: Readonly<Record<string, unknown>>): boolean;
  /** Puts a ProviderConfig there that leads to this sandbox. */
  configure(kube: Kube): Promise<void>;
  set(trouble: Trouble): void;
  instances(): readonly string[];
  /** Makes an instance, or changes one; says which. */
  putInstance(wish: InstanceWish, id?: string): string;
  removeInstance(id: string): void;
  /** Somebody in the cockpit. */
  removeKey(id: string): void;
  grant(rights: Rights): void;
}

export interface OutsideOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly climate: Climate;
  /** What another one's `snapshot` gave; without it, everything is new. */
  readonly snapshot: unknown;
}

/** How the system puts what went wrong. */
export interface Words {
  /** The body of an error that it answers with. */
  problem(name: string): string;
  /** An answer, with the credentials left out as it would leave them out. */
  withheld(body: string): string;
}

/**
 * A managed family and the sandbox of its external system: all in which the stories of one differ from those of the next.
 * Must not: know a story.
 */
export interface Family {
  readonly name: string;
  /** A new one for every process: it may remember something. */
  createManaged(): ManagedFamily;
  /** Where the stories are about parents, and the managed family is that of their children. */
  createParent?(): WatchedFamily;
  /** Where the credentials of the ProviderConfig are. */
  readonly credentials: SecretAddress;
  readonly climates: readonly Climate[];
  readonly fields: FieldNames;
  /** The external system never has two keys of one name. */
  readonly hasUniqueNames: boolean;
  /** What must be in a Secret so that a workload can log in. */
  readonly secretKeys: readonly string[];
  readonly words: Words;
  open(options: OutsideOptions): Outside;
}

export interface FieldNames {
  /** The field of `spec.forProvider` that names the instance. */
  readonly instance: string;
  readonly rotationIn: "spec" | "forProvider";
}

type Fields = Readonly<Record<string, unknown>>;

/** What a resource asks for, in words that every family has; null takes something away. */
export interface Wish {
  readonly rotation?: Fields | null | undefined;
  readonly name?: string;
  readonly instanceId?: string;
  readonly parameters?: Fields;
  readonly writeConnectionSecretToRef?: Fields | undefined;
  readonly deletionPolicy?: "Orphan";
}

/** The fields of a spec that ask for this: for a new one, or to be merged into one. */
export function specOf({ instance, rotationIn }: FieldNames, wish: Wish): Fields {
  const { rotation, name, instanceId, parameters, ...rest } = wish;
  const forProvider = { name, parameters, [instance]: instanceId };
  return rotationIn === "spec"
    ? { ...rest, rotation, forProvider }
    : { ...rest, forProvider: { ...forProvider, rotation } };
}

/** What both sandboxes have under the same names. */
interface Sandbox {
  handle(request: SandboxRequest): Promise<SandboxResponse>;
  snapshot(): unknown;
  authenticate(credentials: Readonly<Record<string, unknown>>): boolean;
  readonly controls: {
    set(trouble: Trouble): void;
    instances(): readonly { readonly id: string }[];
    putInstance(wish?: InstanceWish, id?: string): { readonly id: string };
    removeInstance(id: string): boolean;
    removeBinding(id: string): boolean;
  };
}

export const faceOf = (sandbox: Sandbox): Omit<Outside, "liveKeys" | "configure" | "grant"> => ({
  handle: (request) => sandbox.handle(request),
  snapshot: () => sandbox.snapshot(),
  authenticate: (credentials) => sandbox.authenticate(credentials),
  set: (trouble) => sandbox.controls.set(trouble),
  instances: () => sandbox.controls.instances().map(({ id }) => id),
  putInstance: (wish, id) => sandbox.controls.putInstance(wish, id).id,
  removeInstance: (id) => void sandbox.controls.removeInstance(id),
  removeKey: (id) => void sandbox.controls.removeBinding(id),
});

export const SANDBOX_URL = "http://127.0.0.1:1";
