import { type Clock, delay } from "../../base/clock.ts";
import type { Random } from "../../base/random.ts";
import { losesAnswer } from "../controls/common-switches.ts";
import { answerControl } from "../controls/control-actions.ts";
import { AnswerLost, type SandboxRequest, type SandboxResponse, unlessAbandoned } from "../http/exchange.ts";
import { type RequestCount, RequestLog } from "../http/request-log.ts";
import { catchUp } from "./attempts.ts";
import { controlActions } from "./control-requests.ts";
import { type CloudFoundryControls, createControls } from "./controls.ts";
import { countRequest, outageAnswer } from "./outage.ts";
import { errorAnswer, Refusal } from "./problems.ts";
import type { BindingRecord, BindingType, CloudFoundrySnapshot, LastOperation, Metadata } from "./records.ts";
import { type Matched, matchRoute } from "./routes.ts";
import { authorized, callerOf, namedIn } from "./tokens.ts";
import { CloudFoundryWorld } from "./world.ts";

export interface SandboxCloudFoundryOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Stands in every secret that is given out, so that an oracle can look for leaks. */
  readonly canary?: string;
  /** What links begin with in answers to requests that carry no `host`. */
  readonly url?: string;
  /** A world to go on with. */
  readonly snapshot?: CloudFoundrySnapshot;
}

/** A binding that exists, whatever lists say: a key, or that of an app. */
export interface LiveKey {
  readonly id: string;
  readonly type: BindingType;
  readonly name: string | null;
  readonly instanceId: string;
  readonly appId?: string;
  readonly metadata: Metadata;
  readonly createdAt: number;
  readonly lastOperation: Pick<LastOperation, "type" | "state">;
  /** How often its credentials were read. */
  readonly detailReads: number;
  /** Whether somebody could log in with its credentials now; also where nobody was ever told them. */
  readonly credentialsWork: boolean;
}

/**
 * A Cloud Foundry to try against: API v3 and UAA, their requests, their answers and their surprises, driven by function
 * calls. Time and chance are injected and nothing runs between calls, so a simulation replays it exactly. Must not: open
 * sockets, set timers other than for an answer that is slow, or let key material into its log or its errors.
 */
export class SandboxCloudFoundry {
  readonly controls: CloudFoundryControls;
  readonly #world: CloudFoundryWorld;
  readonly #log = new RequestLog();

  constructor({
    clock,
    random,
    canary = "sandbox-secret",
    url = "http://127.0.0.1",
    snapshot,
  }: SandboxCloudFoundryOptions) {
    this.#world = new CloudFoundryWorld({ clock, random, canary, url });
    this.controls = createControls(this.#world, () => catchUp(this.#world));
    if (snapshot) this.#world.restore(snapshot);
    else {
      this.controls.putOrganization({ name: "sandbox" });
      this.controls.putSpace({ name: "development" });
    }
  }

  /**
   * Answers every request with a status. Rejects with `AnswerLost`, and nothing else, when the client has gone away or
   * the answer was made to get lost; the request then may have had its effect.
   */
  async handle(request: SandboxRequest): Promise<SandboxResponse> {
    if (request.path.startsWith("/sandbox/")) return answerControl(controlActions, this, request);
    return await unlessAbandoned(request.signal, () => this.#answer(request));
  }

  /** Every binding that exists now. */
  liveKeys(): readonly LiveKey[] {
    catchUp(this.#world);
    return Array.from(this.#world.bindings.all(), (binding) => this.#live(binding));
  }

  /** Nothing is on its way through a broker: as long as nobody asks for anything, nothing changes. */
  get isAtRest(): boolean {
    return this.#world.attempts.size === 0;
  }

  /** What the service behind the broker would say to these credentials now. */
  authenticate(credentials: Readonly<Record<string, unknown>>): boolean {
    catchUp(this.#world);
    return this.#world.accounts.lets(credentials.username, credentials.password);
  }

  /** How often what was noted in the foundation's audit trail: every reading of credentials is. */
  auditEvents(): readonly { readonly type: string; readonly count: number }[] {
    return Array.from(this.#world.auditEvents, ([type, count]) => ({ type, count }));
  }

  requestLog(): readonly RequestCount[] {
    return this.#log.counts();
  }

  clearRequestLog(): void {
    this.#log.clear();
  }

  /** The whole state, key material included, as plain JSON. */
  snapshot(): CloudFoundrySnapshot {
    catchUp(this.#world);
    return this.#world.snapshot();
  }

  #live({
    id,
    type,
    name,
    instanceId,
    appId,
    metadata,
    createdAt,
    lastOperation,
    detailReads,
  }: BindingRecord): LiveKey {
    return {
      id,
      type,
      name,
      instanceId,
      ...(appId !== undefined && { appId }),
      metadata,
      createdAt,
      lastOperation: { type: lastOperation.type, state: lastOperation.state },
      detailReads,
      credentialsWork: this.#world.accounts.heldBy(id) !== undefined,
    };
  }

  async #answer(request: SandboxRequest): Promise<SandboxResponse> {
    const world = this.#world;
    catchUp(world);
    const route = matchRoute(request);
    const noted = {
      method: request.method,
      pattern: route?.pattern ?? "other",
      caller: (route?.isOfUaa ? namedIn(world, request) : callerOf(world, request)?.id) ?? "anonymous",
    };
    const answer = this.#respond(request, route);
    const { latencyMs } = world.switches;
    if (latencyMs > 0) await delay(world.clock, latencyMs, request.signal);
    const isLost = losesAnswer(world, request.method) || request.signal?.aborted === true;
    this.#log.add({ ...noted, outcome: isLost ? "lost" : answer.status });
    if (isLost) throw new AnswerLost();
    return answer;
  }

  #respond(request: SandboxRequest, route: Matched | undefined): SandboxResponse {
    const outage = outageAnswer(this.#world, route?.isOfUaa === true);
    if (outage) return outage;
    try {
      return this.#handled(request, route);
    } catch (error) {
      if (error instanceof Refusal) return errorAnswer(error.problem);
      throw error;
    }
  }

  #handled(request: SandboxRequest, route: Matched | undefined): SandboxResponse {
    const world = this.#world;
    const isThere = route !== undefined && (!route.isOfUaa || world.switches.uaa === "present");
    if (isThere && route.open) return route.open(world, request);
    const caller = authorized(callerOf(world, request), request);
    const counted = countRequest(world, caller);
    if ("answer" in counted) return counted.answer;
    if (!isThere || !route.handler) throw new Refusal("NotFound", "Unknown request");
    const answer = route.handler({ world, request, caller, ids: route.ids });
    return { ...answer, headers: { ...answer.headers, ...counted.headers } };
  }
}
