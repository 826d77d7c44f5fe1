import assert from "node:assert/strict";
import { test } from "node:test";
import { controllerGroups } from "../install/controller-groups.ts";
import { controllerNeeds } from "../install/permissions.ts";
import { readControllerNames, readNamespaces } from "./controller-names.ts";
import { flagsOf } from "./flags.fixture.ts";

const known = [...controllerNeeds.keys()];

test("groups are of controllers that there are, and none is in two", () => {
  const members = [...controllerGroups.values()].flat();
  for (const name of members) assert.ok(known.includes(name), name);
  assert.equal(new Set(members).size, members.length);
});

const lists = [
  { text: "*", expected: known, reason: "all" },
  { text: "restart,btp", expected: ["btp", "restart"], reason: "in the usual order" },
  {
    text: "korifi,cf-apps,btp",
    expected: ["btp", "cf-instances", "cf-bindings", "cf-apps"],
    reason: "a group, and one of its members again",
  },
  { text: "meta", expected: ["cloudfoundry-rotating", "rotating-resource"], reason: "a group alone" },
];
for (const { text, expected, reason } of lists) {
  test(`--controllers ${text}: ${reason}`, () => {
    assert.deepEqual(readControllerNames(flagsOf({ controllers: text }), known), expected);
  });
}

test("a controller that there is not is refused", () => {
  assert.throws(() => readControllerNames(flagsOf({ controllers: "btp,nope" }), known), /"nope" is not one of btp, /);
});

test("namespaces: none when nothing is said, each once, and only such as can be", () => {
  assert.deepEqual(readNamespaces(flagsOf({})), []);
  assert.deepEqual(readNamespaces(flagsOf({ namespaces: "shop, billing,shop" })), ["shop", "billing"]);
  for (const text of ["", "Shop", "a,,b", "a b", "-a"]) {
    assert.throws(
      () => readNamespaces(flagsOf({ namespaces: text })),
      /--namespaces: ".*" cannot be a namespace/,
      text,
    );
  }
});
