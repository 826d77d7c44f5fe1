import assert from "node:assert/strict";
import { test } from "node:test";
import { usedBytes } from "../ground/used-bytes.fixture.ts";
import { foundation } from "./foundation.fixture.ts";

test("20,000 keys with labels take less than 100 MB, and one is found among them at once", async () => {
  const before = usedBytes();
  const { create, sandbox, list } = await foundation();
  for (let i = 0; i < 20_000; i++) {
    const labels = { cluster: "one", owner: `uid-${i}`, n: "7" };
    await create(`key-${i}`, { metadata: { labels, annotations: { name: `n-${i}` } } });
  }
  const usedMegabytes = (usedBytes() - before) / 1e6;
  assert.equal(sandbox.liveKeys().length, 20_000);
  assert.ok(usedMegabytes < 100, `${usedMegabytes.toFixed(0)} MB`);
  const { resources } = (await list({ label_selector: "cluster=one,owner=uid-7" })).body;
  assert.deepEqual(
    resources.map(({ name }) => name),
    ["key-7"],
  );
});

test("what has passed is remembered up to a bound: jobs, tokens, tombstones", async () => {
  const { make, call, sandbox, logIn, user, list } = await foundation({ switches: { deletedListedMs: 3_600_000 } });
  for (let i = 0; i < 5_500; i++) {
    await call("DELETE", `/v3/service_credential_bindings/${await make("a")}`);
    await list({ names: "none" });
  }
  for (let i = 0; i < 5_500; i++) await logIn({ grant_type: "password", ...user });
  const { jobs, tokens, tombstones } = sandbox.snapshot();
  assert.ok(jobs.length <= 10_000 && jobs.length > 9_000, `${jobs.length} jobs`);
  assert.ok(tokens.length <= 10_000 && tokens.length > 9_000, `${tokens.length} tokens`);
  assert.ok(tombstones.length <= 10_000, `${tombstones.length} tombstones`);
  assert.equal((await logIn({ grant_type: "password", ...user })).status, 200);
});

test("a job that is under way is never forgotten, however many come after it", async () => {
  const { create, call, sandbox, make, clock } = await foundation();
  const slow = sandbox.controls.putInstance({ brokerLatencyMs: 60_000 }).id;
  const { headers } = await create("a", { instanceId: slow });
  for (let i = 0; i < 5_100; i++) await call("DELETE", `/v3/service_credential_bindings/${await make("b")}`);
  assert.equal((await call("GET", headers.location ?? "")).body.state, "PROCESSING");
  await clock.advance(60_000);
  assert.ok(sandbox.snapshot().jobs.length <= 10_000);
});
