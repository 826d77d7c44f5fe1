import { connect, createServer, type Socket } from "node:net";
import { Readable } from "node:stream";
import { CONTROL_PORT } from "../../src/bind/render-ring.ts";
import type { TransportResponse } from "../../src/kube/transport.ts";
import { FrameReader, framed } from "../../src/rndc/frames.ts";
import type { Gateway } from "../support/gateway.ts";

type Carry = Parameters<Gateway["carryBy"]>[0];

const LARGEST = 1_048_576;

/** What stands between the address of a pod and the control channel of its named. */
export interface Way {
  readonly address: string;
  readonly controlAddress: string;
  readonly instance: string;
}

/**
 * A way to the control channels of pods on which every command is seen before named has it, and every answer before
 * whoever asked: as `RNDC /rndc/INSTANCE/COMMAND` by whoever carries the requests to a gateway. A first message that asks
 * for nothing passes as it is.
 */
export class RndcWay {
  #carry: Carry = (passage) => passage.handOn();

  carryBy(carry: Carry): void {
    this.#carry = carry;
  }

  async open(way: Way): Promise<{ close(): Promise<void> }> {
    const sockets = new Set<Socket>();
    const server = createServer((client) => {
      const named = connect(CONTROL_PORT, way.controlAddress);
      for (const socket of [client, named]) {
        sockets.add(socket);
        socket.once("close", () => sockets.delete(socket)).on("error", () => socket.destroy());
      }
      new Talk(client, named).carry(way, (passage) => this.#carry(passage));
    });
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject).listen(CONTROL_PORT, way.address, resolve);
    });
    return {
      close: () =>
        new Promise((resolve) => {
          server.close(() => resolve());
          for (const socket of sockets) socket.destroy();
        }),
    };
  }
}

/** One connection: two questions, each with an answer. */
class Talk {
  readonly #client: Socket;
  readonly #named: Socket;
  #questions = 0;
  #heard: PromiseWithResolvers<Buffer> | undefined;

  constructor(client: Socket, named: Socket) {
    this.#client = client;
    this.#named = named;
  }

  carry({ instance }: Way, carry: Carry): void {
    const questions = new FrameReader(LARGEST);
    const answers = new FrameReader(LARGEST);
    this.#client.on("data", (piece) => {
      for (const question of questions.push(piece)) {
        this.#pass(question, instance, carry).catch(() => this.#client.destroy());
      }
    });
    this.#named.on("data", (piece) => {
      for (const answer of answers.push(piece)) this.#heard?.resolve(answer);
    });
    // named says nothing when it does not know a key: it hangs up, and so do we.
    this.#named.once("close", () => {
      this.#heard?.reject(new Error("named hung up"));
      this.#client.end();
    });
    this.#client.once("close", () => this.#named.destroy());
  }

  async #pass(question: Buffer, instance: string, carry: Carry): Promise<void> {
    const handOn = async (): Promise<TransportResponse> => {
      this.#heard = Promise.withResolvers();
      this.#named.write(framed(question));
      return { status: 200, headers: {}, body: Readable.from([await this.#heard.promise]) };
    };
    const isFirst = this.#questions++ === 0;
    const path = `/rndc/${instance}/${commandIn(question)}`;
    const answer = isFirst ? await handOn() : await carry({ method: "RNDC", path, body: "", handOn });
    if (answer === undefined) this.#client.destroy();
    else for await (const message of answer.body) this.#client.write(framed(message));
  }
}

/** Nothing of a message is hidden, only signed. */
const commandIn = (question: Buffer): string => (question.includes("reconfig") ? "reconfig" : "status");
