import type { IncomingMessage, ServerResponse } from "node:http";
import { constants, createGzip, type Gzip } from "node:zlib";
import type { Gate } from "./gate.ts";
import { type LiveSink, LiveStream } from "./live-stream.ts";
import { CannotServe } from "./refusals.ts";
import { type Looker, SharedOverviews, type ViewSource } from "./view-source.ts";

export interface LiveStreamsOptions {
  readonly gate: Gate;
  readonly source: ViewSource;
  readonly packsStreams: boolean;
}

/** Each holds a socket and a little memory. */
const MAX_STREAMS = 64;
/** Whoever has not taken this much has not taken anything for long: they begin anew when they come back. */
const MAX_BEHIND_BYTES = 8 * 1024 * 1024;

/** The pages that are open. Must not: let one that does not read cost the others anything. */
export class LiveStreams {
  readonly #options: LiveStreamsOptions;
  readonly #overviews: SharedOverviews;
  readonly #open = new Set<SocketSink>();

  constructor(options: LiveStreamsOptions) {
    this.#options = options;
    this.#overviews = new SharedOverviews(options.source);
  }

  /** Throws before anything is sent; from then on the stream goes on by itself. */
  open(looker: Looker, token: string, request: IncomingMessage, response: ServerResponse): void {
    if (this.#open.size >= MAX_STREAMS)
      throw new CannotServe("as many pages are open as there may be: close one of them");
    const { gate, source, packsStreams } = this.#options;
    const isPacked = packsStreams && /\bgzip\b/.test(String(request.headers["accept-encoding"] ?? ""));
    request.socket.setNoDelay(true);
    response.writeHead(200, {
      "content-type": "text/event-stream",
      "x-accel-buffering": "no",
      ...(isPacked && { "content-encoding": "gzip" }),
    });
    const sink = new SocketSink(response, isPacked);
    const lookAgain = async (): Promise<Looker> => {
      const guest = await gate.admit(token);
      return { guest, sight: await guest.sight() };
    };
    const stream = new LiveStream({ source, overviews: this.#overviews, looker, sink, lookAgain });
    this.#open.add(sink);
    response.once("close", () => {
      stream.stop();
      this.#open.delete(sink);
      sink.end();
    });
    stream.run().catch((error: unknown) => {
      source.logger.error("a stream of the dashboard broke off", { error });
      sink.end();
    });
  }

  get size(): number {
    return this.#open.size;
  }

  close(): void {
    for (const sink of this.#open) sink.end();
  }
}

class SocketSink implements LiveSink {
  readonly #response: ServerResponse;
  readonly #packer: Gzip | undefined;

  constructor(response: ServerResponse, isPacked: boolean) {
    this.#response = response;
    if (!isPacked) return;
    this.#packer = createGzip({ level: 1, flush: constants.Z_SYNC_FLUSH });
    this.#packer.on("error", () => response.destroy());
    this.#packer.pipe(response);
  }

  get isOver(): boolean {
    return this.#response.destroyed || this.#response.writableEnded;
  }

  async send(text: string): Promise<void> {
    if (this.isOver) return;
    const target = this.#packer ?? this.#response;
    const hasRoom = target.write(text);
    if (this.#behind() > MAX_BEHIND_BYTES) return void this.#response.destroy();
    if (!hasRoom) await this.#drained(target);
  }

  end(): void {
    if (this.#packer && !this.#response.destroyed) this.#packer.end();
    else this.#response.end();
    if (this.#response.destroyed) this.#packer?.destroy();
  }

  #behind(): number {
    return this.#response.writableLength + (this.#packer?.writableLength ?? 0) + (this.#packer?.readableLength ?? 0);
  }

  /** Also when the reader has gone: nobody waits for them. */
  #drained(target: NodeJS.WritableStream): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        target.off("drain", done);
        this.#response.off("close", done);
        resolve();
      };
      target.on("drain", done);
      this.#response.on("close", done);
    });
  }
}
