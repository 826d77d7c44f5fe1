import assert from "node:assert/strict";
import { test } from "node:test";
import { controllerNeeds, ownRules, type PolicyRule, sharedRules } from "../../src/install/permissions.ts";
import { Conflict } from "../../src/kube/errors.ts";
import type { Kube } from "../../src/kube/port.ts";
import { workloadKinds } from "../../src/restart/workload-kinds.ts";
import { allStories } from "./all-stories.ts";
import { EmbeddedStage } from "./embedded-stage.ts";
import { recordingKube } from "./recording-kube.ts";
import { Shop } from "./shop.ts";

const rightsIn = (rules: readonly PolicyRule[]): readonly string[] =>
  rules.flatMap(({ apiGroups, resources, verbs }) =>
    apiGroups.flatMap((group) => resources.flatMap((plural) => verbs.map((verb) => `${verb} ${group}/${plural}`))),
  );

/** The first write of each kind is answered with a conflict: what is read again then is part of the rights. */
function conflicting(kube: Kube): Kube {
  const told = new Set<string>();
  return {
    ...kube,
    get: kube.get.bind(kube),
    list: kube.list.bind(kube),
    watch: kube.watch.bind(kube),
    create: kube.create.bind(kube),
    replace: kube.replace.bind(kube),
    delete: kube.delete.bind(kube),
    fetch: kube.fetch.bind(kube),
    discover: kube.discover.bind(kube),
    close: kube.close.bind(kube),
    patch: (type, ref, patch, options) => {
      if (told.has(type.kind)) return kube.patch(type, ref, patch, options);
      told.add(type.kind);
      return Promise.reject(new Conflict("somebody wrote first"));
    },
  };
}

test("the rights of the restart controller are those that its calls need, no more and no fewer", async () => {
  const calls = new Set<string>();
  const through = (kube: Kube): Kube => recordingKube(conflicting(kube), calls);
  const stories = [
    ...(allStories["pods that nobody rolls"] ?? []),
    ...(allStories["what the Secrets Store rotates"] ?? []),
  ];
  for (const { settings, run } of stories) {
    const stage = await EmbeddedStage.set({ through, ...(settings && { settings }) });
    await run(stage);
    await stage.strike();
  }
  const stage = await EmbeddedStage.set({ through });
  const shop = new Shop(stage);
  await shop.secret("db", { password: "one" });
  for (const { type } of workloadKinds) {
    await shop.workload("web", { kind: type.kind });
    await shop.adopted("web", type.kind);
  }
  await shop.configMap("settings", { a: "b" });
  for (const { title, run } of allStories["who takes part"] ?? []) {
    if (!title.includes("ConfigMap")) continue;
    const other = await EmbeddedStage.set({ through });
    await run(other);
    await other.strike();
  }
  await stage.strike();

  const own = rightsIn(controllerNeeds.get("restart")?.rules ?? []);
  const given = new Set([...own, ...rightsIn(sharedRules), ...rightsIn(ownRules("keyturn"))]);
  assert.deepEqual([...calls].filter((call) => !given.has(call)).sort(), [], "called without the right to");
  assert.deepEqual([...own].filter((right) => !calls.has(right)).sort(), [], "rights that no call needs");
});
