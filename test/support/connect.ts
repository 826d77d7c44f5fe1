import { systemClock } from "../../src/base/clock.ts";
import { accessFromKubeconfig, openTransport } from "../../src/kube/cluster-access.ts";
import { createKubeClient } from "../../src/kube/kube-client.ts";
import type { Kube } from "../../src/kube/port.ts";

/** The product's own client on the cluster of a kubeconfig. */
export async function connect(kubeconfig: string, userAgent = "keyturn-test"): Promise<Kube> {
  const access = await accessFromKubeconfig({ paths: kubeconfig, clock: systemClock, environment: process.env });
  return createKubeClient({ transport: openTransport(access), clock: systemClock, userAgent });
}
