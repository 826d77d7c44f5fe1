import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { test } from "node:test";
import { parse, stringify } from "yaml";
import { clusterInstances } from "../../src/bind/cluster-objects.ts";
import { instanceObjects } from "../../src/bind/instance-objects.ts";
import { planKey } from "../../src/bind/key-plan.ts";
import { keyChoiceOf, resolveKey } from "../../src/bind/precedence.ts";
import { isMadeBy, providerCluster } from "../../src/bind/provider-objects.ts";
import { sharedKeyObjects, sharedKeys } from "../../src/bind/shared-keys.ts";
import type { KubeObject } from "../../src/kube/objects.ts";

/**
 * The document's four manifests, word for word, and all that becomes of them. After a change that is meant, write the
 * expected files anew and read the difference:
 *
 *     node --test --test-update-snapshots test/bind/manifests.test.ts
 */
const folder = import.meta.dirname;
const OPERATOR = "keyturn-system";
const files = globSync("manifests/*.yaml", { cwd: folder }).sort();

/** As the server gives it back. */
const kept = (object: KubeObject): KubeObject => ({
  ...object,
  metadata: { ...object.metadata, uid: `uid-of-${object.kind}-${object.metadata.name}` },
});

interface Made {
  readonly objects: readonly KubeObject[];
  /** By instance. */
  readonly choices: Readonly<Record<string, object>>;
}

function makeFrom(manifest: KubeObject): Made {
  const provider = manifest.kind === "ClusterBind9Provider" ? kept(manifest) : undefined;
  const applied = provider ? providerCluster(provider, OPERATOR) : manifest;
  const cluster = kept(applied);
  assert.ok(provider === undefined || isMadeBy(cluster, provider, OPERATOR));
  const { instances, problems } = clusterInstances(cluster);
  assert.deepEqual(problems, []);
  const all = instances.map(kept);
  const shared = sharedKeys({ cluster, provider, instances: all });
  assert.deepEqual(shared.problems, []);
  const objects = [...(provider ? [applied] : []), ...instances, ...sharedKeyObjects(cluster, shared)];
  const choices: Record<string, object> = {};
  for (const instance of all) {
    const resolution = resolveKey({ instance, cluster, provider });
    assert.deepEqual(resolution.problems, []);
    const plan = planKey({ instance, cluster, resolution, sharers: all });
    assert.ok(plan);
    objects.push(
      ...(plan.kind === "own" ? plan.objects : []),
      ...instanceObjects({ instance, cluster, keys: plan.mount }),
    );
    choices[instance.metadata.name] = {
      rndcKey: keyChoiceOf(resolution, plan.mount.secretName),
      warnings: resolution.warnings,
    };
  }
  return { objects, choices };
}

/** No key stands in what is expected. */
const masked = (object: KubeObject): object =>
  object.kind === "Secret"
    ? {
        ...object,
        data: Object.fromEntries(
          Object.entries(object.data as object).map(([name, value]) => [name, `${String(value).length} characters`]),
        ),
      }
    : object;

assert.equal(files.length, 4, "the document has four manifests");

for (const file of files) {
  test(`${basename(file, ".yaml")}: what becomes of the document's manifest`, (context) => {
    const { objects, choices } = makeFrom(parse(readFileSync(join(folder, file), "utf8")) as KubeObject);
    const text = [choices, ...objects.map(masked)]
      .map((value) => stringify(value, { aliasDuplicateObjects: false, lineWidth: 0 }))
      .join("---\n");
    context.assert.fileSnapshot(text, join(folder, "golden", basename(file)), {
      serializers: [(value) => String(value)],
    });
  });
}
