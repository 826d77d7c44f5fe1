import type { Clock } from "../../base/clock.ts";
import type { Random } from "../../base/random.ts";
import type { KubeObject, ResourceType } from "../../kube/objects.ts";
import type { Kube } from "../../kube/port.ts";
import type { SecretAddress } from "../../publish/secret-publisher.ts";
import type { ManagedFamily } from "../../reconcile/managed/family.ts";
import type { ManagedControllerOptions } from "../../reconcile/managed/managed-controller.ts";
import type { ManagedKind } from "../../reconcile/managed/managed-kind.ts";
import type { Known } from "../../reconcile/managed/rest.ts";
import type { ParentFamily } from "../../reconcile/parents/parent-family.ts";
import type { ParentSourceOptions } from "../../reconcile/parents/parent-source.ts";
import type { Reconcile } from "../../runtime/workers.ts";
import type { CommonSwitches } from "../../sandbox/controls/common-switches.ts";
import type { SandboxRequest, SandboxResponse } from "../../sandbox/http/exchange.ts";
import type { InstanceSettings } from "../../sandbox/service-manager/switches.ts";
import type { Call } from "../process.ts";
import type { WatchView } from "../watch-view.ts";

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
  /** Puts there what leads to this sandbox: a ProviderConfig, or a class. */
  configure(kube: Kube): Promise<void>;
  set(trouble: Trouble): void;
  instances(): readonly string[];
  /** Makes an instance, or changes one; says which. */
  putInstance(wish: InstanceWish, id?: string): string;
  removeInstance(id: string): void;
  /** Somebody in the cockpit. */
  removeKey(id: string): void;
  grant(rights: Rights): void | Promise<void>;
  /** The API as it lets processes use it; absent: as it is. */
  served?(kube: Kube): Kube;
  /** The controller of children that are not ours, as it would run in a process with these. */
  play?(kube: Kube, clock: Clock): Reconcile;
}

export interface OutsideOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly kube: Kube;
  readonly climate: Climate;
  /** What another one's `snapshot` gave; without it, everything is new. */
  readonly snapshot: unknown;
  /** All objects of a kind, read without a call. */
  stored(type: ResourceType): readonly KubeObject[];
}

/** How the system puts what went wrong. */
export interface Words {
  /** The body of an error that it answers with. */
  problem(name: string): string;
  /** An answer, with the credentials left out as it would leave them out. */
  withheld(body: string): string;
}

/**
 * A kind and what its keys are: all in which the stories of one differ from those of the next. Must not: know a story.
 */
export interface Family {
  readonly name: string;
  /** The resources with keys at an external system: those of the stories, or their children; absent: there is none. */
  readonly holders?: KeyHolders;
  /** Where the stories are about parents. */
  readonly parents?: Parents;
  readonly climates: readonly Climate[];
  /** The fields of a spec that ask for this: for a new one, or to be merged into one. */
  specOf(wish: Wish): Fields;
  /** The external system never has two keys of one name. */
  readonly hasUniqueNames: boolean;
  /** What must be in a Secret so that a workload can log in. */
  readonly secretKeys: readonly string[];
  /** What somebody writes into a Secret who edits it by hand. */
  readonly damage: Readonly<Record<string, string>>;
  readonly words: Words;
  open(options: OutsideOptions): Outside;
}

export interface KeyHolders {
  /** A new one for every process: it may remember something. */
  create(): ManagedFamily;
  /** Where the credentials of the ProviderConfig are. */
  readonly credentials: SecretAddress;
  /** The field of `spec.forProvider` that names the instance. */
  readonly instance: string;
}

/** Parents, whose keys are other resources. */
export interface Parents {
  readonly kind: ManagedKind;
  readonly children: Children;
  /** What their controller watches beside them and their children. */
  readonly classType?: ResourceType;
  /** As production puts it together, for one process. */
  open(surroundings: Surroundings): OpenParents;
  /** What a call does that nobody may do, by what whoever makes it can know; undefined: nothing. */
  trespassOf?(call: Call, watch: WatchView): string | undefined;
}

interface Surroundings {
  readonly kube: Kube;
  readonly clock: Clock;
  readonly watch: WatchView;
}

/** Parents in one process, and what its watches tell their controller. */
export interface OpenParents extends Pick<ParentSourceOptions, "secretVersion"> {
  readonly family: ParentFamily;
  readonly known: Known;
  readonly options: Pick<ManagedControllerOptions, "hearsOutside" | "leavesOn">;
}

/** Children of parents, as those see them who judge, or who lay hands on them. */
export interface Children {
  readonly type: ResourceType;
  /** Kinds of others are not among ours: how they are defined. */
  readonly definition?: KubeObject;
  /** The Secret of the child of this name, as `namespace/name`. */
  secretOf(name: string): string;
  /** When what it stands for was made, where that is not when the child was. */
  createdAt?(child: KubeObject): number | undefined;
  /** The key that it stands for, of a child that publishes nothing. */
  silentKeyOf?(child: KubeObject): string | undefined;
  /** Whether what it publishes may be used, by what it says of itself and by what its Secret says. */
  isWell(child: KubeObject, secret: KubeObject | undefined): boolean;
  /** What a person writes who makes one. */
  specOf(name: string, instanceId: string): Fields;
  /** What makes one of another instance when it is merged into its spec. */
  pointingTo(instanceId: string): Fields;
  /** The annotation that asks for another key in the same child. */
  readonly forceAnnotation: string;
  /** The UID of the child that a Secret was made for, where nothing else may tell. */
  madeFor?(secret: KubeObject): string | undefined;
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

/** Where the kinds of external systems have what a wish is about. */
export const wishing =
  (instance: string, rotationIn: "spec" | "forProvider") =>
  ({ rotation, name, instanceId, parameters, ...rest }: Wish): Fields => {
    const forProvider = { name, parameters, [instance]: instanceId };
    return rotationIn === "spec"
      ? { ...rest, rotation, forProvider }
      : { ...rest, forProvider: { ...forProvider, rotation } };
  };

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
