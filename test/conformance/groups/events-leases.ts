import assert from "node:assert/strict";
import { type BehaviourGroup, behaviour } from "../behaviour.ts";
import { at, refused } from "../expectations.ts";
import { events, leases } from "../kinds.ts";

/** What an operator writes beside its own kinds: Events, and the Lease by which it leads. */
export const eventsAndLeases: BehaviourGroup = {
  name: "events and leases",
  behaviours: [
    behaviour("an Event is kept as written and counted by its writer", async (world) => {
      const namespace = await world.namespace();
      const made = await world.kube.create(events, {
        apiVersion: "v1",
        kind: "Event",
        metadata: { namespace, generateName: "note." },
        involvedObject: { apiVersion: "v1", kind: "ConfigMap", namespace, name: "a" },
        reason: "Rotated",
        message: "a new key is in use",
        type: "Normal",
        source: { component: "conformance" },
        firstTimestamp: "2026-01-01T00:00:00Z",
        lastTimestamp: "2026-01-01T00:00:00Z",
        count: 1,
      });
      const ref = { namespace, name: made.metadata.name };
      const patched = await world.kube.patch(events, ref, { type: "merge", body: { count: 2 } });
      assert.equal(patched.count, 2);
      assert.equal(patched.message, "a new key is in use");
    }),
    behaviour("an Event of events.k8s.io is the same object in v1", async (world) => {
      const namespace = await world.namespace();
      const newer = { ...events, group: "events.k8s.io" };
      await world.kube.create(newer, {
        apiVersion: "events.k8s.io/v1",
        kind: "Event",
        metadata: { namespace, name: "a" },
        eventTime: "2026-01-01T00:00:00.000000Z",
        reportingController: "keyturn.dev/conformance",
        reportingInstance: "conformance-1",
        action: "Rotate",
        reason: "Rotated",
        note: "a new key is in use",
        type: "Normal",
        regarding: { apiVersion: "v1", kind: "ConfigMap", namespace, name: "x" },
      });
      const read = await world.kube.get(events, { namespace, name: "a" });
      assert.equal(read.message, "a new key is in use");
      assert.equal(at(read, "involvedObject", "name"), "x");
      assert.equal(read.reportingComponent, "keyturn.dev/conformance");
    }),
    behaviour("an Event about an object in another namespace is refused", async (world) => {
      const namespace = await world.namespace();
      const draft = {
        apiVersion: "v1",
        kind: "Event",
        metadata: { namespace, name: "a" },
        involvedObject: { apiVersion: "v1", kind: "ConfigMap", namespace: "elsewhere", name: "a" },
      };
      await refused(world.kube.create(events, draft), {
        status: 422,
        code: "Invalid",
        fields: ["involvedObject.namespace"],
        message: /does not match event\.namespace/,
      });
    }),
    behaviour("a Lease keeps microseconds and is taken over by compare-and-swap", async (world) => {
      const namespace = await world.namespace();
      const spec = {
        holderIdentity: "one",
        leaseDurationSeconds: 15,
        acquireTime: "2026-01-01T00:00:00.123456Z",
        renewTime: "2026-01-01T00:00:01.000001Z",
        leaseTransitions: 0,
      };
      const metadata = { namespace, name: "leader" };
      const made = await world.kube.create(leases, {
        apiVersion: "coordination.k8s.io/v1",
        kind: "Lease",
        metadata,
        spec,
      });
      assert.deepEqual(made.spec, spec);
      const take = (holderIdentity: string) =>
        world.kube.replace(leases, { ...made, spec: { ...spec, holderIdentity, leaseTransitions: 1 } });
      const outcomes = await Promise.allSettled([take("two"), take("three")]);
      assert.deepEqual(outcomes.map((outcome) => outcome.status).sort(), ["fulfilled", "rejected"]);
      const released = await world.kube.patch(leases, metadata, {
        type: "merge",
        body: { spec: { holderIdentity: "" } },
      });
      assert.equal(at(released, "spec", "holderIdentity"), "");
    }),
    behaviour("a Lease's duration must be positive", async (world) => {
      const metadata = { namespace: await world.namespace(), name: "leader" };
      const draft = {
        apiVersion: "coordination.k8s.io/v1",
        kind: "Lease",
        metadata,
        spec: { leaseDurationSeconds: 0 },
      };
      await refused(world.kube.create(leases, draft), {
        status: 422,
        code: "Invalid",
        fields: ["spec.leaseDurationSeconds"],
        message: /must be greater than 0/,
      });
    }),
  ],
};
