import { findBuiltKubectl } from "../cluster/build.ts";
import { defineConformance } from "./define-conformance.ts";
import { embeddedTarget } from "./embedded-target.ts";
import { findOnPath } from "./find-on-path.ts";
import type { Target } from "./target.ts";

/**
 * Runs the suite against the embedded server, or against the cluster that KEYTURN_CONFORMANCE_KUBECONFIG names, as
 * `npm run test:cluster` does. KEYTURN_CONFORMANCE_SEED repeats the names of an earlier run.
 */
async function pickTarget(): Promise<Target> {
  const kubectl =
    process.env.KEYTURN_CONFORMANCE_KUBECTL ?? (await findBuiltKubectl()) ?? (await findOnPath("kubectl"));
  const kubeconfig = process.env.KEYTURN_CONFORMANCE_KUBECONFIG;
  if (kubeconfig === undefined) return embeddedTarget(kubectl);
  const start = async () => ({ kubeconfig, stop: async () => {} });
  return { name: "real", ...(kubectl !== undefined && { kubectl }), start };
}

const seed = Number(process.env.KEYTURN_CONFORMANCE_SEED ?? Date.now() % 1_000_000_007);
defineConformance(await pickTarget(), seed);
