import type { Logger } from "../base/logger.ts";
import { ClusterPulse } from "../dashboard/cluster-pulse.ts";
import { type DashboardServer, startDashboardServer } from "../dashboard/dashboard-server.ts";
import { LinkGate } from "../dashboard/link-gate.ts";
import { OwnGuest } from "../dashboard/own-guest.ts";
import { defaultPageFolder, readPageFiles } from "../dashboard/page-files.ts";
import { LOOPBACK_NAMES } from "../dashboard/request-guard.ts";
import type { ViewSource } from "../dashboard/view-source.ts";
import type { Kube } from "../kube/port.ts";
import type { World } from "./command.ts";

export interface ServeByLinkOptions extends Pick<ViewSource, "model" | "operator" | "cluster" | "mayChange" | "audit"> {
  readonly world: World;
  readonly logger: Logger;
  readonly kube: Kube;
  /** What whoever looks is called while the API server has not said. */
  readonly origin: string;
  readonly unseen: () => readonly string[];
  /** On loopback; 0: any. */
  readonly port: number;
}

export interface ServedByLink {
  readonly server: DashboardServer;
  /** Opens the page, once. */
  readonly link: string;
}

/** The dashboard for whoever sits at this machine, and has the rights of a client already. */
export async function serveByLink(options: ServeByLinkOptions): Promise<ServedByLink> {
  const { world, logger, kube, origin, unseen, port, model, operator, cluster, mayChange, audit } = options;
  const { clock, random } = world;
  const page = await readPageFiles(defaultPageFolder());
  const linkTo: { url: string } = { url: "" };
  const linkWith = (token: string): string => `${linkTo.url}/#token=${token}`;
  const gate = new LinkGate({
    clock,
    random,
    guest: new OwnGuest({ kube, origin, unseen }),
    onUsed: (token) => world.stdout.write(`For another browser: ${linkWith(token)}\n`),
  });
  const server = await startDashboardServer({
    bind: { host: "127.0.0.1", port },
    hostNames: LOOPBACK_NAMES,
    isPortOurs: true,
    // Nothing is gained by it on one machine.
    packsStreams: false,
    gate,
    page,
    source: {
      clock,
      logger,
      model,
      operator,
      ...(cluster !== undefined && { cluster }),
      mayChange,
      audit,
      pulse: new ClusterPulse({ kube, clock }),
    },
  });
  linkTo.url = server.url;
  return { server, link: linkWith(gate.link) };
}
