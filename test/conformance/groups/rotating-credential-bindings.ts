import assert from "node:assert/strict";
import { rotatedKinds } from "../../../src/install/admission-policies.ts";
import { type BehaviourGroup, behaviour } from "../behaviour.ts";
import { at } from "../expectations.ts";
import { OwnKind, warningOf } from "../own-kind.ts";

/** What the schema of the rotating parent says otherwise than that of its children. */
const { rotatingCredentialBindings: rotated } = rotatedKinds;
const KEY = { type: "key", serviceInstanceRef: { name: "my-database" } };
const SECRET = { namespace: "default", name: "my-service-credentials" };
const POLICY = { frequency: "720h", ttl: "1440h" };
const kind = new OwnKind(rotated, { forProvider: KEY, rotation: POLICY, writeConnectionSecretToRef: SECRET });
const key = (more: object): object => ({ forProvider: { ...KEY, ...more } });

export const rotatingCredentialBindings: BehaviourGroup = {
  name: "rotating credential bindings",
  behaviours: [
    ...kind.refusals([
      {
        why: "rotation inside forProvider",
        spec: key({ rotation: POLICY }),
        field: "spec.forProvider.rotation",
        message: /belongs to spec\.rotation/,
      },
      {
        why: "no service instance, by whichever field",
        spec: key({ serviceInstanceRef: undefined }),
        field: "spec.forProvider.serviceInstance",
        message: /say which service instance/,
      },
      {
        why: "a ttl below the frequency",
        spec: { rotation: { frequency: "720h", ttl: "719h" } },
        field: "spec.rotation.ttl",
        message: /must be at least the frequency/,
      },
    ]),
    behaviour(
      "accepted: the document's manifest, an interval in the frequency's place, and no rotation at all",
      async (world) => {
        for (const rotation of [POLICY, { interval: "720h", ttl: "1440h" }, undefined]) {
          const made = await kind.attempt(world, { rotation });
          assert.deepEqual(at(made, "spec", "forProvider"), KEY);
          assert.deepEqual(at(made, "spec", "rotation"), rotation);
        }
      },
    ),
    behaviour("advice: what will surprise is warned of", async (world) => {
      const surprising = { rotation: { frequency: "720h", ttl: "30d" } };
      const type = await kind.installAdvice(world, surprising);
      assert.match(warningOf(await kind.post(world, type, surprising)), /: spec\.rotation\.ttl equals frequency: /);
      assert.equal(warningOf(await kind.post(world, type, {})), "");
    }),
  ],
};
