import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import * as cloudFoundry from "../../src/sandbox/cloud-foundry/switches.ts";
import * as serviceManager from "../../src/sandbox/service-manager/switches.ts";

const page = readFileSync(join(import.meta.dirname, "..", "..", "docs", "sandbox.md"), "utf8");

/** What stands in the first column of the rows of tables below this heading. */
function namedUnder(heading: string): readonly (string | undefined)[] {
  const [, section = ""] = page.split(`## ${heading}\n`);
  const [text = ""] = section.split("\n## ");
  return [...text.matchAll(/^\| (`[^|]+`) \|/gm)]
    .flatMap(([, cell = ""]) => [...cell.matchAll(/`(\w+)`/g)])
    .map(([, name]) => name)
    .sort();
}

const parts = [
  {
    heading: "The Service Manager",
    switches: serviceManager.defaultSwitches,
    instance: serviceManager.defaultInstance,
  },
  {
    heading: "Cloud Foundry",
    switches: cloudFoundry.defaultSwitches,
    // Its default is the first space, whichever that is.
    instance: { ...cloudFoundry.defaultInstance, space: "" },
  },
];

for (const { heading, switches, instance } of parts) {
  test(`docs/sandbox.md names every switch and every setting of an instance, and no others: ${heading}`, () => {
    assert.deepEqual(namedUnder(heading), [...Object.keys(switches), ...Object.keys(instance)].sort());
  });
}
