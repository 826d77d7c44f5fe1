import type { TransportResponse } from "../../src/kube/transport.ts";
import type { Gateway, Passage } from "../support/gateway.ts";

export interface KillPoint {
  /** As `WriteGate` names it: a round may take a write more or less than another, and its points stay what they are. */
  readonly write: string;
  /** Before the write reaches the server, or after it has and before the answer is heard. */
  readonly when: "before" | "after";
}

/** Whose writes are counted, and what is done at which of them. */
export interface Ambush {
  /** Stands for whatever is a name of the story's own. */
  readonly names: readonly string[];
  readonly isOurs: (write: Passage) => boolean;
  readonly point?: KillPoint;
  /** Kills whoever writes; resolves when it is dead. */
  readonly strike?: () => Promise<void>;
}

/** Stands before every server that the operator writes to, counts the writes of one story, and strikes at one of them. */
export class WriteGate {
  #ambush: Ambush = { names: [], isOurs: () => false };
  #writes: string[] = [];
  #hasStruck = false;

  constructor(gateways: readonly Pick<Gateway, "carryBy">[]) {
    for (const gateway of gateways) gateway.carryBy((passage) => this.#carry(passage));
  }

  /** From now on; the count begins anew. */
  lieInWait(ambush: Ambush): void {
    this.#ambush = ambush;
    this.#writes = [];
    this.#hasStruck = false;
  }

  /** Whether the point was reached; the strike itself may still be under way. */
  get hasStruck(): boolean {
    return this.#hasStruck;
  }

  /** What was written since, in order, by method and path: `PUT …/servicebindings/NAME/status (no. 2)`. */
  get writes(): readonly string[] {
    return this.#writes;
  }

  async #carry(passage: Passage): Promise<TransportResponse | undefined> {
    const { isOurs, point, strike } = this.#ambush;
    if (!isWrite(passage) || !isOurs(passage)) return passage.handOn();
    const write = this.#note(passage);
    if (write !== point?.write) return passage.handOn();
    this.#hasStruck = true;
    try {
      if (point.when === "after") await passage.handOn();
      return undefined;
    } finally {
      await strike?.();
    }
  }

  #note({ method, path }: Passage): string {
    const [bare = ""] = path.split("?");
    const named = this.#ambush.names.reduce((text, name) => text.replaceAll(name, "NAME"), bare.replace(UUID, "ID"));
    const what = `${method} ${named.replace(CHILD, "CHILD")}`;
    const count = this.#writes.filter((write) => write.startsWith(`${what} (`)).length + 1;
    const write = `${what} (no. ${count})`;
    this.#writes.push(write);
    return write;
  }
}

/** What a story's own object makes is called like it, with a suffix that is another one each time. */
const CHILD = /NAME-[a-z0-9]{8}(?=\/|$)/;
const UUID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/** Asking for a token changes nothing, and neither does asking whether something could be made. */
const isWrite = ({ method, path }: Passage): boolean =>
  method !== "GET" && !path.startsWith("/oauth/") && !path.includes("dryRun=All");
