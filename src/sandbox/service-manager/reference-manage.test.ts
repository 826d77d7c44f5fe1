import assert from "node:assert/strict";
import { after, type ReferenceCase, runCases } from "./sandbox.fixture.ts";

/** What the reference says of reading, changing and deleting bindings, sentence by sentence. */
const asynchronous = { broker: "asynchronous", brokerLatencyMs: 100, brokerWorkMs: 1000 } as const;
const slow = { brokerLatencyMs: 100 } as const;

const reading: readonly ReferenceCase[] = [
  {
    reason: "GET returns the credentials again, at any time",
    async check({ clock, create, call }) {
      const made = await create("a");
      await clock.advance(3_600_000);
      const { body } = await call("GET", `/v1/service_bindings/${made.body.id}`);
      assert.deepEqual(body.credentials, made.body.credentials);
    },
  },
  {
    reason: "GET …/{id}/parameters, 400 if not retrievable",
    async check({ create, call, sandbox, instanceId }) {
      const { body } = await create("a", { parameters: { size: 3 } });
      const path = `/v1/service_bindings/${body.id}/parameters`;
      assert.deepEqual((await call("GET", path)).body, { size: 3 });
      sandbox.controls.putInstance({ parametersRetrievable: false }, instanceId);
      assert.equal((await call("GET", path)).status, 400);
    },
  },
  {
    reason: "an instance names its plan, the plan its offering, and both say what the broker calls them",
    instance: { name: "orders-db", offering: "postgresql", plan: "small" },
    async check({ call, instanceId }) {
      const read = async (path: string) => (await call("GET", path)).body;
      const instance = await read(`/v1/service_instances/${instanceId}`);
      const plan = await read(`/v1/service_plans/${instance.service_plan_id}`);
      const offering = await read(`/v1/service_offerings/${plan.service_offering_id}`);
      assert.deepEqual([instance.name, plan.catalog_name, offering.catalog_name], ["orders-db", "small", "postgresql"]);
      assert.deepEqual(offering.tags, ["postgresql", "sandbox"]);
      for (const path of ["/v1/service_plans/none", "/v1/service_offerings/none"]) {
        const { status, body } = await call("GET", path);
        assert.deepEqual([status, body.error], [404, "NotFound"], path);
      }
    },
  },
  {
    reason: "list by name and instance, by labels; an unknown key is a 400",
    async check({ create, list, instanceId, sandbox }) {
      const other = sandbox.controls.putInstance({ name: "other" }).id;
      await create("a", { labels: { owner: ["x", "y"], n: ["1"] } });
      await create("a", { instanceId: other, labels: { owner: ["x"] } });
      await create("it's");
      const counts: readonly (readonly [Record<string, string>, number])[] = [
        [{ fieldQuery: "name eq 'a'" }, 2],
        [{ fieldQuery: `name eq 'a' and service_instance_id eq '${instanceId}'` }, 1],
        [{ fieldQuery: "name eq 'it''s'" }, 1],
        [{ fieldQuery: `service_instance_id in ('${instanceId}', '${other}')` }, 3],
        [{ fieldQuery: "ready eq true and created_at gt 2025-01-01T00:00:00Z" }, 3],
        [{ labelQuery: "owner eq 'x'" }, 2],
        [{ labelQuery: "owner eq 'x' and n eq '1'" }, 1],
        [{ labelQuery: "owner in ('y','z')" }, 1],
        [{ labelQuery: "constructor eq 'x'" }, 0],
        [{ fieldQuery: `service_instance_id eq '${other}'`, labelQuery: "owner eq 'x'" }, 1],
      ];
      for (const [query, count] of counts) {
        const { status, body } = await list(query);
        assert.deepEqual([status, body.num_items], [200, count], JSON.stringify(query));
        assert.equal(body.items.length, count);
      }
      assert.equal((await list({ fieldQuery: "nom eq 'a'" })).status, 400);
    },
  },
  {
    reason:
      "{num_items, items, token?}: num_items is the total; page size 50 by default, 200 at most; go on while token",
    async check({ create, list }) {
      for (let i = 0; i < 230; i++) await create(`b${i}`);
      const first = await list();
      assert.deepEqual([first.body.num_items, first.body.items.length], [230, 50]);
      assert.equal((await list({ max_items: "500" })).body.items.length, 200);
      assert.deepEqual((await list({ max_items: "0" })).body, { num_items: 230 });
      const names: string[] = [];
      for (let token: string | undefined = ""; token !== undefined; ) {
        const { body } = await list({ max_items: "100", token });
        for (const { name } of body.items) names.push(name);
        token = body.token;
      }
      assert.deepEqual(
        names,
        Array.from({ length: 230 }, (_, i) => `b${i}`),
      );
      for (const bad of ["-1", "x", "1.5"]) assert.equal((await list({ max_items: bad })).status, 400);
    },
  },
  {
    reason: "the token must be URL-encoded",
    async check({ create, call, list }) {
      await create("a");
      await create("b");
      const { token } = (await list({ max_items: "1" })).body;
      assert.equal((await call("GET", `/v1/service_bindings?token=${token}`)).status, 400);
      assert.equal((await call("GET", `/v1/service_bindings?token=${encodeURIComponent(token)}`)).status, 200);
    },
  },
  {
    reason:
      "items include credentials; labels is absent when empty; last_operation only with attach_last_operations=true",
    async check({ create, list, sandbox }) {
      await create("a");
      const [item] = (await list()).body.items;
      assert.ok(item);
      assert.ok(sandbox.authenticate(item.credentials));
      assert.deepEqual([item.labels, item.last_operation], [undefined, undefined]);
      const [attached] = (await list({ attach_last_operations: "true" })).body.items;
      assert.ok(attached);
      assert.equal(attached.last_operation.state, "succeeded");
    },
  },
  {
    reason: "bindings in progress have no credentials",
    instance: asynchronous,
    async check({ clock, create, list }) {
      await after(clock, 100, create("a"));
      const [item] = (await list()).body.items;
      assert.ok(item);
      assert.deepEqual([item.ready, item.credentials], [false, undefined]);
    },
  },
  {
    reason: "an instance that is there can be read and listed, one that is not is a 404 NotFound",
    async check({ call, instanceId }) {
      assert.equal((await call("GET", `/v1/service_instances/${instanceId}`)).body.id, instanceId);
      const { status, body } = await call("GET", "/v1/service_instances/none");
      assert.deepEqual([status, body.error], [404, "NotFound"]);
      const query = (text: string) => `/v1/service_instances?fieldQuery=${encodeURIComponent(text)}`;
      assert.equal((await call("GET", query("name eq 'instance'"))).body.num_items, 1);
      assert.equal((await call("GET", query("name eq 'x'"))).body.num_items, 0);
      assert.equal((await call("GET", query("x eq 'x'"))).status, 400);
    },
  },
  {
    reason: "created but not yet visible in lists, deleted but still listed",
    switches: { createdHiddenMs: 1000, deletedListedMs: 2000 },
    async check({ clock, create, call, list, sandbox }) {
      const { body } = await create("a", { labels: { owner: ["x"] } });
      const count = async () => (await list({ labelQuery: "owner eq 'x'" })).body.num_items;
      assert.equal(await count(), 0);
      assert.equal((await call("GET", `/v1/service_bindings/${body.id}`)).status, 200);
      await clock.advance(1000);
      assert.equal(await count(), 1);
      await call("DELETE", `/v1/service_bindings/${body.id}`);
      assert.deepEqual([await count(), sandbox.liveBindings(), sandbox.authenticate(body.credentials)], [1, [], false]);
      assert.equal((await call("GET", `/v1/service_bindings/${body.id}`)).status, 404);
      await clock.advance(2000);
      assert.equal(await count(), 0);
    },
  },
  {
    reason: "a binding is missing from lists from its creation, not from the first look",
    instance: slow,
    switches: { createdHiddenMs: 1000, deletedListedMs: 1000 },
    async check({ clock, create, list, call }) {
      await create("a", { query: "?async=true" });
      await clock.advance(1099);
      assert.equal((await list()).body.num_items, 0);
      await clock.advance(1);
      const [item] = (await list()).body.items;
      await call("DELETE", `/v1/service_bindings/${item?.id}?async=true`);
      await clock.advance(1099);
      assert.equal((await list()).body.num_items, 1);
      await clock.advance(1);
      assert.equal((await list()).body.num_items, 0);
    },
  },
];

const changing: readonly ReferenceCase[] = [
  {
    reason: 'rename or relabel: PATCH with {"name", "labels":[{"op":"add|remove","key","values":[]}]}',
    async check({ create, call, list }) {
      const { body } = await create("a", { labels: { keep: ["1"], drop: ["1"], part: ["1", "2"] } });
      const labels = [
        { op: "add", key: "owner", values: ["x"] },
        { op: "add", key: "keep", values: ["2"] },
        { op: "remove", key: "drop" },
        { op: "remove", key: "part", values: ["1"] },
      ];
      const changed = await call("PATCH", `/v1/service_bindings/${body.id}`, { json: { name: "b", labels } });
      assert.equal(changed.status, 200);
      const expected = { keep: ["1", "2"], part: ["2"], owner: ["x"] };
      assert.deepEqual([changed.body.name, changed.body.labels], ["b", expected]);
      assert.equal((await list({ labelQuery: "owner eq 'x'" })).body.num_items, 1);
      assert.equal((await list({ labelQuery: "drop eq '1'" })).body.num_items, 0);
      const bad = await call("PATCH", `/v1/service_bindings/${body.id}`, {
        json: { labels: [{ op: "set", key: "a" }] },
      });
      assert.equal(bad.status, 400);
    },
  },
  {
    reason: "remove and add of one label key in a single PATCH loses the label: two calls",
    async check({ create, call }) {
      const { body } = await create("a", { labels: { owner: ["x"] } });
      const path = `/v1/service_bindings/${body.id}`;
      const remove = { op: "remove", key: "owner", values: ["x"] };
      const add = { op: "add", key: "owner", values: ["y"] };
      const both = await call("PATCH", path, { json: { labels: [remove, add] } });
      assert.deepEqual([both.status, both.body.labels], [200, undefined]);
      assert.deepEqual((await call("PATCH", path, { json: { labels: [add] } })).body.labels, { owner: ["y"] });
    },
  },
  {
    reason: "412 concurrent update",
    switches: { patchConflicts: 1 },
    async check({ create, call }) {
      const { body } = await create("a");
      const patch = () => call("PATCH", `/v1/service_bindings/${body.id}`, { json: { name: "b" } });
      assert.deepEqual([(await patch()).status, (await patch()).status], [412, 200]);
    },
  },
  {
    reason: "422 operation in progress: a change while the binding is being made, and a second delete",
    instance: asynchronous,
    async check({ clock, create, call, sandbox }) {
      await after(clock, 100, create("a"));
      const path = `/v1/service_bindings/${sandbox.liveBindings()[0]?.id}`;
      assert.equal((await call("PATCH", path, { json: { name: "b" } })).status, 422);
      await clock.advance(1000);
      assert.equal((await call("DELETE", `${path}?async=true`)).status, 202);
      assert.equal((await call("DELETE", path)).status, 422);
      assert.equal((await call("PATCH", path, { json: { name: "b" } })).status, 422);
    },
  },
];

const deletion: readonly ReferenceCase[] = [
  {
    reason: "delete: 200 {}",
    async check({ create, call, sandbox }) {
      const { body } = await create("a");
      const { status, body: answer } = await call("DELETE", `/v1/service_bindings/${body.id}`);
      assert.deepEqual([status, answer, sandbox.authenticate(body.credentials)], [200, {}, false]);
    },
  },
  {
    reason: "or 202 + Location, and the credentials work until the broker is done",
    instance: asynchronous,
    async check({ clock, create, call, sandbox }) {
      const { body } = await after(clock, 1100, create("a", { query: "?async=false" }));
      const { status, headers } = await after(clock, 100, call("DELETE", `/v1/service_bindings/${body.id}`));
      assert.deepEqual([status, sandbox.authenticate(body.credentials)], [202, true]);
      await clock.advance(1000);
      const operation = await call("GET", headers.location ?? "");
      assert.deepEqual([operation.body.type, operation.body.state], ["delete", "succeeded"]);
      assert.equal(sandbox.authenticate(body.credentials), false);
    },
  },
  ...([404, 410] as const).map(
    (deletedStatus): ReferenceCase => ({
      reason: `404 and 410 mean done (${deletedStatus})`,
      switches: { deletedStatus },
      async check({ create, call }) {
        const { body } = await create("a");
        const remove = () => call("DELETE", `/v1/service_bindings/${body.id}`);
        assert.deepEqual([(await remove()).status, (await remove()).status], [200, deletedStatus]);
        assert.equal((await call("GET", `/v1/service_bindings/${body.id}`)).status, deletedStatus);
        assert.equal((await call("DELETE", "/v1/service_bindings/never-was")).status, 404);
      },
    }),
  ),
  {
    reason: "unless a create is still pending: GET and DELETE are 404, and the binding appears later, alive",
    instance: slow,
    async check({ clock, create, call, sandbox }) {
      const { headers } = await create("a", { query: "?async=true" });
      const path = (headers.location ?? "").split("/operations/")[0] ?? "";
      assert.equal((await call("GET", path)).status, 404);
      assert.equal((await call("DELETE", path)).status, 404);
      assert.deepEqual([sandbox.liveBindings().length, sandbox.pendingCreates().length], [0, 1]);
      await clock.advance(100);
      assert.equal((await call("GET", path)).status, 200);
      assert.equal(sandbox.liveBindings()[0]?.credentialsWork, true);
    },
  },
  {
    reason: "a failed delete operation with NotFound is success",
    async check({ call }) {
      const { status, headers } = await call("DELETE", "/v1/service_bindings/none?async=true");
      assert.equal(status, 202);
      const { body } = await call("GET", headers.location ?? "");
      assert.deepEqual([body.type, body.state, body.errors.error], ["delete", "failed", "NotFound"]);
    },
  },
  {
    reason: "while polling a delete operation, 404 means success",
    switches: { deleteOperations: "forgotten" },
    async check({ create, call, sandbox }) {
      const { body } = await create("a");
      const { headers } = await call("DELETE", `/v1/service_bindings/${body.id}?async=true`);
      assert.equal((await call("GET", headers.location ?? "")).status, 404);
      assert.deepEqual(sandbox.liveBindings(), []);
    },
  },
  {
    reason: "on 500 look at the binding: 404 means success",
    switches: { operationPollFailures: 1 },
    async check({ create, call }) {
      const { body } = await create("a");
      const { headers } = await call("DELETE", `/v1/service_bindings/${body.id}?async=true`);
      assert.equal((await call("GET", headers.location ?? "")).status, 500);
      assert.equal((await call("GET", `/v1/service_bindings/${body.id}`)).status, 404);
    },
  },
  {
    reason: "a delete that the broker refuses leaves the binding as it was",
    instance: { brokerFailures: 1, brokerFailsOn: "unbind" },
    async check({ create, call, sandbox }) {
      const { body } = await create("a");
      const refused = await call("DELETE", `/v1/service_bindings/${body.id}`);
      assert.deepEqual([refused.status, refused.body.error], [502, "BrokerError"]);
      assert.ok(sandbox.authenticate(body.credentials));
      assert.equal((await call("DELETE", `/v1/service_bindings/${body.id}`)).status, 200);
    },
  },
];

runCases([...reading, ...changing, ...deletion]);
