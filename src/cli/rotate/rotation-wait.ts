import type { Timer } from "../../base/clock.ts";
import { formatDuration } from "../../base/duration.ts";
import { type ManagedResource, nameOf } from "../../insight/resources/managed-resource.ts";
import type { KubeObject } from "../../kube/objects.ts";
import { EXIT_CODES, type ExitCode } from "../command.ts";
import type { ClusterCall } from "../open-cluster.ts";
import type { KindSelection } from "../resources/fetch-resources.ts";
import { RotationFollower } from "./rotation-follower.ts";
import { RotationWatch } from "./watch-rotations.ts";

/** An operator takes a request up within a second or two. */
const PATIENCE_MS = 15_000;
/** As shells have it for what Ctrl-C ended. */

interface Followed {
  readonly resource: ManagedResource;
  readonly follower: RotationFollower;
}

/**
 * Shows how rotations come along, from a watch, until all are over, the time is up, or somebody has seen enough. What is
 * under way goes on without it. Must not: change anything.
 */
export class RotationWait {
  readonly #call: ClusterCall;
  readonly #watch: RotationWatch;
  readonly #followed = new Map<string, Followed>();
  readonly #timers: Timer[] = [];
  readonly #ended = Promise.withResolvers<ExitCode>();
  #isComplete = false;
  #hasEnded = false;

  constructor(call: ClusterCall, selections: readonly KindSelection[], timeoutMs: number) {
    this.#call = call;
    this.#watch = new RotationWatch({ call, selections, onState: (uid, object) => this.#see(uid, object) });
    const { clock, onStop } = call.world;
    this.#timers.push(
      clock.setTimer(() => this.#giveUp(`not finished after ${formatDuration(timeoutMs)}`, 1), timeoutMs),
    );
    this.#timers.push(clock.setTimer(() => this.#wonder(), PATIENCE_MS));
    onStop(() => this.#giveUp("interrupted", EXIT_CODES.interrupted));
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Resolves once nothing that happens from now on can be missed, or there is no more time. */
  async started(): Promise<void> {
    await Promise.race([this.#watch.started(), this.#ended.promise]);
  }

  /** Follows the rotation of a resource; the result takes that back, where the request could not be written. */
  follow(resource: ManagedResource, request: string): () => void {
    const uid = resource.object.metadata.uid ?? "";
    this.#followed.set(uid, { resource, follower: new RotationFollower(resource, request) });
    return () => void this.#followed.delete(uid);
  }

  /** All requests are written; resolves with the exit code of the whole. */
  finished(): Promise<ExitCode> {
    this.#isComplete = true;
    this.#concludeIfOver();
    return this.#ended.promise;
  }

  close(): void {
    for (const timer of this.#timers) timer.cancel();
    this.#watch.close();
  }

  #see(uid: string, object: KubeObject | undefined): void {
    const followed = this.#followed.get(uid);
    if (!followed || this.#hasEnded) return;
    const { resource, follower } = followed;
    for (const line of object ? follower.see(object) : follower.seeGone()) this.#say(resource, line);
    this.#concludeIfOver();
  }

  #concludeIfOver(): void {
    const all = [...this.#followed.values()];
    if (!this.#isComplete || this.#hasEnded || all.some(({ follower }) => follower.result === undefined)) return;
    const rotated = all.filter(({ follower }) => follower.result === "rotated").length;
    if (all.length > 1) this.#call.world.stdout.write(`${rotated} of ${all.length} rotated\n`);
    this.#end(rotated === all.length ? 0 : 1);
  }

  #end(code: ExitCode): void {
    this.#hasEnded = true;
    this.#ended.resolve(code);
  }

  #giveUp(why: string, code: ExitCode): void {
    if (this.#hasEnded) return;
    const unfinished = [...this.#followed.values()].filter(({ follower }) => follower.result === undefined);
    const names = unfinished.slice(0, 5).map(({ resource }) => nameOf(resource));
    const more = unfinished.length > names.length ? ` and ${unfinished.length - names.length} more` : "";
    const whose = names.length === 0 ? "" : `: ${names.join(", ")}${more}`;
    const after = names.length === 0 ? "nothing was asked for" : "what was asked for goes on (keyturn explain)";
    this.#call.world.stderr.write(`keyturn: ${why}${whose}; ${after}\n`);
    this.#end(code);
  }

  /** Nothing at all has begun: most likely nobody is there to begin it. */
  #wonder(): void {
    const all = [...this.#followed.values()];
    if (all.length === 0 || all.some(({ follower }) => follower.phase !== "asked")) return;
    this.#call.world.stderr.write("keyturn: nothing has begun yet: is the operator running?\n");
  }

  #say(resource: ManagedResource, line: string): void {
    this.#call.world.stdout.write(`${nameOf(resource)}: ${line}\n`);
  }
}
