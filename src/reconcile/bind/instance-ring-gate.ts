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

export interface InstanceRingGateOptions {
  readonly kube: Kube;
  readonly clock: Clock;
  readonly random: Random;
  readonly send?: SendCommand | undefined;
}

/**
 * Asks the pods of an instance, by the same gate that RndcKeys pass. The ring that it is given is stored, and pods are
 * listed after that: whichever is not among them starts on that ring, or on a later one.
 */
export class InstanceRingGate implements RingGate {
  readonly #options: InstanceRingGateOptions;
  readonly #gate: ServerGate;

  constructor(options: InstanceRingGateOptions) {
    const { clock, random, send = sendCommand } = options;
    this.#options = options;
    this.#gate = new ServerGate({ clock, random, send, timeoutMs: COMMAND_TIMEOUT_MS });
  }

  async ask({ namespace = "", name }: ObjectRef, ring: KeyRing, signal: AbortSignal): Promise<RingReport> {
    const { kube } = this.#options;
    const servers = await new KubeServers({ kube, namespace, instances: [name] }).list(signal);
    const open = ring.keys.filter(({ phase }) => phase !== "accepted");
    const looks = await Promise.all(
      open.map(async (key) => ({ key, objections: await this.#objections(servers, { key, ring, signal }) })),
    );
    const settled = looks.filter(({ objections }) => objections.length === 0).map(({ key }) => key);
    const complaints = looks.flatMap(({ key, objections }) => this.#words(key, ring, objections));
    return {
      accepted: settled.filter(({ phase }) => phase === "adding").map(({ id }) => id),
      refused: settled.filter(({ phase }) => phase === "removing").map(({ id }) => id),
      ...(complaints.length > 0 && { complaint: complaints.join("; ") }),
    };
  }

  #objections(
    servers: readonly NamedServer[],
    asked: { readonly key: RingKey; readonly ring: KeyRing; readonly signal: AbortSignal },
  ): Promise<readonly Objection[]> {
    return asked.key.phase === "adding"
      ? this.#gate.notAccepting(servers, acceptanceQuestion(asked))
      : this.#gate.stillAccepting(servers, removalQuestion(asked));
  }

  /** All that is asked about began with the newest key. */
  #words({ key, phase }: RingKey, ring: KeyRing, objections: readonly Objection[]): readonly string[] {
    const beganAt = Math.max(...ring.keys.map(({ createdAt }) => createdAt));
    const lasting = worthTelling(objections, this.#options.clock.now() - beganAt);
    const verb = phase === "adding" ? "accepts" : "refuses";
    return lasting.length === 0 ? [] : [objectionWords(`not every server ${verb} ${key.name}`, lasting)];
  }
}
