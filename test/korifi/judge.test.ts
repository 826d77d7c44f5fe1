import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "../../src/kube/objects.ts";
import type { Happening } from "./history.ts";
import { judge } from "./judge.ts";
import { bindingType, instanceType } from "./kinds.ts";
import type { Fields } from "./secret-texts.ts";

const object = (kind: string, name: string, content: Fields, metadata: Fields = {}): KubeObject => ({
  apiVersion: "v1",
  kind,
  metadata: { name, uid: `uid-of-${name}`, ...metadata },
  ...content,
});

const encoded = (texts: Readonly<Record<string, string>>): Fields =>
  Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString("base64")]));

const credentials = (version: number): KubeObject =>
  object("Secret", "db", { data: encoded({ credentials: JSON.stringify(versionOf(version)) }) });
const versionOf = (version: number) => ({ type: "database", user: { password: version }, host: `h${version}` });

const ownerReferences = [{ apiVersion: "v1", kind: bindingType.kind, name: "b", uid: "uid-of-b" }];
const files = (host: number, user = host, type = "database"): KubeObject => {
  const data = encoded({ type, host: `h${host}`, user: JSON.stringify({ password: user }) });
  return object("Secret", "b", { type: "servicebinding.io/database", data }, { ownerReferences });
};

const instance = object(instanceType.kind, "db", {});
const names = (mount: string, later = mount) => ({ binding: { name: mount }, mountSecretRef: { name: later } });
const binding = (status: Fields): KubeObject =>
  object(bindingType.kind, "b", {
    spec: { service: { name: "db" } },
    status: { ...status, credentials: { name: "db" } },
  });
const services = (credentials: unknown): KubeObject => {
  const text = JSON.stringify({ "user-provided": [{ binding_guid: "b", credentials }] });
  return object("Secret", "web-vcap-services", { data: encoded({ VCAP_SERVICES: text }) });
};
const projected = { sources: [{ secret: { name: "b" } }] };
const pod = object("Pod", "web-0", { spec: { volumes: [{ name: "v", projected }] } });

const gone = (object: KubeObject): Omit<Happening, "version"> => ({ kind: object.kind, isEnd: true, object });
type Step = KubeObject | Omit<Happening, "version">;

const judged = (...steps: readonly Step[]): readonly string[] =>
  judge(
    steps.map((step, index) => {
      const happening =
        "isEnd" in step
          ? (step as Omit<Happening, "version">)
          : { kind: String(step.kind), isEnd: false, object: step as KubeObject };
      return { ...happening, version: BigInt(index + 1) };
    }),
  );

const well = [instance, credentials(1), files(1), binding(names("b"))] as const;

test("nothing is wrong where the Secret comes first, and changes as one", () => {
  assert.deepEqual(judged(...well, services(versionOf(1)), credentials(2), files(2), services(versionOf(2))), []);
});

const rows: readonly { readonly why: string; readonly steps: readonly Step[]; readonly says: RegExp }[] = [
  {
    why: "named before it is there",
    steps: [instance, credentials(1), binding(names("b"))],
    says: /3: b has b projected, which is not there/,
  },
  { why: "gone while it is named", steps: [...well, gone(files(1))], says: /b has b projected, which is not there/ },
  { why: "made of two versions", steps: [...well, credentials(2), files(2, 1)], says: /6: b is of no one version/ },
  { why: "of a version that never was", steps: [...well, files(3)], says: /5: b is of no one version/ },
  {
    why: "another type than it says",
    steps: [...well, files(1, 1, "cache")],
    says: /5: b is of type servicebinding.io\/database, and says that it is cache/,
  },
  { why: "two names for two things", steps: [...well, binding(names("b", "c"))], says: /5: b says two things/ },
  {
    why: "no credentials",
    steps: [...well, gone(credentials(1))],
    says: /5: b has its credentials in db, which is not there/,
  },
  {
    why: "VCAP_SERVICES of two versions",
    steps: [...well, services({ ...versionOf(1), host: "h2" })],
    says: /5: web-vcap-services has credentials of no one version/,
  },
  {
    why: "taken away under a pod",
    steps: [...well, pod, binding(names("b")), gone(files(1))],
    says: /b went while Pod\/web-0 has it projected/,
  },
];

for (const { why, steps, says } of rows) {
  test(`noticed: ${why}`, () => assert.match(judged(...steps).join("\n"), says));
}
