import assert from "node:assert/strict";
import { test } from "node:test";
import { sortedJson } from "../../src/base/sorted-json.ts";
import { inlineSecret, keyFile } from "../../src/bind/bind-objects.fixture.ts";
import { APPLIED } from "../../src/reconcile/objects/difference.ts";
import { deathPoints } from "../support/kill-points.ts";
import { BindWorld, type Kind, kinds } from "./bind-world.ts";

const SETTLE_MS = 6_000;
const STEP_MS = 1_000;

interface Story {
  readonly title: string;
  /** One after the other; time passes in between. */
  readonly changes: readonly ((world: BindWorld) => Promise<unknown>)[];
  /** Those that are there in the end. */
  readonly instances: readonly string[];
}

const setting = { secret: inlineSecret("shared"), autoRotate: true };

const stories: readonly Story[] = [
  {
    title: "a provider whose key is shared, then somebody else's, then own, and which is scaled",
    changes: [
      async (world) => {
        await world.create("Secret", "mine", { stringData: { "rndc.key": keyFile() } });
        const spec = { namespace: "net", global: { rndcKeys: setting }, primary: {} };
        await world.create("ClusterBind9Provider", "dns", { spec });
      },
      (world) => {
        const primary = { replicas: 2, rndcKeys: { secretRef: { name: "mine" } } };
        return world.patch("ClusterBind9Provider", "dns", { spec: { primary } });
      },
      (world) => {
        const primary = { replicas: 1, rndcKeys: { secretRef: null, autoRotate: true } };
        return world.patch("ClusterBind9Provider", "dns", { spec: { primary } });
      },
    ],
    instances: ["dns-primary-0"],
  },
  {
    title: "a key that goes from the cluster to its instance and back",
    changes: [
      (world) => world.create("Bind9Cluster", "dns", { spec: { global: { rndcKeys: setting }, primary: {} } }),
      (world) => world.patch("Bind9Instance", "dns-primary-0", { spec: { rndcKeys: setting } }),
      (world) => world.patch("Bind9Instance", "dns-primary-0", { spec: { rndcKeys: null } }),
    ],
    instances: ["dns-primary-0"],
  },
];

/** A process that dies is followed by another one. */
async function live(world: BindWorld, { changes }: Story): Promise<void> {
  for (const change of [...changes, async () => {}]) {
    await change(world);
    for (let passed = 0; passed < SETTLE_MS; passed += STEP_MS) {
      await world.pass(STEP_MS);
      if (world.operator.isDead) world.begunAnew();
    }
  }
}

/** Everything that there is, without what differs from one run to another. */
async function picture(world: BindWorld): Promise<readonly string[]> {
  const lines: string[] = [];
  for (const kind of Object.keys(kinds) as Kind[]) {
    for (const { metadata, spec, data } of (
      await world.kube.list(kinds[kind], kinds[kind].namespaced ? { namespace: "net" } : {})
    ).items) {
      const owners = metadata.ownerReferences?.map((owner) => `${owner.kind}/${owner.name}`);
      const { name, labels, annotations } = metadata;
      // Rings tell when a key was made; a Deployment's own annotations count its rollouts.
      const values = kind === "Secret" ? Object.keys(data ?? {}) : kind === "Service" ? undefined : [spec, data];
      const notes = kind === "Deployment" ? undefined : { ...annotations, [APPLIED]: "" };
      lines.push(sortedJson([kind, name, labels, notes, owners, values]));
    }
  }
  return lines.sort();
}

interface Ending {
  readonly picture: readonly string[];
  readonly writes: number;
}

async function told(story: Story, at: number, when?: "before" | "after"): Promise<Ending> {
  const world = await BindWorld.begin();
  let writes = 0;
  // An event is told and forgotten: nothing depends on it.
  world.operator.killBy((write) => (!write.endsWith(" events") && writes++ === at ? when : undefined));
  await live(world, story);
  for (const name of story.instances) {
    assert.equal(await world.condition("Bind9Instance", name, "Ready"), "True Available");
    assert.equal(await world.condition("Bind9Instance", name, "Synced"), "True ReconcileSuccess");
  }
  const ending = { picture: await picture(world), writes };
  await world.stop();
  return ending;
}

for (const story of stories) {
  test(`${story.title}: a process that dies at any write is followed by one that comes to the same end`, async () => {
    const undisturbed = await told(story, -1);
    assert.ok(undisturbed.writes > 15, `${undisturbed.writes} writes`);
    for (const { at, when } of deathPoints(undisturbed.writes)) {
      const { picture: seen } = await told(story, at, when);
      const strange = seen.filter((line) => !undisturbed.picture.includes(line));
      assert.deepEqual([seen.length, ...strange], [undisturbed.picture.length], `killed ${when} write ${at + 1}`);
    }
  });

  test(`${story.title}: at rest nothing is requested, and a process that starts on it writes nothing`, async () => {
    const world = await BindWorld.begin();
    await live(world, story);
    world.operator.traffic();
    await world.pass(600_000);
    assert.deepEqual(world.operator.traffic(), { writes: [], reads: [], outside: [] });
    await world.operator.stop();
    world.begunAnew();
    await world.pass(SETTLE_MS);
    assert.deepEqual(world.operator.traffic().writes, []);
    await world.stop();
  });
}
