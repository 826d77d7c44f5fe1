import assert from "node:assert/strict";
import { test } from "node:test";
import { heldForWords, notMoved } from "./consumers.ts";
import { Holds, knownWithHolds } from "./holds.ts";

test("a workload leads to the resources that wait for it, and to no others", () => {
  const holds = new Holds();
  holds.note("orders", ["Deployment shop/web", "StatefulSet shop/db"]);
  holds.note("bills", ["Deployment shop/web"]);
  assert.deepEqual(holds.holdersOf("Deployment shop/web"), ["orders", "bills"]);
  holds.note("orders", ["StatefulSet shop/db"]);
  assert.deepEqual(holds.holdersOf("Deployment shop/web"), ["bills"]);
  assert.deepEqual(holds.holdersOf("StatefulSet shop/db"), ["orders"]);
  holds.note("orders", []);
  assert.deepEqual(holds.holdersOf("StatefulSet shop/db"), []);
});

test("a workload that has changed disturbs the rest of whoever waits for it", () => {
  const versions = new Map([["Deployment shop/web", "7"]]);
  const holds = new Holds((workload) => versions.get(workload));
  const known = knownWithHolds(
    { resource: () => "1", secret: () => undefined, secretPosition: () => "0", inputs: () => "config" },
    holds,
  );
  holds.note("orders", ["Deployment shop/web"]);
  const [orders, bills] = [known.inputs("orders"), known.inputs("bills")];
  versions.set("Deployment shop/web", "8");
  assert.notEqual(known.inputs("orders"), orders);
  assert.equal(known.inputs("bills"), bills);
});

test("who is behind, in words that stay the same", () => {
  assert.equal(heldForWords([]), undefined);
  const behind = (name: string, why?: string) => ({
    workload: `Deployment a/${name}`,
    ...(why !== undefined && { why }),
  });
  assert.equal(heldForWords([behind("b"), behind("a"), behind("b")]), "Deployment a/a, Deployment a/b");
  assert.equal(
    heldForWords([behind("b"), behind("a", "it is paused")]),
    "Deployment a/a (it is paused), Deployment a/b",
  );
  const many = Array.from({ length: 8 }, (_, index) => behind(`${index}`));
  assert.match(heldForWords(many) ?? "", /^Deployment a\/0, .*Deployment a\/4 and 3 more$/);
  assert.equal(notMoved("Deployment a/a"), "Deployment a/a has not moved");
  assert.equal(notMoved("Deployment a/a, Deployment a/b"), "Deployment a/a, Deployment a/b have not moved");
});
