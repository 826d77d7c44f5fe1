import type { Clock } from "../../base/clock.ts";
import type { Random } from "../../base/random.ts";
import type { KeyRing, RingKey } from "../../bind/key-ring.ts";
import type { ObjectRef } from "../../kube/objects.ts";
import type { Kube } from "../../kube/port.ts";
import { objectionWords, worthTelling } from "../../providers/bind/objection-words.ts";
import type { NamedServer, SendCommand } from "../../providers/bind/ports.ts";
import { acceptanceQuestion, removalQuestion } from "../../providers/bind/ring-questions.ts";
import { COMMAND_TIMEOUT_MS, type Objection, ServerGate } from "../../providers/bind/server-gate.ts";
import { sendCommand } from "../../rndc/send-command.ts";
import type { RingGate, RingReport } from "./ring-gate.ts";
import { KubeServers } from "./rndc-key-servers.ts";

export interface ServerRingGateOptions {
  readonly kube: Kube;
  readonly clock: Clock;
  readonly random: Random;
  /** The way to named; the control protocol itself when left out. */
  readonly send?: SendCommand | undefined;
}

interface Finding {
  readonly key: RingKey;
  readonly objections: readonly Objection[];
}

/** The pods of an instance, asked about the keys of its ring over the control channel. Must not: change the ring. */
export class ServerRingGate implements RingGate {
  readonly #options: ServerRingGateOptions;
  readonly #gate: ServerGate;

  constructor(options: ServerRingGateOptions) {
    const { clock, random, send = sendCommand } = options;
    this.#options = options;
    this.#gate = new ServerGate({ clock, random, send, timeoutMs: COMMAND_TIMEOUT_MS });
  }

  async ask({ namespace = "", name }: ObjectRef, ring: KeyRing, signal: AbortSignal): Promise<RingReport> {
    const servers = await new KubeServers({ kube: this.#options.kube, namespace, instances: [name] }).list(signal);
    const unsettled = ring.keys.filter(({ phase }) => phase !== "accepted");
    const findings = await Promise.all(unsettled.map((key) => this.#ask({ key, ring, signal }, servers)));
    const settled = findings.filter(({ objections }) => objections.length === 0).map(({ key }) => key);
    const complaint = this.#complaintOf(findings);
    return {
      accepted: settled.filter(({ phase }) => phase === "adding").map(({ id }) => id),
      refused: settled.filter(({ phase }) => phase === "removing").map(({ id }) => id),
      ...(complaint !== undefined && { complaint }),
    };
  }

  async #ask(
    asked: { readonly key: RingKey; readonly ring: KeyRing; readonly signal: AbortSignal },
    servers: readonly NamedServer[],
  ): Promise<Finding> {
    const objections =
      asked.key.phase === "adding"
        ? await this.#gate.notAccepting(servers, acceptanceQuestion(asked))
        : await this.#gate.stillAccepting(servers, removalQuestion(asked));
    return { key: asked.key, objections };
  }

  /** Since when a key has been leaving nobody wrote down: of one that is, only what will not mend itself is told. */
  #complaintOf(findings: readonly Finding[]): string | undefined {
    const now = this.#options.clock.now();
    for (const { key, objections } of findings) {
      const isNew = key.phase === "adding";
      const told = worthTelling(objections, isNew ? now - key.createdAt : 0);
      const verb = isNew ? "accepts" : "refuses";
      if (told.length > 0) return objectionWords(`not every server ${verb} ${key.key.name}`, told);
    }
    return undefined;
  }
}
