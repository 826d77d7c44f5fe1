import { systemClock } from "../../src/base/clock.ts";
import { Redacted } from "../../src/base/redacted.ts";
import { accessFromKubeconfig, openTransport } from "../../src/kube/cluster-access.ts";
import { createKubeClient } from "../../src/kube/kube-client.ts";
import type { Kube } from "../../src/kube/port.ts";
import { Wire } from "./wire.ts";

export interface Connection {
  readonly kube: Kube;
  readonly wire: Wire;
  /** Trusts the server, but has a token that it does not know. */
  readonly stranger: Wire;
  close(): Promise<void>;
}

/** The way in that the operator takes: kubeconfig, undici, client. The wire shares its connections. */
export async function connect(kubeconfig: string): Promise<Connection> {
  const access = await accessFromKubeconfig({ paths: kubeconfig, clock: systemClock, environment: process.env });
  const transport = openTransport(access);
  const { tls } = await access.credentials.current();
  const unknown = { tls, authorization: new Redacted("Bearer nobody-issued-this") };
  const strange = openTransport({ ...access, credentials: { current: async () => unknown, reject: () => false } });
  return {
    kube: createKubeClient({ transport, clock: systemClock, userAgent: "keyturn-conformance/1" }),
    wire: new Wire(transport),
    stranger: new Wire(strange),
    close: async () => {
      await Promise.all([transport.close(), strange.close()]);
    },
  };
}
