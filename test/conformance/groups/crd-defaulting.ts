import assert from "node:assert/strict";
import { type BehaviourGroup, behaviour } from "../behaviour.ts";
import { assertStatus, at } from "../expectations.ts";
import { makeWidget, widgetDraft, widgets } from "../widgets.ts";

/** What a schema adds to an object, and what it takes away. */
export const crdDefaulting: BehaviourGroup = {
  name: "custom resource defaulting and pruning",
  behaviours: [
    behaviour("defaults are filled in, also inside defaults and list items", async (world) => {
      const made = await makeWidget(world, { spec: { rules: [{ name: "r" }] } });
      assert.deepEqual(made.spec, {
        owner: "team",
        replicas: 1,
        size: "small",
        nested: { level: 3 },
        rules: [{ name: "r", weight: 5 }],
      });
    }),
    behaviour("a given value is kept, a removed one is defaulted again", async (world) => {
      const made = await makeWidget(world, { spec: { replicas: 7 } });
      const type = await widgets(world);
      const ref = { namespace: made.metadata.namespace ?? "", name: "a" };
      assert.equal(at(made, "spec", "replicas"), 7);
      const patched = await world.kube.patch(type, ref, { type: "merge", body: { spec: { replicas: null } } });
      assert.equal(at(patched, "spec", "replicas"), 1);
    }),
    behaviour("null is dropped and defaulted unless the field is nullable", async (world) => {
      const made = await makeWidget(world, { spec: { size: null, note: null } });
      assert.equal(at(made, "spec", "size"), "small");
      assert.equal(at(made, "spec", "note"), null);
    }),
    behaviour("unknown fields are pruned at every level", async (world) => {
      const spec = { stray: 1, nested: { level: 2, stray: true }, rules: [{ name: "r", weight: 1, stray: "x" }] };
      const made = await makeWidget(world, { spec, alsoStray: {} });
      assert.deepEqual(made.spec, {
        owner: "team",
        replicas: 1,
        size: "small",
        nested: { level: 2 },
        rules: [{ name: "r", weight: 1 }],
      });
      assert.equal(made.alsoStray, undefined);
    }),
    behaviour("x-kubernetes-preserve-unknown-fields keeps everything below it", async (world) => {
      const open = { anything: { goes: [1, "two", null, { three: 3.5 }] }, "dotted.key/x": false };
      const made = await makeWidget(world, { spec: { open } });
      assert.deepEqual(at(made, "spec", "open"), open);
    }),
    behaviour("additionalProperties keep every key", async (world) => {
      const made = await makeWidget(world, { spec: { settings: { any: "1", "x/y": "2" } } });
      assert.deepEqual(at(made, "spec", "settings"), { any: "1", "x/y": "2" });
    }),
    behaviour("an embedded resource keeps apiVersion, kind and metadata", async (world) => {
      const template = { apiVersion: "v1", kind: "Secret", metadata: { name: "x", labels: { a: "b" } }, extra: "kept" };
      const made = await makeWidget(world, { spec: { template: { ...template, stray: 1 } } });
      assert.deepEqual(at(made, "spec", "template"), template);
    }),
    behaviour("large and small numbers keep their value", async (world) => {
      const open = { large: 9007199254740991, negative: -5, fraction: 0.1, exponent: 1e21 };
      const made = await makeWidget(world, { spec: { open } });
      assert.deepEqual(at(made, "spec", "open"), open);
    }),
    behaviour("unknown fields are refused when validation is strict", async (world) => {
      const type = await widgets(world);
      const draft = await widgetDraft(world, { spec: { stray: 1, nested: { level: 1, other: 2 } } });
      const path = `/apis/${type.group}/v1/namespaces/${draft.metadata.namespace}/${type.plural}`;
      const answer = await world.wire.post(`${path}?fieldValidation=Strict`, draft);
      assertStatus(answer, {
        status: 400,
        reason: "BadRequest",
        message: /strict decoding error: unknown field "spec\.nested\.other", unknown field "spec\.stray"/,
      });
    }),
    behaviour("unknown fields are warned about otherwise", async (world) => {
      const type = await widgets(world);
      const draft = await widgetDraft(world, { spec: { stray: 1 } });
      const path = `/apis/${type.group}/v1/namespaces/${draft.metadata.namespace}/${type.plural}`;
      const warned = await world.wire.post(path, draft);
      assert.equal(warned.status, 201, warned.text);
      assert.match(warned.headers.warning ?? "", /^299 - "unknown field \\"spec\.stray\\""$/);
      const other = { ...draft, metadata: { ...draft.metadata, name: "b" } };
      const silent = await world.wire.post(`${path}?fieldValidation=Ignore`, other);
      assert.equal(silent.status, 201, silent.text);
      assert.equal(silent.headers.warning, undefined);
    }),
    behaviour("duplicate fields are refused when validation is strict", async (world) => {
      const namespace = await world.namespace();
      const body = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":"1","k":"2"}}';
      const answer = await world.wire.post(`/api/v1/namespaces/${namespace}/configmaps?fieldValidation=Strict`, body);
      assertStatus(answer, {
        status: 400,
        reason: "BadRequest",
        message: /strict decoding error: duplicate field "data\.k"/,
      });
    }),
    behaviour("unknown fields of built-in kinds are refused when validation is strict, else dropped", async (world) => {
      const namespace = await world.namespace();
      const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", nmae: "x" }, stray: 1 };
      const path = `/api/v1/namespaces/${namespace}/configmaps`;
      const strict = await world.wire.post(`${path}?fieldValidation=Strict`, body);
      assertStatus(strict, {
        status: 400,
        reason: "BadRequest",
        message: /strict decoding error: unknown field "metadata\.nmae", unknown field "stray"/,
      });
      const loose = await world.wire.post(path, body);
      assert.equal(loose.status, 201);
      assert.equal(at(loose.body, "stray"), undefined);
    }),
    behaviour("a fieldValidation that does not exist is refused", async (world) => {
      const namespace = await world.namespace();
      const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } };
      const answer = await world.wire.post(`/api/v1/namespaces/${namespace}/configmaps?fieldValidation=Maybe`, body);
      assertStatus(answer, { status: 422, reason: "Invalid", message: /fieldValidation: Unsupported value: "Maybe"/ });
    }),
  ],
};
