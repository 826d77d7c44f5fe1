import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { Redacted } from "../../base/redacted.ts";
import { embeddedCluster } from "../../embedded/embedded-cluster.fixture.ts";
import { Conflict } from "../../kube/errors.ts";
import { createFaultyTransport, type Fault } from "../../kube/faulty-transport.ts";
import { createKubeClient } from "../../kube/kube-client.ts";
import { apiVersionOf, type KubeObject, type OwnerReference, type ResourceType } from "../../kube/objects.ts";
import type { Kube } from "../../kube/port.ts";
import type { Connection, Marks } from "../../providers/contract.ts";
import { secretType } from "../../publish/secret-publisher.ts";
import { installForeignKind, putSecret } from "../objects.fixture.ts";
import { createChildConnection, placeOf } from "./child-connection.ts";
import type { ChildPlan } from "./child-plan.ts";

/** What the connection owes beyond the conformance suite of providers, which `test/providers/children.test.ts` runs. */
const { signal } = new AbortController();
const things: ResourceType = {
  group: "example.org",
  version: "v1",
  plural: "things",
  kind: "Thing",
  namespaced: false,
};
const parents: ResourceType = { ...things, plural: "parents", kind: "Parent" };
const SECRET = { namespace: "default", name: "of-child" };

/** A kind whose controller leaves its Secrets without an owner. */
const plan: ChildPlan = {
  type: things,
  namespace: undefined,
  childOf: (name) => ({ apiVersion: "example.org/v1", kind: "Thing", metadata: { name }, spec: {} }),
  secretOf: () => SECRET,
  healthOf: ({ status }) =>
    status === undefined ? { kind: "ill", since: 5, complaint: "Broken: no luck" } : { kind: "well" },
  createdAt: () => undefined,
};

interface Stage {
  readonly kube: Kube;
  readonly parent: KubeObject;
  readonly owner: OwnerReference;
  readonly connection: Connection;
  readonly marks: Marks;
  fault: ((path: string, method: string) => Fault | undefined) | undefined;
  /** What the parent itself says. */
  isOwner: boolean;
}

async function staged(context: TestContext, changes: Partial<ChildPlan> = {}): Promise<Stage> {
  const { kube, clock, transport, server } = embeddedCluster();
  context.after(() => server.stop());
  for (const type of [things, parents]) await installForeignKind(kube, type);
  const parent = await kube.create<KubeObject>(parents, {
    apiVersion: apiVersionOf(parents),
    kind: "Parent",
    metadata: { name: "orders" },
  });
  const { uid = "" } = parent.metadata;
  const owner: OwnerReference = {
    apiVersion: apiVersionOf(parents),
    kind: "Parent",
    name: "orders",
    uid,
    controller: true,
    blockOwnerDeletion: true,
  };
  const marks: Marks = { clusterId: "c-1", ownerUid: uid, ownerKind: "Parent", ownerName: "orders", sequence: 1 };
  const stage: Pick<Stage, "fault" | "isOwner"> = { fault: undefined, isOwner: true };
  const faulty = createFaultyTransport({
    inner: transport,
    clock,
    plan: ({ path, method }) => stage.fault?.(path, method),
  });
  const through = createKubeClient({ transport: faulty, clock, userAgent: "keyturn/test" });
  const connection = createChildConnection({
    kube: through,
    plan: { ...plan, ...changes },
    owner,
    isOwnerStill: async () => stage.isOwner,
    isEdited: ({ data }) => (data as { readonly edited?: string } | undefined)?.edited !== undefined,
  });
  return Object.assign(stage, { kube, parent, owner, connection, marks });
}

async function made({ connection, marks }: Stage): Promise<string> {
  const request = { name: "child", instanceId: placeOf(plan), parameters: new Redacted({}), marks };
  const created = await connection.create(request, signal);
  return created.kind === "accepted" ? created.id : assert.fail();
}

const childOf = ({ kube }: Stage): Promise<KubeObject> => kube.get(things, { name: "child" });

const becomeWell = ({ kube }: Stage): Promise<unknown> =>
  kube.patch(things, { name: "child" }, { type: "merge", body: { status: { fine: true } } });

const secretOwners = async ({ kube }: Stage): Promise<readonly (string | undefined)[]> =>
  ((await kube.get(secretType, SECRET)).metadata.ownerReferences ?? []).map(({ uid }) => uid);

test("a child is owned by its parent from the start, and what is wrong with it is told since when", async (context) => {
  const stage = await staged(context);
  const id = await made(stage);
  assert.deepEqual((await childOf(stage)).metadata.ownerReferences, [stage.owner]);
  const seen = await stage.connection.observe(id, signal);
  assert.deepEqual([seen?.state, seen?.illSince, seen?.complaint], ["creating", 5, "child: Broken: no luck"]);
});

test("it is ready when it is well and its Secret is there, not before", async (context) => {
  const stage = await staged(context);
  const id = await made(stage);
  await becomeWell(stage);
  assert.equal((await stage.connection.observe(id, signal))?.state, "creating");
  await assert.rejects(
    stage.connection.readCredentials(id, signal),
    /child: its Secret default\/of-child is not there/,
  );
  await putSecret(stage.kube, SECRET, { a: "1" });
  assert.equal((await stage.connection.observe(id, signal))?.state, "ready");
  assert.deepEqual((await stage.connection.readCredentials(id, signal)).reveal(), {
    type: "Opaque",
    data: { a: Buffer.from("1").toString("base64") },
  });
});

const secrets: readonly (readonly [
  reason: string,
  secret: Partial<KubeObject["metadata"]>,
  edited: boolean,
  words: RegExp,
])[] = [
  [
    "it holds another key than the child's external-name",
    { annotations: { "keyturn.dev/key-id": "k-2" } },
    false,
    /holds another key/,
  ],
  ["somebody has edited it", { annotations: { "keyturn.dev/key-id": "k-1" } }, true, /edited/],
];

for (const [reason, metadata, edited, words] of secrets) {
  test(`nothing is copied from a Secret when ${reason}`, async (context) => {
    const stage = await staged(context);
    const id = await made(stage);
    await becomeWell(stage);
    const annotations = { "crossplane.io/external-name": "k-1" };
    await stage.kube.patch(things, { name: "child" }, { type: "merge", body: { metadata: { annotations } } });
    await putSecret(stage.kube, SECRET, edited ? { edited: "1" } : { a: "1" });
    await stage.kube.patch(secretType, SECRET, { type: "merge", body: { metadata } });
    await assert.rejects(stage.connection.readCredentials(id, signal), words);
  });
}

test("where Secrets have owners, one without, or with another, is nobody's", async (context) => {
  const stage = await staged(context, { ownsSecrets: true });
  const id = await made(stage);
  await becomeWell(stage);
  await putSecret(stage.kube, SECRET, { a: "1" });
  assert.equal((await stage.connection.observe(id, signal))?.state, "creating");
  await assert.rejects(stage.connection.readCredentials(id, signal), /belongs to somebody else/);
  await stage.connection.delete(id, signal);
  assert.deepEqual(await secretOwners(stage), [], "and is not made to go with the child");
});

test("a child that is deleted takes its Secret along: it becomes the owner first", async (context) => {
  const stage = await staged(context);
  const id = await made(stage);
  await becomeWell(stage);
  await putSecret(stage.kube, SECRET, { a: "1" });
  assert.equal(await stage.connection.delete(id, signal), "gone");
  assert.deepEqual(await secretOwners(stage), [id]);
});

test("a Secret becomes its child's as soon as that is ready; who may not see to that goes on without", async (context) => {
  const stage = await staged(context);
  const id = await made(stage);
  await becomeWell(stage);
  await putSecret(stage.kube, SECRET, { a: "1" });
  stage.fault = (_, method) => (method === "PATCH" ? refusal(403, "Forbidden", "no") : undefined);
  assert.equal((await stage.connection.observe(id, signal))?.state, "ready");
  assert.deepEqual(await secretOwners(stage), []);
  stage.fault = undefined;
  await stage.connection.observe(id, signal);
  assert.deepEqual(await secretOwners(stage), [id]);
});

test("the Secret of somebody else's child is left as it is", async (context) => {
  const stage = await staged(context);
  const id = await made(stage);
  await becomeWell(stage);
  await putSecret(stage.kube, SECRET, { a: "1" });
  const body = { metadata: { ownerReferences: null } };
  await stage.kube.patch(things, { name: "child" }, { type: "merge", body });
  assert.equal((await stage.connection.observe(id, signal))?.state, "ready");
  assert.deepEqual(await secretOwners(stage), []);
});

test("another object under the name of a child is not touched in its place", async (context) => {
  const stage = await staged(context);
  const id = await made(stage);
  await stage.kube.delete(things, { name: "child" });
  await stage.kube.create<KubeObject>(things, plan.childOf("child"));
  assert.equal(await stage.connection.observe(id, signal), undefined);
  assert.equal(await stage.connection.delete(id, signal), "gone");
  assert.ok(await childOf(stage));
});

test("children that name an earlier UID of the parent, or no owner, are made its own again when it lists them", async (context) => {
  const stage = await staged(context);
  const { connection, kube, owner, marks } = stage;
  await made(stage);
  const filter = { clusterId: "c-1", owner: { uid: owner.uid, kind: "Parent", name: "orders" } };
  const earlier = { ...owner, uid: "earlier" };
  const others = { apiVersion: "v1", kind: "ConfigMap", name: "theirs", uid: "theirs" };
  for (const ownerReferences of [[others, earlier], [others]]) {
    const labels = { "keyturn.dev/parent-uid": "earlier" };
    await kube.patch(things, { name: "child" }, { type: "merge", body: { metadata: { labels, ownerReferences } } });
    const [seen] = await connection.listMarked(filter, signal);
    assert.deepEqual(seen?.marks, marks);
    assert.deepEqual((await childOf(stage)).metadata.ownerReferences, [others, owner]);
  }
});

test("who has slept through the parent's being made anew takes no child from it", async (context) => {
  const stage = await staged(context);
  await made(stage);
  const labels = { "keyturn.dev/parent-uid": "later" };
  const ownerReferences = [{ ...stage.owner, uid: "later" }];
  await stage.kube.patch(things, { name: "child" }, { type: "merge", body: { metadata: { labels, ownerReferences } } });
  stage.isOwner = false;
  const filter = { clusterId: "c-1", owner: { uid: stage.owner.uid, kind: "Parent", name: "orders" } };
  await assert.rejects(stage.connection.listMarked(filter, signal), Conflict);
  assert.deepEqual((await childOf(stage)).metadata.ownerReferences, ownerReferences);
});

test("a child that is as it should be is not written to for being listed", async (context) => {
  const stage = await staged(context);
  await made(stage);
  const before = (await childOf(stage)).metadata.resourceVersion;
  await stage.connection.listMarked({ clusterId: "c-1", owner: { ...stage.owner } }, signal);
  assert.equal((await childOf(stage)).metadata.resourceVersion, before);
});

test("an object that somebody else controls is not made ours", async (context) => {
  const stage = await staged(context);
  const id = await made(stage);
  const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "theirs", uid: "theirs", controller: true }];
  await stage.kube.patch(things, { name: "child" }, { type: "merge", body: { metadata: { ownerReferences } } });
  await assert.rejects(stage.connection.mark(id, stage.marks, signal), /controlled by somebody else/);
  const filter = { clusterId: "c-1", owner: { uid: stage.owner.uid, kind: "Parent", name: "orders" } };
  assert.equal((await stage.connection.listMarked(filter, signal)).length, 1, "but is not overlooked either");
});

const refusal = (code: number, reason: string, message: string): Fault => ({
  kind: "answer",
  status: code,
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ kind: "Status", apiVersion: "v1", status: "Failure", message, reason, code }),
});

test("a conflict does not mean that a child is gone", async (context) => {
  const stage = await staged(context);
  const id = await made(stage);
  stage.fault = (_, method) => (method === "DELETE" ? refusal(409, "Conflict", "try again") : undefined);
  await assert.rejects(stage.connection.delete(id, signal), { code: "ProviderBusy" });
  await stage.kube.delete(things, { name: "child" });
  assert.equal(await stage.connection.delete(id, signal), "gone");
});

test("a right that is missing is named with its verb and its kind, and never looks like a child that is gone", async (context) => {
  const stage = await staged(context);
  const id = await made(stage);
  stage.fault = () => refusal(403, "Forbidden", 'User "x" cannot get resource');
  await assert.rejects(stage.connection.observe(id, signal), {
    code: "ProviderForbidden",
    message: /^not allowed to get Thing\.example\.org child: User "x" cannot/,
  });
  await assert.rejects(stage.connection.listMarked({ clusterId: "c-1" }, signal), /^.*not allowed to list Thing/);
  stage.fault = (path) => (path.includes("/secrets/") ? refusal(403, "Forbidden", "no") : undefined);
  await becomeWell(stage);
  await assert.rejects(stage.connection.observe(id, signal), /not allowed to get Secret default\/of-child/);
});

test("a kind that is not served any more says nothing about its objects", async (context) => {
  const stage = await staged(context);
  const id = await made(stage);
  stage.fault = () => ({
    kind: "answer",
    status: 404,
    headers: { "content-type": "text/plain" },
    body: "404 page not found",
  });
  for (const work of [
    stage.connection.observe(id, signal),
    stage.connection.delete(id, signal),
    stage.connection.findByName(placeOf(plan), "child", signal),
    stage.connection.listMarked({ clusterId: "c-1" }, signal),
  ]) {
    await assert.rejects(work, { code: "ProviderUnavailable", message: "this cluster has no kind Thing.example.org" });
  }
});

test("what the API server refuses is said in its words, in one line", async (context) => {
  const stage = await staged(context);
  stage.fault = () => refusal(422, "Invalid", `spec is\nwrong ${"x".repeat(2000)}`);
  await assert.rejects(made(stage), (error: Error) => {
    assert.match(error.message, /^create Thing\.example\.org child: spec is wrong x+$/);
    return error.message.length < 500;
  });
});
