import assert from "node:assert/strict";
import { request } from "node:http";
import { after, before, describe, test } from "node:test";
import { serviceBinding } from "../api/btp/service-binding.ts";
import { Unreachable } from "../kube/errors.ts";
import type { KubeObject } from "../kube/objects.ts";
import type { Kube } from "../kube/port.ts";
import { type DashboardWorld, dashboardWorld, putBinding } from "./dashboard-world.fixture.ts";
import { openKube } from "./viewer-kube.fixture.ts";
import type { LiveMessage, Row } from "./wire.ts";

const isLast = (message: LiveMessage): boolean => message.type === "rows" && message.isLast;

/** The row of an id in whatever message has it. */
const rowIn = (message: LiveMessage, id: string): Row | undefined =>
  message.type === "rows" || message.type === "changed" ? message.rows.find((row) => row.id === id) : undefined;

/** With headers that fetch does not let anybody set. */
function askRaw(world: DashboardWorld, path: string, headers: Record<string, string>): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const { port } = world.server;
    const sent = request({ host: "127.0.0.1", port, path, headers, setHost: false }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    sent.on("error", reject).end();
  });
}

describe("a page that is open", () => {
  test("is told everything once, and then each change", async (t) => {
    const world = await dashboardWorld({ cluster: "dev" });
    t.after(() => world.close());
    await putBinding(world.kube, "orders");
    const page = await world.live();
    const hello = await page.until(({ type }) => type === "hello");
    const viewer = hello.type === "hello" ? hello.viewer : undefined;
    assert.deepEqual([viewer?.name, viewer?.cluster], ["keyturn-admin", "dev"]);
    await page.until(({ type }) => type === "overview");
    await page.until((message) => rowIn(message, "ServiceBinding/orders") !== undefined || isLast(message));
    await putBinding(world.kube, "invoices");
    const added = await page.until((message) => rowIn(message, "ServiceBinding/invoices")?.phase === "Ready");
    assert.equal(rowIn(added, "ServiceBinding/invoices")?.secret, "default/invoices-secret");
    await world.kube.patch(
      serviceBinding,
      { name: "invoices" },
      { type: "merge", body: { metadata: { finalizers: [] } } },
    );
    await world.kube.delete(serviceBinding, { name: "invoices" });
    const gone = await page.until((message) => message.type === "changed" && message.gone.length > 0);
    assert.deepEqual(gone.type === "changed" && gone.gone, ["ServiceBinding/invoices"]);
    const overview = await page.until(({ type }) => type === "overview");
    assert.deepEqual(overview.type === "overview" && overview.overview.kinds, [
      { kind: "ServiceBinding", count: 1, troubled: 0 },
    ]);
    await page.leave();
  });

  test("more pages than there may be are refused in one line, and one that is closed makes room", async (t) => {
    const world = await dashboardWorld();
    t.after(() => world.close());
    const pages = [];
    for (let count = 0; count < 64; count++) pages.push(await world.live());
    const refused = await world.ask("/api/live");
    assert.deepEqual([refused.status, refused.json.error.code], [503, "CannotServe"]);
    for (const page of pages) await page.leave();
  });
});

test("what stood in the way last is told for itself, and nobody waits for it to see the rest", async (t) => {
  const events = Promise.withResolvers<void>();
  const slow = (kube: Kube): Kube => ({
    ...openKube(kube),
    list: async (type, options) => {
      if (type.kind === "Event") await events.promise;
      return kube.list(type, options);
    },
  });
  const world = await dashboardWorld({ kubeOf: slow });
  t.after(() => world.close());
  await putBinding(world.kube, "orders");
  const { uid } = (await world.kube.get(serviceBinding, { name: "orders" })).metadata;
  const eventType = { group: "", version: "v1", plural: "events", kind: "Event", namespaced: true };
  await world.kube.create<KubeObject>(eventType, {
    apiVersion: "v1",
    kind: "Event",
    metadata: { namespace: "default", name: "orders.1" },
    involvedObject: {
      apiVersion: "account.btp.sap.crossplane.io/v1alpha1",
      kind: "ServiceBinding",
      name: "orders",
      uid,
    },
    reportingComponent: "keyturn.dev/keyturn",
    reportingInstance: "keyturn-0",
    type: "Warning",
    action: "Reconcile",
    reason: "QuotaExceeded",
    message: "no more keys",
    eventTime: "2026-01-01T00:00:00.000000Z",
  });
  const asked = world.ask("/api/last-failure?id=ServiceBinding/orders");
  assert.equal((await world.ask("/api/credential?id=ServiceBinding/orders")).status, 200);
  events.resolve();
  assert.match(
    (await asked).json.text,
    /^The last one was at 2026-01-01T00:00:00Z, .* ago: QuotaExceeded: no more keys$/,
  );
  assert.equal((await world.ask("/api/last-failure?id=ServiceBinding/nobody")).status, 404);
});

describe("bad input", () => {
  let world: DashboardWorld;
  before(async () => {
    world = await dashboardWorld({ page: new Map([["/index.html", html()]]) });
    await putBinding(world.kube, "orders");
  });
  after(() => world.close());

  test("names and messages made to inject markup come as they are, in JSON that no browser takes for a page", async () => {
    const markup = "<img src=x onerror=alert(1)></script><script>alert(2)</script>";
    const condition = { type: "Synced", status: "False", reason: "SpecProblem", message: markup };
    await putBinding(world.kube, "markup", {
      metadata: { labels: { "a.b/c": "x" }, annotations: { "note.example/x": markup } },
      status: { sequence: 0, conditions: [{ ...condition, lastTransitionTime: "2026-01-01T00:00:00Z" }] },
    });
    const page = await world.live();
    const message = await page.until((one) => rowIn(one, "ServiceBinding/markup")?.troubles !== undefined);
    assert.equal(rowIn(message, "ServiceBinding/markup")?.troubles?.[0]?.message, markup);
    await page.leave();
    const answer = await world.ask("/api/credential?id=ServiceBinding/markup");
    assert.equal(answer.headers.get("content-type"), "application/json");
    assert.equal(answer.headers.get("x-content-type-options"), "nosniff");
    assert.match(answer.headers.get("content-security-policy") ?? "", /default-src 'none'; script-src 'self'/);
  });

  test("a resource without status, with dates absurd or missing, or with ten thousand retired keys is shown", async () => {
    const at = (createdDate: string): object => ({
      atProvider: { id: "i", name: "n", createdDate, sequence: 1, madeFrom: "" },
      sequence: 1,
    });
    const retiredKeys = Array.from({ length: 10_000 }, (_, index) => ({
      id: `id-${index}`,
      name: `key-${index}`,
      createdDate: "2025-01-01T00:00:00Z",
      retiredDate: "2025-02-01T00:00:00Z",
      replacedDate: "2025-02-01T00:00:00Z",
      deletionDate: "2099-01-01T00:00:00Z",
      overlap: "24h",
      cause: "rotated",
    }));
    const table: readonly (readonly [name: string, status: Readonly<Record<string, unknown>>])[] = [
      ["no-status", {}],
      ["far-past", { ...at("0001-01-01T00:00:01Z") }],
      ["far-future", { ...at("9999-12-31T23:59:59Z") }],
      ["many-keys", { ...at("2025-02-01T00:00:00Z"), retiredKeys }],
    ];
    for (const [name, status] of table) await putBinding(world.kube, name, { status });
    const page = await world.live();
    for (const [name] of table) {
      const { status, json } = await world.ask(`/api/credential?id=ServiceBinding/${name}`);
      assert.equal(status, 200, name);
      assert.equal(json.row.name, name);
      const until = Date.UTC(2030, 0, 1);
      const body = { ids: [`ServiceBinding/${name}`], until, sight: { from: -1e15, until: 1e15 } };
      const future = await world.ask("/api/futures", { body });
      assert.equal(future.status, 200, name);
      for (const action of ["rotate", "compromised", "freeze"]) {
        const query = `id=ServiceBinding/${name}&action=${action}&until=${until}`;
        assert.equal((await world.ask(`/api/preview?${query}`)).status, 200, `${name} ${action}`);
      }
    }
    const many = await world.ask("/api/credential?id=ServiceBinding/many-keys");
    assert.ok(many.json.keys.length <= 500, "no more keys than a page draws");
    assert.equal(many.json.keys.length + many.json.moreKeys, 10_001);
    assert.ok(many.text.length < 200_000, `${many.text.length} characters`);
    assert.ok((world.model.get("ServiceBinding/many-keys")?.seed.length ?? 0) < 32_768, "little is kept of it");
    await page.leave();
    assert.equal((await world.ask("/api/evidence")).status, 200);
    assert.deepEqual(
      world.log.filter(({ level }) => level === "error"),
      [],
    );
  });

  test("a Host that is not ours, and a page of another origin, get nothing", async () => {
    const { port } = world.server;
    const own = { authorization: `Bearer ${world.token}` };
    const path = "/api/credential?id=ServiceBinding/orders";
    const table: readonly (readonly [reason: string, headers: Record<string, string>, status: number])[] = [
      ["our own name", { host: `127.0.0.1:${port}` }, 200],
      ["another of ours", { host: `LOCALHOST:${port}` }, 200],
      ["a name that was made to lead here", { host: `rebound.example:${port}` }, 421],
      ["our name with another port", { host: "127.0.0.1:1" }, 421],
      ["no name at all", { host: "" }, 421],
      ["our own page", { host: `127.0.0.1:${port}`, origin: `http://127.0.0.1:${port}` }, 200],
      ["another page", { host: `127.0.0.1:${port}`, origin: "http://elsewhere.example" }, 403],
      ["a page without an origin", { host: `127.0.0.1:${port}`, origin: "null" }, 403],
      ["our name on another port", { host: `127.0.0.1:${port}`, origin: "http://127.0.0.1:1" }, 403],
      ["a request across sites", { host: `127.0.0.1:${port}`, "sec-fetch-site": "cross-site" }, 403],
      ["one from our own page", { host: `127.0.0.1:${port}`, "sec-fetch-site": "same-origin" }, 200],
    ];
    for (const [reason, headers, status] of table) {
      assert.equal(await askRaw(world, path, { ...own, ...headers }), status, reason);
    }
  });

  test("whoever bears no token, a wrong one, or a link that was used, is told so in one line", async () => {
    const table: readonly (readonly [reason: string, status: number | undefined])[] = [
      ["none", (await world.ask("/api/credential?id=ServiceBinding/orders", { token: "" })).status],
      ["a wrong one", (await world.ask("/api/evidence", { token: "x".repeat(43) })).status],
      ["a stream", (await world.live("wrong")).status],
    ];
    for (const [reason, status] of table) assert.equal(status, 401, reason);
    const link = world.link();
    assert.equal((await world.ask("/api/session", { token: "", body: { token: link } })).status, 200, "the first time");
    const again = await world.ask("/api/session", { token: "", body: { token: link } });
    assert.deepEqual([again.status, again.json.error.code], [401, "NotAdmitted"], "the second time");
    assert.notEqual(world.link(), link, "there is another one");
    const way = await world.ask("/api/way-in", { token: "" });
    assert.deepEqual(way.json, { by: "link" });
  });

  test("a request that is none of ours is refused, and says what is wrong", async () => {
    const big = JSON.stringify({ ids: ["x".repeat(70_000)], until: 1 });
    const table: readonly (readonly [reason: string, path: string, options: object, status: number])[] = [
      ["nothing there", "/api/nothing", {}, 404],
      ["another method", "/api/credential?id=ServiceBinding/orders", { method: "DELETE" }, 405],
      ["a change by a link", "/api/action", { method: "GET" }, 405],
      ["no JSON", "/api/futures", { body: "ids=1", headers: { "content-type": "text/plain" } }, 415],
      ["JSON that is no object", "/api/futures", { body: "[]" }, 400],
      ["JSON that is none", "/api/futures", { body: "{" }, 400],
      ["too much of it", "/api/futures", { body: big }, 413],
      ["too many ids", "/api/futures", { body: { ids: Array(101).fill("x"), until: 1 } }, 400],
      ["no instant", "/api/futures", { body: { ids: [], until: "soon", sight: { from: 0, until: 1 } } }, 400],
      ["no sight", "/api/futures", { body: { ids: [], until: 1 } }, 400],
      ["a sight that is backwards", "/api/futures", { body: { ids: [], until: 1, sight: { from: 2, until: 1 } } }, 400],
      ["a preview until nothing", "/api/preview?id=ServiceBinding/orders&action=rotate&until=", {}, 400],
      ["no such kind", "/api/credential?id=Secret/default/orders", {}, 400],
      ["a path for a name", "/api/credential?id=ServiceBinding/..%2f..", {}, 400],
      ["no such resource", "/api/credential?id=ServiceBinding/nobody", {}, 404],
      ["no such action", "/api/action", { body: { id: "ServiceBinding/orders", action: "delete", seen: {} } }, 400],
      ["an action for no state", "/api/action", { body: { id: "ServiceBinding/orders", action: "rotate" } }, 400],
      ["no namespace", "/api/consumers?namespace=../x&name=y", {}, 400],
      ["a file of the machine", "/../../etc/passwd.txt", {}, 404],
      ["a length that is none", "/api/evidence?maxPeriod=soon", {}, 400],
    ];
    for (const [reason, path, options, status] of table) {
      const answer = await world.ask(path, options);
      assert.equal(answer.status, status, reason);
      assert.doesNotMatch(answer.text, /\bat .*\.ts|Error:/, reason);
    }
  });

  test("the page is served under every path of its own, and never from a cache that is older", async () => {
    for (const path of ["/", "/timeline", "/credential/ServiceBinding/orders", "/consumers/shop/orders.v2"]) {
      const { status, text, headers } = await world.ask(path, { token: "" });
      assert.deepEqual([status, text, headers.get("cache-control")], [200, "<html>", "no-cache"], path);
    }
    assert.equal((await world.ask("/missing.js", { token: "" })).status, 404);
  });
});

const html = () => ({ type: "text/html", body: Buffer.from("<html>"), isImmutable: false });

test("a page that was not built is one line that says how to", async (t) => {
  const world = await dashboardWorld();
  t.after(() => world.close());
  const { status, text } = await world.ask("/", { token: "" });
  assert.deepEqual([status, text.trim().split("\n").length], [503, 1]);
  assert.match(text, /npm run build:dashboard/);
});

test("a cluster that does not answer is waited for: the page says so, and what is asked of it fails in one line", async (t) => {
  const broken: Kube["list"] = () => Promise.reject(new Unreachable("connection refused"));
  const world = await dashboardWorld({
    kubeOf: (kube) => ({
      ...wrapped(kube),
      list: broken,
      get: () => Promise.reject(new Unreachable("connection refused")),
    }),
  });
  t.after(() => world.close());
  const page = await world.live();
  const message = await page.until(({ type }) => type === "overview");
  const watches = message.type === "overview" ? message.overview.operator.watches : [];
  assert.ok(
    watches.every(({ isReady, words }) => !isReady && /does not answer|not asked/.test(words)),
    JSON.stringify(watches),
  );
  await page.leave();
  const { status, json } = await world.ask("/api/credential?id=ServiceBinding/orders");
  assert.deepEqual([status, json.error.code], [503, "Unreachable"]);
  assert.match(json.error.message, /^the cluster does not answer: /);
});

/** Its methods are not its own fields. */
const wrapped = (kube: Kube): Kube => ({
  get: (...call) => kube.get(...call),
  list: (...call) => kube.list(...call),
  watch: (...call) => kube.watch(...call),
  create: (...call) => kube.create(...call),
  replace: (...call) => kube.replace(...call),
  patch: (...call) => kube.patch(...call),
  delete: (...call) => kube.delete(...call),
  fetch: (...call) => kube.fetch(...call),
  discover: (...call) => kube.discover(...call),
  close: () => kube.close(),
});
