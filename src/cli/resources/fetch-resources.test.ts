import assert from "node:assert/strict";
import { test } from "node:test";
import type { Selection } from "../../kube/port.ts";
import type { ManagedKind } from "../../reconcile/managed/managed-kind.ts";
import { managedKinds } from "../../reconcile/managed-kinds.ts";
import type { Command } from "../command.ts";
import { parseFlags } from "../parse-flags.ts";
import { selectionsOf } from "./fetch-resources.ts";
import { massOptions, type Targets } from "./target-options.ts";

const [cluster] = managedKinds as readonly [ManagedKind];
const namespaced: ManagedKind = { ...cluster, type: { ...cluster.type, namespaced: true } };
const command: Command = { name: "try", summary: "", options: massOptions, run: async () => 0 };

test("where to look: the namespace counts for kinds that have one", () => {
  const table: readonly (readonly [
    targets: Targets,
    words: readonly string[],
    selection: Selection,
    reason: string,
  ])[] = [
    [{ kinds: [cluster] }, ["-n", "shop"], {}, "a kind without namespaces is looked for everywhere"],
    [{ kinds: [namespaced] }, [], { namespace: "mine" }, "the namespace of the context"],
    [{ kinds: [namespaced] }, ["-n", "shop"], { namespace: "shop" }, "the one that was given"],
    [{ kinds: [namespaced] }, ["-A"], {}, "all of them"],
    [
      { kinds: [namespaced], ref: { namespace: "web", name: "orders" } },
      ["-n", "shop"],
      { namespace: "web", fieldSelector: "metadata.name=orders" },
      "the one that the name came with",
    ],
    [
      { kinds: [cluster], ref: { name: "orders" } },
      [],
      { fieldSelector: "metadata.name=orders" },
      "a name is a selection, so that it can be watched",
    ],
    [{ kinds: [cluster], labelSelector: "team=shop" }, [], { labelSelector: "team=shop" }, "labels"],
  ];
  for (const [targets, words, selection, reason] of table) {
    const flags = parseFlags(command, words);
    assert.deepEqual(
      selectionsOf(targets, { flags, namespace: "mine" }).map((one) => one.selection),
      [selection],
      reason,
    );
  }
});
