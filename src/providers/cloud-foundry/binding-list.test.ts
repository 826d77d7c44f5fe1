import assert from "node:assert/strict";
import { test } from "node:test";
import { connect, ok, page, problem, rejects, shown, signal } from "./scripted.fixture.ts";

const filter = { clusterId: "c" };
const key = (guid: string) => ({ ...shown, guid });
const part = (guids: readonly string[], total_pages: number, total_results: number) =>
  ok({ pagination: { total_pages, total_results }, resources: guids.map(key) });

test("all pages are read, oldest first, and a key that moved from one to the next counts once", async () => {
  const { connection, http } = connect([part(["a", "b"], 2, 3), part(["b", "c"], 2, 3)]);
  const keys = await connection.listMarked(filter, signal);
  assert.deepEqual(
    keys.map(({ id }) => id),
    ["a", "b", "c"],
  );
  const queries = http.requests.map(({ url }) => Object.fromEntries(url.searchParams));
  assert.deepEqual(
    queries.map(({ page, order_by, label_selector }) => [page, order_by, label_selector]),
    [
      ["1", "created_at", "keyturn.dev/cluster=c"],
      ["2", "created_at", "keyturn.dev/cluster=c"],
    ],
  );
});

test("a list that is not whole is an error", async () => {
  const rows = [
    [[part(["a"], 1, 2)], "fewer than it says"],
    [[part(["a", "b"], 2, 4), part(["d"], 2, 3)], "one was deleted meanwhile, and another one moved out of sight"],
    [[part(["a", "b"], 2, 3), problem(500, 10001)], "a page that fails"],
    [[part(["a", "b"], 2, 3), ok({ resources: [] })], "a page without its numbers"],
    [[ok({ pagination: { total_pages: 1, total_results: 1 }, resources: [{}] })], "something that is no key"],
    [[ok({ pagination: { total_pages: 1, total_results: 0 }, resources: null })], "no list"],
  ] as const;
  for (const [steps, reason] of rows) {
    await rejects(connect(steps).connection.listMarked(filter, signal), "ProviderUnavailable", reason);
  }
});

test("instances are asked for along with the keys, until a foundation does not know of it", async () => {
  const { connection, http } = connect([problem(400, 10005), page([shown]), page([shown])]);
  for (const _ of ["asks", "remembers"]) await connection.listMarked(filter, signal);
  assert.deepEqual(
    http.requests.map(({ url }) => url.searchParams.get("include")),
    ["service_instance", null, null],
  );
  const refused = connect([problem(400, 10005), problem(400, 10005)]);
  await rejects(refused.connection.listMarked(filter, signal), "ProviderRefused", "another parameter was meant");
});

test("a name that would have to be escaped is looked for among all keys of the instance", async () => {
  for (const [name, isAsked] of [
    ["orders-x1", true],
    ["a,b", false],
    ["50%", false],
    ["a b", false],
    ["it's", true],
  ] as const) {
    const { connection, http } = connect([
      page([
        { ...shown, name },
        { ...shown, guid: "k2", name: "other" },
      ]),
    ]);
    const found = await connection.findByName("i1", name, signal);
    assert.deepEqual(
      found.map(({ id }) => id),
      ["k1"],
    );
    const { searchParams } = http.requests[0]?.url ?? new URL("https://none");
    assert.equal(searchParams.get("names"), isAsked ? name : null);
    assert.equal(searchParams.get("service_instance_guids"), "i1");
  }
});
