import assert from "node:assert/strict";
import { test } from "node:test";
import { ManualClock, settle } from "../base/manual-clock.ts";
import { BadRequest, Forbidden, NotFound, NotServed, Unavailable, Unreachable } from "./errors.ts";
import { createKubeClient, type KubeClientOptions } from "./kube-client.ts";
import type { KubeObject, ResourceType } from "./objects.ts";
import type { Kube } from "./port.ts";
import type { Transport, TransportRequest, TransportResponse } from "./transport.ts";

const secrets: ResourceType = { group: "", version: "v1", plural: "secrets", kind: "Secret", namespaced: true };
const widgets: ResourceType = { group: "x.dev", version: "v2", plural: "widgets", kind: "Widget", namespaced: false };
const secret: KubeObject = { apiVersion: "v1", kind: "Secret", metadata: { name: "s", namespace: "n", uid: "u" } };
const JSON_HEADERS = { "content-type": "application/json" };

interface Setup {
  readonly kube: Kube;
  readonly clock: ManualClock;
  readonly requests: TransportRequest[];
}

function setUp(
  answer: (request: TransportRequest) => Promise<TransportResponse> | TransportResponse,
  options: Partial<KubeClientOptions> = {},
): Setup {
  const clock = new ManualClock();
  const requests: TransportRequest[] = [];
  const transport: Transport = {
    async send(request) {
      requests.push(request);
      return answer(request);
    },
    close: async () => {},
  };
  return { kube: createKubeClient({ transport, clock, userAgent: "keyturn/1", ...options }), clock, requests };
}

async function* chunks(...parts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield Buffer.from(part);
}

const json = (value: unknown, status = 200): TransportResponse => ({
  status,
  headers: JSON_HEADERS,
  body: chunks(JSON.stringify(value)),
});

const never = (): Promise<never> => new Promise(() => {});

const list = (items: readonly unknown[], metadata: object = {}): TransportResponse =>
  json({ kind: "SecretList", apiVersion: "v1", metadata: { resourceVersion: "9", ...metadata }, items });

interface RequestCase {
  readonly reason: string;
  readonly call: (kube: Kube) => Promise<unknown>;
  readonly line: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

const requestCases: readonly RequestCase[] = [
  {
    reason: "core group, namespaced",
    call: (kube) => kube.get(secrets, { namespace: "n", name: "s" }),
    line: "GET /api/v1/namespaces/n/secrets/s",
    headers: { accept: "application/json", "user-agent": "keyturn/1" },
  },
  {
    reason: "named group, cluster-scoped: a namespace is ignored",
    call: (kube) => kube.get(widgets, { namespace: "n", name: "a/b" }, { subresource: "status", resourceVersion: "0" }),
    line: "GET /apis/x.dev/v2/widgets/a%2Fb/status?resourceVersion=0",
  },
  {
    reason: "metadata alone",
    call: (kube) => kube.get(secrets, { namespace: "n", name: "s" }, { metadataOnly: true }),
    line: "GET /api/v1/namespaces/n/secrets/s",
    headers: { accept: "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json" },
  },
  {
    reason: "create in the collection, with all options",
    call: (kube) => kube.create(secrets, secret, { fieldManager: "m", dryRun: true, fieldValidation: "Strict" }),
    line: "POST /api/v1/namespaces/n/secrets?fieldManager=m&dryRun=All&fieldValidation=Strict",
    headers: { "content-type": "application/json" },
    body: secret,
  },
  {
    reason: "a subresource is created under the name",
    call: (kube) => kube.create(secrets, secret, { subresource: "token" }),
    line: "POST /api/v1/namespaces/n/secrets/s/token",
  },
  {
    reason: "replace",
    call: (kube) => kube.replace(secrets, secret, { subresource: "status" }),
    line: "PUT /api/v1/namespaces/n/secrets/s/status",
    body: secret,
  },
  {
    reason: "merge patch",
    call: (kube) => kube.patch(secrets, { namespace: "n", name: "s" }, { type: "merge", body: { a: null } }),
    line: "PATCH /api/v1/namespaces/n/secrets/s",
    headers: { "content-type": "application/merge-patch+json" },
    body: { a: null },
  },
  {
    reason: "JSON patch",
    call: (kube) => kube.patch(secrets, { namespace: "n", name: "s" }, { type: "json", body: [{ op: "test" }] }),
    line: "PATCH /api/v1/namespaces/n/secrets/s",
    headers: { "content-type": "application/json-patch+json" },
    body: [{ op: "test" }],
  },
  {
    reason: "strategic patch",
    call: (kube) => kube.patch(secrets, { namespace: "n", name: "s" }, { type: "strategic", body: {} }),
    line: "PATCH /api/v1/namespaces/n/secrets/s",
    headers: { "content-type": "application/strategic-merge-patch+json" },
  },
  {
    reason: "apply, taking over fields",
    call: (kube) =>
      kube.patch(
        secrets,
        { namespace: "n", name: "s" },
        { type: "apply", body: {}, force: true },
        { fieldManager: "m" },
      ),
    line: "PATCH /api/v1/namespaces/n/secrets/s?fieldManager=m&force=true",
    headers: { "content-type": "application/apply-patch+yaml" },
  },
  {
    reason: "delete with preconditions",
    call: (kube) =>
      kube.delete(
        secrets,
        { namespace: "n", name: "s" },
        { uid: "u", resourceVersion: "3", propagationPolicy: "Orphan", gracePeriodSeconds: 0, dryRun: true },
      ),
    line: "DELETE /api/v1/namespaces/n/secrets/s",
    body: {
      apiVersion: "v1",
      kind: "DeleteOptions",
      preconditions: { uid: "u", resourceVersion: "3" },
      propagationPolicy: "Orphan",
      gracePeriodSeconds: 0,
      dryRun: ["All"],
    },
  },
];

for (const { reason, call, line, headers, body } of requestCases) {
  test(`the request: ${reason}`, async () => {
    const { kube, requests } = setUp(() => json(secret));
    await call(kube);
    const [request] = requests;
    assert.equal(`${request?.method} ${request?.path}`, line, reason);
    for (const [name, value] of Object.entries(headers ?? {})) assert.equal(request?.headers[name], value, reason);
    if (body !== undefined) assert.deepEqual(JSON.parse(request?.body ?? ""), body, reason);
  });
}

const mistakes: readonly [string, (kube: Kube) => Promise<unknown>][] = [
  ["a namespaced kind without a namespace", (kube) => kube.get(secrets, { name: "s" })],
  ["an empty name, which would be the whole collection", (kube) => kube.delete(secrets, { namespace: "n", name: "" })],
  ["apply without a manager", (kube) => kube.patch(widgets, { name: "w" }, { type: "apply", body: {} })],
  ["create without a namespace", (kube) => kube.create(secrets, { ...secret, metadata: { name: "s" } })],
];

for (const [reason, call] of mistakes) {
  test(`nothing is sent: ${reason}`, async () => {
    const { kube, requests } = setUp(() => json(secret));
    await assert.rejects(call(kube), BadRequest, reason);
    assert.equal(requests.length, 0);
  });
}

const dots: readonly [string, (kube: Kube, dots: string) => Promise<unknown>][] = [
  ["the name of what is read", (kube, name) => kube.get(secrets, { namespace: "n", name })],
  ["the name of what has no namespace", (kube, name) => kube.get(widgets, { name })],
  ["the namespace of what is read", (kube, namespace) => kube.get(secrets, { namespace, name: "s" })],
  ["the namespace of a list", (kube, namespace) => kube.list(secrets, { namespace })],
  ["the namespace of a new object", (kube, namespace) => kube.create(secrets, { ...secret, metadata: { namespace } })],
  [
    "the name of what is replaced",
    (kube, name) => kube.replace(secrets, { ...secret, metadata: { namespace: "n", name } }),
  ],
  [
    "the name of what is patched",
    (kube, name) => kube.patch(secrets, { namespace: "n", name }, { type: "merge", body: {} }),
  ],
  ["the name of what is deleted", (kube, name) => kube.delete(secrets, { namespace: "n", name })],
];

for (const [what, call] of dots) {
  test(`a dot or two are a step in a path and the name of nothing: ${what}`, async () => {
    for (const word of [".", ".."]) {
      const { kube, requests } = setUp(() => Promise.reject(new Error("not to be sent")));
      await assert.rejects(
        call(kube, word),
        (error) => error instanceof NotFound && error.message.includes(`"${word}"`),
      );
      assert.deepEqual(requests, []);
    }
  });
}

test("list: the query, the items' own kind, and where it goes on", async () => {
  const items = [{ metadata: { name: "s" }, data: {} }];
  const { kube, requests } = setUp(() => list(items, { continue: "t", remainingItemCount: 4 }));
  const page = await kube.list(secrets, { labelSelector: "a=b,c", fieldSelector: "type=x", limit: 5, continue: "&" });
  assert.equal(
    requests[0]?.path,
    "/api/v1/secrets?labelSelector=a%3Db%2Cc&fieldSelector=type%3Dx&limit=5&continue=%26",
  );
  assert.deepEqual(page, {
    items: [{ ...items[0], apiVersion: "v1", kind: "Secret" }],
    resourceVersion: "9",
    continue: "t",
    remainingItemCount: 4,
  });
});

test("a list in which something is no object is refused whole, and nobody takes the rest for all there is", async () => {
  for (const odd of [null, "geheim", {}, { metadata: {} }]) {
    const { kube } = setUp(() => list([secret, odd]));
    await assert.rejects(kube.list(secrets), Unavailable, JSON.stringify(odd));
  }
});

test("metadata only means that, also where the server sends everything", async () => {
  const full = { ...secret, data: { a: "geheim" } };
  const { kube } = setUp((request) => (request.path.endsWith("/s") ? json(full) : list([full])));
  const stripped = { apiVersion: "v1", kind: "Secret", metadata: secret.metadata };
  assert.deepEqual(await kube.get(secrets, { namespace: "n", name: "s" }, { metadataOnly: true }), stripped);
  assert.deepEqual((await kube.list(secrets, { metadataOnly: true })).items, [stripped]);
});

const deletions: readonly { readonly reason: string; readonly answer: unknown; readonly held: boolean }[] = [
  { reason: "a Status says it is gone", answer: { kind: "Status", apiVersion: "v1", status: "Success" }, held: false },
  { reason: "the last state of what is gone", answer: secret, held: false },
  {
    reason: "a forced delete shows a time stamp, too",
    answer: withMeta({ deletionGracePeriodSeconds: 0 }),
    held: false,
  },
  { reason: "finalizers hold it", answer: withMeta({ finalizers: ["a/b"] }), held: true },
  { reason: "its grace period runs", answer: withMeta({ deletionGracePeriodSeconds: 30 }), held: true },
  {
    reason: "a namespace with content",
    answer: { ...withMeta({}), kind: "Namespace", spec: { finalizers: ["kubernetes"] } },
    held: true,
  },
];

function withMeta(extra: object): object {
  return { ...secret, metadata: { ...secret.metadata, deletionTimestamp: "2026-01-01T00:00:00Z", ...extra } };
}

for (const { reason, answer, held } of deletions) {
  test(`delete: ${reason}`, async () => {
    const { kube } = setUp(() => json(answer));
    const left = await kube.delete(secrets, { namespace: "n", name: "s" });
    assert.deepEqual(left, held ? answer : undefined, reason);
  });
}

interface AnswerCase {
  readonly reason: string;
  readonly answer: TransportResponse;
  readonly error: new (message: string) => Error;
}

const badAnswers: readonly AnswerCase[] = [
  {
    reason: "cut off, with a length",
    answer: { status: 200, headers: { ...JSON_HEADERS, "content-length": "999" }, body: chunks("{}") },
    error: Unreachable,
  },
  {
    reason: "cut off, without a length",
    answer: { status: 200, headers: JSON_HEADERS, body: chunks(`{"kind":"geheim`) },
    error: Unreachable,
  },
  { reason: "nothing at all", answer: { status: 200, headers: JSON_HEADERS, body: chunks() }, error: Unreachable },
  {
    reason: "a log-in page",
    answer: { status: 200, headers: { "content-type": "text/html" }, body: chunks("<html>geheim") },
    error: Unavailable,
  },
  { reason: "JSON of something else", answer: json({ hello: "geheim" }), error: Unavailable },
  {
    reason: "too large",
    answer: { status: 200, headers: JSON_HEADERS, body: chunks("x".repeat(2000)) },
    error: Unavailable,
  },
  {
    reason: "a gateway's error page",
    answer: { status: 502, headers: {}, body: chunks("geheim") },
    error: Unavailable,
  },
  { reason: "a refusal", answer: json({ kind: "Status", message: "no", reason: "Forbidden" }, 403), error: Forbidden },
  {
    reason: "a refusal that was cut off",
    answer: { status: 403, headers: JSON_HEADERS, body: chunks(`{"kind`) },
    error: Unreachable,
  },
  {
    reason: "an unknown path",
    answer: { status: 404, headers: { "content-type": "text/plain" }, body: chunks("404 page not found") },
    error: NotServed,
  },
];

for (const { reason, answer, error } of badAnswers) {
  test(`a bad answer: ${reason}`, async () => {
    const { kube, clock } = setUp(() => answer, { maxBodyBytes: 1000 });
    await assert.rejects(
      kube.get(secrets, { namespace: "n", name: "s" }),
      (thrown) => thrown instanceof error && !`${thrown.message}${String(thrown.cause)}`.includes("geheim"),
      reason,
    );
    assert.equal(clock.timerCount, 0, "the time-out is over with the call");
  });
}

test("a transport that fails is a server that cannot be reached, with the cause", async () => {
  const cause = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
  const { kube } = setUp(() => Promise.reject(new AggregateError([cause], "")));
  await assert.rejects(
    kube.fetch("/version"),
    (error) => error instanceof Unreachable && /ECONNREFUSED/.test(error.message),
  );
});

test("no answer in time: the call ends, the transport is told, a late answer is let go", async () => {
  let late: (response: TransportResponse) => void = () => {};
  const { kube, clock, requests } = setUp(() => new Promise((resolve) => (late = resolve)), { defaultTimeoutMs: 5000 });
  const call = kube.fetch("/version");
  const outcome = assert.rejects(call, Unreachable);
  await clock.advance(4999);
  assert.equal(requests[0]?.signal?.aborted, false);
  await clock.advance(1);
  await outcome;
  assert.equal(requests[0]?.signal?.aborted, true);
  let returned = false;
  const iterator = {
    next: never,
    async return() {
      returned = true;
      return { done: true as const, value: undefined };
    },
  };
  late({ status: 200, headers: JSON_HEADERS, body: { [Symbol.asyncIterator]: () => iterator } });
  await settle();
  assert.equal(returned, true, "the late body is cancelled");
});

test("the time-out holds for the whole answer: a trickle does not stretch it", async () => {
  const clock = new ManualClock();
  async function* trickle(): AsyncGenerator<Uint8Array> {
    for (let i = 0; i < 100; i++) {
      await new Promise<void>((resolve) => clock.setTimer(resolve, 1000));
      yield Buffer.from(" ");
    }
  }
  const { kube } = setUp(() => ({ status: 200, headers: JSON_HEADERS, body: trickle() }), {
    clock,
    defaultTimeoutMs: 5000,
  });
  const outcome = assert.rejects(kube.fetch("/version"), Unreachable);
  await clock.advance(5000);
  await outcome;
});

test("an aborted call rejects with the caller's own reason and leaves no timer", async () => {
  const { kube, clock } = setUp(never);
  const controller = new AbortController();
  const reason = new Error("enough");
  const outcome = assert.rejects(kube.fetch("/version", { signal: controller.signal }), (error) => error === reason);
  await settle();
  controller.abort(reason);
  await outcome;
  assert.equal(clock.timerCount, 0);
  await assert.rejects(
    kube.fetch("/version", { signal: controller.signal }),
    (error) => error === reason,
    "aborted before",
  );
});

test("discovery: resources without their subresources; nothing where the group is unknown", async () => {
  const resources = [
    { name: "widgets", kind: "Widget", namespaced: true },
    { name: "widgets/status", kind: "Widget", namespaced: true },
  ];
  const { kube } = setUp((request) =>
    request.path === "/apis/x.dev/v2"
      ? json({ kind: "APIResourceList", resources })
      : { status: 404, headers: {}, body: chunks() },
  );
  assert.deepEqual(await kube.discover("x.dev", "v2"), [{ ...widgets, namespaced: true }]);
  assert.deepEqual(await kube.discover("y.dev", "v1"), []);
});

test("the server's clock is told to whoever wants to know", async () => {
  const dates: [number, number][] = [];
  const date = "Thu, 01 Jan 2026 00:00:05 GMT";
  const { kube, clock } = setUp(
    () => ({ status: 200, headers: { "content-type": "text/plain", date }, body: chunks("ok") }),
    {
      onServerDate: (serverAt, localAt) => dates.push([serverAt, localAt]),
    },
  );
  assert.equal(await kube.fetch("/healthz"), "ok");
  assert.deepEqual(dates, [[Date.UTC(2026, 0, 1, 0, 0, 5), clock.now()]]);
});
