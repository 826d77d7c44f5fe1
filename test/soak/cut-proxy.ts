import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "yaml";

/**
 * The operator's way to the API server, which can be cut and closed for a while: a network in between, and nothing of a
 * server. Must not: see anything but encrypted bytes.
 */
export class CutProxy {
  /** As the given one, but for the way. */
  readonly kubeconfig: string;
  readonly #server: Server;
  readonly #folder = mkdtempSync(join(tmpdir(), "keyturn-soak-"));
  readonly #clients = new Set<Socket>();
  #isClosed = false;

  static async before(kubeconfig: string): Promise<CutProxy> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return new CutProxy(server, kubeconfig);
  }

  private constructor(server: Server, kubeconfig: string) {
    const text = readFileSync(kubeconfig, "utf8");
    const { clusters } = parse(text) as {
      readonly clusters: readonly [{ readonly cluster: { readonly server: string } }];
    };
    const target = new URL(clusters[0].cluster.server);
    const { port } = server.address() as AddressInfo;
    this.#server = server;
    this.kubeconfig = join(this.#folder, "kubeconfig");
    writeFileSync(this.kubeconfig, text.replaceAll(target.origin, `https://127.0.0.1:${port}`), { mode: 0o600 });
    server.on("connection", (client) => this.#join(client, Number(target.port), target.hostname));
  }

  /** Every connection breaks; new ones work, unless the way is closed. */
  cut(): void {
    for (const client of this.#clients) client.resetAndDestroy();
  }

  /** From now on nobody gets through. */
  shut(): void {
    this.#isClosed = true;
    this.cut();
  }

  open(): void {
    this.#isClosed = false;
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.cut();
    await closed;
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #join(client: Socket, port: number, host: string): void {
    client.on("error", () => client.destroy());
    if (this.#isClosed) {
      client.resetAndDestroy();
      return;
    }
    this.#clients.add(client);
    const upstream = connect({ port, host });
    upstream.on("error", () => client.destroy());
    upstream.on("close", () => client.destroy());
    client.on("close", () => {
      this.#clients.delete(client);
      upstream.destroy();
    });
    client.pipe(upstream);
    upstream.pipe(client);
  }
}
