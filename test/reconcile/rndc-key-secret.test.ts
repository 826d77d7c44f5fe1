import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { type TestContext, test } from "node:test";
import { rndcKey } from "../../src/api/keyturn/rndc-key.ts";
import { Redacted } from "../../src/base/redacted.ts";
import { ringFromJson } from "../../src/bind/key-ring.ts";
import { renderRing } from "../../src/bind/render-ring.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { putSecret } from "../../src/reconcile/objects.fixture.ts";
import { generateRndcKey, type RndcKey, secretText } from "../../src/rndc/key.ts";
import { isSame, NAME, NAMESPACE, RndcKeyWorld } from "./rndc-key-world.ts";

const MINUTE_MS = 60_000;
const CREATED_AT = "bindy.firestoned.io/created-at";
const FORCE = "rndckey.keyturn.dev/force-rotation";
const RING = `${NAME}-ring`;

async function rested(context: TestContext, spec = {}): Promise<RndcKeyWorld> {
  const world = await RndcKeyWorld.begin();
  context.after(() => world.stop());
  await world.create(spec);
  await world.pass(5_000);
  return world;
}

const dated = (world: RndcKeyWorld, createdAt: string | null): Promise<unknown> =>
  world.patchSecret({ metadata: { annotations: { [CREATED_AT]: createdAt } } });

const createdAtOf = async (world: RndcKeyWorld): Promise<string | undefined> =>
  (await world.secret())?.metadata.annotations?.[CREATED_AT];

test("created-at set to the past is a rotation, once", async (context) => {
  const world = await rested(context);
  const first = await world.activeId();
  await dated(world, "2020-01-01T00:00:00Z");
  await world.pass(30_000);
  const second = await world.activeId();
  assert.notEqual(second, first);
  assert.equal(await createdAtOf(world), (await world.status()).atProvider?.createdAt);
  await world.pass(40 * MINUTE_MS, 20_000);
  assert.equal(await world.activeId(), second);
  await world.assertAtRest();
});

test("set to a past that is not old enough, it brings the rotation forward", async (context) => {
  const world = await rested(context);
  const first = await world.activeId();
  await dated(world, new Date(world.clock.now() - 60 * MINUTE_MS).toISOString());
  await world.pass(50 * MINUTE_MS, 20_000);
  assert.equal(await world.activeId(), first);
  await world.pass(15 * MINUTE_MS, 20_000);
  assert.notEqual(await world.activeId(), first);
});

const damages: readonly (readonly [value: string | null, words: RegExp])[] = [
  [null, /created-at: it was removed/],
  ["yesterday", /created-at: it is no date/],
  ["2999-01-01T00:00:00Z", /created-at: it is in the future/],
];

for (const [value, words] of damages) {
  test(`created-at ${value ?? "removed"} is put back and told, and nothing is rotated for it`, async (context) => {
    const world = await rested(context);
    const [first, before] = [await world.activeId(), await createdAtOf(world)];
    await dated(world, value);
    await world.pass(20_000);
    assert.equal(await createdAtOf(world), before);
    assert.equal(await world.activeId(), first);
    const [event = ""] = await world.events("SecretRestored");
    assert.match(event, words);
    await world.assertAtRest();
  });
}

test("labels and annotations of others stay through a rotation, and what was edited is put back", async (context) => {
  const world = await rested(context, {
    secret: { name: NAME, labels: { team: "dns" }, annotations: { note: "ours" } },
  });
  await world.patchSecret({ metadata: { labels: { mine: "yes", team: null }, annotations: { theirs: "kept" } } });
  await world.pass(10_000);
  await world.patchSecret({ data: { secret: Buffer.from("nonsense").toString("base64") } });
  await world.pass(10_000);
  await world.annotate({ "keyturn.dev/compromised": "leaked" });
  await world.pass(30_000);
  const { labels = {}, annotations = {} } = (await world.secret())?.metadata ?? {};
  assert.deepEqual([labels.mine, labels.team, annotations.theirs, annotations.note], ["yes", "dns", "kept", "ours"]);
  await world.assertAtRest();
});

const INITIAL =
  'key "from-the-spec" { algorithm hmac-sha256; secret "bm90LWEtcmVhbC1zZWNyZXQtYnV0LWxvbmctZW5vdWdo"; };';

test("the first key may be given, with its name; what stands beside it is published with every key", async (context) => {
  const world = await RndcKeyWorld.begin();
  context.after(() => world.stop());
  await world.create({ keyName: "from-the-spec", initialKey: { name: "given" } });
  await world.pass(5_000);
  assert.match(await world.problem(), /^False ReferenceProblem: spec\.initialKey\.name: there is no Secret given$/);
  await putSecret(
    world.kube,
    { namespace: NAMESPACE, name: "given" },
    { "rndc.key": INITIAL, "ca.crt": "a certificate" },
  );
  await world.pass(5 * MINUTE_MS, 5_000);
  const first = await world.publishedKey();
  assert.equal(first.name, "from-the-spec");
  assert.equal(Buffer.from(first.secret.reveal()).toString(), "not-a-real-secret-but-long-enough");
  await world.assertAtRest("the first");
  await world.annotate({ "keyturn.dev/compromised": "leaked" });
  await world.pass(30_000);
  const second = await world.publishedKey();
  assert.match(second.name, /^from-the-spec-\w{8}$/);
  const { data = {} } = (await world.secret()) as { readonly data?: Readonly<Record<string, string>> };
  assert.equal(Buffer.from(data["ca.crt"] ?? "", "base64").toString(), "a certificate");
  await world.assertAtRest("the second");
});

test("a first key that is malformed is refused without a word of it", async (context) => {
  const world = await RndcKeyWorld.begin();
  context.after(() => world.stop());
  await putSecret(
    world.kube,
    { namespace: NAMESPACE, name: "given" },
    { "rndc.key": 'key "a" { secret "c2hvcnQ="; };' },
  );
  await world.create({ initialKey: { name: "given" } });
  await world.pass(5_000);
  const said = await world.problem();
  assert.match(said, /^False ReferenceProblem: spec\.initialKey\.name: line 1: the key has no algorithm$/);
  assert.deepEqual([await world.secret(), await world.secret(RING)], [undefined, undefined]);
});

test("a ring that was deleted or damaged comes back with the key that is published", async (context) => {
  const world = await rested(context);
  const [id, key] = [await world.activeId(), await world.publishedKey()];
  const harms: Readonly<Record<string, () => Promise<unknown>>> = {
    deleted: () => world.kube.delete(secretType, { namespace: NAMESPACE, name: RING }),
    unreadable: () => world.patchSecret({ data: { "ring.json": Buffer.from("{").toString("base64") } }, RING),
    "with other files": () => world.patchSecret({ data: { "keys.conf": "" } }, RING),
    "without an owner": () => world.patchSecret({ metadata: { ownerReferences: null } }, RING),
    "without its label": () => world.patchSecret({ metadata: { labels: { "keyturn.dev/key-ring": null } } }, RING),
  };
  for (const [what, harm] of Object.entries(harms)) {
    await harm();
    await world.pass(10_000);
    await world.assertAtRest(what);
    assert.equal(await world.activeId(), id, what);
    assert.ok(isSame(await world.publishedKey(), key), what);
    assert.equal((await world.secret(RING))?.metadata.ownerReferences?.length, 1, what);
  }
});

test("a ring that is made anew holds the published key, also where the status does not know it", async (context) => {
  const world = await rested(context);
  const key = await world.publishedKey();
  await world.operator.stop();
  const object = await world.kube.get(rndcKey, { namespace: NAMESPACE, name: NAME });
  await world.kube.replace(rndcKey, { ...object, status: { sequence: 5 } }, { subresource: "status" });
  await world.kube.delete(secretType, { namespace: NAMESPACE, name: RING });
  world.begunAnew();
  for (let step = 0; step < 20; step++) {
    await world.pass(500, 500);
    const ring = await world.ring();
    if (ring.length > 0 && isSame(await world.publishedKey(), key))
      assert.ok(
        ring.some((one) => isSame(one.key, key)),
        "what is published is in it",
      );
  }
  await world.pass(31 * 60_000, 20_000);
  await world.assertAtRest();
});

/** What somebody writes into the ring who may write Secrets: a copy of what is there, with a key that he knows. */
async function smuggle(world: RndcKeyWorld, changes: Readonly<Record<string, unknown>> = {}): Promise<RndcKey> {
  const data = await world.ringData();
  const ring = JSON.parse(Buffer.from(data["ring.json"] ?? "", "base64").toString()) as {
    readonly keys: readonly { readonly marks: object }[];
  };
  const key = generateRndcKey("evil", "hmac-sha256", world.random);
  const { marks, ...copy } = ring.keys[0] ?? assert.fail("there is no key");
  const secret = secretText(key).reveal();
  const entry = { ...copy, id: "evil-1", name: "evil", secret, marks: { ...marks, ...changes } };
  const text = JSON.stringify({ ...ring, keys: [...ring.keys, entry] });
  const files = renderRing(ringFromJson(new Redacted(text))).reveal();
  const encoded = Object.entries(files).map(([file, said]) => [file, Buffer.from(said).toString("base64")]);
  await world.patchSecret({ data: Object.fromEntries(encoded) }, RING);
  return key;
}

for (const [what, marks] of [
  ["with the marks of another one", {}],
  ["as a later one", { sequence: 9 }],
  ["as somebody else's", { ownerUid: "other", ownerName: "other" }],
] as const) {
  test(`a key that somebody writes into the ring, ${what}, is told of and taken out`, async (context) => {
    const world = await rested(context);
    world.kubelet.delayMs = 20_000;
    const [id, published] = [await world.activeId(), await world.publishedKey()];
    const evil = await smuggle(world, marks);
    await world.pass(10_000, 500);
    const said = (await world.status()).conditions?.find(({ type }) => type === "RotationStatus")?.message ?? "";
    assert.match(said, /nobody here has put there.*: evil/);
    assert.equal((await world.events("ForeignKey")).length, 1);
    await world.pass(90_000);
    for (const { accepted } of world.kubelet.running)
      assert.ok(!accepted.some((key) => isSame(key, evil)), "no server accepts it");
    assert.equal((await world.status()).retiredKeys, undefined);
    assert.deepEqual([await world.activeId(), (await world.events("ForeignKey")).length], [id, 1]);
    assert.ok(isSame(await world.publishedKey(), published));
    await world.assertAtRest();
  });
}

test("a server that has come to accept it is told, and asked until it refuses it", async (context) => {
  const world = await rested(context);
  await world.operator.stop();
  const evil = await smuggle(world);
  await world.addPod("web-2");
  await world.pass(2_000);
  const isLetIn = (): boolean =>
    world.kubelet.running.some(({ accepted }) => accepted.some((key) => isSame(key, evil)));
  assert.ok(isLetIn());
  world.kubelet.delayMs = 30_000;
  world.begunAnew();
  await world.pass(20_000);
  assert.deepEqual(
    (await world.ring()).map(({ phase }) => phase),
    ["accepted", "removing"],
    "not forgotten before it is refused",
  );
  await world.pass(30_000);
  assert.equal(isLetIn(), false);
  await world.assertAtRest();
});

test("a ring of a version that sealed nothing is taken as it is, as far as the status knows its keys", async (context) => {
  const world = await rested(context);
  await world.annotate({ [FORCE]: "now" });
  await world.pass(30_000);
  assert.equal((await world.ring()).length, 2);
  await world.operator.stop();
  await world.patchSecret({ metadata: { annotations: { "keyturn.dev/ring-seals": null } } }, RING);
  world.begunAnew();
  await world.pass(30_000);
  assert.equal((await world.ring()).length, 2);
  assert.deepEqual(await world.events("ForeignKey"), []);
  const seals = (await world.secret(RING))?.metadata.annotations?.["keyturn.dev/ring-seals"] ?? "{}";
  assert.equal(Object.keys(JSON.parse(seals)).length, 2);
});

test("a status that is lost makes nobody a stranger", async (context) => {
  const world = await rested(context);
  await world.annotate({ [FORCE]: "now" });
  await world.pass(30_000);
  const object = await world.kube.get(rndcKey, { namespace: NAMESPACE, name: NAME });
  await world.kube.replace(rndcKey, { ...object, status: {} }, { subresource: "status" });
  await world.pass(30_000);
  assert.equal((await world.ring()).length, 2);
  assert.deepEqual(await world.events("ForeignKey"), []);
});

test("a Secret from a backup is put right, and brings no key back that was removed", async (context) => {
  const world = await rested(context);
  const { metadata, data } = (await world.secret()) ?? assert.fail();
  const dead = await world.publishedKey();
  await world.annotate({ "keyturn.dev/compromised": "leaked" });
  await world.pass(30_000);
  await world.assertAtRest();
  const { annotations, labels } = metadata;
  await world.patchSecret({ metadata: { annotations, labels }, data });
  for (let step = 0; step < 60; step++) {
    await world.pass(500, 500);
    for (const { accepted } of world.kubelet.running)
      assert.ok(!accepted.some((key) => isSame(key, dead)), "it is dead");
  }
  world.lockouts.length = 0;
  await world.assertAtRest();
});

test("a Secret of somebody else under the name of the ring is left alone", async (context) => {
  const world = await RndcKeyWorld.begin();
  context.after(() => world.stop());
  await putSecret(world.kube, { namespace: NAMESPACE, name: RING }, { theirs: "yes" });
  await world.create();
  await world.pass(5_000);
  assert.match(
    await world.problem(),
    /^False ProviderRefused: the Secret default\/web-rndc-ring belongs to somebody else/,
  );
  assert.deepEqual(Object.keys(await world.ringData()), ["theirs"]);
});

test("so is one under the name that the key is to be published under", async (context) => {
  const world = await RndcKeyWorld.begin(0);
  context.after(() => world.stop());
  await putSecret(world.kube, { namespace: NAMESPACE, name: NAME }, { theirs: "yes" });
  await world.create();
  await world.pass(5_000);
  assert.match(
    await world.problem(),
    /^False SecretNotOurs: the Secret default\/web-rndc belongs to somebody else: choose another name in spec\.secret\.name$/,
  );
  assert.deepEqual([Object.keys((await world.secret())?.data ?? {}), await world.ring()], [["theirs"], []]);
});

test("key material is in no status and no event", async (context) => {
  const world = await rested(context);
  world.kubelet.silent.add("web-0");
  await world.annotate({ "keyturn.dev/compromised": "leaked" });
  await world.pass(3 * MINUTE_MS, 5_000);
  const secrets = (await world.ring()).map(({ key }) => Buffer.from(key.secret.reveal()).toString("base64"));
  assert.equal(secrets.length, 2);
  const said = JSON.stringify([
    await world.status(),
    await world.events("KeyNotReady"),
    await world.events("KeyCreated"),
  ]);
  for (const secret of secrets) assert.ok(!said.includes(secret));
  assert.match(said, /gave no answer/);
});
