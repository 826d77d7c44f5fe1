import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { fc } from "../../base/properties.fixture.ts";
import type { KubeObject } from "../../kube/objects.ts";
import { World } from "../controllers/world.fixture.ts";
import { type JsonObject, jsonEquals, jsonOf } from "../json.ts";
import { StatusError } from "../status-error.ts";
import { builtInDefinitions } from "./built-in-definitions.ts";
import { asObject } from "./json-fields.ts";
import { normalize } from "./normalize.ts";
import { scaleOf, withScale } from "./scale.ts";
import { builtInSchemas } from "./schemas.ts";

const definitions = builtInDefinitions();

const refusal =
  (status: number, pattern: RegExp) =>
  (error: unknown): boolean =>
    error instanceof StatusError && error.status === status && pattern.test(error.message);

function world(): World {
  const made = new World();
  made.create("/v1/namespaces", { metadata: { name: "default" } });
  return made;
}

describe("every built-in kind", () => {
  for (const definition of definitions) {
    test(`${definition.kind}.${definition.group}: defaulting twice is defaulting once, whatever is written`, () => {
      const schema = definition.schema;
      const field = fc.constantFrom(...Object.keys(schema?.properties ?? {}), "spec", "status", "unknown");
      const value = fc.jsonValue({ maxDepth: 3 });
      fc.assert(
        fc.property(fc.dictionary(field, value), (fields) => {
          const { apiVersion, kind, metadata, ...rest } = fields;
          const object = { ...rest, apiVersion: "v1", kind: definition.kind, metadata: { name: "n" } } as KubeObject;
          const once = definition.strategy.applyDefaults?.(object) ?? object;
          const twice = definition.strategy.applyDefaults?.(once) ?? once;
          assert.ok(jsonEquals(jsonOf(once), jsonOf(twice)));
          for (const { value: cell } of definition.columns) if (typeof cell === "function") cell(once, 0);
        }),
        { numRuns: 40 },
      );
    });
  }
});

describe("normalizing", () => {
  const schema = builtInSchemas()["io.k8s.api.core.v1.Secret"];
  test("drops nulls, unknown fields and empty optional collections, and nothing else", () => {
    const secret = {
      data: { a: null },
      immutable: null,
      stringData: {},
      extra: 1,
      metadata: { labels: {}, name: "n" },
    };
    assert.deepEqual(normalize(secret as JsonObject, schema, builtInSchemas()), {
      data: { a: "" },
      metadata: { name: "n" },
    });
  });
  test("leaves what is in order as it is", () => {
    const secret: JsonObject = { data: { a: "YQ==" }, metadata: { name: "n", labels: { a: "b" } } };
    assert.equal(normalize(secret, schema, builtInSchemas()), secret);
  });
});

describe("Secrets", () => {
  test("refuse what is not base64, without quoting it", () => {
    assert.throws(
      () => world().create("/v1/secrets", { metadata: { name: "s" }, data: { a: "not base64!" } }),
      (error) => refusal(400, /illegal base64 data/)(error) && !(error as Error).message.includes("not base64!"),
    );
  });
  test("never quote a value in a refusal", () => {
    const type = "kubernetes.io/dockerconfigjson";
    const stringData = { ".dockerconfigjson": "hunter2" };
    assert.throws(
      () => world().create("/v1/secrets", { metadata: { name: "s" }, type, stringData }),
      (error) => refusal(422, /secret contents redacted/)(error) && !(error as Error).message.includes("hunter2"),
    );
  });
});

describe("Pods", () => {
  const pod = { metadata: { name: "p" }, spec: { containers: [{ name: "a", image: "x:1" }] } };
  test("may change their image", () => {
    const place = world();
    place.create("/v1/pods", pod);
    const changed = place.patch("/v1/pods", "p", { spec: { containers: [{ name: "a", image: "x:2" }] } }, "strategic");
    assert.equal(changed.metadata.generation, 2);
  });
  const frozen: readonly { reason: string; patch: object; message: RegExp }[] = [
    {
      reason: "their account",
      patch: { spec: { serviceAccountName: "other" } },
      message: /may not change fields other/,
    },
    {
      reason: "the number of containers",
      patch: { spec: { containers: [{ name: "b", image: "x" }] } },
      message: /may not add or remove/,
    },
    {
      reason: "a toleration",
      patch: { spec: { tolerations: null } },
      message: /existing toleration can not be modified/,
    },
  ];
  for (const { reason, patch, message } of frozen) {
    test(`may not change ${reason}`, () => {
      const place = world();
      place.create("/v1/pods", pod);
      const type = reason === "a toleration" ? "merge" : "strategic";
      assert.throws(() => place.patch("/v1/pods", "p", patch, type), refusal(422, message), reason);
    });
  }
});

describe("Services", () => {
  test("have an address that stays, and node ports where they need them", () => {
    const place = world();
    const spec = { type: "NodePort", ports: [{ port: 80 }] };
    const made = asObject(place.create("/v1/services", { metadata: { name: "s" }, spec }).spec);
    assert.match(String(made.clusterIP), /^10\.(9[6-9]|1[01]\d)\.\d+\.\d+$/);
    const changed = asObject(place.patch("/v1/services", "s", { metadata: { labels: { a: "b" } } }).spec);
    assert.deepEqual(changed, made);
    assert.throws(
      () => place.patch("/v1/services", "s", { spec: { clusterIP: "10.96.1.1", clusterIPs: ["10.96.1.1"] } }),
      refusal(422, /field is immutable/),
    );
  });
});

describe("Jobs", () => {
  test("find their Pods by their own UID", () => {
    const template = { spec: { restartPolicy: "Never", containers: [{ name: "a", image: "x" }] } };
    const job = world().create("batch/v1/jobs", { metadata: { name: "j" }, spec: { template } });
    const { selector, template: made } = asObject(job.spec);
    const uid = job.metadata.uid ?? "";
    assert.deepEqual(selector, { matchLabels: { "batch.kubernetes.io/controller-uid": uid } });
    assert.deepEqual(asObject(asObject(made).metadata).labels, {
      "batch.kubernetes.io/controller-uid": uid,
      "batch.kubernetes.io/job-name": "j",
      "controller-uid": uid,
      "job-name": "j",
    });
  });
});

describe("Events", () => {
  test("are one thing under two names", () => {
    const place = world();
    const regarding = { kind: "Secret", name: "s", namespace: "default" };
    place.create("events.k8s.io/v1/events", {
      metadata: { name: "e" },
      regarding,
      eventTime: "2026-01-01T00:00:00.000000Z",
      reason: "Rotated",
      action: "Rotate",
      note: "text",
      type: "Normal",
      reportingController: "keyturn.dev/operator",
      reportingInstance: "one",
    });
    const core = place.get("/v1/events", "e");
    assert.equal(core.apiVersion, "v1");
    assert.deepEqual(core.involvedObject, regarding);
    assert.equal(core.message, "text");
    assert.equal(core.reportingComponent, "keyturn.dev/operator");
    assert.equal(place.get("events.k8s.io/v1/events", "e").note, "text");
  });
});

describe("a scale", () => {
  const definition = definitions.find(({ plural }) => plural === "deployments");
  const template = { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "a", image: "x" }] } };
  const spec = { replicas: 2, selector: { matchLabels: { a: "b" } }, template };
  const deployment = world().create("apps/v1/deployments", { metadata: { name: "d" }, spec });
  test("shows the replicas and the selector", () => {
    assert.ok(definition);
    const scale = scaleOf(definition, deployment);
    assert.deepEqual(scale.spec, { replicas: 2 });
    assert.deepEqual(scale.status, { replicas: 0, selector: "a=b" });
  });
  test("changes the replicas and nothing else", () => {
    assert.ok(definition);
    const { object, errors } = withScale(definition, deployment, { kind: "Scale", spec: { replicas: 7 } });
    assert.deepEqual(errors, []);
    assert.deepEqual(asObject(object.spec), { ...asObject(deployment.spec), replicas: 7 });
    assert.equal(withScale(definition, deployment, { spec: { replicas: -1 } }).errors.length, 1);
  });
});
