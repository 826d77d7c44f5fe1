import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../base/properties.fixture.ts";
import type { KubeObject } from "../kube/objects.ts";
import { fieldSelector, labelSelector } from "./selectors.ts";
import { StatusError } from "./status-error.ts";

const pod = (labels: Record<string, string>): KubeObject => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "web-0", namespace: "shop", labels },
  spec: { nodeName: "node-1" },
  status: { phase: "Running" },
});

const cases: readonly (readonly [
  selector: string,
  labels: Record<string, string>,
  matches: boolean,
  reason: string,
])[] = [
  ["", {}, true, "nothing asked for"],
  ["app=web", { app: "web" }, true, "equality"],
  ["app == web", { app: "web" }, true, "double equals and spaces"],
  ["app=web", {}, false, "equality needs the label"],
  ["app!=web", {}, true, "inequality holds without the label"],
  ["app in (web, api)", { app: "api" }, true, "set membership"],
  ["app in (web,api),tier", { app: "api" }, false, "commas in a set do not separate requirements"],
  ["app notin (web)", {}, true, "notin holds without the label"],
  ["app notin (web)", { app: "web" }, false, "notin"],
  ["!app", {}, true, "absence"],
  ["!app", { app: "" }, false, "an empty value is a value"],
  ["app", { app: "" }, true, "existence"],
  ["app=", { app: "" }, true, "equal to the empty value"],
  ["gen>3", { gen: "4" }, true, "greater than"],
  ["gen<3", { gen: "x" }, false, "not a number is never less"],
  ["example.com/app=web", { "example.com/app": "web" }, true, "prefixed key"],
];

test("label selectors", () => {
  for (const [selector, labels, matches, reason] of cases) {
    assert.equal(labelSelector(selector)(pod(labels)), matches, `${selector}: ${reason}`);
  }
});

test("field selectors", () => {
  const selectable = ["spec.nodeName", "status.phase"];
  const table: readonly (readonly [string, boolean])[] = [
    ["metadata.name=web-0", true],
    ["metadata.name!=web-0", false],
    ["metadata.namespace=shop,status.phase=Running", true],
    ["spec.nodeName==node-2", false],
  ];
  for (const [selector, matches] of table) {
    assert.equal(fieldSelector(selector, selectable)(pod({})), matches, selector);
  }
  assert.throws(() => fieldSelector("spec.image=x", selectable), /field label not supported: spec.image/);
});

test("any text is a predicate or a 400, and quickly so", () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 200 }), (text) => {
      for (const parse of [() => labelSelector(text), () => fieldSelector(text, ["spec.x"])]) {
        try {
          assert.equal(typeof parse()(pod({ app: "web" })), "boolean");
        } catch (error) {
          assert.ok(error instanceof StatusError && error.status === 400, String(error));
        }
      }
    }),
  );
});
