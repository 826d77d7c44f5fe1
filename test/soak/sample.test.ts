import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { cachedObjects, staleIn } from "./sample.ts";

const bindings = 'controllers="btp",kind="ServiceBinding.account.btp.sap.crossplane.io",selector=""';
const published = 'controllers="btp,restart",kind="Secret",selector="keyturn.dev/owner-uid"';

describe("watches that are stale", () => {
  const cases = [
    { reason: "all are fresh", values: [1, 1], stale: [] },
    { reason: "one is not", values: [1, 0], stale: [published] },
    { reason: "nobody says anything of watches", values: [], stale: ["everything"] },
  ];
  for (const { reason, values, stale } of cases) {
    test(reason, () => {
      const series = [bindings, published].slice(0, values.length);
      const metrics = new Map(series.map((labels, index) => [`keyturn_watch_ready{${labels}}`, values[index] ?? 0]));
      assert.deepEqual(staleIn(new Map([...metrics, ["keyturn_leader", 0]])), stale);
    });
  }
});

test("what is cached counts where everything of a kind is watched", () => {
  const metrics = [bindings, published].map((labels) => [`keyturn_watch_cached_objects{${labels}}`, 7] as const);
  assert.deepEqual([...cachedObjects(new Map(metrics))], [["ServiceBinding.account.btp.sap.crossplane.io", 7]]);
});
