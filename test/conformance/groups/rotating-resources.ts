import assert from "node:assert/strict";
import { rotationClass } from "../../../src/api/keyturn/rotation-class.ts";
import { rotatedKinds } from "../../../src/install/admission-policies.ts";
import type { KubeObject } from "../../../src/kube/objects.ts";
import { type BehaviourGroup, behaviour } from "../behaviour.ts";
import { at, refused } from "../expectations.ts";
import { OwnKind, type RefusedSpec, warningOf } from "../own-kind.ts";

/** What the schemas of RotatingResource and RotationClass can say of confused deputies; the operator says all of it again. */
const { rotatingResources: rotated } = rotatedKinds;
const TEMPLATE = {
  apiVersion: "cert-manager.io/v1",
  kind: "Certificate",
  metadata: { labels: { app: "web" } },
  spec: { secretName: "$(name)-tls", deep: [{ is: { kept: true } }] },
};
const resource = new OwnKind(rotated, {
  rotationClassName: "certificates",
  serviceAccountName: "rotator",
  template: TEMPLATE,
  rotation: { frequency: "720h", ttl: "1080h" },
  writeConnectionSecretToRef: { name: "web-certificate" },
});
const classes = new OwnKind(
  { resource: rotationClass, rotation: "" },
  { kinds: [{ group: "cert-manager.io", kind: "Certificate" }], serviceAccounts: ["rotator"] },
);

const metadata = (fields: object): object => ({ template: { ...TEMPLATE, metadata: fields } });
const ofKind = (apiVersion: string, kind: string): object => ({ template: { apiVersion, kind } });
const NEVER = /built into Kubernetes, or Keyturn's own/;

const templates: readonly RefusedSpec[] = [
  ["a name in a template", metadata({ name: "x" }), "metadata.name", /each child gets a name of its own/],
  ["a generated name in a template", metadata({ generateName: "x" }), "metadata.generateName", /a name of its own/],
  [
    "a namespace in a template",
    metadata({ namespace: "kube-system" }),
    "metadata.namespace",
    /always in the namespace/,
  ],
  ["finalizers in a template", metadata({ finalizers: ["a.b/c"] }), "metadata.finalizers", /its finalizer/],
  ["owners in a template", metadata({ ownerReferences: [{ uid: "x" }] }), "metadata.ownerReferences", /belongs to/],
  ["a Secret as a child", ofKind("v1", "Secret"), "apiVersion", /must be group\/version/],
  ["a Deployment as a child", ofKind("apps/v1", "Deployment"), "apiVersion", NEVER],
  ["a Role as a child", ofKind("rbac.authorization.k8s.io/v1", "Role"), "apiVersion", NEVER],
  ["a webhook as a child", ofKind("admissionregistration.k8s.io/v1", "X"), "apiVersion", NEVER],
  ["a kind of Keyturn's own as a child", ofKind("keyturn.dev/v1alpha1", "RotatingResource"), "apiVersion", NEVER],
].map(([why, spec, field, message]) => ({ why, spec, field: `spec.template.${field}`, message }) as RefusedSpec);

const others: readonly RefusedSpec[] = [
  ["one Secret for all children", { childSecret: { name: "shared" } }, "childSecret.name", /must contain \$\(name\)/],
  ["two words on readiness", { readiness: { condition: "A", cel: "true" } }, "readiness.condition", /keep one of them/],
  ["a ttl below the frequency", { rotation: { frequency: "2h", ttl: "1h" } }, "rotation.ttl", /at least the frequency/],
  ["an account of another namespace", { serviceAccountName: "shop:admin" }, "serviceAccountName", /should match/],
  [
    "a Secret that none can be called",
    { writeConnectionSecretToRef: { name: "UPPER_x" } },
    "writeConnectionSecretToRef.name",
    /should match/,
  ],
].map(([why, spec, field, message]) => ({ why, spec, field: `spec.${field}`, message }) as RefusedSpec);

const ofClass: readonly RefusedSpec[] = [
  ["a class of Deployments", { kinds: [{ group: "apps", kind: "Deployment" }] }, "kinds[0].group", NEVER],
  ["a class of our own", { kinds: [{ group: "keyturn.dev", kind: "X" }] }, "kinds[0].group", NEVER],
  ["a class without kinds", { kinds: [] }, "kinds", /should have at least 1 items/],
  ["a class without accounts", { serviceAccounts: [] }, "serviceAccounts", /should have at least 1 items/],
  ["a class for no namespace", { namespaces: [] }, "namespaces", /should have at least 1 items/],
  ["a class with an odd limit", { minFrequency: "often" }, "minFrequency", /must be a duration/],
].map(([why, spec, field, message]) => ({ why, spec, field: `spec.${field}`, message }) as RefusedSpec);

export const rotatingResources: BehaviourGroup = {
  name: "rotating resources",
  behaviours: [
    ...resource.refusals([...templates, ...others]),
    ...classes.refusals(ofClass),
    behaviour("accepted: a template is kept as it was written, and a child's Secret has its name", async (world) => {
      const made = await resource.attempt(world, {});
      assert.deepEqual(at(made, "spec", "template"), TEMPLATE);
      assert.deepEqual(at(made, "spec", "childSecret"), { name: "$(name)" });
      await classes.attempt(world, { namespaces: ["shop"], minFrequency: "24h" });
    }),
    behaviour("refused: another kind in the template of one that is there", async (world) => {
      const type = await resource.type(world);
      const name = world.unique("r");
      await world.kube.create<KubeObject>(type, resource.draft(type, name, {}));
      const change = (template: object): Promise<KubeObject> =>
        world.kube.patch(type, { name }, { type: "merge", body: { spec: { template } } });
      const expected = { status: 422, code: "Invalid", message: /cannot be changed/, fields: ["spec.template.kind"] };
      await refused(change({ kind: "Issuer" }), expected);
      await refused(change({ apiVersion: "example.org/v1" }), expected);
      await change({ apiVersion: "cert-manager.io/v2" });
      await world.kube.delete(type, { name });
    }),
    behaviour("advice: what will surprise is warned of", async (world) => {
      const surprising = { rotation: { interval: "720h", ttl: "30d" } };
      const type = await resource.installAdvice(world, surprising);
      assert.match(warningOf(await resource.post(world, type, surprising)), /: spec\.rotation\.ttl equals frequency: /);
      assert.equal(warningOf(await resource.post(world, type, {})), "");
    }),
  ],
};
