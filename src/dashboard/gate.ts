import type { Kube } from "../kube/port.ts";
import type { Sight } from "./sight.ts";
import type { SessionAnswer, WayIn } from "./wire.ts";

/** Somebody who has proved who they are. */
export interface Guest {
  /** As the API server calls them. */
  readonly name: string;
  /** The cluster with their own rights: what it refuses them, this server does not give. */
  readonly kube: Kube;
  /** What they may see of what is cached here. Rights change: it is asked for again and again. */
  sight(): Promise<Sight>;
}

/** Who is let in. */
export interface Gate {
  readonly by: WayIn["by"];
  /** Whose token it is. Throws `NotAdmitted`. */
  admit(token: string): Promise<Guest>;
  /** For the token of a link, once: what is borne from then on. Throws `NotAdmitted`. */
  exchange?(linkToken: string): SessionAnswer;
}
