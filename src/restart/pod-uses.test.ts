import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../base/properties.fixture.ts";
import type { UnknownRecord } from "../kube/record.ts";
import type { SourceId, Use } from "./model.ts";
import { placedUsesOf, usesOf } from "./pod-uses.ts";

const use = (source: SourceId, rest: Partial<Use> = {}): Use => ({
  source,
  keys: undefined,
  isOptional: false,
  isPullOnly: false,
  ...rest,
});

const csi = (driver: string, secretProviderClass: unknown): UnknownRecord => ({
  volumes: [{ csi: { driver, volumeAttributes: { secretProviderClass } } }],
});

const TABLE: readonly (readonly [reason: string, spec: UnknownRecord, expected: readonly Use[]])[] = [
  ["a volume without items: every key", { volumes: [{ secret: { secretName: "a" } }] }, [use("secret/a")]],
  ["an empty list of items is none", { volumes: [{ secret: { secretName: "a", items: [] } }] }, [use("secret/a")]],
  [
    "a volume with items: those keys, sorted",
    {
      volumes: [
        {
          configMap: {
            name: "a",
            items: [
              { key: "y", path: "p" },
              { key: "x", path: "q" },
            ],
          },
        },
      ],
    },
    [use("configmap/a", { keys: ["x", "y"] })],
  ],
  [
    "a projected volume",
    {
      volumes: [
        {
          projected: {
            sources: [
              { secret: { name: "a", items: [{ key: "k", path: "p" }] } },
              { configMap: { name: "b", optional: true } },
              { serviceAccountToken: { path: "t" } },
            ],
          },
        },
      ],
    },
    [use("configmap/b", { isOptional: true }), use("secret/a", { keys: ["k"] })],
  ],
  [
    "a variable: that key",
    { containers: [{ env: [{ name: "A", valueFrom: { secretKeyRef: { name: "a", key: "k" } } }] }] },
    [use("secret/a", { keys: ["k"] })],
  ],
  [
    "all variables of a source, in init and ephemeral containers too",
    {
      initContainers: [{ envFrom: [{ secretRef: { name: "a" } }] }],
      ephemeralContainers: [{ envFrom: [{ configMapRef: { name: "b", optional: true } }] }],
    },
    [use("configmap/b", { isOptional: true }), use("secret/a")],
  ],
  ["a class of the Secrets Store", csi("secrets-store.csi.k8s.io", "vault"), [use("class/vault")]],
  ["a volume of another driver", csi("ebs.csi.aws.com", "vault"), []],
  ["a class without a name", csi("secrets-store.csi.k8s.io", 7), []],
  [
    "a pull",
    { imagePullSecrets: [{ name: "registry" }] },
    [use("secret/registry", { isOptional: true, isPullOnly: true })],
  ],
  [
    "a pull adds nothing to what is used otherwise",
    {
      imagePullSecrets: [{ name: "a" }],
      containers: [{ env: [{ valueFrom: { secretKeyRef: { name: "a", key: "k" } } }] }],
    },
    [use("secret/a", { keys: ["k"] })],
  ],
  [
    "keys of several uses are united, and it is optional only if all of them are",
    {
      containers: [
        { env: [{ valueFrom: { secretKeyRef: { name: "a", key: "x", optional: true } } }] },
        { env: [{ valueFrom: { secretKeyRef: { name: "a", key: "w" } } }] },
      ],
    },
    [use("secret/a", { keys: ["w", "x"], optionalKeys: ["x"] })],
  ],
  [
    "a key is optional only if it is in all places",
    {
      volumes: [{ secret: { secretName: "a", optional: true, items: [{ key: "x" }, { key: "y" }] } }],
      containers: [{ env: [{ valueFrom: { secretKeyRef: { name: "a", key: "x" } } }] }],
    },
    [use("secret/a", { keys: ["x", "y"], optionalKeys: ["y"] })],
  ],
  [
    "all keys win over some",
    {
      volumes: [{ secret: { secretName: "a", optional: true } }],
      containers: [{ env: [{ valueFrom: { secretKeyRef: { name: "a", key: "x", optional: true } } }] }],
    },
    [use("secret/a", { isOptional: true })],
  ],
  ["what is no name uses nothing", { volumes: [{ secret: { secretName: "" } }, { configMap: {} }, null, 3] }, []],
];

test("the sources that a pod uses", () => {
  for (const [reason, spec, expected] of TABLE) assert.deepEqual(usesOf(spec), expected, reason);
});

test("each place of the spec that refers to a source is told by its field", () => {
  const spec = {
    volumes: [
      { secret: { secretName: "a" } },
      { projected: { sources: [{ secret: { name: "a", items: [{ key: "x" }] } }] } },
      { csi: { driver: "secrets-store.csi.k8s.io", volumeAttributes: { secretProviderClass: "vault" } } },
    ],
    initContainers: [{ envFrom: [{ secretRef: { name: "a" } }] }],
    containers: [{ env: [{ valueFrom: { secretKeyRef: { name: "a", key: "y" } } }] }],
    imagePullSecrets: [{ name: "a" }],
  };
  assert.deepEqual(
    placedUsesOf(spec).map(({ way, source, keys }) => [way, source, keys]),
    [
      ["volume", "secret/a", undefined],
      ["projected", "secret/a", ["x"]],
      ["csi", "class/vault", undefined],
      ["env", "secret/a", ["y"]],
      ["envFrom", "secret/a", undefined],
      ["pull", "secret/a", undefined],
    ],
  );
});

test("whatever a spec holds, it is read without a throw, and each source stands once, in order", () => {
  const fields = ["volumes", "containers", "initContainers", "ephemeralContainers", "imagePullSecrets"] as const;
  const element = fc.oneof(fc.jsonValue(), fc.constantFrom(...TABLE.flatMap(([, spec]) => Object.values(spec).flat())));
  const spec = fc.dictionary(fc.constantFrom(...fields), fc.oneof(fc.jsonValue(), fc.array(element)));
  fc.assert(
    fc.property(spec, (value) => {
      const sources = usesOf(value).map(({ source }) => source);
      assert.deepEqual(sources, [...new Set(sources)].sort());
    }),
  );
});
