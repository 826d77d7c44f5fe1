import type { InstanceSettings as CloudFoundryInstance } from "../../src/sandbox/cloud-foundry/switches.ts";
import type { CommonSwitches } from "../../src/sandbox/controls/common-switches.ts";
import type { InstanceSettings as ServiceManagerInstance } from "../../src/sandbox/service-manager/switches.ts";

export type StandInName = "serviceManager" | "cloudFoundry";

/** How a service instance and its broker behave, as far as it is the same for all. */
export type InstanceWishes = Partial<
  Pick<ServiceManagerInstance, keyof ServiceManagerInstance & keyof CloudFoundryInstance>
>;

/** What goes wrong with all of it, as far as it is the same for all. */
export interface Trouble extends CommonSwitches {
  readonly outage: "none" | "unavailable" | "unknown-route" | "throttled";
}

/** A key that exists, whatever lists say. */
export interface OutsideKey {
  readonly id: string;
  readonly name: string;
  readonly instanceId: string;
  /** Its broker has made it. */
  readonly isReady: boolean;
  /** Labels and whatever else it bears, by name. */
  readonly marks: Readonly<Record<string, string>>;
}

interface Sandbox {
  authenticate(credentials: Readonly<Record<string, unknown>>): boolean;
  snapshot(): { readonly bindings: readonly { readonly id: string; readonly parameters: unknown }[] };
  readonly controls: {
    putInstance(wishes: InstanceWishes, id?: string): { readonly id: string };
    removeInstance(id: string): boolean;
    removeBinding(id: string): boolean;
    set(trouble: Partial<Trouble>): void;
    resetSwitches(): void;
  };
}

interface Served<S> {
  readonly url: string;
  readonly sandbox: S;
  stop(): Promise<void>;
}

/**
 * A sandbox over HTTP that stands in for an external system, and the hands on it that no client has, in words that are
 * the same for all of them.
 */
export abstract class StandIn<S extends Sandbox = Sandbox> {
  readonly url: string;
  readonly sandbox: S;
  readonly #served: Served<S>;

  constructor(served: Served<S>) {
    this.url = served.url;
    this.sandbox = served.sandbox;
    this.#served = served;
  }

  abstract keys(): readonly OutsideKey[];

  /** Whether the broker of one of these instances is making a key right now. */
  abstract isAtBroker(instances: readonly string[]): boolean;

  /** A key that somebody makes with a client of their own; its id. */
  abstract makeByHand(name: string, instanceId: string): Promise<string>;

  /** What a ProviderConfig needs to log in, for whoever reaches the sandbox at this address. */
  abstract login(url: string): object;

  /** The same of somebody else. */
  abstract furtherLogin(): object;

  /** Whether the service behind the brokers lets somebody in with these credentials now. */
  lets(credentials: Readonly<Record<string, unknown>>): boolean {
    return this.sandbox.authenticate(credentials);
  }

  /** Makes a service instance, or changes how one behaves; its id. */
  putInstance(wishes: InstanceWishes, id?: string): string {
    return this.sandbox.controls.putInstance(wishes, id).id;
  }

  removeInstance(id: string): void {
    this.sandbox.controls.removeInstance(id);
  }

  /** Gone at once, behind every client's back. */
  removeKey(id: string): void {
    this.sandbox.controls.removeBinding(id);
  }

  /** What a key was made with. */
  parametersOf(id: string): unknown {
    return this.sandbox.snapshot().bindings.find((key) => key.id === id)?.parameters;
  }

  set(trouble: Partial<Trouble>): void {
    this.sandbox.controls.set(trouble);
  }

  allIsWell(): void {
    this.sandbox.controls.resetSwitches();
  }

  stop(): Promise<void> {
    return this.#served.stop();
  }
}
