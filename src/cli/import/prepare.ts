import { ifFound } from "../../kube/if-found.ts";
import { namespaceType } from "../../reconcile/restart/restart-sources.ts";
import type { Bench } from "./bench.ts";
import { NOTHING_TO_DO, type Plan, refusal } from "./plan.ts";

/** What Secrets are marked with is under a key of the operator's own: whoever is the first to need it makes it. */
export async function prepareIdentity(bench: Bench): Promise<Plan> {
  const { fingerprinter } = await bench.identity();
  if (fingerprinter) return NOTHING_TO_DO;
  const { ownNamespace: name } = bench.parts;
  const namespace = await ifFound(bench.kube.get(namespaceType, { name }, { signal: bench.signal }));
  if (!namespace) {
    const problem = `there is no namespace ${name}, where the operator keeps what is its own`;
    const remedy = `kubectl create namespace ${name}; or say with --lease-namespace where the operator is to run`;
    return { ...NOTHING_TO_DO, refusals: [refusal(problem, remedy)] };
  }
  const step = {
    does: `make the key of the operator's fingerprints in ${name}`,
    why: "the operator would make it when it starts; Secrets are marked with it",
    action: { kind: "identity" } as const,
  };
  return { ...NOTHING_TO_DO, steps: [step] };
}
