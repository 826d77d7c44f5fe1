import assert from "node:assert/strict";
import { type ReferenceCase, runCases, userOf } from "./foundation.fixture.ts";

/** What the reference says of discovery, tokens and roles, sentence by sentence. */
const discovery: readonly ReferenceCase[] = [
  {
    reason: "GET / without authentication: links to login, uaa and cloud_controller_v3, which are absolute",
    async check({ call }) {
      const { status, body } = await call("GET", "/", { headers: {} });
      assert.equal(status, 200);
      for (const name of ["login", "uaa", "cloud_controller_v3"]) {
        assert.match(body.links[name]?.href ?? "", /^http:\/\/[^/]+\/\w+$/, name);
      }
    },
  },
  {
    reason: "a foundation of Korifi has no UAA: no link to one, no token endpoint; tokens come from elsewhere",
    switches: { uaa: "absent" },
    async check({ call, logIn, user, sandbox, list }) {
      const { body } = await call("GET", "/", { headers: {} });
      assert.deepEqual([body.links.uaa, body.links.login, body.cf_on_k8s], [null, null, true]);
      assert.equal((await logIn({ grant_type: "password", ...user })).status, 401);
      const token = sandbox.controls.issueToken(user.username);
      assert.ok(token);
      assert.equal((await call("GET", "/v3/service_credential_bindings", { token })).status, 200);
      assert.equal((await list()).status, 200);
    },
  },
];

const tokens: readonly ReferenceCase[] = [
  {
    reason: "password grant: Basic cf: with an empty secret; the login address serves it like the UAA's",
    async check({ logIn, user, call }) {
      const { status, body } = await logIn({ grant_type: "password", ...user });
      assert.deepEqual([status, body.expires_in], [200, 600]);
      assert.equal((await call("GET", "/v3/spaces", { token: body.access_token })).status, 200);
      const headers = { authorization: "Basic Y2Y6", "content-type": "application/x-www-form-urlencoded" };
      const form = new URLSearchParams({ grant_type: "password", ...user }).toString();
      assert.equal((await call("POST", "/login/oauth/token", { headers, body: form })).status, 200);
    },
  },
  {
    reason: "a wrong password, an unknown user, another client than cf, or none: 401",
    async check({ logIn, user, call }) {
      const form = { grant_type: "password", ...user };
      const answers = [
        await logIn({ ...form, password: "wrong" }),
        await logIn({ ...form, username: "nobody" }),
        await logIn(form, { basic: "cf:secret" }),
        await logIn(form, { basic: "other:" }),
        await logIn(form, { basic: "cf" }),
        await call("POST", "/uaa/oauth/token", { headers: {}, body: new URLSearchParams(form).toString() }),
      ];
      for (const { status, body } of answers) assert.deepEqual([status, body.error], [401, "unauthorized"]);
      assert.equal((await logIn({ ...form, grant_type: "other" })).body.error, "unsupported_grant_type");
    },
  },
  {
    reason: 'login_hint={"origin":"…"}: the user of that identity provider; without one, the UAA\'s own users',
    async check({ logIn, sandbox }) {
      const theirs = userOf(sandbox.controls.issueLogin("http://x", { origin: "sap.ids" }));
      const form = { grant_type: "password", ...theirs };
      const hinted = (hint: string) => logIn(form, { query: `?${new URLSearchParams({ login_hint: hint })}` });
      assert.equal((await logIn(form)).status, 401);
      assert.equal((await hinted('{"origin":"sap.ids"}')).status, 200);
      assert.equal((await logIn({ ...form, login_hint: '{"origin":"sap.ids"}' })).status, 200);
      const unknown = await hinted('{"origin":"elsewhere"}');
      assert.deepEqual(
        [unknown.status, unknown.body.error_description],
        [401, "The origin provided in the login_hint is invalid."],
      );
      assert.equal((await hinted("sap.ids")).status, 401, "what is no hint is passed over");
    },
  },
  {
    reason: "client_credentials: Basic id:secret, or both in the form; no refresh token",
    async check({ logIn, call, sandbox }) {
      const issued = sandbox.controls.issueLogin("http://x", { kind: "client" });
      assert.ok("clientId" in issued);
      const { clientId, clientSecret } = issued;
      const form = { grant_type: "client_credentials" };
      const { status, body } = await logIn(form, { basic: `${clientId}:${clientSecret}` });
      assert.deepEqual([status, body.refresh_token], [200, undefined]);
      assert.equal((await call("GET", "/v3/spaces", { token: body.access_token })).status, 200);
      assert.equal((await logIn(form, { basic: `${clientId}:wrong` })).status, 401);
      const inForm = new URLSearchParams({ ...form, client_id: clientId, client_secret: clientSecret }).toString();
      assert.equal((await call("POST", "/uaa/oauth/token", { headers: {}, body: inForm })).status, 200);
    },
  },
  {
    reason: "refresh_token: a new token without a password, until the refresh token ends",
    switches: { tokenLifetimeMs: 60_000, refreshTokenLifetimeMs: 120_000 },
    async check({ logIn, user, call, clock }) {
      const { body } = await logIn({ grant_type: "password", ...user });
      await clock.advance(60_000);
      const status = async (token: string) => (await call("GET", "/v3/spaces", { token })).status;
      assert.equal(await status(body.access_token), 401);
      const form = { grant_type: "refresh_token", refresh_token: body.refresh_token };
      const refreshed = await logIn(form);
      assert.equal(await status(refreshed.body.access_token), 200);
      assert.equal((await logIn({ ...form, refresh_token: body.access_token })).status, 401);
      assert.equal(await status(body.refresh_token), 401, "it opens nothing itself");
      await clock.advance(60_000);
      const { status: late, body: refusal } = await logIn(form);
      assert.deepEqual([late, refusal.error], [401, "invalid_token"]);
    },
  },
  {
    reason: "a token that has ended or was revoked: 401 code 1000; none at all: 401 code 10002",
    async check({ list, call, sandbox, logIn, user }) {
      const none = await call("GET", "/v3/service_credential_bindings", { headers: {} });
      assert.deepEqual([none.status, none.body.errors[0]?.code], [401, 10002]);
      sandbox.controls.revokeTokens();
      const { status, body } = await list();
      const error = { code: 1000, title: "CF-InvalidAuthToken", detail: "Invalid Auth Token" };
      assert.deepEqual([status, body.errors], [401, [error]]);
      assert.equal((await logIn({ grant_type: "password", ...user })).status, 200);
    },
  },
];

const BINDINGS = "/v3/service_credential_bindings";

const roles: readonly ReferenceCase[] = [
  {
    reason: "404 code 10010 also means may not read it: who loses the last role sees nothing at all, and no 403",
    async check({ make, create, call, list, sandbox, user, instanceId, live }) {
      const id = await make("a");
      const app = sandbox.controls.putApp().id;
      const { headers } = await create("b");
      assert.ok(sandbox.controls.setRole(user.username, "none"));
      const [space, organization] = [sandbox.controls.spaces()[0]?.id, sandbox.controls.organizations()[0]?.id];
      const paths = [
        `${BINDINGS}/${id}`,
        `${BINDINGS}/${id}/details`,
        `${BINDINGS}/${id}/parameters`,
        headers.location ?? "",
        `/v3/service_instances/${instanceId}`,
        `/v3/spaces/${space}`,
        `/v3/organizations/${organization}`,
        `/v3/apps/${app}`,
      ];
      for (const path of paths) {
        const { status, body } = await call("GET", path);
        assert.deepEqual([status, body.errors[0]?.code], [404, 10010], path);
      }
      for (const method of ["PATCH", "DELETE"]) {
        assert.equal((await call(method, `${BINDINGS}/${id}`, { json: {} })).status, 404, method);
      }
      for (const kind of ["service_instances", "spaces", "organizations", "apps"]) {
        assert.equal((await call("GET", `/v3/${kind}`)).body.pagination.total_results, 0, kind);
      }
      assert.deepEqual([(await list()).body.resources, (await create("c")).status], [[], 422]);
      assert.ok(live(id)?.credentialsWork, "nothing has happened to the key");
      sandbox.controls.setRole(user.username, "space-developer");
      assert.equal((await call("GET", `${BINDINGS}/${id}`)).status, 200);
    },
  },
  {
    reason: "403 code 10003: who may only look cannot write, and is not shown credentials",
    async check({ make, create, call, get, sandbox, user }) {
      const id = await make("a");
      sandbox.controls.setRole(user.username, "space-auditor");
      assert.equal((await get(id)).status, 200);
      const details = await get(id, "/details");
      assert.deepEqual([details.status, details.body.errors[0]?.code], [404, 10010]);
      const answers = [
        await create("b"),
        await call("PATCH", `${BINDINGS}/${id}`, { json: { metadata: {} } }),
        await call("DELETE", `${BINDINGS}/${id}`),
      ];
      for (const { status, body } of answers) assert.deepEqual([status, body.errors[0]?.code], [403, 10003]);
    },
  },
];

runCases([...discovery, ...tokens, ...roles]);
