import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "../../kube/objects.ts";
import type { Inventory } from "./inventory.ts";
import { sharesOf } from "./shares.ts";

const home = (name: string): KubeObject => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } });

const empty = (namespace: string): Inventory => ({
  ...{ namespace, home: home(namespace), now: 0, kinds: [], credentials: [], secrets: [], ownSecrets: [], made: [] },
  ...{ operators: [], pods: [], leases: [], belongings: [], unseen: [], hidden: [] },
});

const CASES: readonly (readonly [namespace: string, why: RegExp])[] = [
  ["keyturn-system", /kubectl delete namespace/],
  ["kube-system", /^it is the cluster's own$/],
  ["default", /^it is the cluster's own$/],
];

for (const [namespace, why] of CASES) {
  test(`the namespace ${namespace} stays`, () => {
    const shares = sharesOf(empty(namespace), { keys: "delete", definitions: "delete", isAbandoning: false });
    assert.deepEqual(
      shares.map(({ group, fate }) => `${group} ${fate}`),
      ["namespace stays"],
    );
    assert.match(shares[0]?.why ?? "", why);
  });
}
