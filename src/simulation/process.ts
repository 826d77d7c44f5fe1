import { type LogFields, type Logger, silentLogger } from "../base/logger.ts";
import { Redacted } from "../base/redacted.ts";
import { ClockSkew } from "../kube/clock-skew.ts";
import type { KubeObject, ObjectRef, ResourceType } from "../kube/objects.ts";
import type { Kube, ListOptions, Patch, ReadOptions, WriteOptions } from "../kube/port.ts";
import type { SendCommand } from "../providers/bind/ports.ts";
import type { HttpPort, HttpRequest, HttpResponse } from "../providers/http-port.ts";
import type { Outcome, Reconcile } from "../runtime/workers.ts";
import type { Words } from "./families/family.ts";
import { type Fault, hasEffect, httpAnswerOf, kubeErrorOf, rndcErrorOf } from "./faults.ts";
import { MachineClock, type VirtualClock } from "./virtual-clock.ts";
import type { WatchView } from "./watch-view.ts";

/** One call of a process through one of its ports: where it can be held, disturbed, or ended. */
export interface Call {
  readonly port: "kube" | "http" | "rndc" | "clock";
  readonly verb: string;
  /** What it is about, without anything secret: a kind and name, or a path. */
  readonly target: string;
  readonly isWrite: boolean;
  /** The user whose rights it is made with; absent: with the operator's own. */
  readonly as?: string | undefined;
}

export const describeCall = ({ port, verb, target }: Call): string => `${port} ${verb} ${target}`;

/** What a process did in the end. */
export type Finish =
  | { readonly kind: "outcome"; readonly outcome: Outcome }
  | { readonly kind: "error"; readonly error: unknown };

/** Whose doing an effect is, by what it knew then. */
export interface Doer {
  /** The world's step at which it last read each object live. */
  readonly readAt: Map<string, number>;
  readonly watch: WatchView;
}

/** Whoever watches over the effects of processes. */
interface Witness {
  /** Somebody is about to make this call, by what it knows now. */
  asked(doer: Doer, call: Call): void;
  before(call: Call): void;
  /** `isDone` says whether it was carried out; refusals change nothing. */
  after(doer: Doer, call: Call, isDone: boolean): void;
  /** Whatever it says to people: log lines, events. */
  said(text: string): void;
  /** A request that nobody waits for any more, to be sent at some later time. */
  postpone(what: string, send: () => Promise<unknown>): void;
}

export interface Parts {
  readonly kube: Kube;
  readonly http: HttpPort;
  /** The way to named, in a world that has any. */
  readonly rndc?: SendCommand;
  readonly clock: VirtualClock;
  readonly watch: WatchView;
  readonly witness: Witness;
  /** Of the external system, when something goes wrong there. */
  readonly words: Words;
  /** Builds the reconcile on the ports of this process, with nothing in its memory. */
  readonly assemble: (process: Process) => Reconcile;
}

type Effect<T> = () => Promise<T>;

interface Passed<T> {
  readonly fault: Fault;
  readonly result: T | undefined;
}

/** More than any code needs from one call to its next. */
const TURNS = 50;
type KubeCall = Pick<Call, "verb" | "target" | "as">;

/**
 * One operator process: production code on ports that stop at every call until they are told what becomes of it. Between
 * two stops nothing else runs, and calls that are made at once stand in line, so a run is one sequence of calls and can be
 * replayed. Must not: know why a fault comes.
 */
export class Process implements Doer {
  readonly name: string;
  readonly clock: MachineClock;
  readonly signal = new AbortController().signal;
  readonly logger: Logger;
  readonly #parts: Parts;
  readonly #reconcile: Reconcile;
  #parked: { readonly call: Call; readonly go: (fault: Fault) => void } | undefined;
  /** A call is under way, and these wait until it is over. */
  #isBusy = false;
  readonly #line: (() => void)[] = [];
  #onStop: (() => void) | undefined;
  #finish: Finish | undefined;
  #lookByAt = Infinity;
  #isDead = false;
  /** How many reconciles it has begun. */
  begun = 0;
  readonly #skew: ClockSkew;
  readonly readAt = new Map<string, number>();

  constructor(name: string, parts: Parts) {
    this.name = name;
    this.#parts = parts;
    this.clock = new MachineClock(parts.clock, (ms) => this.#wait(ms));
    this.#skew = new ClockSkew(this.clock);
    this.logger = listeningLogger((text) => parts.witness.said(text));
    this.#reconcile = parts.assemble(this);
  }

  /** The call at which it stands; undefined when it is idle or dead. */
  get call(): Call | undefined {
    return this.#parked?.call;
  }

  get watch(): WatchView {
    return this.#parts.watch;
  }

  get isSkewed(): boolean {
    return this.#skew.isSkewed;
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  /** Starts a reconcile, and runs to the first call. */
  async begin(key: string): Promise<void> {
    this.#finish = undefined;
    this.#lookByAt = Infinity;
    this.begun++;
    const stopped = this.#nextStop();
    this.#reconcile(key, this.signal).then(
      (outcome) => this.#end({ kind: "outcome", outcome }),
      (error: unknown) => this.#end({ kind: "error", error }),
    );
    if (this.#parked) this.#stop();
    await stopped;
  }

  /** Lets the call it stands at happen, in this way, and runs to the next one or to the end. */
  async step(fault: Fault = "none"): Promise<void> {
    const parked = this.#parked;
    if (!parked) throw new Error(`${this.name} does not stand at a call`);
    this.#parked = undefined;
    const stopped = this.#nextStop();
    parked.go(fault);
    await stopped;
  }

  /** Its end, from wherever it stands: nothing of its memory is left. */
  die(): void {
    this.#isDead = true;
    this.#parked = undefined;
    this.#stop();
  }

  /** The key that is worked on is looked at again by then, by this process's clock, whatever becomes of it. */
  readonly lookBy = (_key: string, at: number): void => {
    this.#lookByAt = Math.min(this.#lookByAt, at);
  };

  /** In so many milliseconds the queue comes back to the key, though its reconcile has failed for good. */
  get lookByMs(): number {
    return this.#lookByAt - this.clock.now();
  }

  /** How the reconcile ended; undefined while it is under way. */
  takeFinish(): Finish | undefined {
    return this.#finish;
  }

  #nextStop(): Promise<void> {
    return new Promise((resolve) => {
      this.#onStop = resolve;
    });
  }

  #stop(): void {
    this.#onStop?.();
    this.#onStop = undefined;
  }

  #end(finish: Finish): void {
    if (this.#isDead) return;
    this.#finish = finish;
    this.#stop();
  }

  async #pass<T>(call: Call, effect: Effect<T>): Promise<Passed<T>> {
    this.#parts.witness.asked(this, call);
    if (this.#isBusy) await new Promise<void>((go) => this.#line.push(go));
    this.#isBusy = true;
    try {
      return await this.#meet(call, effect);
    } finally {
      this.#letNext();
    }
  }

  /** What a reconcile that has ended left in line is played to its end too; nobody else says when that is. */
  #letNext(): void {
    const next = this.#line.shift();
    if (next) next();
    else this.#isBusy = false;
    if (!next && this.#finish) void this.#stopIfIdle();
  }

  async #stopIfIdle(): Promise<void> {
    for (let turn = 0; turn < TURNS; turn++) await undefined;
    if (!this.#parked) this.#stop();
  }

  async #meet<T>(call: Call, effect: Effect<T>): Promise<Passed<T>> {
    const fault = await new Promise<Fault>((go) => {
      this.#parked = { call, go };
      this.#stop();
    });
    if (fault === "crashBefore") return await this.#vanish();
    if (!hasEffect(fault)) return { fault, result: undefined };
    const { witness } = this.#parts;
    witness.before(call);
    const result = await settled(effect);
    witness.after(this, call, result.status === "fulfilled");
    if (fault === "crashAfter") return await this.#vanish();
    if (result.status === "rejected") throw result.reason;
    return { fault, result: result.value };
  }

  /** A dead process never hears the end of anything. */
  #vanish(): Promise<never> {
    this.die();
    return new Promise(() => {});
  }

  async #kubeCall<T>({ verb, target, as }: KubeCall, effect: Effect<T>): Promise<T> {
    const isWrite = !READING.has(verb);
    const { fault, result } = await this.#pass({ port: "kube", verb, target, isWrite, as }, effect);
    const error = kubeErrorOf(fault);
    if (error) throw error;
    this.#skew.observe(this.#parts.clock.now());
    return result as T;
  }

  /** Time passes while it does nothing: where it can be disturbed too. */
  async #wait(ms: number): Promise<void> {
    const call: Call = { port: "clock", verb: "wait", target: `${ms} ms`, isWrite: false };
    await this.#pass(call, async () => this.#parts.clock.advance(ms));
  }

  /** The Kubernetes port of this process. */
  readonly kube: Kube = {
    get: <T extends KubeObject>(type: ResourceType, ref: ObjectRef, options: ReadOptions = {}) =>
      this.#kubeCall({ verb: "get", target: describe(type, ref), as: options.as }, () =>
        this.#parts.kube.get<T>(type, ref, options),
      ),
    list: <T extends KubeObject>(type: ResourceType, options: ListOptions = {}) =>
      this.#kubeCall({ verb: "list", target: type.kind, as: options.as }, () =>
        this.#parts.kube.list<T>(type, options),
      ),
    create: (type, object, options) => {
      if (type.kind === "Event") this.#parts.witness.said(JSON.stringify(object));
      const { namespace, name = "" } = object.metadata;
      const verb = options?.dryRun ? "try to create" : "create";
      return this.#kubeCall({ verb, target: describe(type, { namespace, name }), as: options?.as }, () =>
        this.#parts.kube.create(type, object, options),
      );
    },
    replace: (type, object, options) => {
      const verb = options?.subresource === "status" ? "replace status of" : "replace";
      return this.#kubeCall({ verb, target: describe(type, object.metadata), as: options?.as }, () =>
        this.#parts.kube.replace(type, object, options),
      );
    },
    patch: <T extends KubeObject>(type: ResourceType, ref: ObjectRef, patch: Patch, options: WriteOptions = {}) =>
      this.#kubeCall({ verb: "patch", target: describe(type, ref), as: options.as }, () =>
        this.#parts.kube.patch<T>(type, ref, patch, options),
      ),
    delete: (type, ref, options) =>
      this.#kubeCall({ verb: "delete", target: describe(type, ref), as: options?.as }, () =>
        this.#parts.kube.delete(type, ref, options),
      ),
    watch: (type, options) => this.#parts.kube.watch(type, options),
    fetch: (path, options) => this.#parts.kube.fetch(path, options),
    discover: (group, version) => this.#parts.kube.discover(group, version),
    close: async () => {},
  };

  /** The way to named of this process. */
  readonly rndc: SendCommand = async (options) => {
    const { rndc } = this.#parts;
    if (!rndc) throw new TypeError("there is no named");
    const { command: verb, host, key } = options;
    const call: Call = { port: "rndc", verb, target: `${host} ${key.name}`, isWrite: verb !== "status" };
    const { fault, result } = await this.#pass(call, () => rndc(options));
    const error = rndcErrorOf(fault);
    if (error || !result) throw error ?? new TypeError("named said nothing");
    return result;
  };

  /** The way to external systems of this process. */
  readonly http: HttpPort = {
    send: async (request: HttpRequest, signal: AbortSignal): Promise<HttpResponse> => {
      const { path, search } = partsOf(request.url);
      const target = search === "" ? path : `${path}?${decodeURIComponent(search)}`;
      const call: Call = { port: "http", verb: request.method, target, isWrite: isChange(request.method, path) };
      const { fault, result } = await this.#pass(call, () => this.#parts.http.send(request, signal));
      if (fault === "late") {
        // What it reads after it has sent this is no part of it.
        const doer: Doer = { readAt: new Map(this.readAt), watch: this.watch };
        this.#parts.witness.postpone(describeCall(call), async () => {
          this.#parts.witness.before(call);
          await this.#parts.http.send(request, this.signal);
          this.#parts.witness.after(doer, call, true);
        });
      }
      const answer =
        fault === "lost" || fault === "timeout" ? undefined : httpAnswerOf(fault, result, this.#parts.words);
      if (!answer) throw new Error("the connection was lost");
      return answer;
    },
  };
}

const READING: ReadonlySet<string> = new Set(["get", "list", "try to create"]);

/** Whoever asks for a token changes nothing that anybody would miss. */
const isChange = (method: string, path: string): boolean => method !== "GET" && !path.endsWith("/oauth/token");

/** Path and query of a request's address: what `new URL` says of those that are made here, at a tenth of its cost. */
export function partsOf(url: string): { readonly path: string; readonly search: string } {
  const [address = "", search = ""] = url.split("?", 2);
  return { path: address.slice(address.indexOf("/", "https://".length)), search };
}

const describe = (
  type: ResourceType,
  { namespace, name }: { readonly namespace?: string | undefined; readonly name: string },
): string => {
  // The name of an event is a digest of more than a schedule is told by.
  if (type.kind === "Event") return "Event";
  return namespace === undefined ? `${type.kind} ${name}` : `${type.kind} ${namespace}/${name}`;
};

async function settled<T>(effect: Effect<T>): Promise<PromiseSettledResult<T>> {
  const [result] = await Promise.allSettled([effect()]);
  return result;
}

/** Everything that is logged, as text: the witness looks for key material in it. */
function listeningLogger(listen: (text: string) => void): Logger {
  const line = (message: string, fields?: LogFields): void =>
    listen(`${message} ${JSON.stringify(fields ?? {}, (_, value: unknown) => plain(value))}`);
  const logger: Logger = { ...silentLogger, debug: line, info: line, warn: line, error: line, with: () => logger };
  return logger;
}

const plain = (value: unknown): unknown => {
  if (value instanceof Redacted) return String(value);
  return value instanceof Error ? { ...value, message: value.message, stack: value.stack, cause: value.cause } : value;
};
