import { silentLogger } from "../base/logger.ts";
import { ManualClock } from "../base/manual-clock.ts";
import { type Random, seededRandom } from "../base/random.ts";
import { createKubeClient } from "../kube/kube-client.ts";
import type { Kube } from "../kube/port.ts";
import type { Transport } from "../kube/transport.ts";
import { EmbeddedServer } from "./embedded-server.ts";
import { createLocalTransport } from "./http/local-transport.ts";

/** An embedded API server without sockets, on a clock that is moved by hand. */
export interface EmbeddedCluster {
  readonly clock: ManualClock;
  readonly random: Random;
  readonly server: EmbeddedServer;
  readonly transport: Transport;
  readonly kube: Kube;
}

export function embeddedCluster(startAt = Date.UTC(2025, 10, 5, 13, 14, 28)): EmbeddedCluster {
  const clock = new ManualClock(startAt);
  const random = seededRandom(5);
  const server = new EmbeddedServer({ clock, random, logger: silentLogger });
  const transport = createLocalTransport(server.api);
  return { clock, random, server, transport, kube: createKubeClient({ transport, clock, userAgent: "keyturn/test" }) };
}
