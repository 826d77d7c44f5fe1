import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../base/properties.fixture.ts";
import type { KubeObject } from "../kube/objects.ts";
import { cluster, inlineSecret, instance, provider } from "./bind-objects.fixture.ts";
import { type KeyHolders, keyChoiceOf, resolveKey } from "./precedence.ts";

type Holder = "instance" | "cluster" | "provider";
interface Place {
  readonly holder: Holder;
  readonly path: readonly string[];
}

/** Every place that a setting can stand in, for a primary instance, in the order in which they are to count. */
const PLACES: readonly Place[] = (
  [
    ["instance", []],
    ["cluster", ["primary"]],
    ["provider", ["primary"]],
    ["cluster", ["global"]],
    ["provider", ["global"]],
  ] as const
).flatMap(([holder, path]) =>
  ["rndcKeys", "rndcKey", "rndcSecretRef"].map((setting) => ({ holder, path: [...path, setting] })),
);

const nameOf = ({ holder, path }: Place): string => `spec.${path.join(".")} of the ${holder}`;

/** Holders that have a setting in exactly these places; each names a Secret after its place. */
function holdersWith(places: readonly Place[]): KeyHolders {
  const specs: Record<Holder, Record<string, unknown>> = { instance: {}, cluster: {}, provider: {} };
  for (const { holder, path } of places) {
    const name = `${holder}-${path.join("-")}`.toLowerCase();
    const setting = path.at(-1) ?? "";
    const value = setting === "rndcSecretRef" ? { name } : { secretRef: { name } };
    const [level = ""] = path;
    specs[holder][level] = path.length === 1 ? value : { ...(specs[holder][level] as object), [setting]: value };
  }
  return { instance: instance(specs.instance), cluster: cluster(specs.cluster), provider: provider(specs.provider) };
}

function winnerOf(places: readonly Place[]): string | undefined {
  const { source, config, problems } = resolveKey(holdersWith(places));
  assert.deepEqual(problems, []);
  assert.ok(config);
  if (source === undefined) return undefined;
  const holder = { Bind9Instance: "instance", Bind9Cluster: "cluster", ClusterBind9Provider: "provider" }[
    source.object.kind
  ];
  assert.ok(config.mode === "referenced");
  assert.equal(config.ref.name, `${holder}-${source.field.split(".").slice(1).join("-")}`.toLowerCase());
  return `${source.field} of the ${holder}`;
}

for (const [index, nearer] of PLACES.entries()) {
  for (const farther of PLACES.slice(index + 1)) {
    test(`${nameOf(nearer)} goes before ${nameOf(farther)}`, () => {
      assert.equal(winnerOf([farther, nearer]), nameOf(nearer));
    });
  }
}

test("whatever is said wherever, the nearest counts", () => {
  fc.assert(
    fc.property(fc.subarray([...PLACES]), (places) => {
      assert.equal(winnerOf(places), places[0] && nameOf(places[0]));
    }),
    { numRuns: 300 },
  );
});

interface Row {
  readonly why: string;
  readonly holders: KeyHolders;
  readonly level: string;
  readonly mode: string;
  readonly warnings?: readonly RegExp[];
  readonly said: RegExp;
}

const ref = { secretRef: { name: "theirs" } };
const of = (holders: Partial<Record<Holder, KubeObject>> = {}): KeyHolders => ({ instance: instance(), ...holders });

const table: readonly Row[] = [
  {
    why: "nobody says anything: generated, and not rotated",
    holders: of({ cluster: cluster(), provider: provider() }),
    level: "default",
    mode: "generated",
    said: /^nobody says anything: a key is generated, and not rotated$/,
  },
  {
    why: "an instance whose cluster is not there has what it says itself",
    holders: of({ instance: instance({ rndcKeys: { algorithm: "hmac-sha512" } }) }),
    level: "instance",
    mode: "generated",
    said: /^spec\.rndcKeys of Bind9Instance net\/dns-primary-0 is the only setting$/,
  },
  {
    why: "the setting of the other role does not count",
    holders: of({ cluster: cluster({ secondary: { rndcKeys: ref } }) }),
    level: "default",
    mode: "generated",
    said: /^nobody/,
  },
  {
    why: "a secondary instance has the setting of its own role",
    holders: of({
      instance: instance({ role: "secondary" }),
      cluster: cluster({ primary: { rndcKeys: {} }, secondary: { rndcKeys: ref } }),
    }),
    level: "role",
    mode: "referenced",
    said: /^spec\.secondary\.rndcKeys of Bind9Cluster net\/dns is the only setting$/,
  },
  {
    why: "a cluster whose global part says nothing of keys inherits the provider's",
    holders: of({
      cluster: cluster({ global: { recursion: true } }),
      provider: provider({ global: { rndcKey: ref } }),
    }),
    level: "global",
    mode: "referenced",
    said: /^spec\.global\.rndcKey of ClusterBind9Provider platform is the only setting$/,
  },
  {
    why: "an empty setting is one: it keeps the ones behind it from counting",
    holders: of({ cluster: cluster({ primary: { rndcKeys: {} } }), provider: provider({ global: { rndcKeys: ref } }) }),
    level: "role",
    mode: "generated",
    said: /^spec\.primary\.rndcKeys of Bind9Cluster net\/dns goes before spec\.global\.rndcKeys of ClusterBind9Provider platform$/,
  },
  {
    why: "null is nothing",
    holders: of({ instance: instance({ rndcKeys: null }), cluster: cluster({ global: { rndcKeys: ref } }) }),
    level: "global",
    mode: "referenced",
    said: /only setting$/,
  },
  {
    why: "secretRef goes before secret, and that is said",
    holders: of({ cluster: cluster({ global: { rndcKeys: { ...ref, secret: inlineSecret() } } }) }),
    level: "global",
    mode: "referenced",
    warnings: [/^spec\.global\.rndcKeys\.secret is ignored/],
    said: /only setting$/,
  },
  {
    why: "autoRotate beside secretRef is taken, rotates nothing, and is warned about",
    holders: of({ provider: provider({ global: { rndcKeys: { autoRotate: true, rotateAfter: "720h", ...ref } } }) }),
    level: "global",
    mode: "referenced",
    warnings: [/^spec\.global\.rndcKeys\.autoRotate says nothing beside secretRef/],
    said: /only setting$/,
  },
  {
    why: "rndcKey beside rndcKeys is ignored, and so is the deprecated word",
    holders: of({ instance: instance({ rndcKeys: {}, rndcKey: ref, rndcSecretRef: { name: "old" } }) }),
    level: "instance",
    mode: "generated",
    warnings: [/^spec\.rndcKey is ignored/, /^spec\.rndcSecretRef is ignored/],
    said: /goes before spec\.rndcKey of .*, spec\.rndcSecretRef of/,
  },
  {
    why: "the deprecated word counts, with a warning",
    holders: of({ cluster: cluster({ primary: { rndcSecretRef: { name: "old", keyNameKey: "n" } } }) }),
    level: "role",
    mode: "referenced",
    warnings: [/^spec\.primary\.rndcSecretRef is deprecated: say rndcKeys\.secretRef$/],
    said: /only setting$/,
  },
  {
    why: "an inline Secret is one",
    holders: of({ cluster: cluster({ global: { rndcKeys: { secret: inlineSecret() } } }) }),
    level: "global",
    mode: "inline",
    said: /only setting$/,
  },
];

for (const { why, holders, level, mode, warnings = [], said } of table) {
  test(why, () => {
    const resolution = resolveKey(holders);
    assert.deepEqual(resolution.problems, []);
    assert.equal(resolution.level, level);
    assert.equal(resolution.config?.mode, mode);
    assert.match(resolution.why, said);
    assert.equal(resolution.warnings.length, warnings.length, resolution.warnings.join("\n"));
    for (const [index, warning] of warnings.entries()) assert.match(resolution.warnings[index] ?? "", warning);
  });
}

test("whole objects: nothing is put together from two levels", () => {
  const { config } = resolveKey(
    of({
      cluster: cluster({
        primary: { rndcKeys: { algorithm: "hmac-sha512" } },
        global: { rndcKeys: { autoRotate: true, rotateAfter: "720h", algorithm: "hmac-sha384" } },
      }),
    }),
  );
  assert.ok(config && config.mode !== "referenced");
  assert.deepEqual([config.autoRotate, config.rotateAfter.text, config.algorithm], [false, "2160h", "hmac-sha512"]);
});

test("a setting that cannot be followed is reported, and nothing behind it takes its place", () => {
  const { level, config, problems } = resolveKey(
    of({
      instance: instance({ rndcKeys: { rotateAfter: "soon" } }),
      cluster: cluster({ global: { rndcKeys: ref } }),
    }),
  );
  assert.equal(level, "instance");
  assert.equal(config, undefined);
  assert.deepEqual(
    problems.map(({ field }) => field),
    ["spec.rndcKeys.rotateAfter"],
  );
});

test("the status says which level has won, and why", () => {
  const resolution = resolveKey(
    of({ cluster: cluster({ global: { rndcKeys: { autoRotate: true, rotateAfter: "30d" } } }) }),
  );
  assert.deepEqual(keyChoiceOf(resolution, "dns-primary-0-rndc"), {
    level: "global",
    source: "Bind9Cluster net/dns",
    field: "spec.global.rndcKeys",
    mode: "generated",
    why: "spec.global.rndcKeys of Bind9Cluster net/dns is the only setting",
    secretName: "dns-primary-0-rndc",
    rotates: true,
    rotateAfter: "30d",
  });
  assert.deepEqual(keyChoiceOf(resolveKey(of()), undefined), {
    level: "default",
    mode: "generated",
    why: "nobody says anything: a key is generated, and not rotated",
    rotates: false,
  });
});
