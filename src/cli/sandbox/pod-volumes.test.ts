import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { test } from "node:test";
import type { KubeObject } from "../../kube/objects.ts";
import { filesIn, isNamedPod, mountPathsOf, volumesOf } from "./pod-volumes.ts";

const pod = (spec: object, name = "bind9"): KubeObject => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "p", labels: { "app.kubernetes.io/name": name } },
  spec,
});

const spec = {
  containers: [
    {
      volumeMounts: [
        { name: "conf", mountPath: "/etc/keyturn/config" },
        { name: "keys", mountPath: "/keys" },
        { name: "work", mountPath: "/work" },
        { name: "nobody", mountPath: "/nowhere" },
      ],
    },
  ],
  volumes: [
    { name: "conf", configMap: { name: "c" } },
    { name: "keys", secret: { secretName: "s", items: [{ key: "a", path: "b" }] } },
    { name: "work", emptyDir: {} },
    { name: "unused", secret: { secretName: "other" } },
  ],
};

test("what a pod mounts is read from it, and what has nothing in it yet is a path alone", () => {
  const items = new Map([["a", "b"]]);
  assert.deepEqual(volumesOf(pod(spec)), [
    { kind: "ConfigMap", source: "c", path: "/etc/keyturn/config", items: undefined },
    { kind: "Secret", source: "s", path: "/keys", items },
  ]);
  assert.deepEqual(mountPathsOf(pod(spec)), ["/etc/keyturn/config", "/keys", "/work", "/nowhere"]);
});

test("a volume shows its items under the names that they are given, or else everything", () => {
  const [config, keys] = volumesOf(pod(spec));
  assert.ok(config && keys);
  const secret = { ...pod({}), kind: "Secret", data: { a: Buffer.from("text").toString("base64"), c: "" } };
  assert.deepEqual(filesIn(secret, keys), { b: "text" });
  assert.deepEqual(filesIn({ ...pod({}), kind: "ConfigMap", data: { x: "y" } }, config), { x: "y" });
  assert.deepEqual(filesIn(pod({}), config), {});
});

const cases: readonly { readonly reason: string; readonly pod: KubeObject; readonly is: boolean }[] = [
  { reason: "it is a name server with a configuration of ours", pod: pod(spec), is: true },
  { reason: "it is something else", pod: pod(spec, "web"), is: false },
  { reason: "its configuration is its own", pod: pod({ ...spec, volumes: [] }), is: false },
  { reason: "it says nothing", pod: pod({}), is: false },
];
for (const { reason, pod: one, is } of cases) {
  test(`a named ${is ? "is" : "is not"} run in a pod where ${reason}`, () => assert.equal(isNamedPod(one), is));
}
