import assert from "node:assert/strict";
import { rotatedKinds } from "../../../src/install/admission-policies.ts";
import { type BehaviourGroup, behaviour } from "../behaviour.ts";
import { at, refused } from "../expectations.ts";
import { OwnKind, type RefusedSpec, warningOf } from "../own-kind.ts";

/** What the schema of Cloud Foundry's keys says beyond that of service bindings: where rotation is, and what types allow. */
const { serviceCredentialBindings: rotated } = rotatedKinds;
const KEY = { type: "key", name: "my-rotating-service-key", serviceInstanceRef: { name: "my-database" } };
const SECRET = { namespace: "default", name: "my-service-credentials" };
const kind = new OwnKind(rotated, { forProvider: KEY, writeConnectionSecretToRef: SECRET });
const key = (more: object): object => ({ forProvider: { ...KEY, ...more } });
const rotating = (rotation: object): object => key({ rotation });
const ofApp = (more: object): object => ({ forProvider: { type: "app", serviceInstance: "i", ...more } });

const refusals: readonly RefusedSpec[] = [
  {
    why: "frequency and interval at once",
    spec: rotating({ frequency: "720h", interval: "720h", ttl: "1440h" }),
    field: "spec.forProvider.rotation.interval",
    message: /says the same as frequency: keep one of them/,
  },
  {
    why: "neither frequency nor interval",
    spec: rotating({ ttl: "1440h" }),
    field: "spec.forProvider.rotation.frequency",
    message: /Required value: say at which age a key is replaced/,
  },
  {
    why: "a ttl below the interval",
    spec: rotating({ interval: "31d", ttl: "720h" }),
    field: "spec.forProvider.rotation.ttl",
    message: /must be at least the frequency/,
  },
  {
    why: "an interval that is no duration",
    spec: rotating({ interval: "monthly", ttl: "1440h" }),
    field: "spec.forProvider.rotation.interval",
    message: /must be a duration/,
  },
  {
    why: "a policy on the binding of an app",
    spec: ofApp({ app: "a", rotation: { frequency: "720h", ttl: "1440h" } }),
    field: "spec.forProvider.rotation",
    message: /bindings of apps are not rotated/,
  },
  {
    why: "the binding of no app",
    spec: ofApp({}),
    field: "spec.forProvider.app",
    message: /Required value: say which app/,
  },
  {
    why: "no service instance, by whichever field",
    spec: key({ serviceInstanceRef: undefined }),
    field: "spec.forProvider.serviceInstance",
    message:
      /Required value: say which service instance: serviceInstance, serviceInstanceRef or serviceInstanceSelector/,
  },
  {
    why: "a key without a name",
    spec: key({ name: undefined }),
    field: "spec.forProvider.name",
    message: /Required value: a key needs a name/,
  },
];

const accepted: readonly { readonly why: string; readonly spec: object }[] = [
  { why: "no rotation: a static key", spec: {} },
  { why: "the document's policy", spec: rotating({ frequency: "720h", ttl: "1440h" }) },
  { why: "the same with an interval", spec: rotating({ interval: "720h", ttl: "1440h" }) },
  { why: "the binding of an app, without a name", spec: ofApp({ appRef: { name: "my-app" } }) },
  {
    why: "what upstream's manifests say",
    spec: {
      ...key({ parameters: { deep: { er: [1] } }, paramsSecretRef: { name: "s", namespace: "n" } }),
      connectionDetailsAsJSON: true,
    },
  },
];

const surprising = rotating({ interval: "720h", ttl: "30d" });

export const serviceCredentialBindings: BehaviourGroup = {
  name: "service credential bindings",
  behaviours: [
    ...kind.refusals(refusals),
    ...accepted.map(({ why, spec }) =>
      behaviour(`accepted as it is written: ${why}`, async (world) => {
        const made = await kind.attempt(world, spec);
        const { forProvider } = { forProvider: KEY, ...spec };
        for (const [field, value] of Object.entries(forProvider)) {
          assert.deepEqual(at(made, "spec", "forProvider", field), value, field);
        }
      }),
    ),
    behaviour("the type is a key where nothing is said, and cannot be changed", async (world) => {
      const type = await kind.type(world);
      const name = world.unique("b");
      await world.kube.create(type, kind.draft(type, name, key({ type: undefined })));
      const stored = await world.kube.get(type, { name });
      assert.equal(at(stored, "spec", "forProvider", "type"), "key");
      const body = { spec: { forProvider: { type: "app", app: "a" } } };
      await refused(world.kube.patch(type, { name }, { type: "merge", body }), {
        status: 422,
        code: "Invalid",
        message: /spec\.forProvider\.type: Invalid value: .*cannot be changed/,
        fields: ["spec.forProvider.type"],
      });
    }),
    behaviour("advice: what will surprise is warned of, by whichever word the frequency goes", async (world) => {
      const type = await kind.installAdvice(world, surprising);
      for (const word of ["frequency", "interval"]) {
        const same = await kind.post(world, type, rotating({ [word]: "720h", ttl: "30d" }));
        assert.match(warningOf(same), /: spec\.forProvider\.rotation\.ttl equals frequency: /, word);
        const many = await kind.post(world, type, rotating({ [word]: "1h", ttl: "5h" }));
        assert.match(warningOf(many), /ttl is more than twice the frequency: up to 4 retired keys /, word);
        assert.equal(warningOf(await kind.post(world, type, rotating({ [word]: "720h", ttl: "1440h" }))), "", word);
      }
      assert.equal(warningOf(await kind.post(world, type, {})), "");
    }),
  ],
};
