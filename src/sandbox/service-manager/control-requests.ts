import {
  badRequest,
  errorAnswer,
  isObject,
  jsonAnswer,
  Refusal,
  type SandboxRequest,
  type SandboxResponse,
} from "./exchange.ts";
import type { InstanceRecord } from "./records.ts";
import type { LiveBinding, PendingCreate, SandboxServiceManager } from "./sandbox-service-manager.ts";
import { type Parsed, parseInstanceSettings, parseSwitches } from "./switches.ts";

export interface ControlRequests {
  handle(request: SandboxRequest): SandboxResponse;
}

/**
 * The controls for people with curl, under `/sandbox/`:
 *
 *     GET /sandbox/state                      bindings, pending creates, instances, switches (no credentials)
 *     GET|PATCH|DELETE /sandbox/switches      see, change, reset
 *     PUT|DELETE /sandbox/instances/{id}      add or change, remove with all bindings
 *     DELETE /sandbox/bindings/{id}           gone at once, behind every client's back
 *     PATCH /sandbox/clients/{id}             {"plan": "subaccount-admin" | "service-operator-access"}
 *     DELETE /sandbox/tokens                  all invalid from now on
 *     GET|DELETE /sandbox/requests            counts, start anew
 *     POST /sandbox/authenticate              do these credentials work?
 *
 * No log-in is asked for: the sandbox listens on loopback only, and guards nothing that is real.
 */
export function createControlRequests(sandbox: SandboxServiceManager): ControlRequests {
  return {
    handle(request) {
      try {
        const [, , resource = "", ...rest] = request.path.split("/");
        const id = decoded(rest.join("/"));
        const action = actions[`${request.method} ${resource}${id === "" ? "" : "/{id}"}`];
        if (!action) throw new Refusal(404, "NotFound", "the sandbox has no such control");
        return jsonAnswer(200, action({ sandbox, id, request }) ?? {});
      } catch (error) {
        if (error instanceof Refusal) return errorAnswer(error.problem);
        throw error;
      }
    },
  };
}

interface Call {
  readonly sandbox: SandboxServiceManager;
  readonly id: string;
  readonly request: SandboxRequest;
}

const actions: Readonly<Record<string, (call: Call) => object | undefined>> = Object.assign(Object.create(null), {
  "GET state": ({ sandbox }: Call) => stateOf(sandbox),
  "GET switches": ({ sandbox }: Call) => sandbox.controls.switches(),
  "PATCH switches"({ sandbox, request }: Call) {
    sandbox.controls.set(fitting(parseSwitches(parsed(request))));
    return sandbox.controls.switches();
  },
  "DELETE switches"({ sandbox }: Call) {
    sandbox.controls.resetSwitches();
    return sandbox.controls.switches();
  },
  "PUT instances/{id}"({ sandbox, id, request }: Call) {
    if (!/^[A-Za-z0-9._~-]{1,100}$/.test(id)) throw badRequest("an instance's id consists of letters, digits and ._~-");
    return sandbox.controls.putInstance(fitting(parseInstanceSettings(parsed(request))), id);
  },
  "DELETE instances/{id}": ({ sandbox, id }: Call) => known(sandbox.controls.removeInstance(id)),
  "DELETE bindings/{id}": ({ sandbox, id }: Call) => known(sandbox.controls.removeBinding(id)),
  "PATCH clients/{id}"({ sandbox, id, request }: Call) {
    const value = parsed(request);
    const plan = isObject(value) ? value.plan : undefined;
    if (plan !== "subaccount-admin" && plan !== "service-operator-access") {
      throw badRequest("plan is subaccount-admin or service-operator-access");
    }
    return known(sandbox.controls.setClientPlan(id, plan));
  },
  "DELETE tokens": ({ sandbox }: Call) => sandbox.controls.revokeTokens(),
  "GET requests": ({ sandbox }: Call) => ({ requests: sandbox.requestLog() }),
  "DELETE requests": ({ sandbox }: Call) => sandbox.clearRequestLog(),
  "POST authenticate"({ sandbox, request }: Call) {
    const value = parsed(request);
    return { works: isObject(value) && sandbox.authenticate(value) };
  },
});

interface SandboxState {
  readonly bindings: readonly LiveBinding[];
  readonly pendingCreates: readonly PendingCreate[];
  readonly instances: readonly InstanceRecord[];
  readonly switches: object;
}

function stateOf(sandbox: SandboxServiceManager): SandboxState {
  return {
    bindings: sandbox.liveBindings(),
    pendingCreates: sandbox.pendingCreates(),
    instances: sandbox.controls.instances(),
    switches: sandbox.controls.switches(),
  };
}

function known(isKnown: boolean): undefined {
  if (!isKnown) throw new Refusal(404, "NotFound", "the sandbox knows nothing under this id");
}

function fitting<T>(result: Parsed<T>): Partial<T> {
  if (result.kind === "fits") return result.value;
  throw badRequest(`unknown, or of the wrong kind: ${result.keys.map((key) => key.slice(0, 60)).join(", ")}`);
}

function parsed(request: SandboxRequest): unknown {
  try {
    return JSON.parse(request.body || "{}");
  } catch {
    throw badRequest("the body is not JSON");
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw badRequest("the path is not well-formed");
  }
}
