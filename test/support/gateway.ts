import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../src/base/clock.ts";
import { accessFromKubeconfig, openTransport } from "../../src/kube/cluster-access.ts";
import type { Transport, TransportRequest, TransportResponse } from "../../src/kube/transport.ts";
import { createUndiciTransport } from "../../src/kube/undici-transport.ts";

/** What the gateway does with a request: hands it on, answers in the server's place, or says nothing at all. */
export type Treatment =
  | "pass"
  | "hang"
  | { readonly status: number; readonly contentType: string; readonly body: string };

/** A request on its way through, and the means to hand it on. No answer: the client's connection breaks. */
export interface Passage {
  readonly method: string;
  readonly path: string;
  readonly body: string;
  handOn(): Promise<TransportResponse>;
}

type Carry = (passage: Passage) => Promise<TransportResponse | undefined>;

/**
 * A way to a server that a test can close: plain HTTP on loopback, handed on with the credentials of a kubeconfig. Works
 * in front of the embedded API server, of a real one, and of any other server that needs no credentials of the gateway.
 */
export class Gateway {
  readonly url: string;
  /** A kubeconfig that leads here and holds nothing secret. */
  readonly kubeconfig: string;
  readonly requests: string[] = [];
  readonly #server: Server;
  readonly #transport: Transport;
  readonly #folder: string;
  #treat: (path: string) => Treatment = () => "pass";
  #carry: Carry = (passage) => passage.handOn();

  static async start(kubeconfig: string): Promise<Gateway> {
    const access = await accessFromKubeconfig({ paths: kubeconfig, clock: systemClock, environment: process.env });
    return new Gateway(await listening(), openTransport(access));
  }

  /** In front of something that is no API server: the clients' own credentials are handed on. */
  static async before(url: string): Promise<Gateway> {
    const credentials = { current: async () => ({ tls: {} }), reject: () => {} };
    return new Gateway(await listening(), createUndiciTransport({ server: url, credentials }));
  }

  private constructor(server: Server, transport: Transport) {
    this.#server = server;
    this.#transport = transport;
    this.#folder = mkdtempSync(join(tmpdir(), "keyturn-gateway-"));
    this.kubeconfig = join(this.#folder, "kubeconfig");
    const { port } = server.address() as AddressInfo;
    this.url = `http://127.0.0.1:${port}`;
    const config = {
      clusters: [{ name: "gateway", cluster: { server: this.url } }],
      contexts: [{ name: "gateway", context: { cluster: "gateway", namespace: "default" } }],
      "current-context": "gateway",
    };
    writeFileSync(this.kubeconfig, JSON.stringify(config));
    server.on("request", (request, response) => {
      // Whatever breaks between here and the server looks to the client as a connection that broke.
      this.#handle(request, response).catch(() => response.destroy());
    });
  }

  /** From now on; connections that are open are cut, so that everybody notices. */
  treat(how: (path: string) => Treatment): void {
    this.#treat = how;
    this.#server.closeAllConnections();
  }

  /** Whatever is to pass from now on is given to this. */
  carryBy(carry: Carry): void {
    this.#carry = carry;
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
    await this.#transport.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? "/";
    this.requests.push(`${request.method} ${path}`);
    const treatment = this.#treat(path);
    if (treatment === "hang") return;
    if (treatment !== "pass") {
      response.writeHead(treatment.status, { "content-type": treatment.contentType }).end(treatment.body);
      return;
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const left = new AbortController();
    response.on("close", () => left.abort());
    const body = Buffer.concat(chunks).toString("utf8");
    const method = request.method as TransportRequest["method"];
    const headers = pick(request, ["accept", "content-type", "user-agent", "authorization", "impersonate-user"]);
    const sent = { method, path, headers, signal: left.signal, ...(body !== "" && { body }) };
    const answer = await this.#carry({ method, path, body, handOn: () => this.#transport.send(sent) });
    if (answer === undefined) {
      response.destroy();
      return;
    }
    const { "transfer-encoding": _, connection: __, ...kept } = answer.headers;
    response.writeHead(answer.status, kept);
    response.flushHeaders();
    for await (const chunk of answer.body) response.write(chunk);
    response.end();
  }
}

async function listening(): Promise<Server> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}

function pick(request: IncomingMessage, names: readonly string[]): Record<string, string> {
  const picked: Record<string, string> = {};
  for (const name of names) {
    const value = request.headers[name];
    if (typeof value === "string") picked[name] = value;
  }
  return picked;
}
