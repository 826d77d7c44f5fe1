import assert from "node:assert/strict";
import { test } from "node:test";
import { parseAllDocuments } from "yaml";
import { controllerNeeds } from "../../src/install/permissions.ts";
import { sayKeyturn } from "../support/say-keyturn.ts";

interface Item {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

const asYaml = async (...words: readonly string[]): Promise<readonly Item[]> => {
  const { code, stdout, stderr } = await sayKeyturn(["manifests", ...words]);
  assert.equal(code, 0, stderr);
  return parseAllDocuments(stdout).map((document) => document.toJSON() as Item);
};

test("YAML and JSON hold the same", async () => {
  const { stdout } = await sayKeyturn(["manifests", "-o", "json"]);
  const { items } = JSON.parse(stdout) as { readonly items: readonly Item[] };
  assert.deepEqual(await asYaml(), items);
});

test("the definitions are those that `keyturn crds` prints", async () => {
  const { stdout } = await sayKeyturn(["crds", "-o", "json"]);
  const { items } = JSON.parse(stdout) as { readonly items: readonly Item[] };
  const definitions = (await asYaml()).filter(({ kind }) => kind === "CustomResourceDefinition");
  assert.deepEqual(definitions, items);
});

test("namespace and image are as asked for", async () => {
  const items = await asYaml("-n", "elsewhere", "--image", "example/keyturn:7");
  const deployment = items.find(({ kind }) => kind === "Deployment");
  assert.equal(deployment?.metadata.namespace, "elsewhere");
  assert.match(JSON.stringify(deployment), /"image":"example\/keyturn:7"/);
});

test("alerts and dashboard are printed instead of all else, where they are asked for", async () => {
  const named = async (...words: readonly string[]): Promise<readonly string[]> =>
    (await asYaml("-n", "elsewhere", ...words)).map(({ kind, metadata }) => `${kind} ${metadata.namespace}`);
  assert.deepEqual(await named("--alerts"), ["PrometheusRule elsewhere"]);
  assert.deepEqual(await named("--alerts", "--dashboard"), ["PrometheusRule elsewhere", "ConfigMap elsewhere"]);
  assert.ok(!(await named()).some((each) => each.startsWith("PrometheusRule")), "not every cluster knows the kind");
});

test("every controller that the operator knows can be installed", async () => {
  const { stdout } = await sayKeyturn(["operator", "--help"]);
  const [, names = ""] = /Controllers to switch on, separated by commas: ([-a-z0-9, ]+);/.exec(stdout) ?? [];
  assert.deepEqual([...controllerNeeds.keys()], names.split(", "));
});

const mistakes: readonly (readonly [readonly string[], RegExp])[] = [
  [["--namespace", "Not A Name"], /--namespace: "Not A Name" cannot be a namespace/],
  [["--controllers", "btp,nope"], /--controllers: "nope" is not one of btp/],
  [["--image", "my image:1"], /--image: "my image:1" cannot be an image: /],
  [
    ["--image", "registry.example/KeyTurn:1"],
    /"registry\.example\/KeyTurn:1" cannot be an image: .* no capitals in the path/,
  ],
  [["--alerts", "--image", "keyturn:1"], /instead of the operator, of which --image would speak/],
  [
    ["--dashboard", "--controllers", "btp", "--protect-secrets"],
    /of which --controllers, --protect-secrets would speak/,
  ],
  [["--alerts", "--dashboard", "--namespaces=a", "--dashboard-changes"], /of which --namespaces, --dashboard-changes/],
  [["--dashboard", "--serve-dashboard"], /of which --serve-dashboard would speak/],
  [["-o", "xml"], /--output must be one of yaml, json, not "xml"/],
];

for (const [words, message] of mistakes) {
  test(`a mistake is one line: ${words.join(" ")}`, async () => {
    const { code, stdout, stderr } = await sayKeyturn(["manifests", ...words]);
    assert.deepEqual({ code, stdout }, { code: 2, stdout: "" });
    assert.match(stderr, message);
    assert.equal(stderr.trim().split("\n").length, 1);
  });
}
