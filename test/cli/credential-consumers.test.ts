import assert from "node:assert/strict";
import { test } from "node:test";
import { Forbidden } from "../../src/kube/errors.ts";
import { apiVersionOf, type KubeObject } from "../../src/kube/objects.ts";
import type { Kube } from "../../src/kube/port.ts";
import { keyIdOf, secretType } from "../../src/publish/secret-publisher.ts";
import { deploymentType } from "../../src/restart/workload-kinds.ts";
import { RestartingWorld } from "../reconcile/restarting-world.ts";
import { OPT_IN, podSpec, secretVolume } from "../restart/shop.ts";
import { runOn, type Said } from "./command-world.ts";

const MINUTE_MS = 60_000;
const SECRET = "orders-secret";

/** A binding with consumers, and an operator that rotates the one and restarts the others. */
class CredentialWorld extends RestartingWorld {
  static async start(
    context: { after: (done: () => Promise<void>) => void },
    rotation: Readonly<Record<string, string>>,
  ): Promise<CredentialWorld> {
    const world = new CredentialWorld();
    await world.begin(context, rotation);
    return world;
  }

  async deploy(name: string, annotations: Readonly<Record<string, string>>, more: object = {}): Promise<void> {
    const labels = { app: name };
    const template = { metadata: { labels, annotations }, spec: podSpec(secretVolume(SECRET)) };
    await this.kube.create<KubeObject>(deploymentType, {
      apiVersion: apiVersionOf(deploymentType),
      kind: deploymentType.kind,
      metadata: { namespace: "default", name },
      spec: { replicas: 2, selector: { matchLabels: labels }, template, ...more },
    });
  }

  pause(name: string): Promise<KubeObject> {
    const body = { spec: { paused: true } };
    return this.kube.patch(deploymentType, { namespace: "default", name }, { type: "merge", body });
  }

  run(words: readonly string[], kube: Kube = this.kube): Promise<Said> {
    return runOn({ kube, clock: this.clock }, words);
  }
}

const rotation = { frequency: "30m", ttl: "32m" };
const AFTER_CONSUMERS = { ...rotation, revoke: "AfterConsumers", maxHold: "20m" };

/** One that moves, one that stands still, one that has not opted in; the binding has been rotated since. */
async function rotated(context: { after: (done: () => Promise<void>) => void }, policy = AFTER_CONSUMERS) {
  const world = await CredentialWorld.start(context, policy);
  await world.deploy("moves", OPT_IN);
  await world.deploy("still", OPT_IN);
  await world.deploy("batch", {});
  await world.clock.advance(20_000);
  await world.pause("still");
  await world.clock.advance(35 * MINUTE_MS);
  return world;
}

test("consumers says whose Secret it is, which retired keys wait for whom, and who is not waited for", async (context) => {
  const world = await rotated(context);
  const { stdout, stderr, code } = await world.run(["consumers", SECRET]);
  assert.deepEqual([code, stderr], [0, ""]);
  assert.match(
    stdout,
    /^Secret default\/orders-secret, written \S+ ago \(\S+\), published by servicebinding\/orders\n/,
  );
  assert.match(stdout, /^Deployment batch +volume +no +older, 2 pods +nothing: it has not opted in +complete$/m);
  assert.match(stdout, /^Deployment moves +volume +yes \(annotation\) +current, 2 pods +restart it +complete$/m);
  assert.match(
    stdout,
    /^Deployment still .* older, 2 pods +restart it, once it is resumed +paused, 0 of 2 pods updated$/m,
  );
  const below = stdout.slice(stdout.indexOf("\n\nRetired keys")).trim().split("\n");
  assert.equal(below[0], "Retired keys of servicebinding/orders (revoke: AfterConsumers):");
  assert.match(
    below[1] ?? "",
    /^ {2}my-sample-\S+ {2}held: Deployment default\/still \(it is paused\) has not moved; deletion in 1\dm\S* at the latest$/,
  );
  assert.deepEqual(below.slice(2), ["  Not waited for: Deployment batch: it has not opted in"]);
  const json = JSON.parse((await world.run(["consumers", SECRET, "-o", "json"])).stdout) as {
    readonly publishedBy: { readonly revoke: string; readonly retiredKeys: readonly { readonly heldFor: string }[] };
    readonly consumers: readonly {
      readonly name: string;
      readonly hasMoved: boolean;
      readonly notWaitedFor?: string;
    }[];
  };
  assert.equal(json.publishedBy.revoke, "AfterConsumers");
  assert.deepEqual(
    json.publishedBy.retiredKeys.map(({ heldFor }) => heldFor),
    ["Deployment default/still (it is paused)"],
  );
  assert.deepEqual(
    json.consumers.map(({ name, hasMoved, notWaitedFor }) => [name, hasMoved, notWaitedFor]),
    [
      ["batch", false, "it has not opted in"],
      ["moves", true, undefined],
      ["still", false, undefined],
    ],
  );
});

test("where a key goes at its date whoever uses it, that is said", async (context) => {
  const world = await rotated(context, rotation as typeof AFTER_CONSUMERS);
  const { stdout } = await world.run(["consumers", SECRET]);
  assert.match(
    stdout,
    /\n\nservicebinding\/orders has no retired keys \(revoke: AtDeletionDate, whoever still uses them\)\.\n {2}Deployment default\/still runs on a key that was deleted \(2 pods\)\n$/,
  );
});

test("status says how many consumers have moved, with a line for each that has not", async (context) => {
  const world = await rotated(context);
  const { stdout, stderr, code } = await world.run(["status", "--exit-code"]);
  assert.deepEqual([code, stderr], [0, ""], "a rollout that takes its time is no problem of the credential");
  assert.deepEqual(stdout.slice(stdout.indexOf("\nConsumers:")).trim().split("\n"), [
    "Consumers:",
    "  servicebinding/orders  1 of 2 consumers have moved",
    "    Deployment default/still  paused, 0 of 2 pods updated; runs on older, 2 pods",
  ]);
  const { items } = JSON.parse((await world.run(["status", "-o", "json"])).stdout) as {
    readonly items: readonly { readonly consumers: readonly { readonly name: string; readonly hasMoved: boolean }[] }[];
  };
  assert.deepEqual(
    items.map(({ consumers }) => consumers.map(({ name, hasMoved }) => [name, hasMoved])),
    [
      [
        ["batch", false],
        ["moves", true],
        ["still", false],
      ],
    ],
  );
});

test("in status everybody who has moved is quiet, but with -o wide", async (context) => {
  const world = await CredentialWorld.start(context, rotation);
  await world.deploy("moves", OPT_IN);
  await world.clock.advance(20_000);
  assert.doesNotMatch((await world.run(["status"])).stdout, /Consumers/);
  assert.match(
    (await world.run(["status", "-o", "wide"])).stdout,
    /\nConsumers:\n {2}servicebinding\/orders {2}1 of 1 consumer has moved\n$/,
  );
});

test("one that has not moved is one", async (context) => {
  const world = await CredentialWorld.start(context, rotation);
  await world.deploy("still", OPT_IN);
  await world.clock.advance(20_000);
  await world.pause("still");
  await world.clock.advance(31 * MINUTE_MS);
  assert.match((await world.run(["status"])).stdout, /^ {2}servicebinding\/orders {2}0 of 1 consumer has moved$/m);
});

test("status costs one list for each kind and namespace, two of Secrets, and a right that is missing is a hint", async (context) => {
  const world = await CredentialWorld.start(context, rotation);
  for (const name of ["more", "many"]) {
    await world.create(name, { writeConnectionSecretToRef: { namespace: "default", name } });
  }
  await world.deploy("moves", OPT_IN);
  await world.clock.advance(20_000);
  const lists: string[] = [];
  const { kube } = world;
  const limited: Kube = {
    ...kube,
    list: (type, options) => {
      lists.push(`${type.plural} ${options?.namespace ?? ""} ${options?.labelSelector ?? ""}`);
      if (type.plural !== "pods") return kube.list(type, options);
      return Promise.reject(new Forbidden("pods is forbidden: you cannot"));
    },
  };
  const { code, stdout, stderr } = await world.run(["status"], limited);
  assert.equal(code, 0);
  assert.match(stdout, /^orders +Ready /m);
  assert.equal(stderr, "keyturn: who uses the Secrets of default is not shown whole: you may not list Pod there\n");
  assert.equal(new Set(lists).size, lists.length, lists.join(", "));
});

test("who runs on a key that was deleted is a problem, wherever one looks, until they have moved", async (context) => {
  const world = await rotated(context);
  const held = (await world.run(["explain", "servicebinding", "orders"])).stdout;
  assert.match(
    held,
    /^Problem +ConsumersBehind: the retired key my-sample-\S+ is kept since .*: Deployment default\/\S+.* not moved; /m,
  );
  await world.clock.advance(19 * MINUTE_MS);
  const words = "Deployment default/still runs on a key that was deleted (2 pods)";
  const status = await world.run(["status", "--exit-code"]);
  assert.equal(status.code, 1);
  assert.match(
    status.stdout,
    /^1 of 1 has a problem:\n {2}servicebinding\/orders {2}RunsOnDeletedKey: Deployment default/,
  );
  const explained = (await world.run(["explain", "servicebinding", "orders"])).stdout;
  assert.ok(explained.includes(`RunsOnDeletedKey: ${words}`), explained);
  assert.doesNotMatch(explained, /If the problem is solved|None/, "it keeps nothing of the binding");
  const { stdout } = await world.run(["consumers", SECRET]);
  assert.ok(stdout.includes(`\n  ${words}\n`), stdout);
  const { publishedBy } = JSON.parse((await world.run(["consumers", SECRET, "-o", "json"])).stdout) as {
    readonly publishedBy: { readonly problems: readonly object[] };
  };
  assert.deepEqual(publishedBy.problems, [{ reason: "RunsOnDeletedKey", message: words }]);
  const body = { spec: { paused: false } };
  await world.kube.patch(deploymentType, { namespace: "default", name: "still" }, { type: "merge", body });
  await world.clock.advance(MINUTE_MS);
  assert.equal((await world.run(["status", "--exit-code"])).code, 0);
});

test("what is still made of an older key is told of, and who uses it has not moved", async (context) => {
  const world = await CredentialWorld.start(context, AFTER_CONSUMERS);
  await world.clock.advance(20_000);
  const secret = await world.kube.get(secretType, { namespace: "default", name: SECRET });
  const metadata = {
    namespace: "default",
    name: "web-vcap-services",
    labels: { "keyturn.dev/derived": "true" },
    annotations: { "keyturn.dev/derived-from": `${SECRET}@${keyIdOf(secret.metadata)}` },
  };
  await world.kube.create(secretType, { apiVersion: "v1", kind: "Secret", metadata, data: {} });
  const spec = podSpec(secretVolume("web-vcap-services"));
  const template = { metadata: { labels: { app: "web" } }, spec };
  await world.deploy("web", {}, { selector: { matchLabels: { app: "web" } }, template });
  await world.clock.advance(35 * MINUTE_MS);
  const { stdout } = await world.run(["consumers", SECRET]);
  assert.match(stdout, /^Deployment web +volume through web-vcap-services /m);
  assert.match(stdout, /^Secret web-vcap-services is still made of an older key of orders-secret\.$/m);
  assert.match(stdout, /Deployment default\/web \(the Secret web-vcap-services is still made of it\) has not moved/);
  assert.doesNotMatch(stdout, /Not waited for/);
  const status = await world.run(["status"]);
  assert.match(status.stdout, /0 of 1 consumer has moved/);
  assert.match(status.stdout, /Deployment default\/web through web-vcap-services +which is made of an older key;/);
});
