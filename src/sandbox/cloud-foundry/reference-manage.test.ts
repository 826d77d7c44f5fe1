import assert from "node:assert/strict";
import { type Foundation, idIn, type ReferenceCase, runCases } from "./foundation.fixture.ts";

/** What the reference says of listing, changing and deleting bindings, sentence by sentence. */
const BINDINGS = "/v3/service_credential_bindings";
const asynchronous = { broker: "asynchronous", brokerLatencyMs: 100, brokerWorkMs: 1000 } as const;

const namesIn = async (world: Foundation, query: Readonly<Record<string, string>>) =>
  (await world.list(query)).body.resources.map(({ name }) => name);

const listing: readonly ReferenceCase[] = [
  {
    reason:
      "list by names, service_instance_guids, type, guids and label_selector; several values are joined by commas",
    async check(world) {
      const { make, create, sandbox, instanceId } = world;
      const other = sandbox.controls.putInstance({ name: "other" }).id;
      const app = sandbox.controls.putApp().id;
      const labels = { "keyturn.dev/owner": "x", n: "1" };
      const id = await make("a", { metadata: { labels } });
      await make("b", { metadata: { labels: { "keyturn.dev/owner": "y" } } });
      await make("a", { instanceId: other });
      await create("c", { type: "app", appId: app });
      const table: readonly (readonly [query: Readonly<Record<string, string>>, names: readonly string[]])[] = [
        [{}, ["a", "b", "a", "c"]],
        [{ names: "a" }, ["a", "a"]],
        [{ names: "a,c" }, ["a", "a", "c"]],
        [{ names: "a", service_instance_guids: instanceId }, ["a"]],
        [{ service_instance_names: "other" }, ["a"]],
        [{ service_instance_guids: `${other},none` }, ["a"]],
        [{ type: "key" }, ["a", "b", "a"]],
        [{ type: "app", app_guids: app }, ["c"]],
        [{ guids: `${id},none` }, ["a"]],
        [{ names: "" }, []],
        [{ names: "A" }, []],
        [{ label_selector: "keyturn.dev/owner=x" }, ["a"]],
        [{ label_selector: "keyturn.dev/owner==x,n=1" }, ["a"]],
        [{ label_selector: "keyturn.dev/owner in (x,y)" }, ["a", "b"]],
        [{ label_selector: "keyturn.dev/owner" }, ["a", "b"]],
        [{ label_selector: "!keyturn.dev/owner", type: "key" }, ["a"]],
        [{ label_selector: "keyturn.dev/owner!=x" }, ["b", "a", "c"]],
        [{ label_selector: "keyturn.dev/owner notin (x, y)" }, ["a", "c"]],
        [{ label_selector: "constructor" }, []],
      ];
      for (const [query, names] of table) assert.deepEqual(await namesIn(world, query), names, JSON.stringify(query));
    },
  },
  {
    reason: "a comma within a value is escaped twice, and so a per cent sign means more than itself",
    async check(world) {
      await world.make("one,two");
      await world.make("100%");
      assert.deepEqual(await namesIn(world, { names: "one,two" }), []);
      assert.deepEqual(await namesIn(world, { names: encodeURIComponent("one,two") }), ["one,two"]);
      assert.deepEqual(await namesIn(world, { names: "100%" }), ["100%"], "what is no escape stands for itself");
      assert.deepEqual(await namesIn(world, { names: "100%25" }), ["100%"]);
    },
  },
  {
    reason:
      "a list comes in pages: 50 by default, 5000 at most; total_results, total_pages, first, last, next, previous",
    async check({ make, list, call }) {
      for (let i = 0; i < 51; i++) await make(`k${i}`);
      const { pagination, resources } = (await list({ type: "key" })).body;
      assert.deepEqual([pagination.total_results, pagination.total_pages, resources.length], [51, 2, 50]);
      assert.equal(pagination.previous, null);
      const second = (await call("GET", pagination.next?.href ?? "")).body;
      assert.deepEqual(
        second.resources.map(({ name }) => name),
        ["k50"],
      );
      assert.equal(second.pagination.next, null);
      assert.equal((await call("GET", second.pagination.previous?.href ?? "")).body.resources.length, 50);
      assert.equal((await call("GET", pagination.last.href)).body.resources.length, 1);
      assert.equal((await call("GET", pagination.first.href)).body.resources.length, 50);
      assert.equal((await list({ page: "9" })).body.resources.length, 0);
      assert.equal((await list({ per_page: "5000" })).body.resources.length, 51);
      assert.match(pagination.next?.href ?? "", /type=key.*page=2/);
    },
  },
  {
    reason: "a foundation may give fewer on a page than were asked for",
    switches: { largestPage: 2 },
    async check({ make, list }) {
      for (const name of ["a", "b", "c"]) await make(name);
      const { pagination, resources } = (await list({ per_page: "100" })).body;
      assert.deepEqual([resources.length, pagination.total_results, pagination.total_pages], [2, 3, 2]);
    },
  },
  {
    reason: "order_by created_at, updated_at or name, - for the other way round",
    async check(world) {
      const { make, clock, call } = world;
      const id = await make("b");
      await clock.advance(1000);
      await make("a");
      await clock.advance(1000);
      await call("PATCH", `${BINDINGS}/${id}`, { json: { metadata: {} } });
      assert.deepEqual(await namesIn(world, { order_by: "created_at" }), ["b", "a"]);
      assert.deepEqual(await namesIn(world, { order_by: "-created_at" }), ["a", "b"]);
      assert.deepEqual(await namesIn(world, { order_by: "updated_at" }), ["a", "b"]);
      assert.deepEqual(await namesIn(world, { order_by: "+name" }), ["a", "b"]);
      assert.deepEqual(await namesIn(world, { order_by: "-name" }), ["b", "a"]);
    },
  },
  {
    reason: "400 code 10005: an unknown parameter, page or order, or a selector that is none, is never an empty list",
    async check({ list }) {
      const queries = [
        { name: "a" },
        { page: "0" },
        { page: "x" },
        { per_page: "0" },
        { per_page: "5001" },
        { order_by: "guid" },
        { order_by: "constructor" },
        { type: "route" },
        { label_selector: "a=b=c" },
        { label_selector: "a in b" },
        { label_selector: "a in (b" },
        { label_selector: "a," },
      ];
      for (const query of queries) {
        const { status, body } = await list(query as Readonly<Record<string, string>>);
        assert.deepEqual([status, body.errors[0]?.code], [400, 10005], JSON.stringify(query));
      }
    },
  },
  {
    reason: "lists lag: a new key is missing for a while, a deleted one still there; by its GUID all is as it is",
    switches: { createdHiddenMs: 2000, deletedListedMs: 3000 },
    async check(world) {
      const { make, get, clock, call } = world;
      const id = await make("a", { metadata: { labels: { n: "1" } } });
      const query = { names: "a", label_selector: "n=1" };
      assert.deepEqual([await namesIn(world, query), (await get(id)).status], [[], 200]);
      await clock.advance(2000);
      assert.deepEqual(await namesIn(world, query), ["a"]);
      await call("DELETE", `${BINDINGS}/${id}`);
      assert.deepEqual([(await get(id)).status, await namesIn(world, query)], [404, ["a"]]);
      await clock.advance(3000);
      assert.deepEqual(await namesIn(world, query), []);
    },
  },
];

const changing: readonly ReferenceCase[] = [
  {
    reason: "patch: labels and annotations are added, replaced, and taken away by null; 200 with the key; others stay",
    async check({ make, call, get, clock }) {
      const id = await make("a", { metadata: { labels: { keep: "1", gone: "2" }, annotations: { note: "x" } } });
      await clock.advance(5000);
      const json = { metadata: { labels: { k: "v", gone: null, never: null }, annotations: { "a.b/c": "d" } } };
      const { status, body } = await call("PATCH", `${BINDINGS}/${id}`, { json });
      assert.deepEqual([status, body.guid, body.last_operation.type], [200, id, "create"]);
      const metadata = { labels: { keep: "1", k: "v" }, annotations: { note: "x", "a.b/c": "d" } };
      assert.deepEqual((await get(id)).body.metadata, metadata);
      assert.deepEqual([body.created_at, body.updated_at], ["2026-01-01T00:00:00Z", "2026-01-01T00:00:05Z"]);
    },
  },
  {
    reason:
      "label values have at most 63 characters; keys have a form; nothing is changed by a patch that breaks a rule",
    async check({ make, call, get }) {
      const id = await make("a");
      const long = "x".repeat(64);
      const bad: readonly (readonly [metadata: object, text: RegExp])[] = [
        [{ labels: { a: long } }, /^Metadata label value error: 'xxxxxxxx\.\.\.' is greater than 63 characters$/],
        [{ labels: { a: "b c" } }, /contains invalid characters$/],
        [{ labels: { a: "-b" } }, /starts or ends with invalid characters$/],
        [{ labels: { [long]: "b" } }, /^Metadata label key error: .* is greater than 63 characters$/],
        [{ labels: { "": "b" } }, /key cannot be empty string$/],
        [{ labels: { "keyturn.dev/": "b" } }, /key cannot be empty string$/],
        [{ labels: { "a.dev/b/c": "d" } }, /more than one '\/'$/],
        [{ labels: { "a/b": "d" } }, /prefix 'a' must be in valid dns format$/],
        [{ labels: { "cloudfoundry.org/b": "d" } }, /is reserved$/],
        [{ labels: { é: "d" } }, /contains invalid characters$/],
        [{ labels: [] }, /is not an object$/],
        [{ labels: { a: {} } }, /must be a string$/],
        [{ annotations: { "a b": "c" } }, /^Metadata annotation key error/],
        [{ annotations: { a: "x".repeat(5001) } }, /^Metadata annotation value error: is greater than 5000/],
        [{ labels: Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`l${i}`, ""])) }, /maximum of 50$/],
        [{ other: {} }, /unexpected field/],
      ];
      for (const [metadata, text] of bad) {
        const { status, body } = await call("PATCH", `${BINDINGS}/${id}`, { json: { metadata } });
        assert.deepEqual([status, body.errors[0]?.code], [422, 10008], JSON.stringify(metadata));
        assert.match(body.errors[0]?.detail ?? "", text);
      }
      assert.deepEqual((await get(id)).body.metadata, { labels: {}, annotations: {} });
      const good = { labels: { a: "", [`keyturn.dev/${"k".repeat(63)}`]: "v".repeat(63) }, annotations: { b: "é é" } };
      assert.equal((await call("PATCH", `${BINDINGS}/${id}`, { json: { metadata: good } })).status, 200);
    },
  },
  {
    reason: "a key cannot be renamed; one that is being deleted cannot be patched; one that is not there is a 404",
    instance: asynchronous,
    async check({ create, call, clock, sandbox }) {
      await create("a");
      await clock.advance(1100);
      const path = `${BINDINGS}/${sandbox.liveKeys()[0]?.id}`;
      assert.equal((await call("PATCH", path, { json: { name: "b" } })).status, 422);
      await call("DELETE", path);
      await clock.advance(100);
      const { status, body } = await call("PATCH", path, { json: { metadata: {} } });
      assert.deepEqual([status, body.errors[0]?.detail], [422, "The service binding is being deleted"]);
      assert.equal((await call("PATCH", `${BINDINGS}/none`, { json: { metadata: {} } })).status, 404);
    },
  },
];

const deleting: readonly ReferenceCase[] = [
  {
    reason: "delete of a managed instance's key: 202 and a job; it has left when that is COMPLETE and a GET is a 404",
    instance: asynchronous,
    async check({ create, call, get, clock, sandbox }) {
      await create("a");
      await clock.advance(1100);
      const [key] = sandbox.liveKeys();
      const id = key?.id ?? "";
      const { credentials } = (await get(id, "/details")).body;
      const { status, headers } = await call("DELETE", `${BINDINGS}/${id}`);
      assert.equal(status, 202);
      const job = async () => (await call("GET", headers.location ?? "")).body;
      const operation = async () => (await get(id)).body.last_operation;
      assert.deepEqual([(await job()).operation, (await job()).state], ["service_keys.delete", "PROCESSING"]);
      assert.deepEqual([(await operation()).type, sandbox.authenticate(credentials)], ["create", true]);
      await clock.advance(100);
      assert.deepEqual([(await job()).state, (await operation()).type], ["POLLING", "delete"]);
      assert.deepEqual([(await operation()).state, sandbox.authenticate(credentials)], ["in progress", true]);
      await clock.advance(1000);
      assert.deepEqual([(await job()).state, (await get(id)).status], ["COMPLETE", 404]);
      assert.equal(sandbox.authenticate(credentials), false);
    },
  },
  {
    reason: "a failed unbind leaves the key with last_operation delete/failed: delete again",
    instance: { brokerFailures: 1, brokerFailsOn: "unbind" },
    async check({ make, call, get, live }) {
      const id = await make("a");
      const { headers } = await call("DELETE", `${BINDINGS}/${id}`);
      const { body } = await call("GET", headers.location ?? "");
      assert.deepEqual([body.state, body.errors[0]?.code], ["FAILED", 10009]);
      assert.match(body.errors[0]?.detail ?? "", /^unbind could not be completed: Service broker failed to delete/);
      const { last_operation: operation } = (await get(id)).body;
      assert.deepEqual([operation.type, operation.state, live(id)?.credentialsWork], ["delete", "failed", true]);
      const again = await call("DELETE", `${BINDINGS}/${id}`);
      assert.equal((await call("GET", again.headers.location ?? "")).body.state, "COMPLETE");
      assert.equal((await get(id)).status, 404);
    },
  },
  {
    reason: "422 There is an operation in progress for the service binding: a create that is not answered, a delete",
    instance: asynchronous,
    async check({ create, call, clock, sandbox }) {
      await create("a");
      const path = `${BINDINGS}/${sandbox.liveKeys()[0]?.id}`;
      const detail = "There is an operation in progress for the service binding.";
      const early = await call("DELETE", path);
      assert.deepEqual([early.status, early.body.errors[0]?.detail], [422, detail]);
      await clock.advance(1100);
      await call("DELETE", path);
      await clock.advance(100);
      const late = await call("DELETE", path);
      assert.deepEqual([late.status, late.body.errors[0]?.detail], [422, detail]);
    },
  },
  {
    reason: "a create that a broker works at can be deleted: its job fails, and nothing is left",
    instance: asynchronous,
    async check({ create, call, clock, sandbox }) {
      const made = await create("a");
      await clock.advance(100);
      const { status } = await call("DELETE", `${BINDINGS}/${sandbox.liveKeys()[0]?.id}`);
      assert.equal(status, 202);
      await clock.advance(1100);
      assert.equal((await call("GET", made.headers.location ?? "")).body.state, "FAILED");
      assert.deepEqual([sandbox.liveKeys(), sandbox.isAtRest], [[], true]);
    },
  },
  {
    reason: "two deletes while jobs wait for a worker: two jobs, and both end",
    switches: { jobQueueMs: 1000 },
    async check({ create, call, clock, sandbox }) {
      await create("a");
      await clock.advance(1000);
      const path = `${BINDINGS}/${sandbox.liveKeys()[0]?.id}`;
      const jobs = [await call("DELETE", path), await call("DELETE", path)];
      await clock.advance(1000);
      for (const { status, headers } of jobs) {
        assert.deepEqual([status, (await call("GET", headers.location ?? "")).body.state], [202, "COMPLETE"]);
      }
    },
  },
  {
    reason: "a delete of what is not there: 404 code 10010",
    async check({ call }) {
      const { status, body } = await call("DELETE", `${BINDINGS}/none`);
      const detail = "Service credential binding not found";
      assert.deepEqual([status, body.errors], [404, [{ code: 10010, title: "CF-ResourceNotFound", detail }]]);
    },
  },
  {
    reason: "somebody deletes a key, or the whole instance, behind every client's back",
    async check({ make, get, sandbox, instanceId }) {
      const [a, b] = [await make("a"), await make("b")];
      const { credentials } = (await get(b, "/details")).body;
      assert.deepEqual([sandbox.controls.removeBinding(a), sandbox.controls.removeBinding(a)], [true, false]);
      assert.equal((await get(a)).status, 404);
      assert.ok(sandbox.controls.removeInstance(instanceId));
      assert.deepEqual([(await get(b)).status, sandbox.authenticate(credentials)], [404, false]);
    },
  },
  {
    reason: "an instance that goes while a key of it is being made takes the key with it, and the job fails",
    instance: asynchronous,
    async check({ create, call, clock, sandbox, instanceId }) {
      const { headers } = await create("a");
      sandbox.controls.removeInstance(instanceId);
      await clock.advance(1100);
      const { body } = await call("GET", headers.location ?? "");
      assert.deepEqual([body.state, body.errors[0]?.code, sandbox.liveKeys()], ["FAILED", 10010, []]);
    },
  },
];

const apps: readonly ReferenceCase[] = [
  {
    reason: "type app: the binding of an app and an instance, with or without a name",
    async check({ create, call, get, sandbox }) {
      const appId = sandbox.controls.putApp().id;
      const { status, headers } = await create(undefined, { type: "app", appId });
      assert.equal(status, 202);
      const job = (await call("GET", headers.location ?? "")).body;
      assert.deepEqual([job.operation, job.state], ["service_bindings.create", "COMPLETE"]);
      const { body } = await get(idIn(job.links.service_credential_binding));
      assert.deepEqual(
        [body.type, body.name, body.relationships.app?.data.guid, idIn(body.links.app)],
        ["app", null, appId, appId],
      );
      const details = await get(body.guid, "/details");
      assert.ok(sandbox.authenticate(details.body.credentials));
      assert.deepEqual(sandbox.auditEvents(), [{ type: "audit.service_binding.show", count: 1 }]);
    },
  },
  {
    reason: "type app: once for an app and an instance, a name once for an app, both in one space",
    async check({ create, sandbox, instanceId, clock }) {
      const { controls } = sandbox;
      const appId = controls.putApp().id;
      const other = controls.putInstance({ name: "other" }).id;
      const elsewhere = controls.putApp({ space: controls.putSpace().id }).id;
      assert.equal((await create("a", { type: "app", appId })).status, 202);
      const detailOf = async (answer: ReturnType<typeof create>) => (await answer).body.errors[0]?.detail;
      assert.equal(
        await detailOf(create("b", { type: "app", appId })),
        "The app is already bound to the service instance",
      );
      assert.match(
        (await detailOf(create("a", { type: "app", appId, instanceId: other }))) ?? "",
        /^The binding name is invalid\. App binding names must be unique\./,
      );
      assert.equal(
        await detailOf(create("a", { type: "app", appId: elsewhere })),
        "The service instance and the app are in different spaces",
      );
      assert.equal(await detailOf(create("a", { type: "app", appId: "none" })), "The app could not be found: 'none'");
      assert.equal(await detailOf(create("a", { type: "app" })), "Relationships App can't be blank");
      controls.putInstance({ broker: "asynchronous", brokerWorkMs: 1000 }, instanceId);
      await create("z", { type: "key" });
      await clock.advance(1000);
      assert.ok(controls.removeApp(appId));
      assert.deepEqual(
        sandbox.liveKeys().map(({ name }) => name),
        ["z"],
      );
    },
  },
  {
    reason: "user-provided: a binding of an app at once (201), deleted at once (204); no keys, no parameters",
    instance: { type: "user-provided" },
    async check({ create, call, get, sandbox }) {
      const appId = sandbox.controls.putApp().id;
      const { status, body } = await create("a", { type: "app", appId });
      assert.deepEqual([status, body.last_operation.state], [201, "succeeded"]);
      const { credentials } = (await get(body.guid, "/details")).body;
      assert.ok(sandbox.authenticate(credentials));
      assert.equal((await call("DELETE", `${BINDINGS}/${body.guid}`)).status, 204);
      assert.deepEqual([(await get(body.guid)).status, sandbox.authenticate(credentials)], [404, false]);
      assert.equal((await create("b", { type: "app", appId, parameters: {} })).status, 422);
      const key = await create("b");
      const detail = "Service credential bindings of type 'key' are not supported for user-provided service instances.";
      assert.deepEqual([key.status, key.body.errors[0]?.detail], [422, detail]);
    },
  },
];

runCases([...listing, ...changing, ...deleting, ...apps]);
