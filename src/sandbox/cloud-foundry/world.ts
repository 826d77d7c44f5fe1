import { AccountStore } from "../ground/account-store.ts";
import { Ground, type GroundOptions } from "../ground/ground.ts";
import { BindingStore } from "./binding-store.ts";
import { notFound, Refusal } from "./problems.ts";
import type {
  AppRecord,
  Attempt,
  BindingRecord,
  CloudFoundrySnapshot,
  InstanceRecord,
  JobRecord,
  LoginRecord,
  OrganizationRecord,
  SpaceRecord,
  TokenRecord,
} from "./records.ts";
import { defaultInstance, defaultSwitches, type Switches } from "./switches.ts";

/** The state that the parts of the sandbox share. */
export class CloudFoundryWorld extends Ground {
  /** Where it is reached by requests that do not say it. */
  readonly url: string;
  readonly organizations = new Map<string, OrganizationRecord>();
  readonly spaces = new Map<string, SpaceRecord>();
  readonly apps = new Map<string, AppRecord>();
  readonly instances = new Map<string, InstanceRecord>();
  readonly bindings = new BindingStore();
  readonly accounts = new AccountStore();
  /** By `loginKey`. */
  readonly logins = new Map<string, LoginRecord>();
  readonly tokens = new Map<string, TokenRecord>();
  readonly jobs = new Map<string, JobRecord>();
  /** By job, in the order they began. */
  readonly attempts = new Map<string, Attempt>();
  readonly auditEvents = new Map<string, number>();
  /** Requests of each login in its present window. */
  readonly rates = new Map<string, { readonly count: number; readonly untilTick: number }>();
  switches: Switches = defaultSwitches;

  constructor({ url, ...options }: GroundOptions & { readonly url: string }) {
    super(options);
    this.url = url;
  }

  /** A binding, or the 404 that stands for one that is not there or may not be seen. */
  binding(id: string, isVisible: boolean): BindingRecord {
    const binding = isVisible ? this.bindings.get(id) : undefined;
    if (binding) return binding;
    if (this.switches.missingCode === 10010) throw notFound("Service credential binding");
    throw new Refusal("ServiceBindingNotFound", `The service binding could not be found: ${id}`);
  }

  note(auditEvent: string): void {
    this.auditEvents.set(auditEvent, (this.auditEvents.get(auditEvent) ?? 0) + 1);
  }

  snapshot(): CloudFoundrySnapshot {
    return structuredClone({
      version: 1,
      ...this.groundSnapshot(),
      switches: this.switches,
      organizations: [...this.organizations.values()],
      spaces: [...this.spaces.values()],
      apps: [...this.apps.values()],
      instances: [...this.instances.values()],
      logins: [...this.logins.values()],
      tokens: [...this.tokens.values()],
      accounts: Array.from(this.accounts.all()),
      bindings: Array.from(this.bindings.all()),
      tombstones: [...this.bindings.tombstones(this.tick())],
      jobs: [...this.jobs.values()],
      attempts: [...this.attempts.values()],
      auditEvents: [...this.auditEvents],
    });
  }

  /** Fills a world that has had no request yet. */
  restore(saved: CloudFoundrySnapshot): void {
    const snapshot = structuredClone(saved);
    this.restoreGround(snapshot);
    this.switches = { ...defaultSwitches, ...snapshot.switches };
    for (const organization of snapshot.organizations) this.organizations.set(organization.id, organization);
    for (const space of snapshot.spaces) this.spaces.set(space.id, space);
    for (const app of snapshot.apps) this.apps.set(app.id, app);
    for (const instance of snapshot.instances) this.instances.set(instance.id, { ...defaultInstance, ...instance });
    for (const login of snapshot.logins) this.logins.set(loginKey(login), login);
    for (const token of snapshot.tokens) this.tokens.set(token.token, token);
    for (const account of snapshot.accounts) this.accounts.add(account);
    for (const binding of snapshot.bindings) this.bindings.add(binding);
    for (const { binding, untilTick } of snapshot.tombstones) this.bindings.bury(binding, untilTick);
    for (const job of snapshot.jobs) this.jobs.set(job.id, job);
    for (const attempt of snapshot.attempts) this.attempts.set(attempt.jobId, attempt);
    for (const [type, count] of snapshot.auditEvents) this.auditEvents.set(type, count);
  }
}

/** One name may stand for users of several origins, and for a client too. */
export const loginKey = ({ kind, origin, id }: Pick<LoginRecord, "kind" | "origin" | "id">): string =>
  JSON.stringify([kind, origin, id]);
