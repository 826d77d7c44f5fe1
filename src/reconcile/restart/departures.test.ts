import assert from "node:assert/strict";
import { test } from "node:test";
import type { Delta, Entry } from "../../kube/resource-cache.ts";
import type { TemplateSight } from "../../restart/template-sight.ts";
import { Departures } from "./departures.ts";
import type { WorkloadRecord } from "./workload-record.ts";

const KEY = "Deployment/shop/web";
const LEFT: TemplateSight = { digest: "a", revision: "1", isWhole: true };
const NEXT: TemplateSight = { digest: "b", revision: "1", isWhole: false };

const entry = (resourceVersion: string, template: TemplateSight | undefined, uid = "uid-1"): Entry<WorkloadRecord> => ({
  key: "shop/web",
  uid,
  resourceVersion,
  // Nothing else of it is looked at.
  record: { template } as unknown as WorkloadRecord,
});

const update = (
  was: TemplateSight | undefined,
  is: TemplateSight | undefined,
  via: Delta<WorkloadRecord>["via"] = "watch",
): Delta<WorkloadRecord> => ({ type: "updated", via, key: "shop/web", old: entry("7", was), entry: entry("9", is) });

test("a template is left in the version that has another one", () => {
  const departures = new Departures();
  departures.note(KEY, update(LEFT, NEXT));
  const { version, template, revision } = departures.of(KEY, "uid-1") ?? {};
  assert.deepEqual([version, template, revision], ["9", "a", "1"]);
  assert.equal(departures.of(KEY, "uid-2"), undefined, "of another object it says nothing");
});

test("what says nothing of when a template was left", () => {
  const rows: readonly (readonly [reason: string, delta: Delta<WorkloadRecord>])[] = [
    ["a list, which sums up", update(LEFT, NEXT, "refresh")],
    ["the same template", update(LEFT, { ...LEFT, revision: "2", isWhole: false })],
    ["not all pods were of it", update({ ...LEFT, isWhole: false }, NEXT)],
    ["nothing rolls by itself", update(undefined, undefined)],
    ["it has come", { type: "added", via: "watch", key: "shop/web", entry: entry("9", NEXT) }],
  ];
  for (const [reason, delta] of rows) {
    const departures = new Departures();
    departures.note(KEY, delta);
    assert.equal(departures.of(KEY, "uid-1"), undefined, reason);
  }
});

test("it stays true for as long as the workload is there", () => {
  const departures = new Departures();
  departures.note(KEY, update(LEFT, NEXT));
  departures.note(KEY, update(NEXT, { ...NEXT, digest: "c" }));
  departures.note(KEY, update(NEXT, LEFT, "refresh"));
  assert.equal(departures.of(KEY, "uid-1")?.template, "a");
  departures.note(KEY, { type: "deleted", via: "watch", key: "shop/web", old: entry("9", NEXT) });
  assert.equal(departures.of(KEY, "uid-1"), undefined);
});
