import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { parse } from "yaml";
import { REPOSITORY_PATTERN, TAG_PATTERN } from "../../src/base/image-reference.ts";
import { chartFiles } from "../../tools/chart-files.ts";
import { root } from "../../tools/run.ts";

const chart = join(root, "chart");

test("the files of the chart are what src/install says now; npm run generate:chart writes them", () => {
  const files = chartFiles();
  const present = globSync("**/*.*", { cwd: join(chart, "files") });
  assert.deepEqual(present.sort(), [...files.keys()].sort());
  for (const [path, text] of files) assert.equal(readFileSync(join(chart, "files", path), "utf8"), text, path);
});

test("the chart has the version of the package", () => {
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { readonly version: string };
  const { version: ofChart, appVersion } = parse(readFileSync(join(chart, "Chart.yaml"), "utf8")) as {
    readonly version: string;
    readonly appVersion: string;
  };
  assert.deepEqual([ofChart, appVersion], [version, version]);
});

interface SchemaNode {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly additionalProperties?: unknown;
  readonly description?: string;
}

/** Every value has a place in the schema, which knows no others. */
function assertCovered(values: Readonly<Record<string, unknown>>, schema: SchemaNode, path: string): void {
  if (schema.properties === undefined) return;
  assert.equal(schema.additionalProperties, false, `${path || "the schema"} takes any name`);
  assert.deepEqual(Object.keys(values).sort(), Object.keys(schema.properties).sort(), path || "the schema");
  for (const [name, node] of Object.entries(schema.properties)) {
    const value = values[name];
    if (value !== null && typeof value === "object" && !Array.isArray(value)) {
      assertCovered(value as Readonly<Record<string, unknown>>, node, `${path}${name}.`);
    }
  }
}

test("the schema of the values knows every value, and no other", () => {
  const values = parse(readFileSync(join(chart, "values.yaml"), "utf8")) as Readonly<Record<string, unknown>>;
  const schema = JSON.parse(readFileSync(join(chart, "values.schema.json"), "utf8")) as SchemaNode;
  // What a chart around this one says to all of its parts.
  assertCovered({ ...values, global: {} }, schema, "");
});

test("the schema takes the images that keyturn manifests takes", () => {
  const schema = JSON.parse(readFileSync(join(chart, "values.schema.json"), "utf8")) as {
    readonly properties: { readonly image: { readonly properties: Readonly<Record<string, { pattern?: string }>> } };
  };
  const { repository, tag } = schema.properties.image.properties;
  assert.deepEqual([repository?.pattern, tag?.pattern], [REPOSITORY_PATTERN, TAG_PATTERN]);
});
