import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { inspect } from "node:util";
import { Redacted } from "../base/redacted.ts";
import type { HttpRequest } from "./http-port.ts";
import { HttpFailure, UndiciHttp, type UndiciHttpOptions } from "./undici-http.ts";

const signal = new AbortController().signal;

async function withServer(
  handler: (request: IncomingMessage, response: ServerResponse) => void,
  use: (http: UndiciHttp, url: string, server: Server) => Promise<void>,
  options: UndiciHttpOptions = {},
): Promise<void> {
  const server = createServer(handler);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const http = new UndiciHttp(options);
  try {
    await use(http, `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server);
  } finally {
    await http.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

const get = (url: string, extra: Partial<HttpRequest> = {}): HttpRequest => ({
  method: "GET",
  url,
  headers: {},
  ...extra,
});

async function failsWith(work: Promise<unknown>, code: RegExp): Promise<void> {
  await assert.rejects(work, (error) => {
    assert.ok(error instanceof HttpFailure, inspect(error));
    assert.match(error.code, code);
    assert.ok(!inspect(error, { depth: 9 }).includes("canary"), inspect(error, { depth: 9 }));
    return true;
  });
}

test("a request goes out as it is and its answer comes back whole", async () => {
  await withServer(
    async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(Buffer.from(chunk));
      response.writeHead(201, { "X-Thing": "a", Warning: ["b", "c"] });
      response.end(`${request.method} ${request.url} ${request.headers.accept} ${Buffer.concat(chunks)} ü`);
    },
    async (http, url) => {
      const response = await http.send(
        { method: "POST", url: `${url}/p/a%2Fb?q=x%20'y'&t=a%2Bb`, headers: { accept: "x" }, body: new Redacted("ß") },
        signal,
      );
      assert.deepEqual([response.status, response.headers["x-thing"], response.headers.warning], [201, "a", "b, c"]);
      assert.equal(response.body.reveal(), "POST /p/a%2Fb?q=x%20%27y%27&t=a%2Bb x ß ü");
    },
  );
});

test("redirects are answers, and every status is", async () => {
  await withServer(
    (request, response) => response.writeHead(Number(request.url?.slice(1)), { location: "/200" }).end("body"),
    async (http, url) => {
      for (const status of [301, 302, 307, 400, 401, 404, 429, 500, 503]) {
        assert.equal((await http.send(get(`${url}/${status}`), signal)).status, status);
      }
    },
  );
});

test("connections are kept and used again", async () => {
  let connections = 0;
  await withServer(
    (_request, response) => response.end("ok"),
    async (http, url, server) => {
      server.on("connection", () => connections++);
      for (let i = 0; i < 20; i++) await http.send(get(url), signal);
    },
  );
  assert.ok(connections <= 2, `20 requests took ${connections} connections`);
});

test("nothing is sent twice: a connection that breaks is a failure", async () => {
  let requests = 0;
  await withServer(
    (request) => {
      requests += 1;
      request.socket.destroy();
    },
    async (http, url) => {
      await failsWith(http.send(get(url), signal), /^(UND_ERR_SOCKET|ECONNRESET)$/);
    },
  );
  assert.equal(requests, 1);
});

test("a body that breaks off is a failure, with a length and in chunks", async () => {
  await withServer(
    (request, response) => {
      if (request.url === "/length") response.writeHead(200, { "content-length": "100" });
      response.write("half of a canary");
      setImmediate(() => request.socket.destroy());
    },
    async (http, url) => {
      for (const path of ["/length", "/chunks"]) await failsWith(http.send(get(url + path), signal), /./);
    },
  );
});

test("a body without an end is cut off, and the connection is not used again", async () => {
  let closed = 0;
  await withServer(
    (request, response) => {
      if (request.url === "/short") {
        response.end("short");
        return;
      }
      response.on("close", () => closed++);
      const more = (): void => {
        while (!response.destroyed && response.write("x".repeat(10_000)));
      };
      response.on("drain", more);
      more();
    },
    async (http, url) => {
      await failsWith(http.send(get(url), signal), /^BODY_TOO_LARGE$/);
      assert.equal((await http.send(get(`${url}/short`), signal)).body.reveal(), "short");
      assert.equal(closed, 1);
    },
    { maxBodyBytes: 100_000 },
  );
});

test("an abort ends a request without an answer, and a body that is being read", async () => {
  await withServer(
    (request, response) => {
      if (request.url === "/stream") response.write("first");
    },
    async (http, url) => {
      for (const path of ["/silent", "/stream"]) {
        const controller = new AbortController();
        const outcome = failsWith(http.send(get(url + path), controller.signal), /^ABORTED$/);
        setImmediate(() => controller.abort(new Error("canary")));
        await outcome;
      }
      await failsWith(http.send(get(url), AbortSignal.abort()), /^ABORTED$/);
    },
  );
});

test("a server that does not answer, or stops in the middle, is given up", async () => {
  await withServer(
    (request, response) => {
      if (request.url === "/stream") response.write("first");
    },
    async (http, url) => {
      await failsWith(http.send(get(url), signal), /^UND_ERR_HEADERS_TIMEOUT$/);
      await failsWith(http.send(get(`${url}/stream`), signal), /^UND_ERR_BODY_TIMEOUT$/);
    },
    { headersTimeoutMs: 50, bodyTimeoutMs: 50 },
  );
});

test("what cannot be sent is a failure that quotes nothing", async () => {
  await withServer(
    (_request, response) => response.end("ok"),
    async (http, url) => {
      await failsWith(http.send(get("canary"), signal), /^INVALID_URL$/);
      await failsWith(http.send(get("file:///canary"), signal), /^INVALID_URL$/);
      await failsWith(http.send(get(url, { headers: { authorization: "canary\r\nx: y" } }), signal), /./);
      await failsWith(http.send(get("http://127.0.0.1:1/canary"), signal), /^ECONNREFUSED$/);
      assert.equal((await http.send(get(url), signal)).status, 200);
    },
  );
});

test("closing ends what is under way and refuses what comes after", async () => {
  await withServer(
    () => {},
    async (http, url) => {
      const outcome = failsWith(http.send(get(url), signal), /./);
      await http.close();
      await outcome;
      await failsWith(http.send(get(url), signal), /^CLOSED$/);
    },
  );
});
