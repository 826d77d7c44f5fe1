import { findBuiltKubectl } from "../cluster/build.ts";
import { embeddedTarget } from "./embedded-target.ts";
import { findOnPath } from "./find-on-path.ts";
import type { Target } from "./target.ts";

/**
 * The server that a suite for both runs against: the embedded one, or the cluster that KEYTURN_CONFORMANCE_KUBECONFIG
 * names, as `npm run test:cluster` does.
 */
export async function pickTarget(): Promise<Target> {
  const kubectl =
    process.env.KEYTURN_CONFORMANCE_KUBECTL ?? (await findBuiltKubectl()) ?? (await findOnPath("kubectl"));
  const kubeconfig = process.env.KEYTURN_CONFORMANCE_KUBECONFIG;
  if (kubeconfig === undefined) return embeddedTarget(kubectl);
  const start = async () => ({ kubeconfig, stop: async () => {} });
  return { name: "real", ...(kubectl !== undefined && { kubectl }), start };
}
