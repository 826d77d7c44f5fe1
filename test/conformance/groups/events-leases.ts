import assert from "node:assert/strict";
import { type BehaviourGroup, behaviour } from "../behaviour.ts";
import { assertStatus, at, refused } from "../expectations.ts";
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
    behaviour("Events are found by what they regard, in the words of either version", async (world) => {
      const namespace = await world.namespace();
      const newer = { ...events, group: "events.k8s.io" };
      for (const name of ["a", "b"]) {
        await world.kube.create(events, {
          apiVersion: "v1",
          kind: "Event",
          metadata: { namespace, name },
          involvedObject: { apiVersion: "v1", kind: "ConfigMap", namespace, name: `about-${name}` },
          reason: "Rotated",
          reportingComponent: `keyturn.dev/${name}`,
        });
      }
      const found = async (type: typeof events, fieldSelector: string): Promise<readonly string[]> =>
        (await world.kube.list(type, { namespace, fieldSelector })).items.map(({ metadata }) => metadata.name);
      assert.deepEqual(await found(newer, "regarding.name=about-a"), ["a"]);
      assert.deepEqual(await found(newer, "regarding.name!=about-a,reason=Rotated"), ["b"]);
      assert.deepEqual(await found(newer, "reportingController=keyturn.dev/b"), ["b"]);
      assert.deepEqual(await found(events, "involvedObject.name=about-b"), ["b"]);
      await refused(world.kube.list(newer, { namespace, fieldSelector: "involvedObject.name=about-a" }), {
        status: 400,
        code: "BadRequest",
        message: /field label not supported: involvedObject\.name/,
      });
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
    behaviour("a Lease is not replaced without its resourceVersion", async (world) => {
      const namespace = await world.namespace();
      const path = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/leader`;
      const lease = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name: "leader" }, spec: {} };
      const versioned = { ...lease, metadata: { name: "leader", resourceVersion: "5" } };
      assert.equal((await world.wire.put(path, versioned)).status, 201, "there was none");
      const blind = await world.wire.put(path, lease);
      assertStatus(blind, { status: 422, reason: "Invalid", message: /must be specified for an update/ });
      assertStatus(await world.wire.put(path, versioned), { status: 409, reason: "Conflict" });
    }),
    behaviour("who renews a Lease that is gone does not make it anew", async (world) => {
      const namespace = await world.namespace();
      const ref = { namespace, name: "leader" };
      const draft = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: ref, spec: {} };
      const made = await world.kube.create(leases, draft);
      await world.kube.delete(leases, ref);
      await refused(world.kube.replace(leases, made), {
        status: 409,
        code: "Conflict",
        message: /Precondition failed/,
      });
    }),
    behaviour("a Lease's times have six digits, and are kept in UTC", async (world) => {
      const namespace = await world.namespace();
      const draft = (renewTime: string) => ({
        apiVersion: "coordination.k8s.io/v1",
        kind: "Lease",
        metadata: { namespace, name: "leader" },
        spec: { renewTime },
      });
      for (const time of ["2026-01-01T00:00:00Z", "2026-01-01T00:00:00.5Z"]) {
        await refused(world.kube.create(leases, draft(time)), { status: 400, code: "BadRequest", message: /\.000000/ });
      }
      const made = await world.kube.create(leases, draft("2026-01-01T01:00:00.000007+01:00"));
      assert.equal(at(made, "spec", "renewTime"), "2026-01-01T00:00:00.000007Z");
    }),
    behaviour("what an Event of events.k8s.io says does not change, its series does", async (world) => {
      const namespace = await world.namespace();
      const type = { ...events, group: "events.k8s.io" };
      const made = await world.kube.create(type, {
        apiVersion: "events.k8s.io/v1",
        kind: "Event",
        metadata: { namespace, name: "a" },
        eventTime: "2026-01-01T00:00:00.000000Z",
        reportingController: "keyturn.dev/conformance",
        reportingInstance: "conformance-1",
        action: "Rotate",
        reason: "Rotated",
        type: "Normal",
        regarding: { apiVersion: "v1", kind: "ConfigMap", namespace, name: "x" },
      });
      const ref = { namespace, name: made.metadata.name };
      const series = { count: 2, lastObservedTime: "2026-01-01T00:00:01.000000Z" };
      const patched = await world.kube.patch(type, ref, { type: "merge", body: { series } });
      assert.deepEqual(patched.series, series);
      await refused(world.kube.patch(type, ref, { type: "merge", body: { reason: "Other", note: "new" } }), {
        status: 422,
        code: "Invalid",
        fields: ["reason", "message"],
      });
    }),
  ],
};
