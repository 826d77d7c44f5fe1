import { apiVersionOf } from "../../src/kube/objects.ts";
import type { Kube } from "../../src/kube/port.ts";
import { leases } from "../conformance/kinds.ts";

const REF = { namespace: "default", name: "held-by-the-bench" } as const;
const HOUR_SECONDS = 3600;

/**
 * Takes a Lease in somebody's name for an hour. An operator with the flags that this returns has all its watches open,
 * and works on nothing.
 */
export async function takeLease(kube: Kube): Promise<readonly string[]> {
  const now = new Date().toISOString().replace("Z", "000Z");
  const spec = { holderIdentity: "bench", leaseDurationSeconds: HOUR_SECONDS, acquireTime: now, renewTime: now };
  const body = { apiVersion: apiVersionOf(leases), kind: leases.kind, metadata: REF, spec };
  await kube.patch(leases, REF, { type: "apply", body, force: true }, { fieldManager: "bench" });
  return ["--leader-elect", "--lease-namespace", REF.namespace, "--lease-name", REF.name];
}
