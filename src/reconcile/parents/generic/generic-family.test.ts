import assert from "node:assert/strict";
import { test } from "node:test";
import { Redacted } from "../../../base/redacted.ts";
import { embeddedCluster } from "../../../embedded/embedded-cluster.fixture.ts";
import { Forbidden, Unreachable } from "../../../kube/errors.ts";
import type { KubeObject, ResourceType } from "../../../kube/objects.ts";
import { ProviderError } from "../../../providers/provider-error.ts";
import { Fingerprinter } from "../../../publish/fingerprint.ts";
import { keyName } from "../../managed/key-name.ts";
import { ReferenceProblem, SpecProblem } from "../../managed/spec-problem.ts";
import { installForeignKind } from "../../objects.fixture.ts";
import { ParentSource } from "../parent-source.ts";
import { createGenericFamily, leavesOn } from "./generic-family.ts";
import { IllnessLog } from "./illness-log.ts";
import { createRotatingResourceKind } from "./rotating-resource-kind.ts";
import { type RotationClassRules, RotationNotAllowed } from "./rotation-class-rules.ts";

const signal = new AbortController().signal;
const widgets: ResourceType = { group: "x.dev", version: "v1", plural: "widgets", kind: "Widget", namespaced: true };
const resource: KubeObject = {
  apiVersion: "keyturn.dev/v1alpha1",
  kind: "RotatingResource",
  metadata: { namespace: "default", name: "web", uid: "u-1" },
  spec: {
    rotationClassName: "c",
    serviceAccountName: "rotator",
    template: { apiVersion: "x.dev/v1", kind: "Widget", spec: { a: 1 } },
    writeConnectionSecretToRef: { name: "stable" },
  },
};
const rules: RotationClassRules = {
  name: "c",
  kinds: [{ group: "x.dev", kind: "Widget", version: undefined }],
  serviceAccounts: ["rotator"],
  namespaces: undefined,
  minFrequencyMs: 0,
};

async function setUp() {
  const { kube, clock } = embeddedCluster();
  await installForeignKind(kube, widgets);
  const classes = { current: rules as RotationClassRules | undefined };
  const kind = createRotatingResourceKind();
  const fingerprinter = new Fingerprinter(new Redacted(new Uint8Array(32).fill(7)));
  const family = createGenericFamily({ kind, kube, clock, fingerprinter, classOf: () => classes.current });
  return { kube, kind, classes, source: new ParentSource(family, { kube, fingerprinter }) };
}

const marks = {
  clusterId: "c-1",
  ownerUid: "u-1",
  ownerKind: "RotatingResource",
  ownerName: "web",
  ownerNamespace: "default",
};

test("a class that is tightened while a pass is under way stops it at its next call, whichever that is", async () => {
  const { kube, kind, classes, source } = await setUp();
  const { connection, instanceId, publisher } = await source.resolve(resource, kind.readSpec(resource), signal);
  const create = (name: string) =>
    connection.create({ name, instanceId, parameters: new Redacted({}), marks: { ...marks, sequence: 1 } }, signal);
  const made = await create(keyName("web", "u-1", 1));
  assert.ok(made.kind === "accepted");
  const filter = {
    clusterId: "c-1",
    owner: { uid: "u-1", kind: "RotatingResource", namespace: "default", name: "web" },
  };
  classes.current = { ...rules, serviceAccounts: [] };
  const steps = {
    create: () => create(keyName("web", "u-1", 2)),
    observe: () => connection.observe(made.id, signal),
    list: () => connection.listMarked(filter, signal),
    find: () => connection.findByName(instanceId, keyName("web", "u-1", 1), signal),
    read: () => connection.readCredentials(made.id, signal),
    delete: () => connection.delete(made.id, signal),
    mark: () => connection.mark(made.id, undefined, signal),
    secret: () => publisher?.read({ namespace: "default", name: "stable" }, filter.owner, signal),
  };
  for (const [name, step] of Object.entries(steps)) {
    await assert.rejects(async () => step(), RotationNotAllowed, name);
  }
  const { items } = await kube.list(widgets, { namespace: "default" });
  assert.deepEqual(
    items.map(({ metadata }) => metadata.name),
    [keyName("web", "u-1", 1)],
  );
});

test("the order in which a template is written does not make another child of it", async () => {
  const { kind, source } = await setUp();
  const spec = resource.spec as Readonly<Record<string, unknown>>;
  const digestOf = async (template: object): Promise<string> => {
    const object = { ...resource, spec: { ...spec, template } };
    return (await source.resolve(object, kind.readSpec(object), signal)).madeFrom;
  };
  const one = await digestOf({ kind: "Widget", apiVersion: "x.dev/v1", spec: { a: 1, b: { c: 2, d: 3 } } });
  assert.equal(one, await digestOf({ spec: { b: { d: 3, c: 2 }, a: 1 }, apiVersion: "x.dev/v1", kind: "Widget" }));
  assert.notEqual(one, await digestOf({ kind: "Widget", apiVersion: "x.dev/v1", spec: { a: 1, b: { c: 2, d: 4 } } }));
});

test("what lets a resource go although its children are there, and what does not", () => {
  const table: readonly (readonly [unknown, boolean])[] = [
    [new RotationNotAllowed("x"), true],
    [new SpecProblem("spec", "x"), true],
    [new ReferenceProblem("spec", "x"), true],
    [new Forbidden("x"), true],
    [new ProviderError("ProviderForbidden", "x"), true],
    [new ProviderError("ProviderUnavailable", "x"), false],
    [new Unreachable("x"), false],
    [new Error("x"), false],
  ];
  const leaving = { ...resource, metadata: { ...resource.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } };
  const orphaning = { ...leaving, spec: { ...(resource.spec as object), deletionPolicy: "Orphan" } };
  const at = Date.UTC(2026, 0, 1);
  for (const [error, expected] of table) {
    assert.equal(leavesOn(error, leaving, at), expected, String(error));
    assert.equal(leavesOn(error, orphaning, at + 599_000), false, `${error}, and children are to stay`);
    assert.equal(leavesOn(error, orphaning, at + 600_000), expected, `${error}, for ten minutes`);
  }
});

test("since when a child is ill is remembered until it is well, and not for ever", () => {
  const log = new IllnessLog(2);
  assert.equal(log.since("a", 10), 10);
  assert.equal(log.since("a", 20), 10);
  log.recovered("a");
  assert.equal(log.since("a", 30), 30);
  log.since("b", 31);
  log.since("c", 32);
  assert.equal(log.since("a", 40), 40, "the oldest of too many is forgotten");
});
