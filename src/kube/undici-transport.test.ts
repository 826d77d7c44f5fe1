import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { test } from "node:test";
import { Redacted } from "../base/redacted.ts";
import type { Transport, TransportRequest, TransportResponse } from "./transport.ts";
import { type CredentialSource, type Credentials, createUndiciTransport } from "./undici-transport.ts";

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

const fixed = (token?: string): CredentialSource => {
  const credentials: Credentials = { tls: {}, ...(token && { authorization: new Redacted(`Bearer ${token}`) }) };
  return { current: async () => credentials, reject: () => {} };
};

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function withServer(
  handler: Handler,
  use: (transport: Transport, server: Server) => Promise<void>,
  options: { readonly credentials?: CredentialSource; readonly prefix?: string } = {},
): Promise<void> {
  const server = createServer(handler);
  const url = await listen(server);
  const transport = createUndiciTransport({
    server: url + (options.prefix ?? ""),
    credentials: options.credentials ?? fixed(),
  });
  try {
    await use(transport, server);
  } finally {
    await transport.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

const get = (path: string, extra: Partial<TransportRequest> = {}): TransportRequest => ({
  method: "GET",
  path,
  headers: {},
  ...extra,
});

async function textOf(response: TransportResponse): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of response.body) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

test("a request goes out as it is, under the server's own path, and comes back with its headers", async () => {
  const handler: Handler = (request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      response.writeHead(201, { "Content-Type": "text/plain", Warning: ["a", "b"] });
      response.end(`${request.method} ${request.url} ${request.headers.authorization} ${Buffer.concat(chunks)}`);
    });
  };
  const use = async (transport: Transport): Promise<void> => {
    const response = await transport.send({ method: "POST", path: "/api?x=1", headers: { accept: "a/b" }, body: "ß" });
    assert.equal(response.status, 201);
    assert.equal(response.headers["content-type"], "text/plain");
    assert.equal(response.headers.warning, "a, b");
    assert.equal(await textOf(response), "POST /k8s/c1/api?x=1 Bearer t ß");
  };
  await withServer(handler, use, { credentials: fixed("t"), prefix: "/k8s/c1/" });
});

test("connections are kept and used again", async () => {
  let connections = 0;
  await withServer(
    (_request, response) => response.end("ok"),
    async (transport, server) => {
      server.on("connection", () => connections++);
      for (let i = 0; i < 20; i++) await textOf(await transport.send(get("/")));
    },
  );
  // Not always one: the pool may not yet know that a connection is free when the next request is there.
  assert.ok(connections <= 2, `20 requests took ${connections} connections`);
});

test("redirects are not followed: the answer is what the server said", async () => {
  await withServer(
    (_request, response) => response.writeHead(302, { location: "http://elsewhere/" }).end(),
    async (transport) => {
      const response = await transport.send(get("/"));
      assert.equal(response.status, 302);
      await textOf(response);
    },
  );
});

test("nothing is sent twice: a connection that breaks is an error", async () => {
  let requests = 0;
  await withServer(
    (request) => {
      requests += 1;
      request.socket.destroy();
    },
    async (transport) => {
      await assert.rejects(transport.send(get("/")));
    },
  );
  assert.equal(requests, 1);
});

test("a body that breaks off is an error, with a length and in chunks", async () => {
  await withServer(
    (request, response) => {
      if (request.url === "/length") response.writeHead(200, { "content-length": "100" });
      response.write("half of it");
      response.once("drain", () => {});
      setImmediate(() => request.socket.destroy());
    },
    async (transport) => {
      for (const path of ["/length", "/chunks"]) {
        await assert.rejects(async () => textOf(await transport.send(get(path))), path);
      }
    },
  );
});

test("an abort ends a request without an answer, and a body that is being read", async () => {
  await withServer(
    (request, response) => {
      if (request.url === "/stream") response.write("first");
    },
    async (transport) => {
      for (const path of ["/silent", "/stream"]) {
        const controller = new AbortController();
        const call = (async () => textOf(await transport.send(get(path, { signal: controller.signal }))))();
        const outcome = assert.rejects(call, path);
        setImmediate(() => controller.abort(new Error("enough")));
        await outcome;
      }
    },
  );
});

test("leaving a body closes its connection; the next request gets another", async () => {
  const closed: string[] = [];
  await withServer(
    (request, response) => {
      response.on("close", () => closed.push(request.url ?? ""));
      response.write("line\n");
      if (request.url === "/short") response.end();
    },
    async (transport) => {
      for await (const _ of (await transport.send(get("/watch"))).body) break;
      assert.equal(await textOf(await transport.send(get("/short"))), "line\n");
      assert.ok(closed.includes("/watch"));
    },
  );
});

/** Credentials that are others after each refusal. */
function renewing(): CredentialSource & { readonly rejected: string[] } {
  let generation = 1;
  let current: Credentials = { tls: {}, authorization: new Redacted("Bearer t1") };
  const rejected: string[] = [];
  return {
    rejected,
    current: async () => current,
    reject: (credentials) => {
      rejected.push(credentials.authorization?.reveal() ?? "");
      generation += 1;
      current = { tls: current.tls, authorization: new Redacted(`Bearer t${generation}`) };
    },
  };
}

test("after a 401 credentials that can be renewed are tried once more, with the same body", async () => {
  const seen: string[] = [];
  const handler: Handler = (request, response) => {
    request.on("data", (chunk: Buffer) => seen.push(`${request.headers.authorization} ${chunk}`));
    request.on("end", () =>
      response.writeHead(request.headers.authorization === "Bearer t2" ? 200 : 401).end("answer"),
    );
  };
  const credentials = renewing();
  const use = async (transport: Transport): Promise<void> => {
    const response = await transport.send({ method: "POST", path: "/", headers: {}, body: "body" });
    assert.equal(response.status, 200);
    await textOf(response);
  };
  await withServer(handler, use, { credentials });
  assert.deepEqual(seen, ["Bearer t1 body", "Bearer t2 body"]);
  assert.deepEqual(credentials.rejected, ["Bearer t1"]);
});

test("a second 401 is the answer, and so is the first where there is nothing else to try", async () => {
  let requests = 0;
  const handler: Handler = (_request, response) => {
    requests += 1;
    response.writeHead(401).end("who are you");
  };
  const use = async (transport: Transport): Promise<void> => {
    const response = await transport.send(get("/"));
    assert.equal(response.status, 401);
    assert.equal(await textOf(response), "who are you");
  };
  await withServer(handler, use, { credentials: renewing() });
  assert.equal(requests, 2);
  await withServer(handler, use, { credentials: fixed("t") });
  assert.equal(requests, 3);
});

test("closing ends watches that are under way", async () => {
  await withServer(
    (_request, response) => response.write("line\n"),
    async (transport) => {
      const outcome = assert.rejects(async () => textOf(await transport.send(get("/"))));
      const response = await transport.send(get("/"));
      await transport.close();
      await assert.rejects(textOf(response));
      await outcome;
    },
  );
});

test("through a proxy: the tunnel is asked for with the proxy's password, which is in no error", async () => {
  const asked: (string | undefined)[] = [];
  const target = createServer((_request, response) => response.end("through"));
  const targetUrl = await listen(target);
  const proxy = createServer((request, response) => {
    asked.push(request.headers["proxy-authorization"]);
    const upstream = connect(Number(new URL(targetUrl).port), "127.0.0.1", () => {
      upstream.end(`GET / HTTP/1.0\r\n\r\n`);
      upstream.once("data", () => response.end("through"));
    });
  });
  const proxyUrl = (await listen(proxy)).replace("http://", "http://me:geheim@");
  const transport = createUndiciTransport({ server: targetUrl, credentials: fixed(), proxyUrl });
  assert.equal(await textOf(await transport.send(get("/"))), "through");
  assert.deepEqual(asked, [`Basic ${Buffer.from("me:geheim").toString("base64")}`]);
  proxy.closeAllConnections();
  await new Promise((resolve) => proxy.close(resolve));
  await assert.rejects(transport.send(get("/")), (error) => !String(error).includes("geheim"));
  await transport.close();
  target.closeAllConnections();
  await new Promise((resolve) => target.close(resolve));
});
