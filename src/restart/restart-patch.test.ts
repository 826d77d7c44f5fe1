import assert from "node:assert/strict";
import { test } from "node:test";
import { digestOfValue, NOW, objectWith, stateOf } from "./restart.fixture.ts";
import { rollPatch, statePatch } from "./restart-patch.ts";
import { stateAnnotation } from "./restart-state.ts";
import { digestsText, readDigestsText } from "./template-digests.ts";
import { cronJobType, kindOf, podType } from "./workload-kinds.ts";

const { metadata: workload } = objectWith({
  resourceVersion: "7",
  labels: { app: "web" },
  annotations: { theirs: "x" },
});
const secret = digestOfValue("secret/db", "1");
const state = stateOf({ "secret/db": secret, "configmap/web": "absent" }, { restartedAt: [NOW] });
const identity = { name: "web", namespace: "shop", uid: "uid-1", resourceVersion: "7" };
const stateText = stateAnnotation(state, "uid-1");

test("a roll: the state and the template's annotations in one apply, of that very object as it was read", () => {
  const kind = kindOf("Deployment");
  assert.ok(kind);
  assert.deepEqual(rollPatch({ kind, workload, optIn: { prefix: "my.controller" }, state, publishedAt: NOW - 1 }), {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { ...identity, annotations: { "keyturn.dev/restart-state": stateText } },
    spec: {
      template: {
        metadata: {
          annotations: {
            "my.controller/digests": `configmap/web=absent,secret/db=${secret}`,
            "my.controller/restartedAt": "2026-03-01T12:00:00Z",
          },
        },
      },
    },
  });
});

test("of a workload that is marked, the template tells when the newest of those Secrets came to be what it is", () => {
  const kind = kindOf("Deployment");
  assert.ok(kind);
  const rotatedAt = (markedFor: readonly string[], againAt?: number): string | undefined => {
    const applied = { digest: secret, since: NOW - 60_000, againAt };
    const sources = new Map([["secret/db" as const, applied]]);
    const optIn = { prefix: "keyturn.dev", markedFor };
    const body = rollPatch({ kind, workload, optIn, state: { ...state, sources }, publishedAt: NOW });
    return kind.templateOf(body as never).annotations["bindy.firestoned.io/rndc-key-rotated-at"];
  };
  assert.equal(rotatedAt(["db", "other"]), "2026-03-01T11:59:00Z");
  assert.equal(rotatedAt(["db"], NOW), "2026-03-01T12:00:00Z", "or when it was asked for again");
  assert.equal(rotatedAt(["other"]), undefined);
});

test("a write of the state holds nothing of the template, and the breaker's words while it has stopped", () => {
  assert.deepEqual(statePatch({ type: cronJobType, workload, state, stopped: undefined }), {
    apiVersion: "batch/v1",
    kind: "CronJob",
    metadata: { ...identity, annotations: { "keyturn.dev/restart-state": stateText } },
  });
  assert.deepEqual(statePatch({ type: podType, workload, state, stopped: "13 restarts within an hour" }), {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      ...identity,
      annotations: {
        "keyturn.dev/restart-state": stateText,
        "keyturn.dev/restart-stopped": "13 restarts within an hour",
      },
    },
  });
});

test("what stands on the template is read back from a pod", () => {
  assert.deepEqual(
    [...readDigestsText(digestsText(state.sources))],
    [
      ["configmap/web", "absent"],
      ["secret/db", secret],
    ],
  );
  for (const text of [undefined, "", "x", "pod/a=b", "secret/=b", "secret/a", "secret/a=", ",,="]) {
    assert.equal(readDigestsText(text).size, 0, text);
  }
});
