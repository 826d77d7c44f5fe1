import assert from "node:assert/strict";
import { type BehaviourGroup, behaviour } from "../behaviour.ts";
import { assertStatus, at, refused } from "../expectations.ts";
import { configMaps, namespaces } from "../kinds.ts";
import { configMap } from "../manifests.ts";

const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const secondsForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

/** Create, read, replace: what every object has in common. */
export const objects: BehaviourGroup = {
  name: "objects",
  behaviours: [
    behaviour("create fills in uid, resourceVersion and creationTimestamp", async (world) => {
      const namespace = await world.namespace();
      const made = await world.kube.create(configMaps, configMap(namespace, "a", { key: "value" }));
      assert.match(made.metadata.uid ?? "", uuidForm);
      assert.match(made.metadata.resourceVersion ?? "", /^[1-9]\d*$/);
      assert.match(made.metadata.creationTimestamp ?? "", secondsForm);
      assert.equal(made.metadata.generation, undefined, "ConfigMaps have no generation");
      assert.deepEqual(made.data, { key: "value" });
    }),
    behaviour("create answers 201 and the whole object", async (world) => {
      const namespace = await world.namespace();
      const path = `/api/v1/namespaces/${namespace}/configmaps`;
      const answer = await world.wire.post(path, configMap(namespace, "a", { key: "value" }));
      assert.equal(answer.status, 201);
      assert.match(answer.headers["content-type"] ?? "", /^application\/json/);
      assert.equal(at(answer.body, "kind"), "ConfigMap");
      assert.equal(at(answer.body, "apiVersion"), "v1");
    }),
    behaviour("create ignores uid, creationTimestamp and generation that the writer sends", async (world) => {
      const namespace = await world.namespace();
      const forged = { uid: "11111111-1111-4111-8111-111111111111", creationTimestamp: "2001-01-01T00:00:00Z" };
      const made = await world.kube.create(configMaps, {
        ...configMap(namespace, "a"),
        metadata: { namespace, name: "a", generation: 7, ...forged },
      });
      assert.notEqual(made.metadata.uid, forged.uid);
      assert.notEqual(made.metadata.creationTimestamp, forged.creationTimestamp);
    }),
    behaviour("create refuses a resourceVersion", async (world) => {
      const namespace = await world.namespace();
      const draft = { ...configMap(namespace, "a"), metadata: { namespace, name: "a", resourceVersion: "1" } };
      await refused(world.kube.create(configMaps, draft), {
        status: 500,
        code: "Unavailable",
        message: /resourceVersion should not be set on objects to be created/,
      });
    }),
    behaviour("create of a name that is taken is refused as AlreadyExists", async (world) => {
      const namespace = await world.namespace();
      await world.kube.create(configMaps, configMap(namespace, "a"));
      await refused(world.kube.create(configMaps, configMap(namespace, "a")), {
        status: 409,
        code: "AlreadyExists",
        message: 'configmaps "a" already exists',
      });
    }),
    behaviour("create without a name is refused", async (world) => {
      const namespace = await world.namespace();
      const draft = { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace } };
      await refused(world.kube.create(configMaps, draft), {
        status: 422,
        code: "Invalid",
        message: /name or generateName is required/,
        fields: ["metadata.name"],
      });
    }),
    behaviour("generateName makes a new name each time", async (world) => {
      const namespace = await world.namespace();
      const draft = { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace, generateName: "made-" } };
      const [first, second] = [await world.kube.create(configMaps, draft), await world.kube.create(configMaps, draft)];
      assert.match(first.metadata.name, /^made-[a-z0-9]{5}$/);
      assert.match(second.metadata.name, /^made-[a-z0-9]{5}$/);
      assert.notEqual(first.metadata.name, second.metadata.name);
      assert.equal(first.metadata.generateName, "made-");
    }),
    behaviour("a name wins over generateName", async (world) => {
      const namespace = await world.namespace();
      const draft = {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { namespace, name: "given", generateName: "made-" },
      };
      assert.equal((await world.kube.create(configMaps, draft)).metadata.name, "given");
    }),
    behaviour("a name that is no DNS subdomain is refused", async (world) => {
      const namespace = await world.namespace();
      await refused(world.kube.create(configMaps, configMap(namespace, "Not_A_Name")), {
        status: 422,
        code: "Invalid",
        message:
          /^ConfigMap "Not_A_Name" is invalid: metadata\.name: Invalid value: "Not_A_Name": a lowercase RFC 1123 subdomain must/,
        fields: ["metadata.name"],
      });
    }),
    behaviour("create in a namespace that does not exist is refused", async (world) => {
      const nowhere = world.unique("nowhere");
      await refused(world.kube.create(configMaps, configMap(nowhere, "a")), {
        status: 404,
        code: "NotFound",
        message: `namespaces "${nowhere}" not found`,
      });
    }),
    behaviour("create under another namespace than the object names is refused", async (world) => {
      const namespace = await world.namespace();
      const answer = await world.wire.post(`/api/v1/namespaces/${namespace}/configmaps`, configMap("other", "a"));
      assertStatus(answer, {
        status: 400,
        reason: "BadRequest",
        message: "the namespace of the provided object does not match the namespace sent on the request",
      });
    }),
    behaviour("create of another kind than the path says is refused", async (world) => {
      const namespace = await world.namespace();
      const answer = await world.wire.post(`/api/v1/namespaces/${namespace}/configmaps`, {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name: "a" },
      });
      assertStatus(answer, {
        status: 400,
        reason: "BadRequest",
        message: /Secret.*(cannot be handled as a ConfigMap|does not match)/,
      });
    }),
    behaviour("a body that is no JSON is refused", async (world) => {
      const namespace = await world.namespace();
      const answer = await world.wire.post(`/api/v1/namespaces/${namespace}/configmaps`, '{"kind": "ConfigMap", ');
      assertStatus(answer, { status: 400, reason: "BadRequest" });
    }),
    behaviour("a body in YAML is accepted", async (world) => {
      const namespace = await world.namespace();
      const yaml = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  key: value\n";
      const path = `/api/v1/namespaces/${namespace}/configmaps`;
      const answer = await world.wire.post(path, yaml, { headers: { "content-type": "application/yaml" } });
      assert.equal(answer.status, 201, answer.text);
      assert.deepEqual(at(answer.body, "data"), { key: "value" });
    }),
    behaviour("a body of an unknown type is refused as UnsupportedMediaType", async (world) => {
      const namespace = await world.namespace();
      const path = `/api/v1/namespaces/${namespace}/configmaps`;
      const answer = await world.wire.post(path, "{}", { headers: { "content-type": "text/x-unknown" } });
      assertStatus(answer, { status: 415, reason: "UnsupportedMediaType" });
    }),
    behaviour("an answer in a type the server does not have is refused as NotAcceptable", async (world) => {
      const namespace = await world.namespace();
      const answer = await world.wire.get(`/api/v1/namespaces/${namespace}/configmaps`, {
        headers: { accept: "image/png" },
      });
      assertStatus(answer, { status: 406, reason: "NotAcceptable" });
    }),
    behaviour("get of what is not there is NotFound and names it", async (world) => {
      const namespace = await world.namespace();
      await refused(world.kube.get(configMaps, { namespace, name: "none" }), {
        status: 404,
        code: "NotFound",
        message: 'configmaps "none" not found',
      });
    }),
    behaviour("get gives back what create answered", async (world) => {
      const namespace = await world.namespace();
      const made = await world.kube.create(configMaps, configMap(namespace, "a", { key: "value" }, { team: "x" }));
      assert.deepEqual(await world.kube.get(configMaps, { namespace, name: "a" }), made);
    }),
    behaviour("replace writes the whole object and moves the resourceVersion on", async (world) => {
      const namespace = await world.namespace();
      const made = await world.kube.create(configMaps, configMap(namespace, "a", { one: "1", two: "2" }));
      const replaced = await world.kube.replace(configMaps, { ...made, data: { two: "3" } });
      assert.deepEqual(replaced.data, { two: "3" });
      assert.equal(replaced.metadata.uid, made.metadata.uid);
      assert.ok(BigInt(replaced.metadata.resourceVersion ?? 0) > BigInt(made.metadata.resourceVersion ?? 0));
    }),
    behaviour("replace that changes nothing keeps the resourceVersion", async (world) => {
      const namespace = await world.namespace();
      const made = await world.kube.create(configMaps, configMap(namespace, "a", { one: "1" }));
      const replaced = await world.kube.replace(configMaps, made);
      assert.equal(replaced.metadata.resourceVersion, made.metadata.resourceVersion);
    }),
    behaviour("replace without a resourceVersion overwrites", async (world) => {
      const namespace = await world.namespace();
      await world.kube.create(configMaps, configMap(namespace, "a", { one: "1" }));
      const replaced = await world.kube.replace(configMaps, configMap(namespace, "a", { two: "2" }));
      assert.deepEqual(replaced.data, { two: "2" });
    }),
    behaviour("replace of what is not there is NotFound", async (world) => {
      const namespace = await world.namespace();
      await refused(world.kube.replace(configMaps, configMap(namespace, "none")), { status: 404, code: "NotFound" });
    }),
    behaviour("replace under another name than the object has is refused", async (world) => {
      const namespace = await world.namespace();
      await world.kube.create(configMaps, configMap(namespace, "a"));
      const answer = await world.wire.put(`/api/v1/namespaces/${namespace}/configmaps/a`, configMap(namespace, "b"));
      assertStatus(answer, {
        status: 400,
        reason: "BadRequest",
        message: "the name of the object (b) does not match the name on the URL (a)",
      });
    }),
    behaviour("replace cannot change the uid", async (world) => {
      const namespace = await world.namespace();
      const made = await world.kube.create(configMaps, configMap(namespace, "a"));
      const forged = { ...made, metadata: { ...made.metadata, uid: "11111111-1111-4111-8111-111111111111" } };
      await refused(world.kube.replace(configMaps, forged), {
        status: 409,
        code: "Conflict",
        message: /Precondition failed: UID in precondition: 11111111-1111-4111-8111-111111111111, UID in object meta: /,
      });
    }),
    behaviour("label keys and values are checked", async (world) => {
      const namespace = await world.namespace();
      await refused(world.kube.create(configMaps, configMap(namespace, "a", {}, { "bad key": "bad value!" })), {
        status: 422,
        code: "Invalid",
        fields: ["metadata.labels"],
      });
    }),
    behaviour("annotations beyond 256 KiB are refused", async (world) => {
      const namespace = await world.namespace();
      const annotations = { large: "x".repeat(262_145) };
      const draft = { ...configMap(namespace, "a"), metadata: { namespace, name: "a", annotations } };
      await refused(world.kube.create(configMaps, draft), {
        status: 422,
        code: "Invalid",
        fields: ["metadata.annotations"],
      });
    }),
    behaviour("an object keeps annotations, labels and unicode data as written", async (world) => {
      const namespace = await world.namespace();
      const metadata = {
        namespace,
        name: "a",
        labels: { "x.dev/team": "a_b.C" },
        annotations: { "x.dev/note": "größer ✓ 𝄞\n" },
      };
      await world.kube.create(configMaps, {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata,
        data: { text: "日本\t\u0000" },
      });
      const read = await world.kube.get(configMaps, { namespace, name: "a" });
      assert.deepEqual(read.metadata.labels, metadata.labels);
      assert.deepEqual(read.metadata.annotations, metadata.annotations);
      assert.deepEqual(read.data, { text: "日本\t\u0000" });
    }),
    behaviour("a path that is not served is 404 and not about an object", async (world) => {
      const unknown = {
        group: "nowhere.keyturn.dev",
        version: "v1",
        plural: "things",
        kind: "Thing",
        namespaced: true,
      };
      await refused(world.kube.list(unknown, {}), { status: 404, code: "NotServed" });
      const answer = await world.wire.get("/nothing-here");
      assert.equal(answer.status, 404);
    }),
    behaviour("a method that a path does not have is MethodNotAllowed", async (world) => {
      const namespace = await world.namespace();
      const answer = await world.wire.put(`/api/v1/namespaces/${namespace}/configmaps`, configMap(namespace, "a"));
      assertStatus(answer, {
        status: 405,
        reason: "MethodNotAllowed",
        message: "the server does not allow this method on the requested resource",
      });
    }),
    behaviour("a request with a token that nobody issued is refused", async (world) => {
      const answer = await world.stranger.get("/api/v1/secrets");
      assertStatus(answer, { status: 401, reason: "Unauthorized", message: "Unauthorized" });
    }),
    behaviour("cluster-scoped objects are read without a namespace", async (world) => {
      const name = await world.namespace();
      const read = await world.kube.get(namespaces, { name });
      assert.equal(read.metadata.name, name);
      assert.equal(read.metadata.namespace, undefined);
    }),
  ],
};
