import { formatInstant } from "../../base/instant.ts";
import { deletionInstant } from "../../engine/dates.ts";
import type { State } from "../../engine/model.ts";
import { type ManagedResource, managedResource } from "../../insight/resources/managed-resource.ts";
import { conditionOf } from "../../insight/resources/problems.ts";
import { type KubeObject, keyOf } from "../../kube/objects.ts";
import { SpecProblem } from "../../reconcile/managed/spec-problem.ts";

/** How far a rotation has come. Each phase includes those before it. */
const PHASES = ["asked", "intended", "made", "published", "committed"] as const;
type Phase = (typeof PHASES)[number];

/** What became of it; undefined while it is under way. */
export type RotationResult = "rotated" | "ineffective" | "gone" | undefined;

/**
 * Tells from the states of a resource how far the rotation is that was asked for. It is handed states, not events: what
 * was missed in between is told with the next one, and a state that comes twice tells nothing. Must not: wait or ask.
 */
export class RotationFollower {
  readonly #before: ManagedResource;
  readonly #request: string;
  #phase: Phase = "asked";
  #lastProblem = "";
  #result: RotationResult;

  /** The resource as it was before, and the value that asks, as its state shows it. */
  constructor(before: ManagedResource, request: string) {
    this.#before = before;
    this.#request = request;
  }

  get phase(): Phase {
    return this.#phase;
  }

  get result(): RotationResult {
    return this.#result;
  }

  /** What a new state adds to the story, one line each. */
  see(object: KubeObject): readonly string[] {
    if (this.#result !== undefined) return [];
    const resource = managedResource(this.#before.kind, object);
    const lines = this.#advanceTo(this.#phaseOf(resource.state), resource);
    if (this.#isUndone(resource.state)) {
      this.#result = "ineffective";
      return [...lines, "nothing has changed: the new key has the credentials of the old one, so the old key stays"];
    }
    if (this.#phase === "committed") {
      this.#result = "rotated";
      return lines;
    }
    return [...lines, ...this.#problems(resource)];
  }

  /** The resource is no more. */
  seeGone(): readonly string[] {
    if (this.#result !== undefined) return [];
    this.#result = "gone";
    return ["it was deleted"];
  }

  #phaseOf(state: State): Phase {
    const { active, pending, externalName } = state;
    if (!pending) {
      const isNewer = (active?.sequence ?? 0) > (this.#before.state.active?.sequence ?? 0);
      return isNewer && !this.#isAskedIn(state) ? "committed" : "asked";
    }
    if (externalName !== undefined && externalName !== active?.id) return "published";
    return pending.id === undefined ? "intended" : "made";
  }

  /** Whether the request still waits for somebody to take it up. */
  #isAskedIn({ request, fulfilled }: State): boolean {
    return request?.value === this.#request && fulfilled !== this.#request;
  }

  #isUndone(state: State): boolean {
    return state.fulfilled === this.#request && !state.pending && state.active?.id === this.#before.state.active?.id;
  }

  #advanceTo(phase: Phase, resource: ManagedResource): readonly string[] {
    const from = PHASES.indexOf(this.#phase);
    const to = PHASES.indexOf(phase);
    if (to <= from) return [];
    this.#phase = phase;
    return PHASES.slice(from + 1, to + 1).map((passed) => this.#line(passed, resource));
  }

  #line(phase: Phase, resource: ManagedResource): string {
    const { active, pending, externalName } = resource.state;
    const name = pending?.name ?? active?.name ?? "";
    switch (phase) {
      case "asked":
        return "asked for";
      case "intended":
        return `intent written: key ${name} is to come`;
      case "made":
        return `key made: ${name} (${pending ? (pending.id ?? externalName ?? "") : (active?.id ?? "")})`;
      case "published":
        return publishedLine(resource);
      case "committed":
        return `committed: ${name} is the active key${this.#fate(resource)}`;
    }
  }

  #fate({ state, spec }: ManagedResource): string {
    const old = state.retired.find(({ id }) => id === this.#before.state.active?.id);
    if (!old || spec instanceof SpecProblem) return "";
    const goesAt = deletionInstant(spec.policy, old);
    return Number.isFinite(goesAt) ? `; ${old.name} is deleted at ${formatInstant(goesAt)}` : "";
  }

  #problems(resource: ManagedResource): readonly string[] {
    const synced = conditionOf(resource, "Synced");
    const problem = synced?.status === "False" ? `${synced.reason}: ${synced.message}` : "";
    if (problem === this.#lastProblem) return [];
    this.#lastProblem = problem;
    return problem === "" ? [] : [`problem: ${problem}`];
  }
}

function publishedLine({ spec }: ManagedResource): string {
  const secret = spec instanceof SpecProblem ? undefined : spec.secret;
  return secret ? `Secret published: ${keyOf(secret)}` : "activated (there is no Secret to publish to)";
}
