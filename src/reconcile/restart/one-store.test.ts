import assert from "node:assert/strict";
import { test } from "node:test";
import type { ResourceType } from "../../kube/objects.ts";
import type { Kube } from "../../kube/port.ts";
import { secretType } from "../../publish/secret-publisher.ts";
import { deploymentType } from "../../restart/workload-kinds.ts";
import { OneStore } from "./one-store.ts";

const signal = new AbortController().signal;

/** Answers with these versions, in turn. */
function answering(...versions: readonly string[]): { readonly kube: Pick<Kube, "list">; readonly asked: string[] } {
  const asked: string[] = [];
  const list = async ({ kind }: ResourceType): Promise<unknown> => ({
    items: [],
    resourceVersion: versions[asked.push(kind) - 1] ?? "",
  });
  return { kube: { list: list as Kube["list"] }, asked };
}

test("whether one store counts two kinds", async () => {
  const rows: readonly (readonly [reason: string, versions: readonly [string, string, string], isOne: boolean])[] = [
    ["nothing was written meanwhile", ["100", "100", "100"], true],
    ["something was", ["99", "100", "102"], true],
    ["the other one counts further", ["100", "900", "101"], false],
    ["the other one counts less far", ["100", "90", "101"], false],
    ["versions that are no numbers", ["a", "b", "c"], false],
    ["no versions", ["", "", ""], false],
  ];
  for (const [reason, versions, isOne] of rows) {
    const { kube, asked } = answering(...versions);
    const store = new OneStore(kube);
    assert.equal(store.known(secretType, deploymentType), undefined, reason);
    assert.equal(await store.holds(secretType, deploymentType, signal), isOne, reason);
    assert.deepEqual(asked, ["Secret", "Deployment", "Secret"], reason);
    assert.equal(await store.holds(secretType, deploymentType, signal), isOne, reason);
    assert.equal(store.known(secretType, deploymentType), isOne, reason);
    assert.equal(asked.length, 3, "once");
  }
});

test("who could not be asked is asked again", async () => {
  const { kube } = answering("1", "1", "1");
  let isDown = true;
  const list = ((...input: Parameters<Kube["list"]>) =>
    isDown ? Promise.reject(new Error("down")) : kube.list(...input)) as Kube["list"];
  const store = new OneStore({ list });
  await assert.rejects(store.holds(secretType, deploymentType, signal), /down/);
  isDown = false;
  assert.equal(await store.holds(secretType, deploymentType, signal), true);
});
