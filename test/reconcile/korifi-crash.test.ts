import assert from "node:assert/strict";
import { test } from "node:test";
import { cfServiceBinding } from "../../src/api/korifi/cf-service-binding.ts";
import { cfServiceInstance } from "../../src/api/korifi/cf-service-instance.ts";
import { sortedJson } from "../../src/base/sorted-json.ts";
import { recordOf } from "../../src/kube/record.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { serviceBindingType } from "../../src/reconcile/korifi/korifi-sources.ts";
import { APPLIED } from "../../src/reconcile/objects/difference.ts";
import { deathPoints } from "../support/kill-points.ts";
import { KorifiControllersWorld, NAMESPACE } from "./korifi-world.ts";

const SETTLE_MS = 8_000;

interface Story {
  readonly title: string;
  /** Before anybody works. */
  readonly begin?: (world: KorifiControllersWorld) => Promise<unknown>;
  readonly changes: readonly ((world: KorifiControllersWorld) => Promise<unknown>)[];
}

const credentials = (said: object): { readonly credentials: string } => ({ credentials: JSON.stringify(said) });

const stories: readonly Story[] = [
  {
    title: "credentials that change, and change their type",
    changes: [
      async (world) => {
        await world.secret("db", credentials({ user: "alice" }));
        await world.instance("db");
        await world.bind("b1", "db");
        await world.bind("k1", "db", { type: "key", appRef: undefined });
      },
      (world) => world.change("db", credentials({ user: "bob", more: { n: 1 } })),
      (world) => world.change("db", credentials({ user: "bob", type: "postgres" })),
      (world) => world.bind("b2", "db"),
    ],
  },
  {
    title: "what a former release has left, whose credentials change",
    begin: (world) => world.legacyService("db", { type: "postgres", user: "alice" }, ["b1", "b2"]),
    changes: [
      (world) => world.patch(cfServiceInstance, "db", { spec: { secretName: "db-migrated" } }),
      (world) => world.change("db-migrated", credentials({ type: "postgres", user: "bob" })),
    ],
  },
  {
    title: "a Secret that is followed, and two services of one application of which one goes",
    changes: [
      async (world) => {
        await world.secret("rotated", credentials({ user: "alice" }));
        await world.secret("mq", credentials({ host: "mq" }));
        await world.instance("db", { credentialsFrom: { secretName: "rotated" } });
        await world.instance("mq");
        await world.bind("b1", "db");
        await world.bind("b2", "mq");
      },
      (world) => world.change("rotated", credentials({ user: "bob" })),
      (world) => world.remove(cfServiceBinding, "b2"),
    ],
  },
];

async function live(world: KorifiControllersWorld, { changes }: Story): Promise<void> {
  for (const change of [async () => {}, ...changes, async () => {}]) {
    await change(world);
    for (let passed = 0; passed < SETTLE_MS; passed += 1_000) {
      await world.pass(1_000);
      if (world.operator.isDead) world.begunAnew();
    }
  }
}

/** All that was made, but for times and versions. */
async function picture(world: KorifiControllersWorld): Promise<readonly string[]> {
  const lines: string[] = [];
  for (const type of [secretType, serviceBindingType, cfServiceInstance, cfServiceBinding]) {
    for (const { metadata, spec, status, data, ...rest } of (await world.kube.list(type, { namespace: NAMESPACE }))
      .items) {
      const { conditions = [], credentialsObservedVersion: _, ...said } = recordOf(status);
      const words = (conditions as readonly Readonly<Record<string, string>>[]).map((each) => [
        each.type,
        each.status,
        each.reason,
      ]);
      const owners = metadata.ownerReferences?.map(({ kind, name }) => `${kind}/${name}`);
      // A digest of what was applied, with the UID of its owner.
      const annotations = { ...metadata.annotations, [APPLIED]: "" };
      lines.push(sortedJson([type.kind, metadata.name, annotations, owners, rest.type, spec, data, said, words]));
    }
  }
  return lines.sort();
}

async function told(story: Story, at: number, when?: "before" | "after") {
  const world = await KorifiControllersWorld.begin({ mode: story.begin ? "on" : "auto" });
  if (story.begin) {
    await world.operator.stop();
    await story.begin(world);
    world.begunAnew();
  }
  let writes = 0;
  world.operator.killBy((write) => (!write.endsWith(" events") && writes++ === at ? when : undefined));
  await live(world, story);
  const ending = { picture: await picture(world), writes };
  for (const [name, contents] of world.contents) {
    assert.equal(
      new Set(contents).size,
      contents.length,
      `${name} has held the same twice, killed ${when} write ${at}`,
    );
  }
  world.operator.traffic();
  await world.pass(10_000);
  assert.deepEqual(world.traffic().writes, []);
  await world.stop();
  return ending;
}

for (const story of stories) {
  test(`${story.title}: a process that dies at any write is followed by one that writes the rest, and nothing twice`, async () => {
    const undisturbed = await told(story, -1);
    assert.ok(undisturbed.writes > 10, `${undisturbed.writes} writes`);
    for (const { at, when } of deathPoints(undisturbed.writes)) {
      const { picture: seen } = await told(story, at, when);
      assert.deepEqual(seen, undisturbed.picture, `killed ${when} write ${at + 1}`);
    }
  });
}
