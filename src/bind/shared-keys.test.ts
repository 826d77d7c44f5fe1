import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "../kube/objects.ts";
import { cluster, inlineSecret, instance, keyFile, LONG_SECRET, provider } from "./bind-objects.fixture.ts";
import { fieldAt } from "./fields.ts";
import { type SharedKeys, sharedKeyObjects, sharedKeys } from "./shared-keys.ts";

const PRIMARY = instance({}, "dns-primary-0");
const SECONDARIES = ["dns-secondary-1", "dns-secondary-0"].map((name) => instance({ role: "secondary" }, name));
const ALL = [PRIMARY, ...SECONDARIES];

const usersOf = ({ keys }: SharedKeys): Readonly<Record<string, readonly string[]>> =>
  Object.fromEntries(
    keys.map(({ secretName, instances }) => [secretName, instances.map(({ metadata }) => metadata.name)]),
  );

interface Row {
  readonly why: string;
  readonly cluster: object;
  readonly provider?: object;
  readonly instances?: readonly KubeObject[];
  readonly users: Readonly<Record<string, readonly string[]>>;
  readonly problem?: RegExp;
}

const inline = (name: string, file?: string): object => ({ rndcKeys: { secret: inlineSecret(name, file) } });
const other = keyFile(LONG_SECRET, "hmac-sha512");

const table: readonly Row[] = [
  { why: "no inline Secret, no shared key", cluster: { global: { rndcKeys: { autoRotate: true } } }, users: {} },
  {
    why: "a global one is everybody's",
    cluster: { global: inline("all") },
    users: { all: ["dns-primary-0", "dns-secondary-0", "dns-secondary-1"] },
  },
  {
    why: "the provider's is, too",
    cluster: {},
    provider: { global: inline("all") },
    users: { all: ["dns-primary-0", "dns-secondary-0", "dns-secondary-1"] },
  },
  {
    why: "one of a role is that role's, and the others have what is global",
    cluster: { primary: inline("first"), global: inline("all") },
    users: { first: ["dns-primary-0"], all: ["dns-secondary-0", "dns-secondary-1"] },
  },
  {
    why: "an instance with a setting of its own does not share",
    cluster: { global: inline("all") },
    instances: [instance({ rndcKeys: {} }, "dns-primary-0"), ...SECONDARIES],
    users: { all: ["dns-secondary-0", "dns-secondary-1"] },
  },
  {
    why: "two roles that say the very same share one Secret",
    cluster: { primary: inline("all"), secondary: inline("all") },
    users: { all: ["dns-primary-0", "dns-secondary-0", "dns-secondary-1"] },
  },
  {
    why: "two roles with different keys under one name: the second is told, the first goes on",
    cluster: { primary: inline("all"), secondary: inline("all", other) },
    users: { all: ["dns-primary-0"] },
    problem:
      /^spec\.secondary\.rndcKeys\.secret\.metadata\.name: spec\.primary\.rndcKeys of Bind9Cluster net\/dns has another key/,
  },
  {
    why: "a name that is an instance's own Secret's",
    cluster: { secondary: inline("dns-primary-0-rndc") },
    users: {},
    problem: /the Secret dns-primary-0-rndc would be that of Bind9Instance dns-primary-0 as well: choose another name/,
  },
  {
    why: "a name that is the ring of an instance's Secret",
    cluster: { secondary: inline("dns-primary-0-rndc-ring") },
    users: {},
    problem: /the Secret dns-primary-0-rndc-ring would be/,
  },
  {
    why: "a setting that cannot be followed",
    cluster: { global: { rndcKeys: { secret: inlineSecret("all", "no key") } } },
    users: {},
  },
];

for (const row of table) {
  test(`shared keys: ${row.why}`, () => {
    const found = sharedKeys({
      cluster: cluster(row.cluster),
      provider: row.provider && provider(row.provider),
      instances: row.instances ?? ALL,
    });
    assert.deepEqual(usersOf(found), row.users);
    const said = found.problems.map(({ field, message }) => `${field}: ${message}`).join("\n");
    assert.match(said, row.problem ?? /^$/);
  });
}

test("a shared key is its cluster's, and names all that use it", () => {
  const owner = cluster({ global: inline("all") });
  const objects = sharedKeyObjects(owner, sharedKeys({ cluster: owner, instances: ALL }));
  assert.deepEqual(
    objects.map(({ kind, metadata }) => [kind, metadata.name, metadata.ownerReferences?.[0]?.kind]),
    [
      ["Secret", "all-initial", "Bind9Cluster"],
      ["RndcKey", "all", "Bind9Cluster"],
    ],
  );
  assert.deepEqual(fieldAt(objects[1], ["spec", "instances"]), ["dns-primary-0", "dns-secondary-0", "dns-secondary-1"]);
});
