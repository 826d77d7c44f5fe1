import { removeBinding } from "./attempts.ts";
import type { ClientPlan, InstanceRecord } from "./records.ts";
import { defaultInstance, defaultSwitches, type InstanceSettings, type Switches } from "./switches.ts";
import { type ClientRequest, credentialsOf, type IssuedCredentials, issueClient } from "./tokens.ts";
import type { SandboxWorld } from "./world.ts";

/**
 * The hands on the sandbox that no client has: what there is, and what goes wrong. For tests, simulation and demos, and
 * over HTTP under `/sandbox/`. All off by default.
 */
export interface SandboxControls {
  switches(): Switches;
  set(changes: Partial<Switches>): void;
  /** Everything as it was in the beginning; instances keep their settings. */
  resetSwitches(): void;
  instances(): readonly InstanceRecord[];
  /** Makes an instance, or changes one that is there; without an id a new one is drawn. */
  putInstance(settings?: Partial<InstanceSettings>, id?: string): InstanceRecord;
  /** The instance goes, and all its bindings with it, as if the service had been cancelled. */
  removeInstance(id: string): boolean;
  /** The binding goes at once, without a request: somebody in the cockpit. */
  removeBinding(id: string): boolean;
  /** What the first client with a secret was given, if there is one. `url` is where the sandbox is reached. */
  credentials(url: string): IssuedCredentials | undefined;
  /** A further client. */
  issueClient(url: string, client?: ClientRequest): IssuedCredentials;
  /** With `service-operator-access` every call but the one for a token is a 403. */
  setClientPlan(clientId: string, plan: ClientPlan): boolean;
  /** Every token becomes invalid now, long before its time. */
  revokeTokens(): void;
}

export function createControls(world: SandboxWorld, catchUp: () => void): SandboxControls {
  const caughtUp = <T>(action: () => T): T => {
    catchUp();
    return action();
  };
  return {
    switches: () => world.switches,
    set(changes) {
      catchUp();
      world.switches = { ...world.switches, ...changes };
    },
    resetSwitches() {
      catchUp();
      world.switches = defaultSwitches;
    },
    instances: () => [...world.instances.values()],
    putInstance: (settings = {}, id) => caughtUp(() => putInstance(world, settings, id ?? world.uuid())),
    removeInstance: (id) => caughtUp(() => removeInstance(world, id)),
    removeBinding: (id) =>
      caughtUp(() => {
        const isThere = world.bindings.get(id) !== undefined;
        removeBinding(world, id, world.tick());
        return isThere;
      }),
    credentials(url) {
      const client = [...world.clients.values()].find(({ proof }) => "secret" in proof);
      return client && credentialsOf(client, url);
    },
    issueClient: (url, client = {}) => caughtUp(() => credentialsOf(issueClient(world, client), url, client.certUrl)),
    setClientPlan(clientId, plan) {
      const client = world.clients.get(clientId);
      if (client) client.plan = plan;
      return client !== undefined;
    },
    revokeTokens: () => world.tokens.clear(),
  };
}

function putInstance(world: SandboxWorld, settings: Partial<InstanceSettings>, id: string): InstanceRecord {
  const fresh = { ...defaultInstance, id, sequence: world.sequence(), createdAt: world.now() };
  const instance = { ...(world.instances.get(id) ?? fresh), ...settings };
  world.instances.set(id, instance);
  return instance;
}

function removeInstance(world: SandboxWorld, id: string): boolean {
  const isThere = world.instances.delete(id);
  const orphans = Array.from(world.bindings.all()).filter(({ instanceId }) => instanceId === id);
  for (const binding of orphans) removeBinding(world, binding.id, world.tick());
  return isThere;
}
