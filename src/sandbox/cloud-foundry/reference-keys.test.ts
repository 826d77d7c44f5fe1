import assert from "node:assert/strict";
import { idIn, type ReferenceCase, runCases } from "./foundation.fixture.ts";

/** What the reference says of making and reading keys, sentence by sentence. */
const asynchronous = { broker: "asynchronous", brokerLatencyMs: 100, brokerWorkMs: 1000 } as const;

const creating: readonly ReferenceCase[] = [
  {
    reason: "create: always 202, an empty body, an absolute Location of a job",
    async check({ call, instanceId }) {
      const relationships = { service_instance: { data: { guid: instanceId } } };
      const json = { type: "key", name: "a", relationships, parameters: {}, metadata: { labels: {}, annotations: {} } };
      const { status, headers, body } = await call("POST", "/v3/service_credential_bindings", { json });
      assert.deepEqual([status, body.error], [202, ""]);
      assert.match(headers.location ?? "", /^http:\/\/[^/]+\/v3\/jobs\/[0-9a-f-]{36}$/);
    },
  },
  {
    reason: "job: PROCESSING, POLLING while an asynchronous broker is at work, COMPLETE; the key's link at once",
    instance: asynchronous,
    async check({ create, call, get, clock }) {
      const { headers } = await create("a");
      const look = async () => (await call("GET", headers.location ?? "")).body;
      const first = await look();
      assert.deepEqual(
        [first.guid, first.operation, first.state, first.errors, first.warnings],
        [headers.location?.split("/").at(-1), "service_keys.create", "PROCESSING", [], []],
      );
      const id = idIn(first.links.service_credential_binding);
      assert.equal((await get(id)).body.name, "a", "before the job is done");
      await clock.advance(100);
      assert.equal((await look()).state, "POLLING");
      await clock.advance(1000);
      const last = await look();
      assert.deepEqual([last.state, idIn(last.links.service_credential_binding)], ["COMPLETE", id]);
    },
  },
  {
    reason: "job: FAILED with the broker's error, which is different every time; the key stays, create failed",
    instance: { brokerFailures: "always" },
    async check({ create, call, get, live }) {
      const details: (string | undefined)[] = [];
      for (const name of ["a", "b"]) {
        const { body } = await call("GET", (await create(name)).headers.location ?? "");
        assert.deepEqual(
          [body.state, body.errors[0]?.code, body.errors[0]?.title],
          ["FAILED", 10009, "CF-UnableToPerform"],
        );
        assert.match(body.errors[0]?.detail ?? "", /^bind could not be completed: Service broker error: /);
        details.push(body.errors[0]?.detail);
        const id = idIn(body.links.service_credential_binding);
        const { last_operation: operation } = (await get(id)).body;
        assert.deepEqual([operation.type, operation.state], ["create", "failed"]);
        assert.ok(body.errors[0]?.detail.endsWith(operation.description ?? "none"));
        assert.equal(live(id)?.credentialsWork, false);
      }
      assert.notEqual(details[0], details[1]);
    },
  },
  {
    reason: "jobs are cleaned up in time: 404, and the key's last operation tells the rest",
    instance: asynchronous,
    switches: { jobMemoryMs: 60_000 },
    async check({ create, call, get, clock, sandbox }) {
      const { headers } = await create("a");
      await clock.advance(1100 + 59_999);
      assert.equal((await call("GET", headers.location ?? "")).status, 200);
      await clock.advance(1);
      const { status, body } = await call("GET", headers.location ?? "");
      assert.deepEqual([status, body.errors[0]?.code], [404, 10010]);
      const id = sandbox.liveKeys()[0]?.id ?? "";
      assert.equal((await get(id)).body.last_operation.state, "succeeded");
    },
  },
  {
    reason: "a job may not be readable for a moment",
    switches: { jobLookFailures: 1 },
    async check({ create, call }) {
      const { headers } = await create("a");
      assert.equal((await call("GET", headers.location ?? "")).status, 500);
      assert.equal((await call("GET", headers.location ?? "")).status, 200);
    },
  },
  {
    reason: "last_operation create: initial until the broker has answered, in progress while it works, succeeded",
    instance: asynchronous,
    switches: { jobQueueMs: 50 },
    async check({ create, get, clock, sandbox }) {
      await create("a");
      const id = sandbox.liveKeys()[0]?.id ?? "";
      const state = async () => (await get(id)).body.last_operation.state;
      assert.equal(await state(), "initial");
      await clock.advance(149);
      assert.equal(await state(), "initial");
      await clock.advance(1);
      assert.equal(await state(), "in progress");
      await clock.advance(1000);
      assert.equal(await state(), "succeeded");
    },
  },
  {
    reason: "a client that goes away after its POST leaves a key that is finished all the same",
    instance: asynchronous,
    switches: { lostAnswers: 1, lostAnswersTo: "POST" },
    async check({ create, sandbox, clock }) {
      await assert.rejects(create("a"));
      await clock.advance(1100);
      assert.deepEqual(
        sandbox.liveKeys().map(({ name, credentialsWork }) => [name, credentialsWork]),
        [["a", true]],
      );
    },
  },
  {
    reason: "posting a name again whose create failed is allowed: a new key, and the failed one is gone",
    instance: { brokerFailures: 1 },
    async check({ create, make, call, get, sandbox }) {
      const { headers } = await create("a");
      const failed = idIn((await call("GET", headers.location ?? "")).body.links.service_credential_binding);
      const id = await make("a");
      assert.notEqual(id, failed);
      assert.deepEqual([(await get(failed)).status, sandbox.liveKeys().map((key) => key.id)], [404, [id]]);
      assert.equal((await call("GET", headers.location ?? "")).body.links.service_credential_binding, undefined);
    },
  },
];

const reading: readonly ReferenceCase[] = [
  {
    reason: "get: guid, times to the second, name, type, last operation, metadata, relationships, links",
    async check({ clock, make, get, instanceId }) {
      await clock.advance(1234);
      const metadata = { labels: { a: "b" }, annotations: { c: "d e" } };
      const id = await make("a", { metadata });
      const { status, body } = await get(id);
      assert.equal(status, 200);
      assert.deepEqual(
        [body.guid, body.created_at, body.updated_at, body.name, body.type, body.metadata],
        [id, "2026-01-01T00:00:01Z", "2026-01-01T00:00:01Z", "a", "key", metadata],
      );
      assert.deepEqual([body.last_operation.type, body.last_operation.state], ["create", "succeeded"]);
      assert.deepEqual(body.relationships, { service_instance: { data: { guid: instanceId } } });
      assert.match(body.links.details?.href ?? "", new RegExp(`^http://.*/${id}/details$`));
      assert.equal(idIn(body.links.service_instance), instanceId);
    },
  },
  {
    reason: "details: the credentials, which work; every call writes an audit event there",
    async check({ make, get, sandbox, live }) {
      const id = await make("a");
      const { status, body } = await get(id, "/details");
      assert.equal(status, 200);
      assert.ok(sandbox.authenticate(body.credentials));
      assert.deepEqual((await get(id, "/details")).body, body);
      assert.deepEqual(sandbox.auditEvents(), [{ type: "audit.service_key.show", count: 2 }]);
      assert.equal(live(id)?.detailReads, 2);
    },
  },
  {
    reason: "details: 404 code 10010 Creation of service key in progress, initial or failed is not: the key is gone",
    instance: { ...asynchronous, brokerFailures: 1 },
    async check({ create, get, clock, sandbox }) {
      await create("a");
      const id = sandbox.liveKeys()[0]?.id ?? "";
      const details = async () => {
        const { status, body } = await get(id, "/details");
        return [status, body.errors[0]?.code, body.errors[0]?.detail];
      };
      assert.deepEqual(await details(), [404, 10010, "Creation of service key initial"]);
      await clock.advance(100);
      assert.deepEqual(await details(), [404, 10010, "Creation of service key in progress"]);
      await clock.advance(1000);
      assert.deepEqual(await details(), [404, 10010, "Creation of service key failed"]);
      assert.deepEqual([(await get(id)).status, sandbox.auditEvents()], [200, []]);
    },
  },
  {
    reason: "details: 404 code 10010 Deletion of service key in progress, failed",
    instance: { ...asynchronous, brokerFailures: 1, brokerFailsOn: "unbind" },
    async check({ create, get, call, clock, sandbox }) {
      await create("a");
      await clock.advance(1100);
      const id = sandbox.liveKeys()[0]?.id ?? "";
      await call("DELETE", `/v3/service_credential_bindings/${id}`);
      await clock.advance(100);
      assert.equal((await get(id, "/details")).body.errors[0]?.detail, "Deletion of service key in progress");
      await clock.advance(1000);
      assert.equal((await get(id, "/details")).body.errors[0]?.detail, "Deletion of service key failed");
    },
  },
  {
    reason: "credentials may hold objects and lists",
    instance: { credentials: "nested" },
    async check({ make, get, sandbox }) {
      const { body } = await get(await make("a"), "/details");
      assert.equal(typeof body.credentials.endpoints, "object");
      assert.ok(sandbox.authenticate(body.credentials));
    },
  },
  {
    reason: "a new key may have the credentials of the old, which work until the last of them goes",
    instance: { sameCredentials: true },
    async check({ make, get, call, sandbox }) {
      const [a, b] = [await make("a"), await make("b")];
      const { credentials } = (await get(a, "/details")).body;
      assert.deepEqual((await get(b, "/details")).body.credentials, credentials);
      await call("DELETE", `/v3/service_credential_bindings/${a}`);
      assert.ok(sandbox.authenticate(credentials));
      await call("DELETE", `/v3/service_credential_bindings/${b}`);
      assert.equal(sandbox.authenticate(credentials), false);
    },
  },
  {
    reason: "parameters, where the service tells them",
    async check({ make, get, sandbox, instanceId }) {
      const id = await make("a", { parameters: { size: 3 } });
      assert.deepEqual((await get(id, "/parameters")).body, { size: 3 });
      sandbox.controls.putInstance({ parametersRetrievable: false }, instanceId);
      const { status, body } = await get(id, "/parameters");
      assert.deepEqual([status, body.errors[0]?.code], [502, 90007]);
    },
  },
  {
    reason: "instances, their plans and offerings, spaces, organizations and apps can be read and listed",
    instance: { name: "orders-db", offering: "postgresql", plan: "small" },
    async check({ call, instanceId, sandbox }) {
      const read = async (path: string) => (await call("GET", path)).body;
      const instance = await read(`/v3/service_instances/${instanceId}`);
      assert.deepEqual(
        [instance.name, instance.type, instance.last_operation.state],
        ["orders-db", "managed", "succeeded"],
      );
      const plan = await read(`/v3/service_plans/${instance.relationships.service_plan?.data.guid}`);
      const offering = await read(`/v3/service_offerings/${plan.relationships.service_offering?.data.guid}`);
      assert.deepEqual([plan.name, offering.name, offering.tags], ["small", "postgresql", ["postgresql", "sandbox"]]);
      const space = await read(`/v3/spaces/${instance.relationships.space?.data.guid}`);
      const organization = await read(`/v3/organizations/${space.relationships.organization?.data.guid}`);
      assert.deepEqual([space.name, organization.name], ["development", "sandbox"]);
      const app = sandbox.controls.putApp({ name: "shop" });
      assert.equal((await read(`/v3/apps/${app.id}`)).name, "shop");
      const counts = [
        ["/v3/service_instances?names=orders-db&type=managed", 1],
        [`/v3/service_instances?space_guids=${space.guid}`, 1],
        ["/v3/spaces?names=production", 0],
        [`/v3/spaces?organization_guids=${organization.guid}`, 1],
        ["/v3/organizations?names=sandbox,other", 1],
        ["/v3/apps?names=shop", 1],
      ] as const;
      for (const [path, count] of counts) {
        assert.equal((await read(path)).pagination.total_results, count, path);
      }
      for (const kind of [
        "service_instances",
        "service_plans",
        "service_offerings",
        "spaces",
        "organizations",
        "apps",
      ]) {
        const { status, body } = await call("GET", `/v3/${kind}/none`);
        assert.deepEqual([status, body.errors[0]?.code], [404, 10010], kind);
      }
    },
  },
];

runCases([...creating, ...reading]);
