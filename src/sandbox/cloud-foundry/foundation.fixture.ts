import assert from "node:assert/strict";
import type { ManualClock } from "../../base/manual-clock.ts";
import { seededRandom } from "../../base/random.ts";
import type { SandboxResponse } from "../http/exchange.ts";
import { byCall, overHttp, PatientClock } from "../http/over-http.fixture.ts";
import { type ReferenceCaseOf, runReferenceCases } from "../http/reference-cases.fixture.ts";
import { type LiveKey, SandboxCloudFoundry } from "./sandbox-cloud-foundry.ts";
import type { InstanceSettings, Switches } from "./switches.ts";
import type { IssuedLogin } from "./tokens.ts";

export const CANARY = "canary-5c0d";
const URL_BASE = "http://api.sandbox.internal";
const BINDINGS = "/v3/service_credential_bindings";

interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: ReplyBody;
}

interface Link {
  readonly href: string;
}

interface Relationship {
  readonly data: { readonly guid: string };
}

/** What bodies hold, all kinds in one: tests read what they expect, and what is not there compares as undefined. */
interface ReplyBody {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly expires_in: number;
  readonly error: string;
  readonly error_description: string;
  readonly errors: readonly { readonly code: number; readonly title: string; readonly detail: string }[];
  readonly warnings: readonly unknown[];
  readonly guid: string;
  readonly name: string | null;
  readonly type: string;
  readonly tags: readonly string[];
  readonly operation: string;
  readonly state: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly last_operation: {
    readonly type: string;
    readonly state: string;
    readonly description: string | null;
  };
  readonly metadata: {
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations: Readonly<Record<string, string>>;
  };
  readonly relationships: Readonly<Record<string, Relationship>>;
  readonly links: Readonly<Record<string, Link | null>>;
  readonly credentials: Readonly<Record<string, unknown>>;
  readonly pagination: {
    readonly total_results: number;
    readonly total_pages: number;
    readonly first: Link;
    readonly last: Link;
    readonly next: Link | null;
    readonly previous: Link | null;
  };
  readonly resources: readonly ReplyBody[];
  readonly cf_on_k8s: boolean;
}

interface CallOptions {
  readonly json?: unknown;
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal;
}

interface CreateOptions {
  readonly type?: string;
  readonly instanceId?: string;
  readonly appId?: string;
  readonly parameters?: unknown;
  readonly metadata?: unknown;
}

export interface Foundation {
  readonly clock: ManualClock;
  readonly sandbox: SandboxCloudFoundry;
  readonly instanceId: string;
  /** A user who may do everything. */
  readonly user: { readonly username: string; readonly password: string };
  /** Of that user. */
  readonly token: string;
  /** A path, or a link as an answer held it. */
  call(method: string, target: string, options?: CallOptions): Promise<Reply>;
  /** Asks for a key, or a binding of an app; the answer is that of the foundation. */
  create(name: string | undefined, options?: CreateOptions): Promise<Reply>;
  /** Makes a key at a broker that answers at once: its GUID. */
  make(name: string, options?: CreateOptions): Promise<string>;
  get(id: string, rest?: string): Promise<Reply>;
  list(query?: Readonly<Record<string, string>>): Promise<Reply>;
  /** `basic` is `id:secret`. */
  logIn(form: Readonly<Record<string, string>>, options?: { basic?: string; query?: string }): Promise<Reply>;
  live(id: string): LiveKey | undefined;
  close(): Promise<void>;
}

export interface FoundationOptions {
  readonly seed?: number;
  readonly instance?: Partial<InstanceSettings>;
  readonly switches?: Partial<Switches>;
  /** Requests go through sockets, not by a call; whoever asks for it closes the fixture. */
  readonly isOverHttp?: boolean;
}

/** A foundation with one instance and one user who has a token, on a clock that stands still. */
export async function foundation(options: FoundationOptions = {}): Promise<Foundation> {
  const clock = new PatientClock();
  const random = seededRandom(options.seed ?? 1);
  const sandbox = new SandboxCloudFoundry({ clock, random, canary: CANARY, url: URL_BASE });
  const carrier = await (options.isOverHttp ? overHttp : byCall)((request) => sandbox.handle(request));
  clock.carrier = carrier;
  const instanceId = sandbox.controls.putInstance(options.instance).id;
  const user = userOf(sandbox.controls.issueLogin(URL_BASE));
  let token = "";
  const call: Foundation["call"] = async (method, target, { json, token: other, headers, body, signal } = {}) => {
    const [path = "", ...query] = target.replace(/^https?:\/\/[^/]+/, "").split("?");
    const sent = json === undefined ? body : JSON.stringify(json);
    const answer = await carrier.send({
      method,
      path: path === "" ? "/" : path,
      query: new URLSearchParams(query.join("?")),
      headers: headers ?? { authorization: `bearer ${other ?? token}`, "content-type": "application/json" },
      ...(sent !== undefined && { body: sent }),
      ...(signal && { signal }),
    });
    return reply(answer);
  };
  const logIn: Foundation["logIn"] = (form, { basic = "cf:", query = "" } = {}) =>
    call("POST", `/uaa/oauth/token${query}`, {
      headers: {
        authorization: `Basic ${Buffer.from(basic).toString("base64")}`,
        "content-type": "application/x-www-form-urlencoded",
      },
      body: new URLSearchParams(form).toString(),
    });
  token = (await logIn({ grant_type: "password", ...user })).body.access_token;
  if (options.switches) sandbox.controls.set(options.switches);
  const create: Foundation["create"] = (name, { type = "key", instanceId: other, appId, ...rest } = {}) =>
    call("POST", BINDINGS, {
      json: {
        type,
        name,
        relationships: { service_instance: related(other ?? instanceId), ...(appId && { app: related(appId) }) },
        ...rest,
      },
    });
  return {
    clock,
    sandbox,
    instanceId,
    user,
    token,
    call,
    logIn,
    create,
    async make(name, rest) {
      const { status, headers } = await create(name, rest);
      assert.equal(status, 202);
      const { body } = await call("GET", headers.location ?? "");
      assert.equal(body.state, "COMPLETE");
      return idIn(body.links.service_credential_binding);
    },
    get: (id, rest = "") => call("GET", `${BINDINGS}/${id}${rest}`),
    list: (query = {}) => call("GET", `${BINDINGS}?${new URLSearchParams(query)}`),
    live: (id) => sandbox.liveKeys().find((key) => key.id === id),
    close: () => carrier.close(),
  };
}

export const userOf = (login: IssuedLogin): { readonly username: string; readonly password: string } => {
  assert.ok("username" in login);
  return { username: login.username, password: login.password };
};

/** The GUID at the end of a link. */
export const idIn = (link: Link | null | undefined): string => link?.href.split("/").at(-1) ?? "";

const related = (guid: string) => ({ data: { guid } });

/** Whatever type it says to be of: a 429 is JSON that says it is text. */
function reply({ status, headers, body }: SandboxResponse): Reply {
  try {
    return { status, headers, body: JSON.parse(body) };
  } catch {
    return { status, headers, body: JSON.parse(JSON.stringify({ error: body })) };
  }
}

/** A sentence of the reference on Cloud Foundry, and what the sandbox does about it. */
export type ReferenceCase = ReferenceCaseOf<Foundation, FoundationOptions>;

export const runCases = (cases: readonly ReferenceCase[]): void => runReferenceCases(cases, foundation);
