import assert from "node:assert/strict";
import { test } from "node:test";
import type { ObjectMeta } from "../kube/objects.ts";
import { objectWith } from "./restart.fixture.ts";
import { type TemplateSight, templateSightOf } from "./template-sight.ts";
import { kindOf } from "./workload-kinds.ts";

type Fields = Readonly<Record<string, unknown>>;

function sight(kindName: string, metadata: Partial<ObjectMeta>, fields: Fields): TemplateSight {
  const kind = kindOf(kindName);
  assert.ok(kind, kindName);
  return templateSightOf(kind, objectWith(metadata, fields));
}

const spec = (image: string, replicas = 1): Fields => ({ replicas, template: { spec: { containers: [{ image }] } } });

test("a digest is that of the whole template, and of nothing else", () => {
  const { digest } = sight("Deployment", {}, { spec: spec("shop:1") });
  assert.equal(sight("Deployment", { annotations: { a: "b" } }, { spec: spec("shop:1", 3) }).digest, digest);
  assert.notEqual(sight("Deployment", {}, { spec: spec("shop:2") }).digest, digest);
  assert.match(digest, /^[\w-]{22}$/);
});

test("what its own controller calls it", () => {
  const deployment = { annotations: { "deployment.kubernetes.io/revision": "3" } };
  const daemonSet = { annotations: { "deprecated.daemonset.template.generation": "4" } };
  assert.equal(sight("Deployment", deployment, {}).revision, "3");
  assert.equal(sight("DaemonSet", daemonSet, {}).revision, "4");
  assert.equal(sight("StatefulSet", {}, { status: { updateRevision: "web-5" } }).revision, "web-5");
  assert.equal(sight("Deployment", {}, {}).revision, undefined);
});
