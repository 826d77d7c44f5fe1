import type { ManualClock } from "../../base/manual-clock.ts";
import { seededRandom } from "../../base/random.ts";
import type { SandboxResponse } from "../http/exchange.ts";
import { byCall, overHttp, PatientClock } from "../http/over-http.fixture.ts";
import { type ReferenceCaseOf, runReferenceCases } from "../http/reference-cases.fixture.ts";
import { SandboxServiceManager } from "./sandbox-service-manager.ts";
import type { InstanceSettings, Switches } from "./switches.ts";

export const CANARY = "canary-8b1f";
const URL_BASE = "http://sandbox";

interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: ReplyBody;
}

/** What bodies hold, all kinds in one: tests read what they expect, and what is not there compares as undefined. */
interface ReplyBody {
  readonly access_token: string;
  readonly token_type: string;
  readonly expires_in: number;
  readonly error: string;
  readonly description: string;
  readonly broker_error: { readonly StatusCode: number };
  readonly id: string;
  readonly ready: boolean;
  readonly name: string;
  readonly service_instance_id: string;
  readonly service_plan_id: string;
  readonly service_offering_id: string;
  readonly catalog_name: string;
  readonly tags: readonly string[];
  readonly credentials: Readonly<Record<string, unknown>>;
  readonly context: Readonly<Record<string, unknown>>;
  readonly labels: Readonly<Record<string, readonly string[]>>;
  readonly created_at: string;
  readonly updated_at: string;
  readonly last_operation: ReplyBody;
  readonly type: string;
  readonly state: string;
  readonly resource_id: string;
  readonly errors: ReplyBody & readonly ReplyBody[];
  readonly num_items: number;
  readonly items: readonly ReplyBody[];
  readonly token: string;
}

export interface SandboxFixture {
  readonly clock: ManualClock;
  readonly sandbox: SandboxServiceManager;
  readonly instanceId: string;
  /** A token of a client that may do everything. */
  readonly token: string;
  call(method: string, target: string, options?: CallOptions): Promise<Reply>;
  /** Makes a binding; the answer is that of the Service Manager. */
  create(name: string, options?: CreateOptions): Promise<Reply>;
  list(query?: Readonly<Record<string, string>>): Promise<Reply>;
  getToken(form: Readonly<Record<string, string>>, clientCertificate?: string): Promise<Reply>;
  close(): Promise<void>;
}

interface CallOptions {
  readonly json?: unknown;
  readonly token?: string;
  readonly signal?: AbortSignal;
}

interface CreateOptions extends CallOptions {
  readonly query?: string;
  readonly labels?: Readonly<Record<string, readonly string[]>>;
  readonly parameters?: unknown;
  readonly instanceId?: string;
}

export interface FixtureOptions {
  readonly seed?: number;
  readonly instance?: Partial<InstanceSettings>;
  readonly switches?: Partial<Switches>;
  /** Requests go through sockets, not by a call; whoever asks for it closes the fixture. */
  readonly isOverHttp?: boolean;
}

/** A sandbox with one instance and one client that has its token, on a clock that stands still. */
export async function sandboxFixture(options: FixtureOptions = {}): Promise<SandboxFixture> {
  const clock = new PatientClock();
  const sandbox = new SandboxServiceManager({ clock, random: seededRandom(options.seed ?? 1), canary: CANARY });
  const carry = options.isOverHttp ? overHttp : byCall;
  const carrier = await carry((request) => sandbox.handle(request));
  clock.carrier = carrier;
  const instanceId = sandbox.controls.putInstance(options.instance).id;
  const credentials = sandbox.controls.issueClient(URL_BASE);
  const getToken: SandboxFixture["getToken"] = async (form, clientCertificate) =>
    reply(
      await carrier.send({
        method: "POST",
        path: "/oauth/token",
        query: new URLSearchParams(),
        headers: { "content-type": "application/x-www-form-urlencoded" },
        body: new URLSearchParams(form).toString(),
        ...(clientCertificate !== undefined && { clientCertificate }),
      }),
    );
  const secret = "clientsecret" in credentials ? credentials.clientsecret : "";
  const form = { grant_type: "client_credentials", client_id: credentials.clientid, client_secret: secret };
  const token: string = (await getToken(form)).body.access_token;
  if (options.switches) sandbox.controls.set(options.switches);
  const call: SandboxFixture["call"] = async (method, target, { json, token: other, signal } = {}) => {
    const [path = "", ...query] = target.split("?");
    return reply(
      await carrier.send({
        method,
        path,
        query: new URLSearchParams(query.join("?")),
        headers: { authorization: `Bearer ${other ?? token}`, "content-type": "application/json" },
        ...(json !== undefined && { body: JSON.stringify(json) }),
        ...(signal && { signal }),
      }),
    );
  };
  return {
    clock,
    sandbox,
    instanceId,
    token,
    call,
    getToken,
    create: (name, { query = "", labels, parameters, instanceId: other, ...rest } = {}) =>
      call("POST", `/v1/service_bindings${query}`, {
        json: { name, service_instance_id: other ?? instanceId, labels, parameters },
        ...rest,
      }),
    list: (query = {}) => call("GET", `/v1/service_bindings?${new URLSearchParams(query)}`),
    close: () => carrier.close(),
  };
}

function reply({ status, headers, body }: SandboxResponse): Reply {
  const isJson = headers["content-type"] === "application/json";
  return { status, headers, body: isJson ? JSON.parse(body) : body };
}

/** The answer of a request that waits for the broker, once so much time has passed. */
export async function after<T>(clock: ManualClock, ms: number, pending: Promise<T>): Promise<T> {
  pending.catch(() => {});
  await clock.advance(ms);
  return await pending;
}

/** A sentence of the reference on the Service Manager, and what the sandbox does about it. */
export type ReferenceCase = ReferenceCaseOf<SandboxFixture, FixtureOptions>;

export const runCases = (cases: readonly ReferenceCase[]): void => runReferenceCases(cases, sandboxFixture);
