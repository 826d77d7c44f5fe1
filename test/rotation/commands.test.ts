import assert from "node:assert/strict";
import { describe } from "node:test";
import { btp } from "../families/btp.ts";
import { type Finished, runKeyturn } from "../support/run-keyturn.ts";
import { Stories, target, together } from "./harness.ts";
import type { StoryBinding } from "./story-binding.ts";

const slow = { ttl: "3h", frequency: "2h" };

/** The commands as a person runs them, each a process of its own, beside an operator at work. */
describe(`commands on the ${target.name} server`, together, () => {
  const stories = new Stories("commands", { families: [btp] });

  const keyturn = (...words: readonly string[]): Promise<Finished> =>
    runKeyturn(words, { KUBECONFIG: stories.stage.server.kubeconfig, NO_COLOR: "1" });

  /** What a command says when all goes well. */
  async function said(...words: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await keyturn(...words);
    assert.deepEqual([code, stderr], [0, ""], `keyturn ${words.join(" ")}\n${stdout}`);
    return stdout;
  }

  const steps = (name: string): RegExp => {
    const told = [
      "asking for a rotation",
      "intent written: .*",
      "key made: .*",
      "Secret published: .*",
      "committed: .*",
    ];
    return new RegExp(`^${told.map((line) => `servicebinding/${name}: ${line}\n`).join("")}`);
  };

  stories.tell("show", "status and explain tell of the key that is in use", { rotation: slow }, async (binding) => {
    const { name } = binding;
    const { activeId = "" } = binding.view();
    const json = await said("status", "ServiceBinding", name, "-o", "json");
    const { items } = JSON.parse(json) as {
      readonly items: readonly { readonly activeKey: { readonly id: string } }[];
    };
    assert.deepEqual(
      items.map(({ activeKey }) => activeKey.id),
      [activeId],
    );
    const explained = await said("explain", "servicebindings.account.btp.sap.crossplane.io", name);
    assert.match(explained, /^Now +Nothing to do\.$/m);
    assert.match(explained, /^Next rotation +At \S+, in 1h59m: the active key is 2h old by then/m);
    const nobody = await keyturn("explain", "servicebinding", `${name}-not`);
    assert.deepEqual([nobody.code, nobody.stdout], [1, ""]);
    assert.match(
      nobody.stderr,
      /^keyturn: there is no ServiceBinding "\S+" \(keyturn status servicebinding lists them\)\n$/,
    );
  });

  stories.tell(
    "rotate",
    "rotate --wait shows each step, and ends when it is done",
    { rotation: slow },
    async (binding) => {
      const before = binding.view();
      assert.match(await said("rotate", "servicebinding", binding.name, "--wait"), steps(binding.name));
      const after = await binding.calm("rest", ({ sequence }) => sequence === before.sequence + 1);
      assert.deepEqual(
        after.retired.map(({ id }) => id),
        [before.activeId],
      );
    },
  );

  stories.tell("leaked", "rotate --compromised leaves no overlap", { rotation: slow }, async (binding) => {
    const { activeId = "" } = binding.view();
    assert.match(await said("rotate", "servicebinding", binding.name, "--compromised", "-w"), steps(binding.name));
    await binding.calm("the old key to be gone", ({ outside }) => !outside.includes(activeId));
  });

  stories.tell("freeze", "freeze and unfreeze", { rotation: slow }, async (binding) => {
    const { name } = binding;
    assert.equal(await said("freeze", "servicebinding", name), `servicebinding/${name}: frozen\n`);
    assert.match(await said("status", "servicebinding", name), /, frozen .* no rotation while frozen$/m);
    assert.equal(await said("unfreeze", "servicebinding", name), `servicebinding/${name}: unfrozen\n`);
    await binding.calm("it to be said no more", (view) => !/frozen/i.test(view.condition("RotationStatus")));
  });

  stories.tell("all", "rotate --all rotates what has the labels", { rotation: slow }, async (binding) => {
    await label(binding, { story: "all" });
    const before = binding.view();
    const asked = await keyturn("rotate", "servicebinding", "--all", "-l", "story=all");
    assert.deepEqual([asked.code, asked.stderr], [2, "keyturn: nobody can be asked here: give --yes\n"]);
    assert.match(await said("rotate", "--all", "-l", "story=all", "--yes", "--wait"), steps(binding.name));
    await binding.calm("rest", ({ sequence }) => sequence === before.sequence + 1);
  });
});

async function label({ stage, family, name }: StoryBinding, labels: Readonly<Record<string, string>>): Promise<void> {
  await stage.kube.patch(family.type, { name }, { type: "merge", body: { metadata: { labels } } });
}
