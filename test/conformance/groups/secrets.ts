import assert from "node:assert/strict";
import { type BehaviourGroup, behaviour } from "../behaviour.ts";
import { assertStatus, at, refused } from "../expectations.ts";
import { configMaps, secrets as secretType } from "../kinds.ts";
import { configMap, secret } from "../manifests.ts";

const base64 = (text: string): string => Buffer.from(text).toString("base64");

interface TypedSecret {
  readonly type: string;
  readonly lacking: Readonly<Record<string, string>>;
  readonly complete: Readonly<Record<string, string>>;
  readonly field: string | RegExp;
}

const typed: readonly TypedSecret[] = [
  {
    type: "kubernetes.io/dockerconfigjson",
    lacking: {},
    complete: { ".dockerconfigjson": base64('{"auths":{}}') },
    field: /data\[\.dockerconfigjson\]: Required value/,
  },
  {
    type: "kubernetes.io/basic-auth",
    lacking: { other: "eA==" },
    complete: { username: "eA==" },
    field: /data\[%s\]\[username\]: Required value|data\[username\]: Required value|username/,
  },
  {
    type: "kubernetes.io/ssh-auth",
    lacking: {},
    complete: { "ssh-privatekey": "eA==" },
    field: /data\[.*ssh-privatekey\]: Required value/,
  },
  {
    type: "kubernetes.io/tls",
    lacking: { "tls.crt": "eA==" },
    complete: { "tls.crt": "eA==", "tls.key": "eA==" },
    field: /data\[tls\.key\]: Required value/,
  },
];

/** Secrets and ConfigMaps: what a key may look like, and what may no longer change. */
export const secrets: BehaviourGroup = {
  name: "secrets and config maps",
  behaviours: [
    behaviour("a Secret without a type is Opaque", async (world) => {
      const namespace = await world.namespace();
      const made = await world.kube.create(secretType, secret(namespace, "a", { data: { k: base64("v") } }));
      assert.equal(made.type, "Opaque");
    }),
    behaviour("stringData is written into data and never read back", async (world) => {
      const namespace = await world.namespace();
      const fields = { data: { kept: base64("1"), both: base64("2") }, stringData: { both: "grün", added: "" } };
      await world.kube.create(secretType, secret(namespace, "a", fields));
      const read = await world.kube.get(secretType, { namespace, name: "a" });
      assert.deepEqual(read.data, { kept: base64("1"), both: base64("grün"), added: "" });
      assert.equal(read.stringData, undefined);
    }),
    behaviour("stringData in a merge patch changes data", async (world) => {
      const namespace = await world.namespace();
      await world.kube.create(secretType, secret(namespace, "a", { stringData: { k: "old", other: "x" } }));
      const patch = { type: "merge", body: { stringData: { k: "new" } } } as const;
      const patched = await world.kube.patch(secretType, { namespace, name: "a" }, patch);
      assert.deepEqual(patched.data, { k: base64("new"), other: base64("x") });
    }),
    behaviour("data that is no base64 is refused", async (world) => {
      const namespace = await world.namespace();
      const path = `/api/v1/namespaces/${namespace}/secrets`;
      const answer = await world.wire.post(path, secret(namespace, "a", { data: { k: "not base64!" } }));
      assertStatus(answer, { status: 400, reason: "BadRequest", message: /illegal base64 data/ });
    }),
    behaviour("a key with a forbidden character is refused", async (world) => {
      const namespace = await world.namespace();
      await refused(world.kube.create(secretType, secret(namespace, "a", { stringData: { "a/b": "x" } })), {
        status: 422,
        code: "Invalid",
        fields: ["data[a/b]"],
        message: /a valid config key must consist of alphanumeric characters, '-', '_' or '\.'/,
      });
      for (const key of [".", ".."]) {
        const call = world.kube.create(secretType, secret(namespace, "b", { stringData: { [key]: "x" } }));
        await refused(call, { status: 422, code: "Invalid", fields: [`data[${key}]`] });
      }
    }),
    behaviour("a Secret beyond 1 MiB is refused", async (world) => {
      const namespace = await world.namespace();
      const large = "x".repeat(1024 * 1024);
      await world.kube.create(secretType, secret(namespace, "fits", { stringData: { k: large } }));
      const call = world.kube.create(secretType, secret(namespace, "large", { stringData: { k: `${large}y` } }));
      await refused(call, {
        status: 422,
        code: "Invalid",
        fields: ["data"],
        message: /Too long: may not be more than 1048576 bytes/,
      });
    }),
    behaviour("the type of a Secret cannot change", async (world) => {
      const namespace = await world.namespace();
      const made = await world.kube.create(secretType, secret(namespace, "a", { type: "x.dev/one" }));
      await refused(world.kube.replace(secretType, { ...made, type: "x.dev/two" }), {
        status: 422,
        code: "Invalid",
        fields: ["type"],
        message: /type: Invalid value: "x\.dev\/two": field is immutable/,
      });
    }),
    behaviour("an immutable Secret keeps its data and stays immutable", async (world) => {
      const namespace = await world.namespace();
      const fields = { immutable: true, stringData: { k: "v" } };
      const made = await world.kube.create(secretType, secret(namespace, "a", fields));
      await refused(world.kube.replace(secretType, { ...made, data: { k: base64("w") } }), {
        status: 422,
        code: "Invalid",
        fields: ["data"],
        message: /data: Forbidden: field is immutable when `immutable` is set/,
      });
      await refused(world.kube.replace(secretType, { ...made, immutable: false }), {
        status: 422,
        code: "Invalid",
        fields: ["immutable"],
      });
      const labelled = { ...made, metadata: { ...made.metadata, labels: { still: "possible" } } };
      const replaced = await world.kube.replace(secretType, labelled);
      assert.deepEqual(replaced.metadata.labels, { still: "possible" });
    }),
    ...typed.map(({ type, lacking, complete, field }) =>
      behaviour(`a Secret of type ${type} must have its keys`, async (world) => {
        const namespace = await world.namespace();
        const call = world.kube.create(secretType, secret(namespace, "lacking", { type, data: lacking }));
        await refused(call, { status: 422, code: "Invalid", message: field });
        await world.kube.create(secretType, secret(namespace, "complete", { type, data: complete }));
      }),
    ),
    behaviour("a dockerconfigjson Secret must hold JSON", async (world) => {
      const namespace = await world.namespace();
      const fields = { type: "kubernetes.io/dockerconfigjson", stringData: { ".dockerconfigjson": "no json" } };
      await refused(world.kube.create(secretType, secret(namespace, "a", fields)), {
        status: 422,
        code: "Invalid",
        fields: ["data[.dockerconfigjson]"],
      });
    }),
    behaviour("a refusal does not repeat a Secret's value", async (world) => {
      const namespace = await world.namespace();
      const canary = "canary-value-that-must-not-appear";
      const fields = { type: "kubernetes.io/tls", stringData: { "tls.crt": canary, "bad/key": canary } };
      const error = await refused(world.kube.create(secretType, secret(namespace, "a", fields)), {
        status: 422,
        code: "Invalid",
      });
      assert.ok(!JSON.stringify([error.message, error.causes]).includes(canary));
    }),
    behaviour("ConfigMap keys may stand in data or in binaryData, not in both", async (world) => {
      const namespace = await world.namespace();
      const draft = { ...configMap(namespace, "a", { k: "text" }), binaryData: { k: base64("bytes") } };
      await refused(world.kube.create(configMaps, draft), {
        status: 422,
        code: "Invalid",
        message: /duplicate of key present in/,
      });
      const binary = { ...configMap(namespace, "b", { t: "text" }), binaryData: { b: base64("bytes") } };
      const made = await world.kube.create(configMaps, binary);
      assert.deepEqual(made.binaryData, { b: base64("bytes") });
    }),
    behaviour("an immutable ConfigMap keeps its data", async (world) => {
      const namespace = await world.namespace();
      const made = await world.kube.create(configMaps, { ...configMap(namespace, "a", { k: "v" }), immutable: true });
      await refused(world.kube.replace(configMaps, { ...made, data: { k: "w" } }), {
        status: 422,
        code: "Invalid",
        fields: ["data"],
      });
    }),
    behaviour("a ConfigMap's values must be strings", async (world) => {
      const namespace = await world.namespace();
      const path = `/api/v1/namespaces/${namespace}/configmaps`;
      const answer = await world.wire.post(path, { ...configMap(namespace, "a"), data: { number: 1 } });
      assertStatus(answer, {
        status: 400,
        reason: "BadRequest",
        message: /ConfigMap in version "v1" cannot be handled as a ConfigMap/,
      });
      assert.equal(at(answer.body, "status"), "Failure");
    }),
    behaviour("a service account token Secret must name its ServiceAccount", async (world) => {
      const namespace = await world.namespace();
      const call = world.kube.create(
        secretType,
        secret(namespace, "a", { type: "kubernetes.io/service-account-token" }),
      );
      await refused(call, {
        status: 422,
        code: "Invalid",
        message: /metadata\.annotations\[kubernetes\.io\/service-account\.name\]: Required value/,
      });
    }),
  ],
};
