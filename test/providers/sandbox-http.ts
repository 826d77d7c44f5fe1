import { Redacted } from "../../src/base/redacted.ts";
import type { HttpPort, HttpRequest, HttpResponse } from "../../src/providers/http-port.ts";
import type { SandboxRequest, SandboxResponse } from "../../src/sandbox/http/exchange.ts";

interface Sandbox {
  handle(request: SandboxRequest): Promise<SandboxResponse>;
}

/** Requests as calls into a sandbox, without a socket. `isSilent` keeps answers back until the caller leaves. */
export class SandboxHttp implements HttpPort {
  isSilent = false;
  readonly #sandbox: Sandbox;

  constructor(sandbox: Sandbox) {
    this.#sandbox = sandbox;
  }

  async send(request: HttpRequest, signal: AbortSignal): Promise<HttpResponse> {
    if (this.isSilent)
      return new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("left"))));
    const url = new URL(request.url);
    const { clientCertificate } = request;
    const { status, headers, body } = await this.#sandbox.handle({
      method: request.method,
      path: url.pathname,
      query: url.searchParams,
      headers: request.headers,
      signal,
      ...(request.body && { body: request.body.reveal() }),
      ...(clientCertificate && { clientCertificate: clientCertificate.certificate }),
    });
    return { status, headers, body: new Redacted(body) };
  }
}
