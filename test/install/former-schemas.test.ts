import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { parse } from "yaml";
import { definitionOf } from "../../src/api/custom-resource.ts";
import { customResources } from "../../src/api/custom-resources.ts";
import { root } from "../../tools/run.ts";
import { unpackFormer } from "./upgrade/former-release.ts";
import { narrowings, type Schema } from "./upgrade/narrowings.ts";

/**
 * What people have stored and written down with the latest release is taken by the schemas of now. Whoever must refuse
 * something that was taken serves another version of the kind.
 */
const former = await unpackFormer();

interface Version {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly subresources?: object;
  readonly schema: { readonly openAPIV3Schema: Schema };
}
interface Definition {
  readonly scope: string;
  readonly names: Readonly<Record<string, unknown>>;
  readonly versions: readonly Version[];
}

const folder = join(former.chartFolder, "files", "crds");
const files = globSync("*.yaml", { cwd: folder }).sort();

test(`all kinds of ${former.version} are there`, () => {
  const now = new Set(customResources.map((resource) => `${definitionOf(resource).metadata.name}.yaml`));
  assert.equal(files.length, 13);
  assert.deepEqual(
    files.filter((file) => !now.has(file)),
    [],
  );
});

for (const file of files) {
  const name = file.replace(/\.yaml$/, "");
  test(`${name}: what ${former.version} took is taken, and means the same`, () => {
    const { spec: before } = parse(readFileSync(join(folder, file), "utf8")) as { readonly spec: Definition };
    const resource = customResources.find((each) => definitionOf(each).metadata.name === name);
    assert.ok(resource, name);
    const now = JSON.parse(JSON.stringify(definitionOf(resource).spec)) as Definition;
    const { shortNames: _, categories: __, ...names } = before.names;
    assert.deepEqual([now.scope, { ...now.names, ...names }], [before.scope, now.names], "it is called the same");
    for (const { name: version, served, storage, subresources, schema } of before.versions) {
      const next = now.versions.find((each) => each.name === version) ?? assert.fail(`${version} is not served`);
      assert.deepEqual([next.served, next.storage, next.subresources], [served, storage, subresources]);
      assert.deepEqual(narrowings(schema.openAPIV3Schema, next.schema.openAPIV3Schema), []);
    }
  });
}

/** What was taken and did no good: what is refused now was refused later, by the operator or by the cluster. */
const NEVER_WORKED = new Map([
  [".leaseDuration", "the operator does not start with others"],
  [".image.repository", "no image is called so, and no pod starts"],
  [".image.tag", "the same"],
  [".extraArgs[]", "every flag of the operator begins with a letter"],
  [".podDisruptionBudget.maxUnavailable", "the API server refuses the budget"],
]);

test(`the values of ${former.version} are taken by the chart of now, but for those that never worked`, () => {
  const schemaIn = (chart: string): Schema => JSON.parse(readFileSync(join(chart, "values.schema.json"), "utf8"));
  const found = narrowings(schemaIn(former.chartFolder), schemaIn(join(root, "chart")));
  const narrowed = new Set(found.map((words) => words.split(" ", 1)[0]));
  assert.deepEqual([...narrowed], [...NEVER_WORKED.keys()], found.join("; "));
});

test(`what nobody has set is what it was in ${former.version}`, () => {
  const valuesIn = (chart: string): unknown => parse(readFileSync(join(chart, "values.yaml"), "utf8"));
  const changed = otherwise(valuesIn(former.chartFolder), valuesIn(join(root, "chart")));
  assert.deepEqual(changed, []);
});

/** The paths at which a value is not what it was. */
function otherwise(before: unknown, now: unknown, path = ""): readonly string[] {
  if (typeof before !== "object" || before === null || Array.isArray(before)) {
    return JSON.stringify(before) === JSON.stringify(now) ? [] : [path];
  }
  return Object.entries(before).flatMap(([name, value]) => {
    return otherwise(value, (now as Readonly<Record<string, unknown>> | undefined)?.[name], `${path}.${name}`);
  });
}
