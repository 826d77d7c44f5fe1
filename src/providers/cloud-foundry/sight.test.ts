import assert from "node:assert/strict";
import { test } from "node:test";
import {
  connect,
  failure,
  instance,
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

/** Of a service instance, as it comes along with a list. */
const along = { included: { service_instances: [instance] } };
const missingInstance = problem(422, 10008, "The service instance could not be found: 'i1'");

test("a key is gone when its service instance can be read", async () => {
  const { connection, asked } = connect([page([shown], along), notFound, ok(instance)]);
  await connection.listMarked({ clusterId: "c" }, signal);
  assert.equal(await connection.observe("k1", signal), undefined);
  assert.equal(asked().at(-1), "GET service_instances/i1");
});

test("where a key was is forgotten once it is gone, and not learnt again from a list that still shows it", async () => {
  const { connection, asked } = connect([
    ...[page([shown], along), { status: 204, body: "" }, page([shown], along)],
    ...[notFound, page([{ guid: "s1" }])],
  ]);
  await connection.listMarked({ clusterId: "c" }, signal);
  assert.equal(await connection.delete("k1", signal), "gone");
  assert.equal((await connection.listMarked({ clusterId: "c" }, signal))[0]?.state, "deleting");
  assert.equal(await connection.observe("k1", signal), undefined);
  assert.match(asked().at(-1) ?? "", /^GET spaces/, "any space will do for what is known to be gone");
});

test("an instance is gone, and its keys with it, when its space can be read", async () => {
  const { connection, asked } = connect([page([shown], along), notFound, notFound, ok({ guid: "s1" })]);
  await connection.listMarked({ clusterId: "c" }, signal);
  assert.equal(await connection.observe("k1", signal), undefined);
  assert.equal(asked().at(-1), "GET spaces/s1");
});

test("a role that is lost in one space of several makes nothing look deleted that was there", async () => {
  const steps = [page([shown], along), notFound, notFound, notFound];
  for (const call of [verbs.observe, verbs.delete, verbs.mark]) {
    const { connection } = connect(steps);
    await connection.listMarked({ clusterId: "c" }, signal);
    await rejects(Promise.resolve(call?.(connection)), "ProviderForbidden");
  }
  const direct = connect([ok(instance), notFound, notFound]);
  await direct.connection.observeInstance("i1", signal);
  await rejects(direct.connection.observeInstance("i1", signal), "ProviderForbidden");
  const made = connect([ok(instance), missingInstance, notFound, notFound]);
  await made.connection.observeInstance("i1", signal);
  await rejects(made.connection.create(request, signal), "ProviderForbidden", "no new key either");
});

test("where nothing was ever seen, some space must be", async () => {
  const unseen = {
    listMarked: [page([])],
    findByName: [page([]), notFound],
    observe: [notFound],
    delete: [notFound],
    mark: [notFound],
    readCredentials: [notFound, notFound],
    observeInstance: [notFound],
    describeInstance: [notFound],
    create: [missingInstance, notFound],
  };
  for (const [name, steps] of Object.entries(unseen)) {
    const lost = connect([...steps, page([])]);
    await rejects(Promise.resolve(verbs[name]?.(lost.connection)), "ProviderForbidden", name);
    const there = connect([...steps, page([{ guid: "s1" }])]);
    const outcome = await verbs[name]?.(there.connection).catch(({ code }: { code: string }) => code);
    assert.notEqual(outcome, "ProviderForbidden", name);
    assert.equal(there.http.stepsLeft, 0, name);
  }
});

test("what cannot be asked makes nothing gone", async () => {
  for (const step of [problem(500, 10001), new Error("reset"), ok("<html>"), { status: 404, body: "canary" }]) {
    const { connection } = connect([notFound, step]);
    assert.equal((await failure(connection.observe("k1", signal))).code, "ProviderUnavailable");
  }
});
