import type { Clock } from "../../../base/clock.ts";
import type { ResourceType } from "../../../kube/objects.ts";
import type { Kube } from "../../../kube/port.ts";
import { ReferenceProblem } from "../../managed/spec-problem.ts";
import { describeKind, type KindName, servedKind } from "./admissible-kind.ts";

/** Where a kind is served changes with its CRD: seldom. Until it is noticed, calls go to a path that is not there. */
const KEPT_MS = 600_000;

/** Finds out how the API server serves the kinds of templates; what it was told is believed for a while. */
export class ChildTypes {
  readonly #kube: Kube;
  readonly #clock: Clock;
  readonly #served = new Map<string, { readonly types: readonly ResourceType[]; readonly tick: number }>();

  constructor(kube: Kube, clock: Clock) {
    this.#kube = kube;
    this.#clock = clock;
  }

  /** Throws `SpecProblem` for a kind without namespace, `ReferenceProblem` for one that is not there. */
  async typeOf(wanted: KindName, signal: AbortSignal): Promise<ResourceType> {
    const type = servedKind(wanted, await this.#discover(wanted, signal));
    if (type !== "not served") return type;
    this.#served.delete(keyOf(wanted));
    throw new ReferenceProblem(
      "spec.template",
      `this cluster has no kind ${describeKind(wanted)} in version ${wanted.version}: install it`,
    );
  }

  async #discover(wanted: KindName, signal: AbortSignal): Promise<readonly ResourceType[]> {
    const known = this.#served.get(keyOf(wanted));
    const tick = this.#clock.monotonic();
    if (known && tick - known.tick < KEPT_MS) return known.types;
    const types = await this.#kube.discover(wanted.group, wanted.version, { signal });
    this.#served.set(keyOf(wanted), { types, tick });
    return types;
  }
}

const keyOf = ({ group, version }: KindName): string => `${group}/${version}`;
