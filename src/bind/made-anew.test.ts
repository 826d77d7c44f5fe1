import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "../kube/objects.ts";
import { keySecretsMarks } from "./made-anew.ts";

const secretsOf = (published: string, ring: string, name = "web-rndc") => ({
  published: { name, uid: published },
  ring: { name: `${name}-ring`, uid: ring },
});

/** As it is once the marks are applied. */
const applied = ({ workload, template }: ReturnType<typeof keySecretsMarks>): KubeObject => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web", annotations: workload },
  spec: { template: { metadata: { annotations: template } } },
});

const rows: readonly (readonly [
  reason: string,
  seen: readonly ReturnType<typeof secretsOf>[],
  anew: string | undefined,
])[] = [
  ["the first look", [secretsOf("a", "b")], undefined],
  ["nothing has changed", [secretsOf("a", "b"), secretsOf("a", "b")], undefined],
  ["the ring was made anew, with what is published", [secretsOf("a", "b"), secretsOf("a", "c")], undefined],
  ["what is published was, with what is in the ring", [secretsOf("a", "b"), secretsOf("c", "b")], undefined],
  ["one after the other", [secretsOf("a", "b"), secretsOf("a", "c"), secretsOf("d", "c")], undefined],
  ["both", [secretsOf("a", "b"), secretsOf("c", "d")], "d"],
  ["both, and then nothing", [secretsOf("a", "b"), secretsOf("c", "d"), secretsOf("c", "d")], "d"],
  ["other Secrets are mounted: that is a rollout anyway", [secretsOf("a", "b"), secretsOf("c", "d", "x")], undefined],
];

test("pods are replaced where both Secrets of a key were made anew, and not for one of them", () => {
  for (const [reason, seen, anew] of rows) {
    let live: KubeObject | undefined;
    let template: Readonly<Record<string, string>> = {};
    for (const secrets of seen) {
      const marks = keySecretsMarks({ ...secrets, live });
      live = applied(marks);
      template = marks.template;
    }
    assert.equal(template["keyturn.dev/ring-made-anew"], anew, reason);
  }
});
