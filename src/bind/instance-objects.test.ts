import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "../kube/objects.ts";
import { recordOf } from "../kube/record.ts";
import { PACE_ANNOTATIONS, RESTART_FOR_ANNOTATION } from "../restart/annotations.ts";
import { cluster, instance } from "./bind-objects.fixture.ts";
import { fieldAt } from "./fields.ts";
import { CONFIG_DIGEST, instanceObjects, podLabels } from "./instance-objects.ts";
import type { KeyMount } from "./named-conf.ts";

const RING: KeyMount = { kind: "ring", secretName: "k", ringName: "k-ring" };
const FILE: KeyMount = { kind: "file", secretName: "k", keyName: "bindy-operator" };

function made(spec: object = {}, over?: object, keys: KeyMount = RING): Readonly<Record<string, KubeObject>> {
  const objects = instanceObjects({ instance: instance(spec), cluster: over && cluster(over), keys });
  return Object.fromEntries(objects.map((object) => [object.kind, object]));
}

const at = (object: unknown, path: string): unknown => fieldAt(object, path.split("."));
const podSpec = (objects: Readonly<Record<string, KubeObject>>): Readonly<Record<string, unknown>> =>
  recordOf(at(objects.Deployment, "spec.template.spec"));
const named = (objects: Readonly<Record<string, KubeObject>>): Readonly<Record<string, unknown>> =>
  recordOf((podSpec(objects).containers as readonly unknown[])[0]);
const confOf = (objects: Readonly<Record<string, KubeObject>>): string =>
  String(recordOf(objects.ConfigMap?.data)["named.conf"]);

test("an instance becomes a ConfigMap, a Deployment and a Service of its name, all of them its own", () => {
  const objects = instanceObjects({ instance: instance(), cluster: undefined, keys: RING });
  assert.deepEqual(
    objects.map(({ kind, metadata }) => [kind, metadata.namespace, metadata.name, metadata.ownerReferences?.[0]?.uid]),
    ["ConfigMap", "Deployment", "Service"].map((kind) => [kind, "net", "dns-primary-0", "uid-of-dns-primary-0"]),
  );
});

test("an existing Deployment is used as it is", () => {
  assert.deepEqual(made({ deploymentRef: { name: "theirs" } }), {});
});

test("the pods may do nothing that they need not do", () => {
  const objects = made();
  const { securityContext, automountServiceAccountToken } = podSpec(objects);
  assert.deepEqual(securityContext, {
    runAsNonRoot: true,
    runAsUser: 65532,
    runAsGroup: 65532,
    fsGroup: 65532,
    seccompProfile: { type: "RuntimeDefault" },
  });
  assert.equal(automountServiceAccountToken, false);
  assert.deepEqual(named(objects).securityContext, {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ["ALL"] },
  });
  for (const name of ["startupProbe", "readinessProbe", "livenessProbe"]) assert.ok(named(objects)[name], name);
  for (const { containerPort } of named(objects).ports as readonly { readonly containerPort: number }[]) {
    assert.ok(containerPort >= 1024, `${containerPort} needs a privilege`);
  }
});

test("Secrets are mounted as directories, read by the pod's group alone", () => {
  const mounts = named(made()).volumeMounts as readonly Readonly<Record<string, unknown>>[];
  assert.ok(mounts.every((mount) => !("subPath" in mount)));
  const volumes = podSpec(made()).volumes as readonly Readonly<Record<string, unknown>>[];
  assert.deepEqual(
    volumes.flatMap(({ secret }) => (secret === undefined ? [] : [secret])),
    [
      { secretName: "k", defaultMode: 0o440 },
      {
        secretName: "k-ring",
        defaultMode: 0o440,
        items: ["keys.conf", "controls.conf", "acl.conf"].map((file) => ({ key: file, path: file })),
      },
    ],
  );
  assert.ok(!JSON.stringify(made({}, undefined, FILE)).includes("k-ring"));
});

test("what changes when a key does is nowhere in the pod template", () => {
  assert.doesNotMatch(JSON.stringify(podSpec(made())), /secretKeyRef|envFrom/);
  assert.equal(at(made().Deployment, "metadata.annotations")?.["keyturn.dev/restartOnChange" as never], "false");
  const restarted = at(made({}, undefined, FILE).Deployment, "metadata.annotations");
  const marked = { [RESTART_FOR_ANNOTATION]: FILE.secretName, [PACE_ANNOTATIONS.quietPeriod]: "0s" };
  assert.deepEqual(restarted, marked, "marked from the start");
});

test("another named.conf means other pods, the same means the same", () => {
  const digest = (objects: Readonly<Record<string, KubeObject>>): unknown =>
    recordOf(at(objects.Deployment, "spec.template.metadata.annotations"))[CONFIG_DIGEST];
  assert.equal(digest(made()), digest(made({ replicas: 3 })));
  assert.notEqual(digest(made()), digest(made({ recursion: true })));
});

test("a new pod serves before an old one goes, and the Service finds them all", () => {
  const { Deployment, Service } = made({ replicas: 3 });
  assert.equal(at(Deployment, "spec.replicas"), 3);
  assert.deepEqual(at(Deployment, "spec.strategy.rollingUpdate"), { maxUnavailable: 0, maxSurge: 1 });
  const labels = recordOf(at(Deployment, "spec.template.metadata.labels"));
  for (const [name, value] of Object.entries(podLabels("dns-primary-0"))) assert.equal(labels[name], value);
  assert.deepEqual(at(Service, "spec.selector"), at(Deployment, "spec.selector.matchLabels"));
});

test("a StatefulSet in the place of the Deployment, where that is asked for: the same pods, by names that stay", () => {
  const [asked, unasked] = [made({ replicas: 2, workload: "StatefulSet" }), made({ replicas: 2 })];
  assert.deepEqual(Object.keys(asked).sort(), ["ConfigMap", "Service", "StatefulSet"]);
  for (const path of ["spec.template", "spec.selector", "spec.replicas", "metadata"]) {
    assert.deepEqual(at(asked.StatefulSet, path), at(unasked.Deployment, path), path);
  }
  assert.equal(at(asked.StatefulSet, "spec.serviceName"), asked.Service?.metadata.name);
  assert.equal(at(asked.StatefulSet, "spec.strategy"), undefined, "which is a Deployment's word");
  assert.ok(made({}, { workload: "StatefulSet" }).StatefulSet, "the cluster may say it for all");
  assert.ok(made({ workload: "Deployment" }, { workload: "StatefulSet" }).Deployment, "the instance goes before it");
});

const inherited: readonly (readonly [
  why: string,
  spec: object,
  over: object,
  image: string,
  port: number,
  recursion: string,
])[] = [
  ["nothing is said", {}, {}, "internetsystemsconsortium/bind9:9.18", 53, "no"],
  ["the cluster says it", {}, { image: { image: "a" }, port: 5353, global: { recursion: true } }, "a", 5353, "yes"],
  [
    "the instance goes before it",
    { image: { image: "b" }, port: 54, recursion: false },
    { image: { image: "a" }, port: 5353, global: { recursion: true } },
    "b",
    54,
    "no",
  ],
];

for (const [why, spec, over, image, port, recursion] of inherited) {
  test(`image, port and recursion: ${why}`, () => {
    const objects = made(spec, over);
    assert.equal(named(objects).image, image);
    assert.deepEqual(
      (at(objects.Service, "spec.ports") as readonly { readonly port: number }[]).map((each) => each.port),
      [port, port, 9953],
    );
    assert.match(confOf(objects), new RegExp(`\\trecursion ${recursion};\\n`));
  });
}
