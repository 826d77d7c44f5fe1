import { isObject, jsonAnswer, type SandboxRequest, type SandboxResponse } from "../http/exchange.ts";
import type { RequestCount } from "../http/request-log.ts";
import type { Parsed } from "./settings.ts";

/** What `/sandbox/` says to a control that it cannot carry out. */
export class ControlRefusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

interface ControlCall<S> {
  readonly sandbox: S;
  readonly id: string;
  readonly request: SandboxRequest;
}

/** What is done at `METHOD resource` or `METHOD resource/{id}`; the answer's body, if there is one. */
export type ControlActions<S> = Readonly<Record<string, (call: ControlCall<S>) => object | undefined>>;

/** A control for people with curl, as the help shows it. */
export interface ControlPage {
  readonly request: string;
  readonly what: string;
}

/** The pages of the controls that every sandbox has, and between them those of its own. */
export const pagesWith = (own: readonly ControlPage[]): readonly ControlPage[] => [
  { request: "GET /sandbox/", what: "this list" },
  { request: "GET|PATCH|DELETE /sandbox/switches", what: "what goes wrong: see, change, reset" },
  {
    request: "PUT|DELETE /sandbox/instances/ID",
    what: "add or change a service instance; remove it with its bindings",
  },
  { request: "DELETE /sandbox/bindings/ID", what: "gone at once, behind every client's back" },
  ...own,
  { request: "DELETE /sandbox/tokens", what: "every token is invalid from now on" },
  { request: "GET|DELETE /sandbox/requests", what: "requests counted by login and outcome; start anew" },
  { request: "POST /sandbox/authenticate", what: "do these credentials of a binding work?" },
];

interface Controlled<Switches, Instance> {
  readonly controls: {
    switches(): object;
    set(changes: Partial<Switches>): void;
    resetSwitches(): void;
    putInstance(settings: Partial<Instance>, id: string): object;
    removeInstance(id: string): boolean;
    removeBinding(id: string): boolean;
    revokeTokens(): void;
  };
  requestLog(): readonly RequestCount[];
  clearRequestLog(): void;
  authenticate(credentials: Readonly<Record<string, unknown>>): boolean;
}

/** What a sandbox makes of what somebody sent. */
interface Parsers<Switches, Instance> {
  switches(value: unknown): Parsed<Switches>;
  instance(value: unknown): Parsed<Instance>;
}

/** The controls that every sandbox has. No log-in is asked for: it listens on loopback, and guards nothing that is real. */
export function commonActions<S extends Controlled<Switches, Instance>, Switches, Instance>(
  pages: readonly ControlPage[],
  parse: Parsers<Switches, Instance>,
): ControlActions<S> {
  return {
    "GET ": () => ({ controls: pages }),
    "GET switches": ({ sandbox }) => sandbox.controls.switches(),
    "PATCH switches"({ sandbox, request }) {
      sandbox.controls.set(fitting(parse.switches(sentJson(request))));
      return sandbox.controls.switches();
    },
    "DELETE switches"({ sandbox }) {
      sandbox.controls.resetSwitches();
      return sandbox.controls.switches();
    },
    "PUT instances/{id}": ({ sandbox, id, request }) =>
      sandbox.controls.putInstance(fitting(parse.instance(sentJson(request))), chosenId(id)),
    "DELETE instances/{id}": ({ sandbox, id }) => known(sandbox.controls.removeInstance(id)),
    "DELETE bindings/{id}": ({ sandbox, id }) => known(sandbox.controls.removeBinding(id)),
    "DELETE tokens": ({ sandbox }) => void sandbox.controls.revokeTokens(),
    "GET requests": ({ sandbox }) => ({ requests: sandbox.requestLog() }),
    "DELETE requests": ({ sandbox }) => void sandbox.clearRequestLog(),
    "POST authenticate"({ sandbox, request }) {
      const value = sentJson(request);
      return { works: isObject(value) && sandbox.authenticate(value) };
    },
  };
}

export function answerControl<S>(actions: ControlActions<S>, sandbox: S, request: SandboxRequest): SandboxResponse {
  try {
    const [, , resource = "", ...rest] = request.path.split("/");
    const id = decoded(rest.join("/"));
    const key = `${request.method} ${resource}${id === "" ? "" : "/{id}"}`;
    const action = Object.hasOwn(actions, key) ? actions[key] : undefined;
    if (!action) throw new ControlRefusal(404, "the sandbox has no such control");
    return jsonAnswer(200, action({ sandbox, id, request }) ?? {});
  } catch (error) {
    if (!(error instanceof ControlRefusal)) throw error;
    const name = error.status === 404 ? "NotFound" : "BadRequest";
    return jsonAnswer(error.status, { error: name, description: error.message });
  }
}

export const badControl = (message: string): ControlRefusal => new ControlRefusal(400, message);

export function known(isKnown: boolean): undefined {
  if (!isKnown) throw new ControlRefusal(404, "the sandbox knows nothing under this id");
}

export function fitting<T>(result: Parsed<T>): Partial<T> {
  if (result.kind === "fits") return result.value;
  throw badControl(`unknown, or of the wrong kind: ${result.keys.map((key) => key.slice(0, 60)).join(", ")}`);
}

export function sentJson(request: SandboxRequest): unknown {
  try {
    return JSON.parse(request.body || "{}");
  } catch {
    throw badControl("the body is not JSON");
  }
}

/** The id of something that is put under a name of the caller's choice. */
export function chosenId(id: string): string {
  if (!/^[A-Za-z0-9._~-]{1,100}$/.test(id)) throw badControl("an id consists of letters, digits and ._~-");
  return id;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw badControl("the path is not well-formed");
  }
}
