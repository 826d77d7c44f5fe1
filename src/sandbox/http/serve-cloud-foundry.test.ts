import assert from "node:assert/strict";
import { after, test } from "node:test";
import { ManualClock } from "../../base/manual-clock.ts";
import { seededRandom } from "../../base/random.ts";
import { controlPages } from "../cloud-foundry/control-requests.ts";
import { startCloudFoundry } from "./serve-cloud-foundry.ts";

const clock = new ManualClock();
const served = await startCloudFoundry({ clock, random: seededRandom(1) });
after(() => served.stop());
const { sandbox, login } = served;

type Body = Readonly<Record<string, unknown>>;

async function call(method: string, url: string, { json, token = "" }: { json?: unknown; token?: string } = {}) {
  const answer = await fetch(url.startsWith("http") ? url : served.url + url, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(json !== undefined && { body: JSON.stringify(json) }),
  });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, body: JSON.parse(text || "{}") as Body };
}

/** As a client does it: the way to the UAA is found, not known. */
async function logIn(): Promise<string> {
  assert.ok("username" in login);
  const { links } = (await call("GET", "/")).body as { links: { uaa: { href: string } } };
  const form = { grant_type: "password", username: login.username, password: login.password };
  const answer = await fetch(`${links.uaa.href}/oauth/token`, {
    method: "POST",
    headers: { authorization: "Basic Y2Y6" },
    body: new URLSearchParams(form),
  });
  return String(((await answer.json()) as Body).access_token);
}

const BINDINGS = "/v3/service_credential_bindings";
const wanted = (guid: string, name: string) => ({
  type: "key",
  name,
  relationships: { service_instance: { data: { guid } } },
});

test("a client with the login as issued makes a key over HTTP, follows the links it is given, and deletes it", async () => {
  assert.match(served.url, /^http:\/\/127\.0\.0\.1:\d+$/);
  assert.equal(login.apiEndpoint, served.url);
  const token = await logIn();
  const { id: instance } = sandbox.controls.putInstance();
  const made = await call("POST", BINDINGS, { token, json: wanted(instance, "a") });
  assert.equal(made.status, 202);
  const location = made.headers.get("location") ?? "";
  assert.ok(location.startsWith(`${served.url}/v3/jobs/`), location);
  const job = (await call("GET", location, { token })).body as {
    links: { service_credential_binding: { href: string } };
  };
  const { href } = job.links.service_credential_binding;
  const details = await call("GET", `${href}/details`, { token });
  assert.equal((await call("POST", "/sandbox/authenticate", { json: details.body.credentials })).body.works, true);
  assert.equal((await call("DELETE", href, { token })).status, 202);
  assert.deepEqual(sandbox.liveKeys(), []);
});

test("people get at everything with curl: switches, instances, quotas, roles, tokens, requests", async () => {
  const token = await logIn();
  const put = (path: string, json: object) => call("PUT", `/sandbox/${path}`, { json });
  assert.equal((await put("organizations/o", { name: "prod", keyQuota: 9 })).status, 200);
  assert.equal((await put("spaces/s", { organization: "o", keyQuota: 1 })).status, 200);
  assert.equal((await put("instances/db", { space: "s", plan: "small" })).body.plan, "small");
  assert.equal((await put("apps/shop", { space: "s" })).status, 200);
  assert.equal((await call("POST", BINDINGS, { token, json: wanted("db", "a") })).status, 202);
  assert.equal((await call("POST", BINDINGS, { token, json: wanted("db", "b") })).status, 422);
  const { bindings } = (await call("GET", "/sandbox/state")).body as { bindings: readonly { id: string }[] };
  assert.equal((await call("DELETE", `/sandbox/bindings/${bindings[0]?.id}`)).status, 200);
  assert.equal((await call("PATCH", "/sandbox/switches", { json: { outage: "unavailable" } })).status, 200);
  assert.equal((await call("GET", BINDINGS, { token })).status, 503);
  assert.equal((await call("DELETE", "/sandbox/switches")).body.outage, "none");
  const user = `/sandbox/logins/${"username" in login ? encodeURIComponent(login.username) : ""}`;
  assert.equal((await call("PATCH", user, { json: { role: "none" } })).status, 200);
  assert.equal((await call("GET", "/v3/service_instances/db", { token })).status, 404);
  assert.equal((await call("PATCH", user, { json: { role: "space-developer" } })).status, 200);
  const issued = (await call("POST", "/sandbox/logins", { json: { kind: "client" } })).body;
  const given = (await call("POST", `/sandbox/tokens/${issued.clientId}`)).body.access_token;
  assert.equal((await call("GET", "/v3/service_instances/db", { token: String(given) })).status, 200);
  assert.equal((await call("DELETE", "/sandbox/tokens")).status, 200);
  assert.equal((await call("GET", BINDINGS, { token })).status, 401);
  assert.ok(((await call("GET", "/sandbox/requests")).body.requests as readonly unknown[]).length > 0);
  for (const path of ["instances/db", "apps/shop"]) {
    assert.equal((await call("DELETE", `/sandbox/${path}`)).status, 200);
    assert.equal((await call("DELETE", `/sandbox/${path}`)).status, 404);
  }
});

test("a control that makes no sense is refused, with what is wrong with it", async () => {
  const table = [
    ["PATCH", "switches", { latency: 5 }, "unknown, or of the wrong kind: latency"],
    ["PATCH", "switches", { largestPage: 0 }, "unknown, or of the wrong kind: largestPage"],
    ["PUT", "instances/a%20b", {}, "an id consists of letters, digits and ._~-"],
    ["PUT", "spaces/s", { keyQuota: -1 }, "unknown, or of the wrong kind: keyQuota"],
    ["POST", "logins", { role: "admin" }, "unknown, or of the wrong kind: role"],
    ["PATCH", "logins/x", {}, "role is missing"],
    ["PATCH", "logins/x", { role: "none" }, "the sandbox knows nothing under this id"],
    ["POST", "tokens/x", {}, "the sandbox knows nothing under this id"],
    ["GET", "nothing", undefined, "the sandbox has no such control"],
    ["GET", "constructor", undefined, "the sandbox has no such control"],
  ] as const;
  for (const [method, path, json, description] of table) {
    const { status, body } = await call(method, `/sandbox/${path}`, json === undefined ? {} : { json });
    assert.ok(status === 400 || status === 404, path);
    assert.equal(body.description, description, path);
  }
});

test("every control that the list names is there", async () => {
  assert.deepEqual((await call("GET", "/sandbox/")).body.controls, controlPages);
  for (const { request } of controlPages) {
    const [methods = "", path = ""] = request.split(" ");
    for (const method of methods.split("|")) {
      const body = method === "GET" || method === "DELETE" ? {} : { json: {} };
      const { body: answer } = await call(method, path, body);
      assert.notEqual(answer.description, "the sandbox has no such control", request);
    }
  }
});

test("another sandbox goes on from a snapshot, with the same login", async () => {
  const next = await startCloudFoundry({ clock, random: seededRandom(2), snapshot: sandbox.snapshot() });
  try {
    assert.deepEqual({ ...next.login, apiEndpoint: "" }, { ...login, apiEndpoint: "" });
    assert.equal(next.login.apiEndpoint, next.url);
  } finally {
    await next.stop();
  }
});

test("an answer that may tell of a change waits until it is kept", async () => {
  let isKept = false;
  const keep = async (): Promise<void> => {
    isKept = true;
  };
  const kept = await startCloudFoundry({ clock, random: seededRandom(3), keep });
  try {
    await fetch(kept.url);
    assert.equal(isKept, false, "a look at a world at rest tells of nothing new");
    await fetch(`${kept.url}/uaa/oauth/token`, { method: "POST" });
    assert.equal(isKept, true);
  } finally {
    await kept.stop();
  }
});
