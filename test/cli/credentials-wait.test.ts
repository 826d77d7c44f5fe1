import assert from "node:assert/strict";
import { test } from "node:test";
import { cfServiceInstance } from "../../src/api/korifi/cf-service-instance.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { CredentialsWorld, SPACE } from "./credentials-world.ts";

const NEW = '{"password":"s3cr3t-canary","tls":{"a":1}}';
const FLAT = { password: "s3cr3t-canary", tls: '{"a":1}', type: "user-provided" };

const lines = (text: string): readonly string[] =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => line.replace("cfserviceinstance/space/", "").replace("cfservicebinding/space/", ""));

test("each that takes them up is told once, and the last one ends it", async () => {
  const world = await CredentialsWorld.start();
  await world.instance();
  await world.bind("b1", "shop");
  await world.bind("b2");
  const { said, ended } = world.begin(NEW);
  await world.pass(1_000);
  assert.deepEqual(lines(said.stdout), ["db: Secret db made with the credentials"]);
  await world.seeInstance();
  await world.giveOut("b1", FLAT);
  await world.pass(3_000);
  assert.equal(lines(said.stdout).at(-1), "db: taken up", "VCAP_SERVICES is not there yet");
  await world.giveVcap("shop", "b1", '{"password":"old"}');
  await world.pass(3_000);
  assert.equal(lines(said.stdout).at(-1), "db: taken up", "VCAP_SERVICES has those of before");
  await world.kube.delete(secretType, { namespace: SPACE, name: "shop-vcap-services" });
  await world.giveVcap("shop", "b1", NEW);
  await world.pass(3_000);
  await world.giveOut("b2", FLAT);
  await world.pass(3_000);
  assert.equal(await ended, 0);
  assert.deepEqual(lines(said.stdout).slice(1), [
    "db: taken up",
    "b1: taken up in the Secret b1 and in VCAP_SERVICES of shop",
    "b2: taken up in the Secret b2",
    "db: all 2 bindings have taken them up",
  ]);
  assert.deepEqual(said.stderr, "");
});

test("for programs, it ends with one JSON document and says nothing before", async () => {
  const world = await CredentialsWorld.start();
  await world.instance();
  await world.bind("b1");
  const { said, ended } = world.begin(NEW, ["-o", "json"]);
  await world.pass(1_000);
  await world.seeInstance();
  await world.giveOut("b1", FLAT);
  await world.pass(3_000);
  assert.equal(await ended, 0);
  assert.deepEqual(JSON.parse(said.stdout), {
    namespace: "space",
    name: "db",
    secretName: "db",
    isDryRun: false,
    steps: [{ step: "SecretCreated", secretName: "db" }],
    isTakenUp: true,
    bindings: [{ name: "b1", secretName: "b1", isTakenUp: true }],
  });
});

test("a binding with the Secret of other credentials, or of another type, has not taken them up", async () => {
  const rows: readonly (readonly [flat: Readonly<Record<string, string>>, type: string, reason: string])[] = [
    [{ ...FLAT, password: "old" }, "servicebinding.io/user-provided", "another password"],
    [{ ...FLAT, more: "" }, "servicebinding.io/user-provided", "one key more"],
    [FLAT, "servicebinding.io/mysql", "another type"],
  ];
  for (const [flat, type, reason] of rows) {
    const world = await CredentialsWorld.start();
    await world.instance();
    await world.bind("b1");
    const { said, ended } = world.begin(NEW, ["--timeout", "20s"]);
    await world.pass(1_000);
    await world.seeInstance();
    await world.giveOut("b1", flat, type);
    await world.pass(20_000);
    assert.equal(await ended, 1, reason);
    assert.match(said.stderr, /not finished after 20s: cfservicebinding\/space\/b1; the credentials are set/, reason);
    assert.ok(!`${said.stdout}${said.stderr}`.includes("s3cr3t-canary"));
  }
});

test("it wonders where the operator is, and tells of a problem that lasts, once", async () => {
  const world = await CredentialsWorld.start();
  await world.instance();
  await world.bind("b1");
  await world.sayProblem("b1", "SecretTaken", "the Secret b1 is somebody else's: its name is needed");
  const { said, ended, interrupt } = world.begin(NEW);
  await world.pass(2_000);
  assert.doesNotMatch(said.stdout, /problem/, "it may be of the time before");
  await world.pass(20_000);
  assert.equal(said.stdout.match(/b1: problem: SecretTaken: the Secret b1 is somebody else's/g)?.length, 1);
  assert.match(said.stderr, /^keyturn: nothing has begun yet: does an operator look after these kinds/);
  interrupt();
  await world.pass(1_000);
  assert.equal(await ended, 130);
  assert.match(said.stderr, /interrupted: cfserviceinstance\/space\/db, cfservicebinding\/space\/b1; the credentials/);
});

test("what never comes is not waited for: other credentials, an instance that is gone", async () => {
  const world = await CredentialsWorld.start();
  await world.instance();
  const first = world.begin(NEW);
  await world.pass(1_000);
  assert.equal((await world.set('{"other":1}', ["--no-wait"])).code, 0);
  await world.pass(3_000);
  assert.equal(await first.ended, 1);
  assert.match(first.said.stderr, /other credentials have been set meanwhile/);
  const second = world.begin(NEW);
  await world.pass(1_000);
  await world.kube.delete(cfServiceInstance, { namespace: SPACE, name: "db" });
  await world.pass(3_000);
  assert.equal(await second.ended, 1);
  assert.match(second.said.stderr, /the instance was deleted/);
});

test("an instance without bindings is done when it has seen them", async () => {
  const world = await CredentialsWorld.start();
  await world.instance();
  const { said, ended } = world.begin(NEW);
  await world.pass(1_000);
  await world.seeInstance();
  await world.pass(3_000);
  assert.equal(await ended, 0);
  assert.equal(lines(said.stdout).at(-1), "db: taken up");
});

test("a binding that has the legacy Secret projected keeps it for credentials that say the same", async () => {
  const world = await CredentialsWorld.start();
  await world.legacy();
  await world.bind("b1");
  await world.sayOfBinding("b1", "db", "db-migrated");
  const { said, ended } = world.begin('{"user":"u"}');
  await world.pass(1_000);
  await world.seeInstance("db-migrated");
  await world.pass(3_000);
  assert.equal(await ended, 0);
  assert.deepEqual(lines(said.stdout), [
    "db: spec.secretName set to db-migrated",
    "db: the Secret db-migrated has these credentials already",
    "b1: taken up in the Secret db",
    "db: taken up",
  ]);
});

test("what is so already is taken up already, in whatever order it is given and however it is escaped", async () => {
  const world = await CredentialsWorld.start();
  await world.instance();
  await world.bind("b1", "shop");
  await world.secret("db", { credentials: '{"tls":{"a":1},"password":"s3cr3t-canary&"}' });
  await world.seeInstance();
  await world.giveOut("b1", { ...FLAT, password: "s3cr3t-canary&" });
  await world.giveVcap("shop", "b1", '{"tls":{"a":1},"password":"s3cr3t-canary\\u0026"}');
  const { said, ended } = world.begin('{"password":"s3cr3t-canary&","tls":{"a":1}}');
  await world.pass(3_000);
  assert.deepEqual(lines(said.stdout), [
    "db: the Secret db has these credentials already",
    "db: taken up",
    "b1: taken up in the Secret b1 and in VCAP_SERVICES of shop",
  ]);
  assert.equal(await ended, 0);
});
