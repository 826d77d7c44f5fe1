import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { families } from "../families/families.ts";
import { brisk, ignoreMissing, Stage } from "../rotation/stage.ts";
import { StoryBinding } from "../rotation/story-binding.ts";
import { eventually } from "../support/eventually.ts";
import { operatorAccess, SCOPED_HOME } from "../support/operator-access.ts";
import { pickTarget } from "../support/pick-target.ts";

/** Credentials of ProviderConfigs are where the operator is, as the pages have it; what it makes of them is elsewhere. */
const target = await pickTarget();

describe(`an operator of one namespace, on the ${target.name} server`, { timeout: 180_000 }, () => {
  test("rotates keys of every kind there, with credentials from its own", async () => {
    const stage = await Stage.set({ target, name: "scoped" });
    try {
      const { kubeconfig } = stage.server;
      const scoped = { namespace: SCOPED_HOME, scopedNamespaces: [stage.namespace] };
      const access = await operatorAccess({ name: target.name, kubeconfig }, scoped);
      await stage.putNamespace(SCOPED_HOME);
      const config = `${stage.namespace}-home`;
      const oneOfEach = new Map(families.map((family) => [family.standIn, family]));
      for (const family of oneOfEach.values()) {
        const standIn = stage.standInOf(family);
        await stage.putProviderConfig(family, config, standIn.login(standIn.url), SCOPED_HOME);
      }
      const operator = stage.startOperator([...brisk(), "--namespaces", stage.namespace], access);
      await operator.ready();
      for (const family of families) {
        const binding = new StoryBinding(stage, { family, name: `scoped-${family.controller}` });
        const spec = { providerConfigRef: { name: config } };
        await binding.create(binding.manifest({ rotation: { ttl: "6s", frequency: "3s" }, spec }));
        const first = await binding.calm();
        await binding.rotated(first);
        await binding.removed(first.activeId ?? "");
        await binding.end();
      }
      for (const family of oneOfEach.values()) {
        await stage.kube.delete(family.configType, { name: config }).catch(ignoreMissing);
        const isLetGo = async () => !(await stage.hasProviderConfig(family, config)) || undefined;
        await eventually("the ProviderConfig to be let go", isLetGo);
      }
      assert.doesNotMatch(operator.text, /forbidden/i);
    } finally {
      await stage.removeNamespace(SCOPED_HOME);
      await stage.strike();
    }
  });
});
