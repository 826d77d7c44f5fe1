import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { rotatingResource } from "../../src/api/keyturn/rotating-resource.ts";
import { rotationClass } from "../../src/api/keyturn/rotation-class.ts";
import type { KubeObject } from "../../src/kube/objects.ts";
import { customResourceDefinitions, secrets } from "../conformance/kinds.ts";
import { certificates } from "./foreign-kinds.ts";
import {
  ACCOUNT_USER,
  certificateTemplate,
  classOf,
  GenericWorld,
  NAMESPACE,
  rotatingOf,
} from "./rotating-resource-world.ts";

type Fields = Readonly<Record<string, unknown>>;

const MINUTE_MS = 60_000;
const ref = { namespace: NAMESPACE, name: "web" };
async function begun(context: TestContext): Promise<GenericWorld> {
  const world = await GenericWorld.begin();
  context.after(() => world.stop());
  return world;
}

/** What the API server lets through, and the operator does not. */
const refusals: readonly {
  readonly reason: string;
  readonly classSpec?: Fields;
  readonly spec?: Fields;
  readonly says: RegExp;
}[] = [
  {
    reason: "a kind that the class does not list",
    classSpec: { kinds: [{ group: "external-secrets.io", kind: "ExternalSecret" }] },
    says: /^False RotationNotAllowed: RotationClass certificates: Certificate\.cert-manager\.io \(v1\) is not among its kinds$/,
  },
  {
    reason: "a version that the class does not list",
    classSpec: { kinds: [{ group: "cert-manager.io", kind: "Certificate", version: "v1alpha3" }] },
    says: /^False RotationNotAllowed: .*\(v1\) is not among its kinds$/,
  },
  {
    reason: "a ServiceAccount that the class does not list",
    spec: { serviceAccountName: "admin" },
    says: /^False RotationNotAllowed: .*ServiceAccount admin is not among its serviceAccounts$/,
  },
  {
    reason: "another namespace than those of the class",
    classSpec: { namespaces: ["shop"] },
    says: /^False RotationNotAllowed: .*the namespace default is not among its namespaces$/,
  },
  {
    reason: "more often than the class has it",
    classSpec: { minFrequency: "1h" },
    says: /^False RotationNotAllowed: .*spec\.rotation is more frequent than its minFrequency of 1h$/,
  },
  {
    reason: "a class that is not there",
    spec: { rotationClassName: "nowhere" },
    says: /^False RotationNotAllowed: spec\.rotationClassName: there is no RotationClass nowhere$/,
  },
  {
    reason: "a kind without a namespace, although the class lists it",
    classSpec: { kinds: [{ group: "cert-manager.io", kind: "ClusterIssuer" }] },
    spec: { template: { apiVersion: "cert-manager.io/v1", kind: "ClusterIssuer" }, childSecret: { name: "$(name)" } },
    says: /^False SpecProblem: spec\.template\.kind: ClusterIssuer\.cert-manager\.io has no namespace/,
  },
  {
    reason: "a kind that is not there",
    classSpec: { kinds: [{ group: "example.org", kind: "Widget" }] },
    spec: { template: { apiVersion: "example.org/v1", kind: "Widget" }, childSecret: { name: "$(name)" } },
    says: /^False ReferenceProblem: spec\.template: this cluster has no kind Widget\.example\.org in version v1/,
  },
  {
    reason: "pods in a template",
    spec: { template: { ...certificateTemplate, spec: { secretName: "$(name)-tls", jobs: [{ containers: [] }] } } },
    says: /^False SpecProblem: spec\.template\.spec\.jobs\[0\]\.containers: describes pods/,
  },
  {
    reason: "a Secret that the child knows nothing of",
    spec: { childSecret: { name: "admin-$(name)" } },
    says: /^False SpecProblem: spec\.childSecret\.name: is in no text of spec\.template/,
  },
  {
    reason: "marks of our own in a template",
    spec: { template: { ...certificateTemplate, metadata: { labels: { "keyturn.dev/parent-uid": "x" } } } },
    says: /^False SpecProblem: .*is Keyturn's own/,
  },
  {
    reason: "an expression that costs too much",
    spec: { readiness: { cel: "self.metadata.name.matches('(a+)+')" } },
    says: /^False SpecProblem: spec\.readiness\.cel: may not call matches/,
  },
];

for (const { reason, classSpec, spec, says } of refusals) {
  test(`refused: ${reason}`, async (context) => {
    const world = await begun(context);
    if (classSpec) await world.kube.replace(rotationClass, await withSpec(world, classSpec));
    await world.create("web", spec);
    await world.pass(5_000);
    assert.match(await world.problemOf("web"), says);
    assert.deepEqual(await world.children(), []);
    const acted = world.operator.requests.filter(({ headers }) => headers["impersonate-user"] !== undefined);
    assert.deepEqual(acted, [], "nothing is even asked as somebody else");
  });
}

async function withSpec(world: GenericWorld, spec: Fields): Promise<KubeObject> {
  const { metadata } = await world.kube.get(rotationClass, { name: "certificates" });
  return { ...classOf(spec), metadata };
}

test("a kind that is never allowed is not made although class and API server let it through", async (context) => {
  const world = await begun(context);
  // As an older schema may have it: without any rule.
  for (const { plural, group } of [rotatingResource, rotationClass]) {
    const definition = await world.kube.get(customResourceDefinitions, { name: `${plural}.${group}` });
    const text = JSON.stringify(definition, (key, value: unknown) =>
      key === "x-kubernetes-validations" ? undefined : value,
    );
    await world.kube.replace(customResourceDefinitions, JSON.parse(text) as KubeObject);
  }
  const kinds = [
    { group: "apps", kind: "Deployment" },
    { group: "rbac.authorization.k8s.io", kind: "RoleBinding" },
    { group: "keyturn.dev", kind: "RotatingResource" },
  ];
  await world.kube.replace(rotationClass, await withSpec(world, { kinds }));
  for (const { group, kind } of kinds) {
    const version = group === "keyturn.dev" ? "v1alpha1" : "v1";
    const name = kind.toLowerCase();
    const template = { apiVersion: `${group}/${version}`, kind };
    await world.create(name, { template, childSecret: { name: "$(name)" } });
    await world.pass(3_000);
    assert.match(
      await world.problemOf(name),
      /^False SpecProblem: spec\.template\.apiVersion: the API group .* is built into/,
    );
  }
  const acted = world.operator.requests.filter(({ headers }) => headers["impersonate-user"] !== undefined);
  assert.deepEqual(acted, []);
});

test("a class that is tightened stops what is new at once; what is published stays, and what is left is named", async (context) => {
  const world = await begun(context);
  await world.create("web");
  await world.pass(32 * MINUTE_MS, MINUTE_MS);
  const published = (await world.secret("web-secret"))?.data;
  const names = (await world.children()).map(({ metadata }) => metadata.name).toSorted();
  assert.equal(names.length, 2);
  const tightened = { kinds: [{ group: "external-secrets.io", kind: "ExternalSecret" }] };
  await world.kube.replace(rotationClass, await withSpec(world, tightened));
  world.operator.traffic();
  await world.pass(3_000);
  assert.equal(
    await world.problemOf("web"),
    `False RotationNotAllowed: RotationClass certificates: Certificate.cert-manager.io (v1) is not among its kinds; these children are left as they are: ${names.join(", ")}`,
  );
  await world.pass(60 * MINUTE_MS, MINUTE_MS);
  assert.deepEqual((await world.children()).map(({ metadata }) => metadata.name).toSorted(), names);
  assert.deepEqual((await world.secret("web-secret"))?.data, published);
  assert.ok(!world.operator.requests.some(({ headers }) => headers["impersonate-user"] === ACCOUNT_USER));

  await world.kube.replace(rotationClass, await withSpec(world, {}));
  await world.pass(MINUTE_MS);
  assert.equal(await world.problemOf("web"), "True ReconcileSuccess: ");
  assert.notDeepEqual((await world.secret("web-secret"))?.data, published);
});

for (const [how, spoil] of [
  ["its class is gone", (world: GenericWorld) => world.kube.delete(rotationClass, { name: "certificates" })],
  [
    "its account is not listed any more",
    async (world: GenericWorld) =>
      world.kube.replace(rotationClass, await withSpec(world, { serviceAccounts: ["other"] })),
  ],
] as const) {
  test(`a RotatingResource goes although ${how}, and its children go with it`, async (context) => {
    const world = await begun(context);
    await world.create("web");
    await world.pass(5_000);
    await spoil(world);
    await world.pass(3_000);
    world.operator.traffic();
    await world.kube.delete(rotatingResource, ref);
    await world.pass(10_000);
    assert.deepEqual((await world.kube.list(rotatingResource, { namespace: NAMESPACE })).items, []);
    assert.deepEqual(await world.children(), [], "the garbage collector has seen to them");
    assert.ok(!world.operator.requests.some(({ headers }) => headers["impersonate-user"] !== undefined));
  });
}

test("an annotation on a child does not make another Secret of it", async (context) => {
  const world = await begun(context);
  await world.create("web");
  await world.pass(5_000);
  const { name } = await world.activeOf("web");
  const [child] = await world.children();
  await world.kube.create<KubeObject>(secrets, {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { namespace: NAMESPACE, name: "admin" },
    type: "kubernetes.io/tls",
    data: { "tls.crt": "", "tls.key": "" },
  });
  for (const secret of ["admin", `${name}-other`]) {
    const body = { metadata: { annotations: { "keyturn.dev/child-secret": secret } } };
    await world.kube.patch(
      certificates,
      { namespace: NAMESPACE, name: child?.metadata.name ?? "" },
      { type: "merge", body },
    );
    await world.pass(70_000);
    assert.ok(await world.isCopied("web", name), secret);
  }
});

test("a child that somebody else has made is neither taken over, nor copied, nor deleted", async (context) => {
  const world = await begun(context);
  const foreign = await world.kube.create<KubeObject>(certificates, {
    ...certificateTemplate,
    apiVersion: "cert-manager.io/v1",
    kind: "Certificate",
    metadata: { namespace: NAMESPACE, name: "admin" },
    spec: { secretName: "admin-tls" },
  });
  await world.pass(2_000);
  const { uid = "" } = foreign.metadata;
  const annotations = { "crossplane.io/external-name": uid };
  const wish = rotatingOf("web");
  await world.kube.create<KubeObject>(rotatingResource, { ...wish, metadata: { ...wish.metadata, annotations } });
  await world.pass(5_000);
  const active = await world.activeOf("web");
  assert.notEqual(active.uid, uid);

  // With every mark that a child of ours has, and a later number.
  const own = await world.kube.get(certificates, { namespace: NAMESPACE, name: active.name });
  const labels = { ...own.metadata.labels, "keyturn.dev/sequence": "99" };
  const { ownerReferences = [] } = own.metadata;
  const marks = { labels, annotations: own.metadata.annotations, ownerReferences };
  await world.kube.patch(
    certificates,
    { namespace: NAMESPACE, name: "admin" },
    { type: "merge", body: { metadata: marks } },
  );
  await world.pass(50 * MINUTE_MS, MINUTE_MS);
  const there = await world.children();
  assert.ok(
    there.some(({ metadata }) => metadata.uid === uid),
    "it is still there",
  );
  const stable = await world.secret("web-secret");
  assert.notDeepEqual(stable?.data, (await world.secret("admin-tls"))?.data);
  assert.ok(await world.isCopied("web", (await world.activeOf("web")).name));
});

test("one that bears the name of a child, and no marks, is not taken over by its UID", async (context) => {
  const world = await begun(context);
  const foreign = await world.kube.create<KubeObject>(certificates, {
    apiVersion: "cert-manager.io/v1",
    kind: "Certificate",
    metadata: { namespace: NAMESPACE, name: "web-bcdfghjk" },
    spec: { secretName: "web-bcdfghjk-tls" },
  });
  await world.pass(2_000);
  const annotations = { "crossplane.io/external-name": foreign.metadata.uid ?? "" };
  const wish = rotatingOf("web");
  await world.kube.create<KubeObject>(rotatingResource, { ...wish, metadata: { ...wish.metadata, annotations } });
  await world.pass(5_000);
  assert.match(await world.problemOf("web"), /^False AdoptionRefused/);
  assert.equal(await world.secret("web-secret"), undefined);
});

test("a Secret that was the stable one is removed when another takes its place", async (context) => {
  const world = await begun(context);
  await world.create("web");
  await world.pass(5_000);
  await world.patch("web", { spec: { writeConnectionSecretToRef: { name: "web-other" } } });
  await world.pass(3 * MINUTE_MS, MINUTE_MS);
  assert.ok(await world.secret("web-other"));
  await world.pass(50 * MINUTE_MS, MINUTE_MS);
  assert.equal(await world.secret("web-secret"), undefined);
});
