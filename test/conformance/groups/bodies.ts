import assert from "node:assert/strict";
import { type BehaviourGroup, behaviour } from "../behaviour.ts";
import { assertStatus, at } from "../expectations.ts";
import { secrets } from "../kinds.ts";
import { secret } from "../manifests.ts";
import { makeWidget, widgets } from "../widgets.ts";
import type { Answer } from "../wire.ts";
import type { World } from "../world.ts";

const MERGE = "application/merge-patch+json";
const STRATEGIC = "application/strategic-merge-patch+json";
const JSON_PATCH = "application/json-patch+json";
const APPLY = "application/apply-patch+yaml";

const nobody = "11111111-1111-4111-8111-111111111111";

const pathOf = async (world: World, plural: string): Promise<string> =>
  `/api/v1/namespaces/${await world.namespace()}/${plural}`;

async function widgetPath(world: World): Promise<{ readonly path: string; readonly apiVersion: string }> {
  const type = await widgets(world);
  const namespace = await world.namespace();
  return { path: `/apis/${type.group}/v1/namespaces/${namespace}/${type.plural}`, apiVersion: `${type.group}/v1` };
}

function assertPatchRefused(answer: Answer): void {
  assertStatus(answer, { status: 422, reason: "Invalid", message: /^ "" is invalid: patch: Invalid value: / });
  assert.deepEqual(
    (at(answer.body, "details", "causes") as unknown[]).map((cause) => at(cause, "field")),
    ["patch"],
  );
}

const malformed: readonly { readonly what: string; readonly metadata: object }[] = [
  { what: "labels that are no map", metadata: { name: "b", labels: "x" } },
  { what: "a label that is a number", metadata: { name: "b", labels: { x: 1 } } },
  { what: "a finalizer that is a number", metadata: { name: "b", finalizers: [1] } },
  { what: "a name that is a number", metadata: { name: 1 } },
  { what: "an owner whose name is a number", metadata: { name: "b", ownerReferences: [{ name: 1 }] } },
  { what: "a time that is none", metadata: { name: "b", creationTimestamp: "yesterday" } },
];

const undecodable: readonly { readonly type: string; readonly body: unknown }[] = [
  { type: MERGE, body: { data: { k: "not base64!" } } },
  { type: STRATEGIC, body: { data: { k: "not base64!" } } },
  { type: JSON_PATCH, body: [{ op: "replace", path: "/data", value: "not a map" }] },
  { type: MERGE, body: { kind: "ConfigMap" } },
];

/** What a body must be before anybody looks at what it says. */
export const bodies: BehaviourGroup = {
  name: "bodies",
  behaviours: [
    ...malformed.map(({ what, metadata }) =>
      behaviour(`a custom object with ${what} is refused`, async (world) => {
        const { path, apiVersion } = await widgetPath(world);
        const answer = await world.wire.post(path, { apiVersion, kind: "Widget", metadata, spec: { owner: "a" } });
        assertStatus(answer, {
          status: 400,
          reason: "BadRequest",
          message: /^Widget in version "v1" cannot be handled as a Widget: /,
        });
      }),
    ),
    behaviour("a null label is an empty one, and metadata nobody knows is dropped", async (world) => {
      const { path, apiVersion } = await widgetPath(world);
      const metadata = { name: "a", labels: { x: null }, annotations: null, stray: 1 };
      const answer = await world.wire.post(path, { apiVersion, kind: "Widget", metadata, spec: { owner: "a" } });
      assert.equal(answer.status, 201, answer.text);
      assert.deepEqual(at(answer.body, "metadata", "labels"), { x: "" });
      assert.equal(at(answer.body, "metadata", "annotations"), undefined);
      assert.equal(at(answer.body, "metadata", "stray"), undefined);
      assert.equal(answer.headers.warning, '299 - "unknown field \\"metadata.stray\\""');
    }),
    behaviour("a custom object of another kind is refused by its kind", async (world) => {
      const { path, apiVersion } = await widgetPath(world);
      const body = { apiVersion, kind: "Gadget", metadata: { name: "a" }, spec: { owner: "a" } };
      const answer = await world.wire.post(path, body);
      assertStatus(answer, {
        status: 422,
        reason: "Invalid",
        message: /kind: Invalid value: "Gadget": must be Widget/,
      });
    }),
    behaviour("an empty namespace or apiVersion means the one of the path", async (world) => {
      const path = await pathOf(world, "configmaps");
      const body = { apiVersion: "", kind: "ConfigMap", metadata: { name: "a", namespace: "" } };
      const made = await world.wire.post(path, body);
      assert.equal(made.status, 201, made.text);
      assert.equal(at(made.body, "metadata", "namespace"), await world.namespace());
      const replaced = await world.wire.put(`${path}/a`, { ...body, data: { k: "v" } });
      assert.equal(replaced.status, 200, replaced.text);
    }),
    behaviour("a resourceVersion stops a create by POST, and no other", async (world) => {
      const path = await pathOf(world, "configmaps");
      const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", resourceVersion: "5" } };
      assert.equal((await world.wire.post(path, body)).status, 500);
      assert.equal((await world.wire.patch(`${path}/a?fieldManager=me`, APPLY, body)).status, 201);
    }),
    ...undecodable.map(({ type, body }) =>
      behaviour(`what a patch leaves of a Secret must be one: ${type} ${JSON.stringify(body)}`, async (world) => {
        const namespace = await world.namespace();
        await world.kube.create(secrets, secret(namespace, "a", { data: { k: "dg==" } }));
        assertPatchRefused(await world.wire.patch(`/api/v1/namespaces/${namespace}/secrets/a`, type, body));
      }),
    ),
    behaviour("a patch with an unknown field is refused as a patch where that is strict", async (world) => {
      await makeWidget(world);
      const { path } = await widgetPath(world);
      const answer = await world.wire.patch(`${path}/a?fieldValidation=Strict`, MERGE, { spec: { stray: 1 } });
      assertPatchRefused(answer);
    }),
    behaviour("a strategic patch cannot make another kind of an object", async (world) => {
      const namespace = await world.namespace();
      await world.kube.create(secrets, secret(namespace, "a", { data: { k: "dg==" } }));
      const path = `/api/v1/namespaces/${namespace}/secrets/a`;
      const answer = await world.wire.patch(path, STRATEGIC, { kind: "ConfigMap", metadata: { labels: { x: "1" } } });
      assert.deepEqual([answer.status, at(answer.body, "kind")], [200, "Secret"]);
    }),
    behaviour("a patch that takes the name away is refused", async (world) => {
      await makeWidget(world);
      const { path } = await widgetPath(world);
      const answer = await world.wire.patch(`${path}/a`, MERGE, { metadata: null });
      assertStatus(answer, { status: 400, reason: "BadRequest", message: /name must be provided$/ });
    }),
    behaviour("a patch that takes a custom object's resourceVersion away is refused", async (world) => {
      await makeWidget(world);
      const { path } = await widgetPath(world);
      const answer = await world.wire.patch(`${path}/a`, MERGE, { metadata: { resourceVersion: null } });
      assertStatus(answer, { status: 422, reason: "Invalid", message: /must be specified for an update/ });
      assert.equal(at(answer.body, "details", "kind"), "widgets");
    }),
    behaviour("apply creates only what says its name and its type", async (world) => {
      const path = `${await pathOf(world, "configmaps")}/a?fieldManager=me`;
      const nameless = await world.wire.patch(path, APPLY, { apiVersion: "v1", kind: "ConfigMap", data: { k: "v" } });
      assertStatus(nameless, { status: 400, reason: "BadRequest", message: /name must be provided$/ });
      const typeless = await world.wire.patch(path, APPLY, { metadata: { name: "a" } });
      assertStatus(typeless, { status: 400, reason: "BadRequest", message: /^invalid object type: / });
    }),
    behaviour("apply with the uid of what is gone does not create it anew", async (world) => {
      const path = `${await pathOf(world, "configmaps")}/a?fieldManager=me`;
      const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", uid: nobody } };
      const answer = await world.wire.patch(path, APPLY, body);
      assertStatus(answer, {
        status: 409,
        reason: "Conflict",
        message: /uid mismatch: .* no existing object was found$/,
      });
    }),
    behaviour("apply tells of a conflict before it looks at the value", async (world) => {
      const namespace = await world.namespace();
      await world.kube.create(secrets, secret(namespace, "a", { data: { k: "dg==" } }), { fieldManager: "creator" });
      const path = `/api/v1/namespaces/${namespace}/secrets/a?fieldManager=me`;
      const body = { apiVersion: "v1", kind: "Secret", metadata: { name: "a" }, data: { k: "not base64!" } };
      assertStatus(await world.wire.patch(path, APPLY, body), { status: 409, reason: "Conflict" });
      const forced = await world.wire.patch(`${path}&force=true`, APPLY, body);
      assert.equal(forced.status, 500, forced.text);
      assert.match(String(at(forced.body, "message")), /^failed to convert new object/);
    }),
    behaviour("apply of a field that the schema does not know fails, strict or not", async (world) => {
      const path = `${await pathOf(world, "configmaps")}/a?fieldManager=me`;
      const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, stray: 1 };
      for (const mode of ["Strict", "Ignore"]) {
        const answer = await world.wire.patch(`${path}&fieldValidation=${mode}`, APPLY, body);
        assert.equal(answer.status, 500, answer.text);
        assert.match(String(at(answer.body, "message")), /\.stray: field not declared in schema$/);
      }
    }),
    behaviour("an applied status that is put back is no write", async (world) => {
      const { path, apiVersion } = await widgetPath(world);
      const body = { apiVersion, kind: "Widget", metadata: { name: "a" }, spec: { owner: "a" } };
      const first = await world.wire.patch(`${path}/a?fieldManager=me`, APPLY, body);
      const status = { phase: "Forged" };
      const second = await world.wire.patch(`${path}/a?fieldManager=me`, APPLY, { ...body, status });
      assert.equal(second.status, 200, second.text);
      assert.deepEqual(second.body, first.body);
    }),
    behaviour("a finalizer without a domain is taken by a custom kind, with a warning", async (world) => {
      const { path, apiVersion } = await widgetPath(world);
      const metadata = { name: "a", finalizers: ["plain", "finalizer.example.com"] };
      const answer = await world.wire.post(path, { apiVersion, kind: "Widget", metadata, spec: { owner: "a" } });
      assert.equal(answer.status, 201, answer.text);
      assert.match(answer.headers.warning ?? "", /"plain\\": prefer a domain-qualified finalizer name to avoid/);
      assert.match(
        answer.headers.warning ?? "",
        /finalizer\.example\.com\\": prefer a domain-qualified .* path \(\/\)/,
      );
      await world.wire.patch(`${path}/a`, MERGE, { metadata: { finalizers: null } });
    }),
    behaviour("a read that wants a version from the future is refused, and one of no version too", async (world) => {
      const namespace = await world.namespace();
      await world.kube.create(secrets, secret(namespace, "a", {}));
      const path = `/api/v1/namespaces/${namespace}/secrets/a`;
      const answer = await world.wire.get(`${path}?resourceVersion=999999999999`);
      assertStatus(answer, { status: 504, reason: "Timeout", message: /Too large resource version/ });
      assert.equal((await world.wire.get(`${path}?resourceVersion=nonsense`)).status, 500);
    }),
  ],
};
