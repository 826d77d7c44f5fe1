import assert from "node:assert/strict";
import { test } from "node:test";
import {
  accepted,
  connect,
  failure,
  instance,
  job,
  marks,
  notFound,
  ok,
  page,
  problem,
  rejects,
  request,
  shown,
  signal,
  verbs,
} from "./scripted.fixture.ts";

const details = ok({ credentials: { user: "u", password: "credential-canary" } });
const lastOperation = (type: string, state: string) => ok({ ...shown, last_operation: { type, state } });
const unprocessable = (detail: string) => problem(422, 10008, detail);

test("a create whose job is done at once takes four requests, and gives the credentials", async () => {
  const { connection, http, asked } = connect([accepted, job("COMPLETE"), ok(shown), details]);
  const created = await connection.create(request, signal);
  assert.equal(created.kind, "ready");
  assert.deepEqual(created.kind === "ready" && created.credentials.reveal(), {
    user: "u",
    password: "credential-canary",
  });
  assert.deepEqual(asked(), [
    "POST service_credential_bindings",
    "GET jobs/j1",
    "GET service_credential_bindings/k1",
    "GET service_credential_bindings/k1/details",
  ]);
  assert.deepEqual(JSON.parse(http.requests[0]?.body ?? ""), {
    type: "key",
    name: "orders-x1",
    relationships: { service_instance: { data: { guid: "i1" } } },
    parameters: { password: "parameter-canary" },
    metadata: shown.metadata,
  });
});

test("the id is known from the job that is under way; a look at it is one request, and credentials are not polled", async () => {
  const steps = [accepted, job("PROCESSING"), job("POLLING"), job("PROCESSING"), job("COMPLETE"), ok(shown), details];
  const { connection, asked } = connect(steps);
  assert.deepEqual(await connection.create(request, signal), { kind: "accepted", id: "k1" });
  for (const _ of ["first", "second"]) {
    const making = { id: "k1", name: "orders-x1", instanceId: "i1", marks, state: "creating" };
    assert.deepEqual(await connection.observe("k1", signal), making);
  }
  assert.equal((await connection.observe("k1", signal))?.state, "ready");
  await connection.readCredentials("k1", signal);
  assert.equal(asked().filter((one) => one.endsWith("/details")).length, 1);
  assert.equal(asked().length, 7, "POST, job, key, details, and one per look at an unfinished job");
});

test("whatever goes wrong once the id is known, the id is not lost", async () => {
  for (const step of [
    problem(500, 10001),
    notFound,
    new Error("reset"),
    ok({}),
    lastOperation("create", "in progress"),
  ]) {
    const { connection } = connect([accepted, job("COMPLETE"), step, notFound, notFound]);
    assert.deepEqual(await connection.create(request, signal), { kind: "accepted", id: "k1" });
  }
  const failed = connect([accepted, job("FAILED"), lastOperation("create", "failed")]);
  assert.deepEqual(await failed.connection.create(request, signal), { kind: "accepted", id: "k1" });
  assert.equal((await failed.connection.observe("k1", signal))?.state, "failed");
});

test("a job that is forgotten, or says nothing of the key, is made up for by the key's name", async () => {
  const nameless = ok({ guid: "j1", state: "PROCESSING", links: {} });
  for (const step of [notFound, nameless]) {
    const { connection } = connect([accepted, step, page([shown])]);
    assert.deepEqual(await connection.create(request, signal), { kind: "accepted", id: "k1" });
  }
  const elsewhere = connect([{ ...accepted, headers: {} }, page([])]);
  await rejects(elsewhere.connection.create(request, signal), "ProviderUnavailable", "no job, and no key either");
  const gone = connect([accepted, job("PROCESSING"), notFound, lastOperation("create", "succeeded")]);
  await gone.connection.create(request, signal);
  assert.equal((await gone.connection.observe("k1", signal))?.state, "ready", "the last operation tells");
});

test("the binding of an app names it, and may be there at once", async () => {
  const made = { status: 201, body: { ...shown, type: "app" } };
  const { connection, http } = connect([made, ok(shown), details]);
  const created = await connection.create({ ...request, appId: "a1" }, signal);
  assert.equal(created.kind, "ready");
  const { type, relationships } = JSON.parse(http.requests[0]?.body ?? "");
  assert.deepEqual([type, relationships.app], ["app", { data: { guid: "a1" } }]);
});

test("what a user wants to stand on a key does, beside the marks and never in their place", async () => {
  const metadata = { labels: { team: "orders", "keyturn.dev/cluster": "forged" }, annotations: { note: "n" } };
  const { connection, http } = connect([accepted, job("PROCESSING")]);
  await connection.create({ ...request, metadata }, signal);
  const sent = JSON.parse(http.requests[0]?.body ?? "").metadata;
  assert.deepEqual(sent.labels, { team: "orders", ...shown.metadata.labels });
  assert.deepEqual(sent.annotations, { note: "n", ...shown.metadata.annotations });
  const wrong = connect([]);
  const labels = { team: "not allowed" };
  await rejects(
    wrong.connection.create({ ...request, metadata: { labels, annotations: {} } }, signal),
    "ProviderRefused",
  );
  assert.equal(wrong.http.requests.length, 0);
});

test("where metadata is refused in a create, keys are made without it and marked; that is asked once", async () => {
  const refused = unprocessable('invalid request body: json: unknown field "metadata"');
  const steps = [refused, accepted, job("PROCESSING"), ok(shown), accepted, job("PROCESSING", "k2"), ok(shown)];
  const { connection, http, asked } = connect(steps);
  await connection.create(request, signal);
  await connection.create({ ...request, name: "orders-x2" }, signal);
  assert.deepEqual(
    asked().map((one) => one.split(" ")[0]),
    ["POST", "POST", "GET", "PATCH", "POST", "GET", "PATCH"],
  );
  assert.deepEqual(JSON.parse(http.requests[3]?.body ?? ""), { metadata: shown.metadata });
  assert.equal("metadata" in JSON.parse(http.requests[4]?.body ?? ""), false);
});

test("a foundation that takes metadata no longer is noticed at the next key, and tried again after a while", async () => {
  const refused = unprocessable('invalid request body: json: unknown field "metadata"');
  const made = [accepted, job("PROCESSING")];
  const marked = [...made, ok(shown)];
  const { connection, asked, clock } = connect([...made, refused, ...marked, ...marked, refused, ...marked, ...made]);
  const verbsOf = async (): Promise<string> => {
    const before = asked().length;
    await connection.create(request, signal);
    return asked()
      .slice(before)
      .map((one) => one.split(" ")[0])
      .join(" ");
  };
  assert.equal(await verbsOf(), "POST GET", "as usual");
  assert.equal(await verbsOf(), "POST POST GET PATCH", "refused, and made without");
  assert.equal(await verbsOf(), "POST GET PATCH", "remembered");
  await clock.advance(3_600_000);
  assert.equal(await verbsOf(), "POST POST GET PATCH", "tried again, in vain");
  await clock.advance(3_600_000);
  assert.equal(await verbsOf(), "POST GET", "taken again");
});

test("where metadata was taken before, one label that is wrong is a refusal, and no key is made without marks", async () => {
  const wrong = unprocessable("Metadata label value error: 'x' contains invalid characters");
  const { connection, asked } = connect([accepted, job("PROCESSING"), wrong]);
  await connection.create(request, signal);
  const { message } = await failure(connection.create(request, signal));
  assert.match(
    message,
    /refuses to make the key \(422\): Metadata label value error: 'x' contains invalid characters$/,
  );
  assert.equal(asked().length, 3);
});

test("a key that could not be marked is known all the same, and is marked before its credentials are given out", async () => {
  const refused = unprocessable("metadata is not supported");
  const bare = { ...shown, metadata: { labels: {}, annotations: {} } };
  const busy = unprocessable("There is an operation in progress for the service binding.");
  const steps = [
    refused,
    accepted,
    job("COMPLETE"),
    busy,
    ok(bare),
    busy,
    page([]),
    ok(bare),
    ok(shown),
    details,
    page([shown]),
  ];
  const { connection, asked } = connect(steps);
  assert.deepEqual(
    await connection.create(request, signal),
    { kind: "accepted", id: "k1" },
    "no credentials without marks",
  );
  const [listed] = await connection.listMarked({ clusterId: "c" }, signal);
  assert.deepEqual([listed?.id, listed?.marks], ["k1", marks]);
  await connection.readCredentials("k1", signal);
  assert.deepEqual(asked().slice(-2), [
    "PATCH service_credential_bindings/k1",
    "GET service_credential_bindings/k1/details",
  ]);
  assert.equal((await connection.listMarked({ clusterId: "c" }, signal)).length, 1);
});

test("an unmarked key under a name is told apart where the foundation leaves them unmarked, by a create that cannot be", async () => {
  const bare = { ...shown, metadata: { labels: { team: "x" }, annotations: {} } };
  const refused = unprocessable('json: unknown field "metadata"');
  const korifi = connect([page([bare]), refused, page([bare])]);
  for (const _ of ["asks", "remembers"]) {
    const [found] = await korifi.connection.findByName("i1", "orders-x1", signal);
    assert.deepEqual([found?.isUnmarkedYet, found?.marks], [true, undefined]);
  }
  const sent = JSON.parse(korifi.http.requests[1]?.body ?? "");
  assert.equal(sent.relationships.service_instance.data.guid, "00000000-0000-4000-8000-000000000000");
  const usual = connect([page([bare]), unprocessable("The service instance could not be found: '0'"), page([shown])]);
  const [foreign] = await usual.connection.findByName("i1", "orders-x1", signal);
  assert.equal(foreign?.isUnmarkedYet, undefined, "here it is somebody else's");
  await usual.connection.findByName("i1", "orders-x1", signal);
  assert.equal(usual.http.requests.length, 3, "what is marked raises no question");
});

test("whether keys are left unmarked is not taken from an answer that does not say", async () => {
  const bare = { ...shown, metadata: { labels: {}, annotations: {} } };
  const refused = unprocessable('json: unknown field "metadata"');
  for (const nothing of [problem(503, 10001), problem(403, 10003)]) {
    const { connection } = connect([page([bare]), nothing, page([bare]), refused]);
    await failure(connection.findByName("i1", "orders-x1", signal));
    const [found] = await connection.findByName("i1", "orders-x1", signal);
    assert.equal(found?.isUnmarkedYet, true, "it is asked again, and is nobody else's");
  }
});

test("the details of a key are not found for many reasons, and none of them means that it is gone", async () => {
  const rows = [
    [lastOperation("create", "initial"), "ProviderBusy", "nobody has begun with it"],
    [lastOperation("create", "in progress"), "ProviderBusy", "it is being made"],
    [lastOperation("create", "failed"), "CredentialsUnavailable", "it never worked"],
    [lastOperation("delete", "in progress"), "CredentialsUnavailable", "it is on its way out"],
    [lastOperation("delete", "failed"), "CredentialsUnavailable", "it was on its way out"],
    [lastOperation("create", "succeeded"), "ProviderForbidden", "an auditor may not see them"],
  ] as const;
  for (const [step, code, reason] of rows) {
    const { connection } = connect([problem(404, 10010, "Creation of service key in progress"), step]);
    await rejects(connection.readCredentials("k1", signal), code, reason);
  }
  for (const credentials of [{}, null, "x", ["x"]]) {
    const { connection } = connect([ok({ credentials })]);
    const { code } = await failure(connection.readCredentials("k1", signal));
    assert.ok(code === "CredentialsUnavailable" || code === "ProviderUnavailable");
  }
  const failing = connect([problem(502, 10001)]);
  await rejects(failing.connection.readCredentials("k1", signal), "ProviderUnavailable", "an error is not swallowed");
});

test("a delete stays with its job: three requests with the look before it, and one more per look", async () => {
  const { connection, asked, clock } = connect([accepted, job("PROCESSING"), job("PROCESSING"), job("COMPLETE")]);
  const deleting = connection.delete("k1", signal);
  await clock.advance(1_600);
  assert.equal(await deleting, "gone");
  assert.deepEqual(asked(), ["DELETE service_credential_bindings/k1", "GET jobs/j1", "GET jobs/j1", "GET jobs/j1"]);
  assert.equal(clock.timerCount, 0);
});

test("a delete that takes long is accepted, and gone on with by its job", async () => {
  const slow = Array.from({ length: 7 }, () => job("POLLING"));
  const steps = [accepted, ...slow, ok(shown), job("POLLING"), job("COMPLETE")];
  const { connection, clock, asked } = connect(steps);
  const deleting = connection.delete("k1", signal);
  await clock.advance(5_000);
  assert.equal(await deleting, "accepted");
  assert.equal((await connection.observe("k1", signal))?.state, "deleting", "though it looks as it did before");
  assert.equal(await connection.delete("k1", signal), "gone");
  assert.equal(asked().filter((one) => one.startsWith("DELETE")).length, 1, "it is not asked for twice");
});

test("a delete that the broker fails is an error that is tried again, and then it is asked for anew", async () => {
  const { connection, asked } = connect([accepted, job("FAILED"), accepted, job("COMPLETE")]);
  const error = await failure(connection.delete("k1", signal));
  assert.deepEqual([error.code, error.retry.kind], ["ProviderRefused", "backoff"]);
  assert.equal(await connection.delete("k1", signal), "gone");
  assert.equal(asked().filter((one) => one.startsWith("DELETE")).length, 2);
});

test("without a job the key's last operation tells how a delete stands", async () => {
  const outcomes = [
    [[accepted, notFound, notFound, page([{}])], "gone"],
    [[accepted, notFound, lastOperation("delete", "in progress")], "accepted"],
    [[{ ...accepted, headers: {} }, lastOperation("delete", "in progress")], "accepted"],
    [[{ status: 204 }], "gone"],
    [[notFound, page([{}])], "gone"],
    [[unprocessable("There is an operation in progress"), lastOperation("delete", "in progress")], "accepted"],
  ] as const;
  for (const [steps, expected] of outcomes) {
    assert.equal(await connect(steps).connection.delete("k1", signal), expected);
  }
  const half = connect([accepted, notFound, lastOperation("delete", "failed")]);
  await rejects(half.connection.delete("k1", signal), "ProviderRefused");
  const making = connect([unprocessable("There is an operation in progress"), lastOperation("create", "initial")]);
  await rejects(making.connection.delete("k1", signal), "ProviderBusy", "it is being made, not removed");
});

test("a caller that leaves ends the wait for a delete", async () => {
  const { connection, clock } = connect([accepted, job("PROCESSING"), job("PROCESSING")]);
  const controller = new AbortController();
  const deleting = connection.delete("k1", controller.signal).catch(({ code }) => code);
  await clock.advance(0);
  controller.abort();
  assert.equal(await deleting, "ProviderUnavailable");
  assert.equal(clock.timerCount, 0);
});

test("a pause is kept by all callers of the foundation, and without a request; a busy broker stops only its own", async () => {
  const tooMany = { ...problem(429, 10013), headers: { "retry-after": "20", "content-type": "text/plain" } };
  const { connection, http, clock } = connect([tooMany, ok(shown)]);
  const [first, second] = [
    await failure(connection.observe("k1", signal)),
    await failure(connection.delete("k2", signal)),
  ];
  assert.deepEqual([first.code, second.code], ["ProviderThrottled", "ProviderThrottled"]);
  assert.equal(first.message, second.message);
  assert.deepEqual(first.retry, { kind: "after", delayMs: 20_000 });
  await clock.advance(15_000);
  assert.deepEqual((await failure(connection.observe("k1", signal))).retry, { kind: "after", delayMs: 5_000 });
  assert.equal(http.requests.length, 1);
  await clock.advance(5_000);
  assert.equal((await connection.observe("k1", signal))?.id, "k1");
  const broker = connect([problem(429, 10016), ok(shown)]);
  await rejects(broker.connection.create(request, signal), "ProviderThrottled");
  assert.equal((await broker.connection.observe("k1", signal))?.id, "k1");
});

test("marks go on and off in one request, and take nothing else along", async () => {
  const { connection, http } = connect([ok(shown), ok(shown), notFound, page([{}]), notFound, page([{}])]);
  await connection.mark("k1", marks, signal);
  await connection.mark("k1", undefined, signal);
  const [put, taken] = http.requests.map(({ body }) => JSON.parse(body ?? "").metadata);
  assert.equal(put.annotations["keyturn.dev/namespace"], null, "a former owner's namespace goes");
  assert.ok(Object.values({ ...taken.labels, ...taken.annotations }).every((value) => value === null));
  assert.ok(Object.keys({ ...put.labels, ...put.annotations }).every((key) => key.startsWith("keyturn.dev/")));
  await rejects(connection.mark("k1", marks, signal), "ProviderRefused", "it is not there");
  await connection.mark("k1", undefined, signal);
});

test("a service that is silent is given up, in every verb", async () => {
  for (const [name, call] of Object.entries(verbs)) {
    const { connection, clock } = connect(["silence"]);
    const silent = failure(call(connection));
    await clock.advance(60_000);
    const error = await silent;
    assert.equal(error.message, "Cloud Foundry at api.example does not answer in time", name);
    assert.equal(clock.timerCount, 0, name);
  }
});

test("an instance is described by its plan and offering, which are read once; a user-provided one has none", async () => {
  const plan = ok({ guid: "p1", name: "small", relationships: { service_offering: { data: { guid: "o1" } } } });
  const offering = ok({ guid: "o1", name: "postgresql", tags: ["sql"] });
  const tagged = ok({ ...instance, tags: ["mine", "sql"] });
  const { connection, http } = connect([tagged, plan, offering, tagged, ok({ ...instance, type: "user-provided" })]);
  const described = { id: "i1", name: "orders-db", plan: "small", offering: "postgresql", tags: ["sql", "mine"] };
  assert.deepEqual(await connection.describeInstance("i1", signal), described);
  assert.deepEqual(await connection.describeInstance("i1", signal), described);
  assert.equal(http.requests.length, 4);
  assert.equal((await connection.describeInstance("i1", signal))?.offering, "user-provided");
});
