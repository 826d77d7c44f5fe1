import { createServer, type IncomingMessage, type ServerResponse, request as send } from "node:http";
import type { AddressInfo } from "node:net";

/**
 * The way from a browser to a server, as the browser's proxy: it can be cut and mended, knows every host that was asked for,
 * and remembers all that was answered, streams included. Must not: change anything but how answers are packed.
 */
export interface Between {
  /** For the browser, as its proxy. */
  readonly url: string;
  readonly hosts: ReadonlySet<string>;
  /** `POST /api/action`, in order. */
  readonly asked: readonly string[];
  /** All that was answered so far, but for scripts and styles. */
  answers(): string;
  /** Breaks every connection, and lets none through from now on. */
  cut(): void;
  mend(): void;
  close(): Promise<void>;
}

export async function openBetween(): Promise<Between> {
  const hosts = new Set<string>();
  const asked: string[] = [];
  const answers: Buffer[][] = [];
  const open = new Set<ServerResponse>();
  let isCut = false;
  const forward = (request: IncomingMessage, response: ServerResponse): void => {
    const url = new URL(request.url ?? "/", "http://nowhere.invalid");
    hosts.add(url.host);
    asked.push(`${request.method} ${url.pathname}`);
    if (isCut) return void request.destroy();
    open.add(response);
    const { "proxy-connection": _, ...headers } = request.headers;
    // What is packed could not be read here.
    const onward = send(url, { method: request.method, headers: { ...headers, "accept-encoding": "identity" } });
    onward.on("response", (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.rawHeaders).flushHeaders();
      const kept: Buffer[] = [];
      if (!url.pathname.startsWith("/assets/")) answers.push(kept);
      answer.on("data", (chunk: Buffer) => kept.push(chunk));
      answer.on("error", () => response.destroy());
      answer.pipe(response);
    });
    onward.on("error", () => response.destroy());
    response.on("close", () => {
      open.delete(response);
      onward.destroy();
    });
    request.pipe(onward);
  };
  const server = createServer(forward);
  // Nobody here speaks TLS: whoever asks for it asks for somebody else.
  server.on("connect", ({ url = "" }, socket) => {
    hosts.add(url);
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    hosts,
    asked,
    answers: () => answers.map((chunks) => Buffer.concat(chunks).toString()).join("\n"),
    cut: () => {
      isCut = true;
      for (const response of open) response.destroy();
    },
    mend: () => {
      isCut = false;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
