import assert from "node:assert/strict";
import { test } from "node:test";
import { serviceBinding } from "../../api/btp/service-binding.ts";
import { KeyturnError, never } from "../../base/errors.ts";
import { formatInstant } from "../../base/instant.ts";
import { embeddedCluster } from "../../embedded/embedded-cluster.fixture.ts";
import { Conflict } from "../../kube/errors.ts";
import type { KubeObject } from "../../kube/objects.ts";
import type { StoredCondition } from "../../report/conditions.ts";
import { bindingOf } from "../btp/btp-objects.fixture.ts";
import { serviceBindingKind as kind } from "../btp/service-binding-kind.ts";
import { installKinds } from "../objects.fixture.ts";
import { stateWith } from "./managed-kind.fixture.ts";
import { type StatusContent, StatusWriter } from "./status-writer.ts";

const { signal } = new AbortController();

async function start() {
  const { kube, clock, server } = embeddedCluster();
  await installKinds(kube);
  const object = await kube.create<KubeObject>(
    serviceBinding,
    bindingOf({ instanceId: "i-1", metadata: { name: "orders" } }),
  );
  const active = { id: "k-1", name: "n-1", createdAt: clock.now(), sequence: 1, madeFrom: "x" };
  const content: StatusContent = { state: stateWith({ active, sequence: 1 }), spec: kind.readSpec(object), signal };
  return { kube, clock, server, object, content, writer: new StatusWriter({ kind, kube, clock }) };
}

const conditionsIn = ({ status }: KubeObject): readonly StoredCondition[] =>
  (status as { readonly conditions: readonly StoredCondition[] }).conditions;
const typesIn = (object: KubeObject): readonly string[] => conditionsIn(object).map(({ type }) => type);

test("state and conditions go in one write, and are read back as they were", async () => {
  const { server, object, content, writer } = await start();
  const before = server.store.revision;
  const written = await writer.write(object, content);
  assert.equal(server.store.revision - before, 1);
  const { active, sequence } = kind.readState(written);
  assert.deepEqual(
    [active, sequence],
    [{ ...content.state.active }, 1].map((value) => value),
  );
  assert.deepEqual(typesIn(written), ["Ready", "Synced", "RotationStatus"]);
  assert.deepEqual(written.spec, object.spec);
});

test("what would change nothing is not written, however much time has passed", async () => {
  const { clock, server, object, content, writer } = await start();
  const written = await writer.write(object, content);
  await clock.advance(86_400_000);
  const { revision } = server.store;
  assert.equal(await writer.write(written, content), written);
  assert.equal(server.store.revision, revision);
});

test("when the next rotation is stands in the status; without a policy there is none", async () => {
  const { clock, object, content, writer } = await start();
  const nextIn = ({ status }: KubeObject): unknown => (status as { readonly nextRotation?: string }).nextRotation;
  const written = await writer.write(object, content);
  assert.equal(nextIn(written), formatInstant(clock.now() + 288 * 3_600_000));
  const spec = kind.readSpec({ ...object, spec: { ...(object.spec as object), rotation: undefined } });
  assert.equal(nextIn(await writer.write(written, { ...content, spec })), undefined);
});

test("the status says of which generation of the spec it speaks, also where that cannot be read", async () => {
  const { kube, object, content, writer } = await start();
  const saidOf = ({ status }: KubeObject): unknown =>
    (status as { readonly observedGeneration?: number }).observedGeneration;
  const written = await writer.write(object, content);
  assert.equal(saidOf(written), 1);
  const changed = await kube.patch(
    serviceBinding,
    { name: "orders" },
    { type: "merge", body: { spec: { rotation: null } } },
  );
  assert.deepEqual([changed.metadata.generation, saidOf(changed)], [2, 1], "until somebody has looked");
  const problem = new KeyturnError("SpecProblem", "spec.rotation.ttl: is too short", { retry: never });
  assert.equal(saidOf(await writer.write(changed, { ...content, spec: undefined, problem })), 2);
});

test("the same problem again writes nothing; another one does", async () => {
  const { clock, object, content, writer } = await start();
  const problem = (message: string) => new KeyturnError("QuotaExceeded", message, { retry: never });
  const first = await writer.write(object, { ...content, problem: problem("no more bindings") });
  await clock.advance(60_000);
  assert.equal(await writer.write(first, { ...content, problem: problem("no more bindings") }), first);
  const other = await writer.write(first, { ...content, problem: problem("no more plans") });
  assert.notEqual(other, first);
  const times = [first, other].map(
    (one) => conditionsIn(one).find(({ type }) => type === "Synced")?.lastTransitionTime,
  );
  assert.equal(times[0], times[1], "it has been out of sync since the first");
});

test("a state that has moved on in the meantime is not overwritten", async () => {
  const { object, content, writer } = await start();
  await writer.write(object, content);
  await assert.rejects(writer.write(object, { ...content, state: stateWith() }), Conflict);
});

test("without a spec that can be read, what the status holds stays, and only the conditions change", async () => {
  const { object, content, writer } = await start();
  const written = await writer.write(object, content);
  const problem = new KeyturnError("SpecProblem", "spec.rotation.ttl: is too short", { retry: never });
  const unread = await writer.write(written, { ...content, spec: undefined, problem });
  assert.deepEqual(kind.readState(unread), kind.readState(written));
  const synced = conditionsIn(unread).find(({ type }) => type === "Synced");
  assert.deepEqual([synced?.reason, synced?.message], ["SpecProblem", "spec.rotation.ttl: is too short"]);
});

test("a condition of ours goes when it does not hold any more, other people's stay", async () => {
  const { kube, clock, object, content, writer } = await start();
  const postponed = { ...content.state, postponedUntil: clock.now() + 3_600_000 };
  const ineffective = await writer.write(object, { ...content, state: postponed });
  assert.ok(typesIn(ineffective).includes("RotationIneffective"));
  const theirs = { type: "Audited", status: "True", reason: "Fine", lastTransitionTime: "2025-11-01T00:00:00Z" };
  const status = { ...(ineffective.status as object), conditions: [...conditionsIn(ineffective), theirs] };
  const audited = await kube.replace<KubeObject>(serviceBinding, { ...ineffective, status }, { subresource: "status" });
  const effective = await writer.write(audited, content);
  assert.deepEqual(typesIn(effective), ["Ready", "Synced", "RotationStatus", "Audited"]);
});
