import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { rotatingResource } from "../../src/api/keyturn/rotating-resource.ts";
import { rotationClass } from "../../src/api/keyturn/rotation-class.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { events } from "../conformance/kinds.ts";
import { certificates, externalSecrets } from "./foreign-kinds.ts";
import {
  ACCOUNT_USER,
  certificateTemplate,
  externalSecretTemplate,
  GenericWorld,
  NAMESPACE,
} from "./rotating-resource-world.ts";

const MINUTE_MS = 60_000;

async function begun(context: TestContext): Promise<GenericWorld> {
  const world = await GenericWorld.begin();
  context.after(() => world.stop());
  return world;
}

async function withCertificate(context: TestContext): Promise<GenericWorld> {
  const world = await begun(context);
  await world.create("web");
  await world.pass(5_000);
  return world;
}

test("a Certificate is made, and what it publishes is copied byte for byte", async (context) => {
  const world = await withCertificate(context);
  const [child] = await world.children();
  assert.ok(child);
  const { name, namespace, uid } = child.metadata;
  assert.match(name, /^web-[a-z0-9]{8}$/);
  assert.equal(namespace, NAMESPACE);
  assert.deepEqual((child.spec as { readonly secretName: string }).secretName, `${name}-tls`);
  assert.equal(child.metadata.labels?.app, "web");
  assert.deepEqual(
    child.metadata.ownerReferences?.map(({ kind, name: owner, controller }) => ({ kind, owner, controller })),
    [{ kind: "RotatingResource", owner: "web", controller: true }],
  );
  assert.ok(await world.isCopied("web", name));
  const stable = await world.secret("web-secret");
  assert.equal(stable?.type, "kubernetes.io/tls");
  assert.deepEqual(Object.keys(stable?.data as object), ["tls.crt", "tls.key", "keystore.p12"]);
  assert.deepEqual(await world.activeOf("web").then((active) => active.uid), uid);
  assert.equal(await world.problemOf("web"), "True ReconcileSuccess: ");
});

test("everything about children and Secrets is asked as the ServiceAccount, everything else as the operator", async (context) => {
  const world = await withCertificate(context);
  await world.pass(35 * MINUTE_MS, MINUTE_MS);
  const users = new Map<string, Set<string | undefined>>();
  for (const { path, headers, body = "" } of world.operator.requests) {
    const [, plural = ""] = /\/(certificates|secrets|rotatingresources|events)\b/.exec(path) ?? [];
    if (path.includes("keyturn-fingerprint-key") || body.includes("keyturn-fingerprint-key")) continue;
    users.set(plural, (users.get(plural) ?? new Set()).add(headers["impersonate-user"]));
  }
  assert.deepEqual([...(users.get("certificates") ?? [])], [ACCOUNT_USER]);
  assert.deepEqual([...(users.get("secrets") ?? [])], [ACCOUNT_USER]);
  assert.deepEqual([...(users.get("rotatingresources") ?? [])], [undefined]);
  assert.deepEqual([...(users.get("events") ?? [])], [undefined]);
});

test("on schedule the next child takes over, and the one before goes with its Secret", async (context) => {
  const world = await withCertificate(context);
  const first = await world.activeOf("web");
  await world.pass(30 * MINUTE_MS, MINUTE_MS);
  await world.pass(2 * MINUTE_MS);
  const second = await world.activeOf("web");
  assert.notEqual(second.uid, first.uid);
  assert.ok(await world.isCopied("web", second.name));
  assert.deepEqual(
    (await world.statusOf("web")).atProvider?.children?.map(({ name, state }) => [name, state]),
    [
      [second.name, "active"],
      [first.name, "retired"],
    ],
  );
  await world.pass(16 * MINUTE_MS, MINUTE_MS);
  assert.deepEqual(
    (await world.children()).map(({ metadata }) => metadata.name),
    [second.name],
  );
  assert.deepEqual((await world.secretNames()).toSorted(), [`${second.name}-tls`, "web-secret"].toSorted());
});

test("an ExternalSecret: judged by an expression, its Secret under its own name", async (context) => {
  const world = await begun(context);
  await world.create("db", {
    template: externalSecretTemplate,
    childSecret: undefined,
    readiness: { cel: "has(self.status) && self.status.phase == 'Issued'" },
  });
  await world.pass(5_000);
  const [child] = await world.children(externalSecrets);
  const [stable, own] = [await world.secret("db-secret"), await world.secret(child?.metadata.name ?? "")];
  assert.ok(own);
  assert.deepEqual(stable?.data, own.data);
  assert.equal(stable?.type, "Opaque");
});

test("drift: the active child is deleted by hand", async (context) => {
  const world = await withCertificate(context);
  const first = await world.activeOf("web");
  await world.kube.delete(certificates, { namespace: NAMESPACE, name: first.name });
  await world.pass(70_000);
  const second = await world.activeOf("web");
  assert.notEqual(second.uid, first.uid);
  assert.ok(await world.isCopied("web", second.name));
});

test("drift: a retired child is deleted by hand, and nothing else happens", async (context) => {
  const world = await withCertificate(context);
  const first = await world.activeOf("web");
  await world.pass(32 * MINUTE_MS, MINUTE_MS);
  const second = await world.activeOf("web");
  await world.kube.delete(certificates, { namespace: NAMESPACE, name: first.name });
  await world.pass(2 * MINUTE_MS);
  assert.deepEqual(
    (await world.statusOf("web")).atProvider?.children?.map(({ uid }) => uid),
    [second.uid],
  );
});

test("drift: the stable Secret is edited, and then deleted", async (context) => {
  const world = await withCertificate(context);
  const { name } = await world.activeOf("web");
  const address = { namespace: NAMESPACE, name: "web-secret" };
  const body = { data: { "tls.key": Buffer.from("stolen").toString("base64") } };
  await world.kube.patch(secretType, address, { type: "merge", body });
  await world.pass(70_000);
  assert.ok(await world.isCopied("web", name));
  await world.kube.delete(secretType, address);
  await world.pass(70_000);
  assert.ok(await world.isCopied("web", name));
});

test("drift: what the child publishes changes, and the stable Secret follows", async (context) => {
  const world = await withCertificate(context);
  const { name, uid } = await world.activeOf("web");
  await world.kube.delete(secretType, { namespace: NAMESPACE, name: `${name}-tls` });
  await world.pass(70_000);
  assert.ok(await world.isCopied("web", name));
  assert.equal((await world.activeOf("web")).uid, uid, "the child is the same");
});

test("drift: external-name is tampered with", async (context) => {
  const world = await withCertificate(context);
  const first = await world.activeOf("web");
  await world.patch("web", { metadata: { annotations: { "crossplane.io/external-name": "somebody-else" } } });
  await world.pass(10_000);
  const second = await world.activeOf("web");
  assert.notEqual(second.uid, first.uid);
  assert.ok(await world.isCopied("web", second.name));
  const names = (await world.statusOf("web")).atProvider?.children?.map(({ name }) => name);
  assert.ok(names?.includes(first.name), "the one before is not forgotten");
});

test("a child that does not get ready is complained of, and the Secret stays as it is", async (context) => {
  const world = await withCertificate(context);
  const first = await world.activeOf("web");
  world.others.stuck = /^(?!x)/;
  await world.patch("web", { spec: { template: { spec: { dnsNames: ["other.example.org"] } } } });
  await world.pass(150_000);
  assert.match(
    await world.problemOf("web"),
    /^False KeyNotReady: web-.*: Ready is False: Pending: the issuer does not answer/,
  );
  assert.ok(await world.isCopied("web", first.name));
  const [pending] = ((await world.statusOf("web")).atProvider?.children ?? []).filter(
    ({ state }) => state === "pending",
  );

  world.others.stuck = new RegExp(`^${pending?.name}$`);
  await world.patch("web", { spec: { template: { spec: { dnsNames: ["third.example.org"] } } } });
  await world.pass(150_000);
  const last = await world.activeOf("web");
  assert.notEqual(last.uid, first.uid);
  assert.ok(await world.isCopied("web", last.name));
  assert.equal(await world.problemOf("web"), "True ReconcileSuccess: ");
  assert.ok(
    !(await world.children()).some(({ metadata }) => metadata.name === pending?.name),
    "what was given up is gone",
  );
});

test("a Secret that never comes, and a condition that no child has, are complained of", async (context) => {
  const world = await begun(context);
  const template = { ...certificateTemplate, spec: { secretName: "$(name)-tls", commonName: "$(name)-elsewhere" } };
  await world.create("lost", { template, childSecret: { name: "$(name)-elsewhere" } });
  await world.create("mute", { readiness: { condition: "Issued" } });
  await world.pass(50_000);
  for (const name of ["lost", "mute"])
    assert.equal(await world.problemOf(name), "True ReconcileSuccess: ", "not at once");
  await world.pass(30_000);
  assert.match(
    await world.problemOf("lost"),
    /^False KeyNotReady: (lost-\w+): its Secret default\/\1-elsewhere is not there$/,
  );
  assert.match(await world.problemOf("mute"), /^False KeyNotReady: mute-\w+: it has no condition Issued$/);
});

test("an active child that stays ill for longer than the grace is replaced, a shorter illness is sat out", async (context) => {
  const world = await withCertificate(context);
  const first = await world.activeOf("web");
  const fall = async (status: "True" | "False"): Promise<void> => {
    const child = await world.kube.get(certificates, { namespace: NAMESPACE, name: first.name });
    world.others.stuck = status === "False" ? new RegExp(`^${first.name}$`) : undefined;
    await world.others.condition(certificates, child, { status, reason: "Said", message: "by hand" });
  };
  await world.pass(2 * MINUTE_MS);
  await fall("False");
  await world.pass(8 * MINUTE_MS, MINUTE_MS);
  assert.match(await world.problemOf("web"), /^False KeyNotReady/);
  await fall("True");
  await world.pass(5 * MINUTE_MS, MINUTE_MS);
  assert.equal((await world.activeOf("web")).uid, first.uid);
  await fall("False");
  await world.pass(14 * MINUTE_MS, MINUTE_MS);
  const second = await world.activeOf("web");
  assert.notEqual(second.uid, first.uid);
  assert.ok(await world.isCopied("web", second.name));
});

test("a Secret of a type that nobody may have written is not copied", async (context) => {
  const world = await begun(context);
  world.others.externalType = "helm.sh/release.v1";
  await world.create("db", { template: externalSecretTemplate, childSecret: undefined });
  await world.pass(10_000);
  assert.match(
    await world.problemOf("db"),
    /^False UnpublishableCredentials: a Secret of type helm\.sh\/release\.v1 is not copied/,
  );
  assert.equal(await world.secret("db-secret"), undefined);
});

test("deleting it takes children and Secrets along", async (context) => {
  const world = await withCertificate(context);
  await world.pass(32 * MINUTE_MS, MINUTE_MS);
  assert.equal((await world.children()).length, 2);
  await world.kube.delete(rotatingResource, { namespace: NAMESPACE, name: "web" });
  await world.pass(10_000);
  assert.deepEqual(await world.children(), []);
  assert.deepEqual(await world.secretNames(), []);
  assert.deepEqual((await world.kube.list(rotatingResource, { namespace: NAMESPACE })).items, []);
});

test("deleting it takes children and Secrets along although its class is gone, and says whose they were", async (context) => {
  const world = await withCertificate(context);
  const { name } = await world.activeOf("web");
  const owners = (await world.secret(`${name}-tls`))?.metadata.ownerReferences?.map((owner) => owner.name);
  assert.deepEqual(owners, [name], "a Secret belongs to its child as soon as that is ready");
  await world.kube.delete(rotationClass, { name: "certificates" });
  await world.pass(2_000);
  await world.kube.delete(rotatingResource, { namespace: NAMESPACE, name: "web" });
  await world.pass(10_000);
  assert.deepEqual(await world.children(), []);
  assert.deepEqual(await world.secretNames(), []);
  const { items } = await world.kube.list({ ...events, group: "events.k8s.io" });
  const notes = items.map(({ note }) => String(note));
  assert.ok(
    notes.some((note) =>
      note.includes(`go with it, and those of their Secrets that they own: ${name} (Secret ${name}-tls)`),
    ),
    notes.join("\n"),
  );
});

test("with Orphan the children stay, as nobody's", async (context) => {
  const world = await begun(context);
  await world.create("web", { deletionPolicy: "Orphan" });
  await world.pass(5_000);
  await world.kube.delete(rotatingResource, { namespace: NAMESPACE, name: "web" });
  await world.pass(10_000);
  const [child] = await world.children();
  assert.ok(child);
  const { name, labels, annotations, ownerReferences = [] } = child.metadata;
  assert.deepEqual(ownerReferences, []);
  const ours = Object.keys({ ...labels, ...annotations }).filter((key) => key.includes("keyturn"));
  assert.deepEqual(ours, [], "nothing on it says that it was ours");
  assert.ok(await world.secret(`${name}-tls`));
});

test("force, and the request goes with what it asked for", async (context) => {
  const world = await withCertificate(context);
  const first = await world.activeOf("web");
  await world.patch("web", { metadata: { annotations: { "rotatingresource.keyturn.dev/force-rotation": "now" } } });
  await world.pass(10_000);
  assert.notEqual((await world.activeOf("web")).uid, first.uid);
  const { metadata } = await world.kube.get(rotatingResource, { namespace: NAMESPACE, name: "web" });
  assert.equal(metadata.annotations?.["rotatingresource.keyturn.dev/force-rotation"], undefined);
});

test("where a child has its Secret is decided when it is made", async (context) => {
  const world = await begun(context);
  await world.create("db", { template: externalSecretTemplate, childSecret: undefined });
  await world.pass(5_000);
  const first = await world.activeOf("db");
  await world.patch("db", {
    spec: { childSecret: { name: "$(name)-x" }, template: { spec: { target: { name: "$(name)-x" } } } },
  });
  await world.pass(10_000);
  const second = await world.activeOf("db");
  assert.notEqual(second.uid, first.uid);
  assert.deepEqual((await world.secret("db-secret"))?.data, (await world.secret(`${second.name}-x`))?.data);
  await world.pass(50 * MINUTE_MS, MINUTE_MS);
  assert.equal(await world.secret(first.name), undefined);
});
