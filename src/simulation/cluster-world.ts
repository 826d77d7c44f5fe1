import { inspect } from "node:util";
import type { KubeObject, ResourceType } from "../kube/objects.ts";
import type { Kube } from "../kube/port.ts";
import type { Tampering } from "./assembly.ts";
import type { Cluster, ClusterState } from "./cluster.ts";
import type { Ground } from "./player.ts";
import { type Call, type Doer, type Parts, Process } from "./process.ts";
import { callLine, failureLine } from "./telling-calls.ts";
import { storedAs, WatchView } from "./watch-view.ts";

export interface ClusterWorldOptions {
  readonly cluster: Cluster;
  readonly seed: number;
  readonly scene?: { readonly cluster: ClusterState; readonly stepCount?: number } | undefined;
  readonly tampering?: Tampering | undefined;
  readonly onTrace?: ((line: string) => void) | undefined;
}

/** Who says which promise was broken. */
interface Arbiter {
  readonly violations: readonly string[];
  accuse(violation: string): void;
  /** Whatever is said to people. */
  heard(text: string): void;
  before(call: Call): void;
  after(doer: Doer, call: Call): void;
}

/** What the processes of one world have, and those of another do not. */
interface Outfit extends Pick<Parts, "assemble">, Partial<Pick<Parts, "kube" | "http" | "rndc" | "words">> {
  readonly watched: readonly ResourceType[];
  readonly witness?: Partial<Parts["witness"]>;
}

/**
 * What all worlds have: a cluster, any number of operator processes on it, and a judge who sees every effect. Must not: know
 * what is in the cluster.
 */
export abstract class ClusterWorld implements Ground {
  abstract readonly judge: Arbiter;
  abstract readonly keys: readonly string[];
  protected readonly cluster: Cluster;
  protected readonly tampering: Tampering;
  /** What everything is drawn from that the world draws by itself. */
  protected readonly drawnFrom: number;
  protected processCount = 0;
  readonly #onTrace: ((line: string) => void) | undefined;
  /** Counts effects. */
  stepCount: number;
  /** How long requests are under way that nobody waits for. */
  lateMs = 0;
  /** Requests outside and writes inside since it was last set back: none of both is rest. */
  activity = { writes: 0, requests: 0 };

  constructor({ cluster, seed, scene, tampering = {}, onTrace }: ClusterWorldOptions) {
    // What is drawn after a scene must not repeat what was drawn in it.
    this.drawnFrom = scene ? seed ^ 0x7ace : seed;
    cluster.reset(this.drawnFrom, scene?.cluster);
    this.cluster = cluster;
    this.tampering = tampering;
    this.stepCount = scene?.stepCount ?? 0;
    this.#onTrace = onTrace;
  }

  abstract start(): Process;

  get kube(): Kube {
    return this.cluster.kube;
  }

  get clock(): Cluster["clock"] {
    return this.cluster.clock;
  }

  get violations(): readonly string[] {
    return this.judge.violations;
  }

  /** Nobody asks anybody outside for anything that could come late. */
  get hasLate(): boolean {
    return false;
  }

  async landLate(_dueAt?: number): Promise<void> {}

  async collectGarbage(): Promise<void> {}

  /** Read without a call. */
  stored(type: ResourceType): readonly KubeObject[] {
    return this.cluster.server.store.list(storedAs(type));
  }

  /** A new operator process with an empty memory. */
  protected launch({ watched, witness, ...outfit }: Outfit): Process {
    return new Process(`P${this.processCount++}`, {
      kube: this.kube,
      http: { send: () => Promise.reject(new Error("nothing is outside")) },
      clock: this.clock,
      watch: new WatchView(this.cluster.server.store, watched),
      words: { problem: (name) => name, withheld: (body) => body },
      ...outfit,
      witness: {
        asked: () => {},
        before: (call) => this.before(call),
        after: (doer, call, isDone) => this.after(doer, call, isDone),
        said: (text) => this.judge.heard(text),
        postpone: () => {},
        ...witness,
      },
    });
  }

  protected before(call: Call): void {
    this.stepCount++;
    if (call.isWrite) this.judge.before(call);
  }

  protected after(doer: Doer, call: Call, isDone: boolean): void {
    this.noteRead(doer, call);
    if (!call.isWrite || !isDone) return;
    this.activity.writes++;
    this.judge.after(doer, call);
  }

  protected noteRead({ readAt }: Doer, { verb, target }: Call): void {
    if (verb === "get" || verb === "list") readAt.set(target, this.stepCount);
  }

  accuse(violation: string): void {
    this.judge.accuse(violation);
  }

  trace(line: string): void {
    this.#onTrace?.(line);
  }

  /** Whatever a process threw: nothing in it may be secret. */
  failed(process: Process, error: unknown): void {
    this.judge.heard(inspect(error, { depth: 6 }));
    this.trace(failureLine(process, error));
  }

  traceCall(process: Process, call: Call, fault: string): void {
    this.trace(callLine(process, call, fault));
  }
}
