import assert from "node:assert/strict";
import { test } from "node:test";
import { cfServiceInstance } from "../../api/korifi/cf-service-instance.ts";
import { ManualClock } from "../../base/manual-clock.ts";
import type { KubeObject } from "../../kube/objects.ts";
import type { Kube } from "../../kube/port.ts";
import { recordOf, recordsIn } from "../../kube/record.ts";
import { type ObjectReport, ObjectStatus } from "./object-status.ts";

const { signal } = new AbortController();

/** What is stored, and what is told, one after the other. */
function stage() {
  const stored: KubeObject[] = [];
  const told: string[] = [];
  const replace = async (_: unknown, object: unknown): Promise<unknown> => {
    const copy = JSON.parse(JSON.stringify(object)) as KubeObject;
    stored.push(copy);
    return copy;
  };
  const status = new ObjectStatus({
    type: cfServiceInstance,
    // Nothing else is called.
    kube: { replace } as unknown as Kube,
    clock: new ManualClock(),
    events: { record: async (_, { note }) => void told.push(note) },
    noteWrite: () => {},
  });
  return { status, stored, told };
}

const object: KubeObject = {
  apiVersion: "korifi.cloudfoundry.org/v1alpha1",
  kind: "CFServiceInstance",
  metadata: { name: "db", namespace: "space", generation: 1 },
};

const wordsIn = (of: KubeObject | undefined): string => {
  const { message } = recordsIn(recordOf(of?.status).conditions).find(({ type }) => type === "Synced") ?? {};
  return String(message);
};

test("however much is wrong, a status holds it, and it is said once", async () => {
  const { status, stored, told } = stage();
  const troubles = Array.from({ length: 5_000 }, (_, index) => ({
    reason: "InvalidKey",
    message: `${index} 😀 is wrong`,
  }));
  const report: ObjectReport = { ready: { status: "True", reason: "Available" }, troubles, warnings: [], fields: {} };
  const first = await status.write(object, report, signal);
  assert.ok(wordsIn(first).length <= 4096, `${wordsIn(first).length} characters`);
  assert.match(wordsIn(first), /^0 😀 is wrong; 1 😀 is wrong; .*…$/);
  assert.ok(wordsIn(first).isWellFormed());
  await status.write(first, report, signal);
  assert.deepEqual([stored.length, told.length], [1, 1]);
});
