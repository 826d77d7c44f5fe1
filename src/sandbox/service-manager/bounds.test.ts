import assert from "node:assert/strict";
import { test } from "node:test";
import { usedBytes } from "../ground/used-bytes.fixture.ts";
import { sandboxFixture } from "./sandbox.fixture.ts";

test("20,000 bindings with labels take less than 100 MB", async () => {
  const before = usedBytes();
  const { create, sandbox } = await sandboxFixture();
  const labels = (index: number) => ({ cluster: ["one"], owner: [`uid-${index}`], name: [`b-${index}`], n: ["7"] });
  for (let i = 0; i < 20_000; i++) await create(`binding-${i}`, { labels: labels(i) });
  const usedMegabytes = (usedBytes() - before) / 1e6;
  assert.equal(sandbox.liveBindings().length, 20_000);
  assert.ok(usedMegabytes < 100, `${usedMegabytes.toFixed(0)} MB`);
});

test("what has passed is remembered up to a bound: operations, deleted ids, tokens, the request log", async () => {
  const { create, call, sandbox, getToken } = await sandboxFixture();
  const issued = sandbox.controls.issueClient("http://x");
  assert.ok("clientsecret" in issued);
  const { clientid, clientsecret } = issued;
  const form = { grant_type: "client_credentials", client_id: clientid, client_secret: clientsecret };
  for (let i = 0; i < 11_000; i++) {
    const { body } = await create("a");
    await call("DELETE", `/v1/service_bindings/${body.id}`);
    await getToken(form);
  }
  const { operations, deleted, tokens } = sandbox.snapshot();
  for (const remembered of [operations, deleted, tokens]) assert.equal(remembered.length, 10_000);
  assert.ok((await getToken(form)).body.access_token);
});

test("the request log counts clients beyond the first thousand entries together", async () => {
  const { sandbox, getToken } = await sandboxFixture();
  for (let i = 0; i < 1_010; i++) {
    const { clientid } = sandbox.controls.issueClient("http://x");
    await getToken({ grant_type: "client_credentials", client_id: clientid, client_secret: "wrong" });
  }
  const log = sandbox.requestLog();
  assert.equal(log.length, 1_001);
  assert.equal(log.find(({ caller }) => caller === "others")?.count, 11);
});
