import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { DERIVED_FROM, DERIVED_LABEL } from "../../src/api/korifi/names.ts";
import { keyIdOf, secretType } from "../../src/publish/secret-publisher.ts";
import {
  type ConsumersWorld,
  DIGESTS,
  heldFor,
  OPT_IN,
  rotated,
  SECRET,
  type Story,
  usingAll,
  usingKeys,
  WEB,
} from "./consumers-world.ts";

const SECOND_MS = 1000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const VCAP = "web-vcap-services";
const STALE = `the Secret ${VCAP} is still made of it`;
const BY_US = { fieldManager: "keyturn" };

const dataOf = (value: string): object => ({ VCAP_SERVICES: Buffer.from(value).toString("base64") });

/** The key that the Secret of the binding holds now. */
async function keyNow(world: ConsumersWorld): Promise<string> {
  const { metadata } = await world.kube.get(secretType, { namespace: "default", name: SECRET });
  return keyIdOf(metadata) ?? assert.fail("it holds no key");
}

interface DerivedWish {
  readonly name?: string;
  readonly from?: string;
  readonly labels?: Readonly<Record<string, string>>;
}

/** A Secret that is made from that of the binding, as it is now. */
async function derive(world: ConsumersWorld, wish: DerivedWish = {}): Promise<void> {
  const { name = VCAP, from = `${SECRET}@${await keyNow(world)},db`, labels = { [DERIVED_LABEL]: "true" } } = wish;
  const metadata = { namespace: "default", name, labels, annotations: { [DERIVED_FROM]: from } };
  const object = { apiVersion: "v1", kind: "Secret", metadata, type: "Opaque", data: dataOf(await keyNow(world)) };
  await world.kube.create(secretType, object, BY_US);
}

/** It is made anew from what is there now. */
async function deriveAnew(world: ConsumersWorld, { isData = true } = {}): Promise<void> {
  const keyId = await keyNow(world);
  const annotations = { [DERIVED_FROM]: `${SECRET}@${keyId},db` };
  const body = { metadata: { annotations }, ...(isData && { data: dataOf(keyId) }) };
  await world.kube.patch(secretType, { namespace: "default", name: VCAP }, { type: "merge", body }, BY_US);
}

const podOfWeb = async (world: ConsumersWorld, annotations: Readonly<Record<string, string>> = {}): Promise<void> => {
  await world.pod({ owner: await world.ofWeb(), spec: usingKeys(VCAP, ["VCAP_SERVICES"]), annotations });
};

/** The workload has opted in; it uses what was made from the Secret, before the rotation. */
const web = async (world: ConsumersWorld): Promise<void> => {
  world.optIn(WEB);
  await derive(world);
  await podOfWeb(world);
};

/** The deletion date of the replaced key has come, so long after its replacement. */
const dateCome = async ({ world }: Story, sinceMs = 0): Promise<void> => {
  await world.clock.advance(HOUR_MS + SECOND_MS - sinceMs);
};

describe("who uses a Secret that was made from the one that is rotated", () => {
  test("while that is made of the key, all who use it hold it, and it is said why", async () => {
    const story = await rotated(web);
    await dateCome(story);
    assert.equal(await heldFor(story), `${WEB} (${STALE})`);
    assert.deepEqual(story.world.told(), ["ConsumersBehind"]);
  });

  test("so do those whose Secret was made when the key was published elsewhere", async () => {
    const story = await rotated(async (world) => {
      world.optIn(WEB);
      await derive(world, { from: `former@${await keyNow(world)}` });
      await podOfWeb(world);
    });
    await dateCome(story);
    assert.equal(await heldFor(story), `${WEB} (${STALE})`);
  });

  test("however new their pods are, and whether they have opted in or not", async () => {
    const story = await rotated(derive);
    const { world } = story;
    await world.clock.advance(30 * MINUTE_MS);
    await world.pod({ name: "alone", spec: usingAll(VCAP) });
    await dateCome(story, 30 * MINUTE_MS);
    assert.equal(await heldFor(story), `Pod default/alone (${STALE})`);
  });

  test("made anew, it is held by those pods that were there before, and no longer", async () => {
    const story = await rotated(web);
    const { world } = story;
    await world.clock.advance(MINUTE_MS);
    await deriveAnew(world);
    await dateCome(story, MINUTE_MS);
    assert.equal(await heldFor(story), WEB);
    world.optedIn.clear();
    assert.equal(await heldFor(story), undefined, "who has not opted in is not waited for");
  });

  test("a pod that started after the rotation, and before it was made anew, runs on the key", async () => {
    const story = await rotated(derive);
    const { world } = story;
    world.optIn(WEB);
    await world.clock.advance(10 * MINUTE_MS);
    await podOfWeb(world);
    await world.clock.advance(10 * MINUTE_MS);
    await deriveAnew(world);
    await dateCome(story, 20 * MINUTE_MS);
    assert.equal(await heldFor(story), WEB);
  });

  test("a pod that started after it was made anew does not", async () => {
    const story = await rotated(derive);
    const { world } = story;
    world.optIn(WEB);
    await world.clock.advance(10 * MINUTE_MS);
    await deriveAnew(world);
    await world.clock.advance(2 * SECOND_MS);
    await podOfWeb(world);
    await dateCome(story, 10 * MINUTE_MS + 2 * SECOND_MS);
    assert.equal(await heldFor(story), undefined);
  });

  test("nor does one whose digests are those of what was made", async () => {
    const story = await rotated(derive);
    const { world } = story;
    world.optIn(WEB);
    await world.clock.advance(10 * MINUTE_MS);
    await deriveAnew(world);
    await podOfWeb(world, { [DIGESTS]: `secret/${VCAP}=${await world.digest(["VCAP_SERVICES"], VCAP)}` });
    await dateCome(story, 10 * MINUTE_MS);
    assert.equal(await heldFor(story), undefined);
  });

  test("where the key is not in what was made of it, nobody is waited for", async () => {
    const story = await rotated(async (world) => {
      await web(world);
      const known = world.optedIn.get(WEB)?.state ?? assert.fail();
      const applied = { digest: await world.digest(["VCAP_SERVICES"], VCAP), since: world.clock.now() };
      const optIn = world.optedIn.get(WEB)?.optIn ?? assert.fail();
      world.optedIn.set(WEB, { optIn, state: { ...known, sources: new Map([[`secret/${VCAP}`, applied]]) } });
    });
    await deriveAnew(story.world, { isData: false });
    await dateCome(story);
    assert.equal(await heldFor(story), undefined);
  });

  const others: readonly (readonly [reason: string, wish: DerivedWish])[] = [
    ["made from another Secret", { from: "db@k-1" }],
    ["made from one whose name begins the same", { from: `${SECRET}-2@k-1` }],
    ["without the label it is nothing that was made", { labels: {} }],
    ["made from nothing", { from: "" }],
  ];
  for (const [reason, wish] of others) {
    test(`nobody is waited for: ${reason}`, async () => {
      const story = await rotated(async (world) => {
        world.optIn(WEB);
        await derive(world, wish);
        await podOfWeb(world, { [OPT_IN]: "true" });
      });
      await dateCome(story);
      assert.equal(await heldFor(story), undefined);
    });
  }

  test("one that nobody uses holds nothing back", async () => {
    const story = await rotated(async (world) => {
      await derive(world);
      world.optIn(WEB);
      await world.pod({ owner: await world.ofWeb(), spec: usingAll("other") });
    });
    await dateCome(story);
    assert.equal(await heldFor(story), undefined);
  });

  test("who uses both is named once, with what keeps it", async () => {
    const story = await rotated(async (world) => {
      world.optIn(WEB);
      await derive(world);
      const { volumes } = usingAll(SECRET) as { readonly volumes: object };
      await world.pod({ owner: await world.ofWeb(), spec: { ...usingKeys(VCAP, ["VCAP_SERVICES"]), volumes } });
    });
    await dateCome(story);
    assert.equal(await heldFor(story), `${WEB} (${STALE})`);
  });

  test("of which key it is made is not said: it is kept, unless it was made later", async () => {
    const unsaid = (world: ConsumersWorld): Promise<void> => derive(world, { from: SECRET });
    const before = await rotated(async (world) => {
      await unsaid(world);
      await podOfWeb(world);
    });
    await dateCome(before);
    assert.equal(await heldFor(before), `${WEB} (${STALE})`);

    const after = await rotated();
    await after.world.clock.advance(10 * MINUTE_MS);
    await unsaid(after.world);
    await after.world.clock.advance(10 * MINUTE_MS);
    await podOfWeb(after.world, { [OPT_IN]: "true" });
    await dateCome(after, 20 * MINUTE_MS);
    assert.equal(await heldFor(after), undefined);
  });
});
