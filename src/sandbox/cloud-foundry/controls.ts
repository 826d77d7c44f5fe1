import { removeBinding } from "./attempts.ts";
import type {
  AppRecord,
  InstanceRecord,
  LoginRecord,
  OrganizationRecord,
  RecordBase,
  Role,
  SpaceRecord,
} from "./records.ts";
import {
  type AppSettings,
  defaultInstance,
  defaultSwitches,
  type InstanceSettings,
  type OrganizationSettings,
  type SpaceSettings,
  type Switches,
} from "./switches.ts";
import { addToken, type IssuedLogin, issuedLogin, issueLogin, type LoginRequest } from "./tokens.ts";
import { type CloudFoundryWorld, loginKey } from "./world.ts";

/**
 * The hands on the sandbox that no client has: what there is, and what goes wrong. For tests, simulation and demos, and
 * over HTTP under `/sandbox/`. All off by default. `put…` makes something or changes what is there; without an id a new
 * one is drawn.
 */
export interface CloudFoundryControls {
  switches(): Switches;
  set(changes: Partial<Switches>): void;
  /** Everything as it was in the beginning; instances keep their settings. */
  resetSwitches(): void;
  organizations(): readonly OrganizationRecord[];
  spaces(): readonly SpaceRecord[];
  apps(): readonly AppRecord[];
  instances(): readonly InstanceRecord[];
  putOrganization(settings?: Partial<OrganizationSettings>, id?: string): OrganizationRecord;
  putSpace(settings?: Partial<SpaceSettings>, id?: string): SpaceRecord;
  putApp(settings?: Partial<AppSettings>, id?: string): AppRecord;
  putInstance(settings?: Partial<InstanceSettings>, id?: string): InstanceRecord;
  /** The instance goes, and all its bindings with it. */
  removeInstance(id: string): boolean;
  /** The app goes, and all its bindings with it. */
  removeApp(id: string): boolean;
  /** The binding goes at once, without a request: somebody in the cockpit. */
  removeBinding(id: string): boolean;
  /** The first login, if there is one. `url` is where the sandbox is reached. */
  login(url: string): IssuedLogin | undefined;
  /** A further user or client. */
  issueLogin(url: string, request?: LoginRequest): IssuedLogin;
  /** Without a role everything looks deleted. */
  setRole(loginId: string, role: Role): boolean;
  /** A token without a log-in, as for a foundation without a UAA; undefined where there is no such login. */
  issueToken(loginId: string): string | undefined;
  /** Every token becomes invalid now, those for refreshing too. */
  revokeTokens(): void;
}

export function createControls(world: CloudFoundryWorld, catchUp: () => void): CloudFoundryControls {
  const caughtUp = <T>(action: () => T): T => {
    catchUp();
    return action();
  };
  const loginsCalled = (id: string): readonly LoginRecord[] =>
    [...world.logins.values()].filter((login) => login.id === id);
  return {
    switches: () => world.switches,
    set: (changes) =>
      caughtUp(() => {
        world.switches = { ...world.switches, ...changes };
      }),
    resetSwitches: () =>
      caughtUp(() => {
        world.switches = defaultSwitches;
      }),
    organizations: () => [...world.organizations.values()],
    spaces: () => [...world.spaces.values()],
    apps: () => [...world.apps.values()],
    instances: () => [...world.instances.values()],
    putOrganization: (settings, id) => caughtUp(() => put(world, organizationsOf(world), { settings, id })),
    putSpace: (settings, id) => caughtUp(() => put(world, spacesOf(world), { settings, id })),
    putApp: (settings, id) => caughtUp(() => put(world, appsOf(world), { settings, id })),
    putInstance: (settings, id) => caughtUp(() => put(world, instancesOf(world), { settings, id })),
    removeInstance: (id) => caughtUp(() => removeWithBindings(world, world.instances, { kind: "instance", id })),
    removeApp: (id) => caughtUp(() => removeWithBindings(world, world.apps, { kind: "app", id })),
    removeBinding: (id) =>
      caughtUp(() => {
        const binding = world.bindings.get(id);
        if (binding) removeBinding(world, binding, world.tick());
        return binding !== undefined;
      }),
    login(url) {
      const [login] = world.logins.values();
      return login && issuedLogin(login, url);
    },
    issueLogin: (url, request = {}) => caughtUp(() => issuedLogin(issueLogin(world, request), url)),
    setRole(loginId, role) {
      const logins = loginsCalled(loginId);
      for (const login of logins) login.role = role;
      return logins.length > 0;
    },
    issueToken: (loginId) =>
      caughtUp(() => {
        const [login] = loginsCalled(loginId);
        return login && addToken(world, "access", loginKey(login), world.switches.tokenLifetimeMs).token;
      }),
    revokeTokens: () => world.tokens.clear(),
  };
}

/** Where the records of a kind are, and what a new one is like. */
interface Shelf<S> {
  readonly records: Map<string, RecordBase & S>;
  readonly defaults: S;
}

const organizationsOf = ({ organizations }: CloudFoundryWorld): Shelf<OrganizationSettings> => ({
  records: organizations,
  defaults: { name: "organization", keyQuota: null },
});

const spacesOf = ({ spaces, organizations }: CloudFoundryWorld): Shelf<SpaceSettings> => ({
  records: spaces,
  defaults: { name: "space", keyQuota: null, organization: first(organizations) },
});

const appsOf = ({ apps, spaces }: CloudFoundryWorld): Shelf<AppSettings> => ({
  records: apps,
  defaults: { name: "app", space: first(spaces) },
});

const instancesOf = ({ instances, spaces }: CloudFoundryWorld): Shelf<InstanceSettings> => ({
  records: instances,
  defaults: { ...defaultInstance, space: first(spaces) },
});

function put<S>(
  world: CloudFoundryWorld,
  { records, defaults }: Shelf<S>,
  { settings = {}, id = world.uuid() }: { readonly settings: Partial<S> | undefined; readonly id: string | undefined },
): RecordBase & S {
  const present = records.get(id) ?? { id, sequence: world.sequence(), createdAt: world.now(), ...defaults };
  const record = { ...present, ...settings };
  records.set(id, record);
  return record;
}

const first = (records: ReadonlyMap<string, unknown>): string => records.keys().next().value ?? "";

function removeWithBindings(
  world: CloudFoundryWorld,
  records: Map<string, unknown>,
  { kind, id }: { readonly kind: "instance" | "app"; readonly id: string },
): boolean {
  for (const binding of [...world.bindings.under(kind, id)]) removeBinding(world, binding, world.tick());
  return records.delete(id);
}
