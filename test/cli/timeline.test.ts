import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { run } from "../../src/cli/run.ts";
import { scriptedWorld } from "../../src/cli/scripted-world.fixture.ts";
import { timelineCommand } from "../../src/cli/timeline-command.ts";
import { runKeyturn } from "../support/run-keyturn.ts";

const folder = mkdtempSync(join(tmpdir(), "keyturn-timeline-"));
after(() => rmSync(folder, { recursive: true }));

function file(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

const manifest = (rotation: string, name = "orders"): string => `
apiVersion: account.btp.sap.crossplane.io/v1alpha1
kind: ServiceBinding
metadata:
  name: ${name}
spec:
  rotation: ${rotation}
  forProvider:
    name: my-sample
    serviceInstanceId: 00000000-0000-4000-8000-000000000001
`;

const GOOD = manifest("{ ttl: 336h, frequency: 288h }");

test("the chart and the dates of a manifest, without a cluster", async () => {
  const others = "apiVersion: v1\nkind: Secret\nmetadata: { name: other }\n---\n";
  const path = file("good.yaml", `${others}${GOOD}---\n${manifest("{ ttl: 10d, frequency: 2d }", "stock")}`);
  const words = ["timeline", "-f", path, "--for", "60d", "--from", "2025-11-05"];
  const { code, stdout, stderr } = await runKeyturn(words);
  assert.deepEqual([code, stderr], [0, ""]);
  assert.match(stdout, /^ServiceBinding orders: 60d from 2025-11-05T00:00:00Z$/m);
  assert.match(stdout, /^2025-11-17T00:00:00Z +#2 +#1 +2025-11-19T00:00:00Z +2d$/m);
  assert.match(stdout, /^Warning: ttl is more than twice the frequency: up to 4 retired keys exist at a time\.$/m);
  for (const line of stdout.split("\n")) assert.ok(line.length <= 90, line);
  const json = JSON.parse((await runKeyturn([...words, "-o", "json"])).stdout) as {
    readonly items: readonly { readonly name: string; readonly mostLiveKeys: number; readonly rotations: unknown[] }[];
  };
  assert.deepEqual(
    json.items.map(({ name, mostLiveKeys, rotations }) => [name, mostLiveKeys, rotations.length]),
    [
      ["orders", 2, 5],
      ["stock", 6, 30],
    ],
  );
});

const CF_GROUP = "cloudfoundry.crossplane.io/v1alpha1";
const INSTANCE = "serviceInstance: 00000000-0000-4000-8000-000000000001";
const SECRET = "writeConnectionSecretToRef: { name: queue, namespace: shop }";

/** Each where its kind has the policy, and what messages then call it. */
const elsewhere: readonly { readonly kind: string; readonly field: string; of(rotation: string): string }[] = [
  {
    kind: "ServiceCredentialBinding",
    field: "spec.forProvider.rotation",
    of: (rotation) => `
apiVersion: ${CF_GROUP}
kind: ServiceCredentialBinding
metadata: { name: queue }
spec:
  forProvider: { type: key, name: queue, ${INSTANCE}, ${rotation} }
  ${SECRET}
`,
  },
  {
    kind: "RotatingCredentialBinding",
    field: "spec.rotation",
    of: (rotation) => `
apiVersion: ${CF_GROUP}
kind: RotatingCredentialBinding
metadata: { name: queue }
spec:
  forProvider: { type: key, ${INSTANCE} }
  ${rotation}
  ${SECRET}
`,
  },
  {
    kind: "RotatingResource",
    field: "spec.rotation",
    of: (rotation) => `
apiVersion: keyturn.dev/v1alpha1
kind: RotatingResource
metadata: { name: queue, namespace: shop }
spec:
  rotationClassName: certificates
  serviceAccountName: rotator
  template: { apiVersion: cert-manager.io/v1, kind: Certificate, spec: { secretName: $(name)-tls } }
  childSecret: { name: $(name)-tls }
  ${rotation}
  writeConnectionSecretToRef: { name: queue }
`,
  },
];

for (const { kind, field, of } of elsewhere) {
  const told = async (rotation: string, ...words: readonly string[]) => {
    const { world, said } = scriptedWorld({ answer: of(rotation) });
    const code = await run([timelineCommand], ["timeline", "-f", "-", "--from", "2026-01-01", ...words], world);
    return { code, ...said };
  };

  test(`${kind}: its rotations, overlaps and live keys`, async () => {
    const { code, stdout, stderr } = await told("rotation: { frequency: 720h, ttl: 1080h }", "--for", "100d");
    assert.deepEqual([code, stderr], [0, ""]);
    const dates = [
      `${kind} queue: 100d from 2026-01-01T00:00:00Z`,
      "A key is replaced after 30d and lives for 45d: 15d of overlap.",
      "3 rotations; 4 keys made, 2 deleted; at most 2 live keys at a time.",
      "2026-01-31T00:00:00Z   #2        #1        2026-02-15T00:00:00Z   15d",
      "2026-03-02T00:00:00Z   #3        #2        2026-03-17T00:00:00Z   15d",
      "2026-04-01T00:00:00Z   #4        #3        2026-04-16T00:00:00Z   15d",
    ];
    const lines = stdout.split("\n");
    for (const line of dates) assert.ok(lines.includes(line), `${line}\nis not in\n${stdout}`);
    assert.match(stdout, /^ 2 │(?: +▒+){3}$/m, "after each rotation there are two keys for a while");
    assert.equal(stdout.match(/▲/g)?.length, 4, "each rotation has its mark, beside the one of the legend");
  });

  test(`${kind}: without a policy there is one key, for ever`, async () => {
    const { code, stdout } = await told("");
    assert.equal(code, 0);
    assert.match(stdout, /^No rotation: one key, for ever\.$/m);
    assert.match(stdout, /^0 rotations; 1 key made, 0 deleted; at most 1 live key at a time\.$/m);
  });

  test(`${kind}: a policy that cannot be followed is named by its field`, async () => {
    const { code, stdout, stderr } = await told("rotation: { frequency: 2h, ttl: 1h }");
    assert.deepEqual([code, stdout], [1, ""]);
    assert.ok(stderr.startsWith(`keyturn: ${kind} queue: ${field}.ttl: must be at least the frequency (2h)`), stderr);
  });
}

test("mistakes are one line that names the file, or the field and what to do", async () => {
  const good = file("one.yaml", GOOD);
  const table: readonly (readonly [words: readonly string[], code: number, message: RegExp])[] = [
    [[], 2, /give the manifest with -f FILE/],
    [["-f", join(folder, "none.yaml")], 2, /^keyturn: -f \S+none\.yaml: there is no such file$/m],
    [["-f", folder], 2, /^keyturn: -f \S+: is a folder: give the files in it$/m],
    [["-f", file("broken.yaml", "a: [\n")], 1, /broken\.yaml, line \d+: this is not YAML/],
    [["-f", file("secret.yaml", "kind: Secret\n")], 1, /nothing in it that Keyturn rotates \(servicebinding/],
    [
      ["-f", file("short.yaml", manifest("{ ttl: 1h, frequency: 2h }"))],
      1,
      /orders: spec\.rotation\.ttl: must be at least/,
    ],
    [["-f", file("half.yaml", manifest("{ ttl: 1h }"))], 1, /spec\.rotation\.frequency: is required/],
    [["-f", file("never.yaml", manifest("{ ttl: 14d, frequency: soon }"))], 1, /frequency: "soon" is not a duration/],
    [["-f", good, "--for", "a while"], 2, /--for: "a while" is not a duration/],
    [["-f", good, "--for", "0s"], 2, /--for: "0s" is zero/],
    [["-f", good, "--from", "tomorrow"], 2, /--from: "tomorrow" is not a date such as/],
    [
      ["-f", file("fast.yaml", manifest("{ ttl: 2m, frequency: 1m }"))],
      2,
      /--for: that would be more than 10000 rotations/,
    ],
  ];
  for (const [words, expected, message] of table) {
    const { world, said } = scriptedWorld();
    const code = await run([timelineCommand], ["timeline", ...words], world);
    assert.deepEqual([code, said.stdout], [expected, ""], words.join(" "));
    assert.match(said.stderr, message);
    assert.match(said.stderr, /^keyturn: [^\n]+\n$/);
  }
});

test("a manifest may come through a pipe", async () => {
  const { world, said } = scriptedWorld({ answer: GOOD });
  assert.equal(await run([timelineCommand], ["timeline", "-f", "-", "--for", "30d"], world), 0, said.stderr);
  assert.match(said.stdout, /^2 rotations; 3 keys made, 2 deleted; at most 2 live keys at a time\.$/m);
});
