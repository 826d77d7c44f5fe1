import { type Clock, delay } from "../../base/clock.ts";
import type { Random } from "../../base/random.ts";
import { losesAnswer } from "../controls/common-switches.ts";
import { answerControl } from "../controls/control-actions.ts";
import { AnswerLost, type SandboxRequest, type SandboxResponse, unlessAbandoned } from "../http/exchange.ts";
import { type RequestCount, RequestLog } from "../http/request-log.ts";
import { catchUp } from "./attempts.ts";
import { controlActions } from "./control-requests.ts";
import { createControls, type SandboxControls } from "./controls.ts";
import { errorAnswer, Refusal } from "./exchange.ts";
import { outageAnswer } from "./outage.ts";
import type { Labels, SandboxSnapshot } from "./records.ts";
import { type Matched, matchRoute } from "./routes.ts";
import { authorize, callerOf } from "./tokens.ts";
import { SandboxWorld } from "./world.ts";

export interface SandboxOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Stands in every secret that is given out, so that an oracle can look for leaks. */
  readonly canary?: string;
  /** A world to go on with. */
  readonly snapshot?: SandboxSnapshot;
}

/** A binding that exists, whatever lists say. */
export interface LiveBinding {
  readonly id: string;
  readonly name: string;
  readonly instanceId: string;
  readonly labels: Labels;
  readonly createdAt: number;
  readonly isReady: boolean;
  /** Whether somebody could log in with its credentials now; also where nobody was ever told them. */
  readonly credentialsWork: boolean;
}

/** A create whose broker has not answered: a binding may appear. */
export interface PendingCreate {
  readonly id: string;
  readonly name: string;
  readonly instanceId: string;
  readonly labels: Labels;
}

/**
 * A Service Manager to try against: its requests, its answers and its surprises, driven by function calls. Time and
 * chance are injected and nothing runs between calls, so a simulation replays it exactly. Must not: open sockets, set
 * timers other than for a request that waits, or let key material into its log or its errors.
 */
export class SandboxServiceManager {
  readonly controls: SandboxControls;
  readonly #world: SandboxWorld;
  readonly #log = new RequestLog();

  constructor({ clock, random, canary = "sandbox-secret", snapshot }: SandboxOptions) {
    this.#world = new SandboxWorld({ clock, random, canary });
    if (snapshot) this.#world.restore(snapshot);
    this.controls = createControls(this.#world, () => catchUp(this.#world));
  }

  /**
   * Answers every request with a status. Rejects with `AnswerLost`, and nothing else, when the client has gone away or
   * the answer was made to get lost; the request then may have had its effect, or have it later.
   */
  async handle(request: SandboxRequest): Promise<SandboxResponse> {
    if (request.path.startsWith("/sandbox/")) return answerControl(controlActions, this, request);
    return await unlessAbandoned(request.signal, () => this.#answer(request));
  }

  /** Every binding that exists now. */
  liveBindings(): readonly LiveBinding[] {
    catchUp(this.#world);
    return Array.from(this.#world.bindings.all(), (binding) => ({
      id: binding.id,
      name: binding.name,
      instanceId: binding.instanceId,
      labels: binding.labels,
      createdAt: binding.createdAt,
      isReady: binding.ready,
      credentialsWork: this.#world.accounts.heldBy(binding.id) !== undefined,
    }));
  }

  pendingCreates(): readonly PendingCreate[] {
    catchUp(this.#world);
    return [...this.#world.attempts.values()]
      .filter((attempt) => attempt.kind === "create")
      .filter(({ stage }) => stage === "broker")
      .map(({ bindingId, name, instanceId, labels }) => ({ id: bindingId, name, instanceId, labels }));
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

  requestLog(): readonly RequestCount[] {
    return this.#log.counts();
  }

  clearRequestLog(): void {
    this.#log.clear();
  }

  /** The whole state, key material included, as plain JSON. Requests that are being waited for count as abandoned. */
  snapshot(): SandboxSnapshot {
    catchUp(this.#world);
    return this.#world.snapshot();
  }

  async #answer(request: SandboxRequest): Promise<SandboxResponse> {
    catchUp(this.#world);
    const route = matchRoute(request);
    const caller = callerOf(this.#world, request);
    const noted = {
      method: request.method,
      pattern: route?.pattern ?? "other",
      caller: caller?.id ?? this.#clientNamedIn(request, route) ?? "anonymous",
    };
    const answer = await this.#respond(request, route);
    const { latencyMs } = this.#world.switches;
    if (latencyMs > 0) await delay(this.#world.clock, latencyMs, request.signal);
    const isLost = losesAnswer(this.#world, request.method) || request.signal?.aborted === true;
    this.#log.add({ ...noted, outcome: isLost ? "lost" : answer.status });
    if (isLost) throw new AnswerLost();
    return answer;
  }

  async #respond(request: SandboxRequest, route: Matched | undefined): Promise<SandboxResponse> {
    const outage = outageAnswer(this.#world, route?.isPublic === true);
    if (outage) return outage;
    try {
      if (!route?.isPublic) authorize(callerOf(this.#world, request));
      if (!route) throw new Refusal(404, "NotFound", "there is nothing under this path");
      if (!route.handle) throw new Refusal(405, "MethodNotAllowed", "the path does not know this method");
      return await route.handle(this.#world, request);
    } catch (error) {
      if (error instanceof Refusal) return errorAnswer(error.problem);
      throw error;
    }
  }

  /** The token request names its client in the body; only an id that was issued here is repeated. */
  #clientNamedIn(request: SandboxRequest, route: Matched | undefined): string | undefined {
    if (!route?.isPublic) return undefined;
    return this.#world.clients.get(new URLSearchParams(request.body ?? "").get("client_id") ?? "")?.id;
  }
}
