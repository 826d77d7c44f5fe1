import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { keyFile } from "../../src/bind/bind-objects.fixture.ts";
import { secretText } from "../../src/rndc/key.ts";
import { BindWorld } from "../reconcile/bind-world.ts";
import { NAME, RndcKeyWorld } from "../reconcile/rndc-key-world.ts";
import { runKeyturn } from "../support/run-keyturn.ts";
import { beginOn, type Place, runOn } from "./command-world.ts";

const MINUTE_MS = 60_000;
const LABEL = `rndckey/default/${NAME}`;

async function begun(context: TestContext): Promise<RndcKeyWorld> {
  const world = await RndcKeyWorld.begin();
  context.after(() => world.stop());
  await world.create();
  await world.pass(5_000);
  return world;
}

const said = async (place: Place, ...words: readonly string[]): Promise<string> => (await runOn(place, words)).stdout;

test("status and explain tell of an RndcKey as of any other, by its short name too", async (context) => {
  const world = await begun(context);
  const id = await world.activeId();
  const [head, row] = (await said(world, "status", "rk", "-o", "wide")).split("\n");
  assert.match(head ?? "", /^NAMESPACE +NAME +STATE +KEY +ID +AGE +CREATED +NEXT +AT +SECRET$/);
  assert.match(row ?? "", new RegExp(`^default +${NAME} +Ready +bindy-operator-\\S+ +${id} .* default/${NAME}$`));
  const text = await said(world, "explain", "rndckey", NAME);
  assert.match(text, /^Now +Nothing to do\.$/m);
  assert.match(text, /^Next rotation +At \S+, in 1h59m: the active key is 2h old by then \(rotation\.frequency\)\.$/m);
  assert.match(
    text,
    new RegExp(`^Active key +bindy-operator-\\S+ \\(${id}\\), made .* in the Secret default/${NAME}\\.$`, "m"),
  );
  assert.match(text, /^History +.* became the active key; there was none before \(FirstKey\)\.$/m);
});

test("rotate --wait tells each step until the servers accept the new key and it is in use", async (context) => {
  const world = await begun(context);
  const { said: told, ended } = beginOn(world, ["rotate", "rndckey", NAME, "--wait"]);
  await world.pass(20_000);
  assert.equal(await ended, 0);
  const steps = told.stdout.trimEnd().split("\n");
  assert.deepEqual(
    steps.map((line) => line.replace(`${LABEL}: `, "").replace(/:.*/, "")),
    ["asking for a rotation", "intent written", "key made", "Secret published", "committed"],
  );
  assert.match(await said(world, "status", "rndckey"), / retired \(forced\) .* deletion in /);
});

test("--compromised waits for every server all the same; who is behind is named, and what comes is no promise", async (context) => {
  const world = await begun(context);
  const leaked = await world.publishedKey();
  world.kubelet.silent.add("web-0");
  const { said: told, ended } = beginOn(world, ["rotate", "rk", NAME, "--wait", "--compromised", "--timeout", "1h"]);
  await world.pass(4 * MINUTE_MS, 5_000);
  const text = await said(world, "explain", "rk", NAME);
  assert.match(text, /^Problem +KeyNotReady: .*web-0/m);
  assert.match(text, /^Now +Goes on with key \S+, intended \S+ ago: it is there, is published once it is ready, and /m);
  assert.match(text, /^Next rotation +If the problem is solved by then: at \S+, in 1h\d+m: [^;]*\.$/m);
  assert.match(told.stdout, /: problem: KeyNotReady: /);
  assert.doesNotMatch(told.stdout, /committed/);
  world.kubelet.silent.delete("web-0");
  await world.pass(5 * MINUTE_MS, 5_000);
  assert.equal(await ended, 0);
  await world.assertAtRest("without an overlap");
  assert.match(await said(world, "explain", "rk", NAME), /compromised \(Compromised\)\.$/m);
  assert.ok(!`${text}${told.stdout}${told.stderr}`.includes(secretText(leaked).reveal()));
});

test("freeze holds an RndcKey back, and the report says since when and by whom", async (context) => {
  const world = await begun(context);
  assert.equal(await said(world, "freeze", "rndckey", NAME), `${LABEL}: frozen\n`);
  const first = await world.activeId();
  await world.pass(3 * 60 * MINUTE_MS, MINUTE_MS);
  assert.equal(await world.activeId(), first);
  assert.match(await said(world, "status"), / Ready, frozen .* no rotation while frozen$/m);
  assert.match(await said(world, "explain", "rndckey", NAME), /^Held back +Frozen: no new rotation begins/m);
  const report = await said(world, "compliance", "report", "--max-period", "1h");
  assert.match(report, /^\| RndcKey \| 1 \| 0 \| 1 \| 1 \| 0 \|$/m);
  assert.match(report, new RegExp(`^\\| ${LABEL} \\| 1h \\| \\S+ \\| frozen \\|$`, "m"));
  assert.match(report, new RegExp(`^\\| ${LABEL} \\| PeriodTooLong \\| `, "m"));
  assert.equal(await said(world, "unfreeze", "rndckey", NAME), `${LABEL}: unfrozen\n`);
  await world.pass(MINUTE_MS);
  assert.notEqual(await world.activeId(), first);
});

const MANIFEST = `
apiVersion: keyturn.dev/v1alpha1
kind: RndcKey
metadata: { name: ${NAME}, namespace: dns }
spec:
  secret: { name: ${NAME} }
  keyName: bindy-operator
  strategy: Overlap
  instances: [web]
  rotation: { frequency: 2160h, ttl: 2161h }
`;

test("timeline draws what becomes of a manifest of one", async (context) => {
  const folder = mkdtempSync(join(tmpdir(), "keyturn-rndc-key-"));
  context.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "key.yaml");
  writeFileSync(path, MANIFEST);
  const words = ["timeline", "-f", path, "--for", "200d", "--from", "2026-01-01"];
  const { code, stdout, stderr } = await runKeyturn(words);
  assert.deepEqual([code, stderr], [0, ""]);
  assert.match(stdout, new RegExp(`^RndcKey (dns/)?${NAME}: 200d from 2026-01-01T00:00:00Z$`, "m"));
  assert.match(stdout, /^2026-04-01T00:00:00Z +#2 +#1 +2026-04-01T01:00:00Z +1h$/m);
});

test("a Bind9Instance that follows a Secret is an exception of the report, with the setting that says so", async (context) => {
  const world = await BindWorld.begin();
  context.after(() => world.stop());
  const secret = Buffer.from("a".repeat(32)).toString("base64");
  await world.create("Secret", "mine", { stringData: { "rndc.key": keyFile(secret, "hmac-sha256", "office") } });
  const own = { autoRotate: true, rotateAfter: "720h" };
  const spec = { global: { rndcKeys: { secretRef: { name: "mine" } } }, primary: {}, secondary: { rndcKeys: own } };
  await world.create("Bind9Cluster", "dns", { spec });
  await world.create("Bind9Cluster", "lost", { spec: { global: { rndcSecretRef: { name: "none" } }, primary: {} } });
  await world.pass(20_000);
  const { code, stdout } = await runOn(world, ["compliance", "report", "-n", "net", "--exit-code"]);
  assert.equal(code, 1);
  assert.match(stdout, /^\| Bind9Instance \| 2 \| 0 \| 0 \| 2 \| 1 \|$/m);
  assert.match(stdout, /^\| bind9instance\/net\/dns-primary-0 \| net\/mine \| - \| - \| - \| - \|$/m);
  assert.match(
    stdout,
    /^\| bind9instance\/net\/dns-primary-0 \| UserManaged \| its key is in a Secret of yours \(spec\.global\.rndcKeys of Bind9Cluster net\/dns\) \|$/m,
  );
  assert.match(stdout, /^\| bind9instance\/net\/lost-primary-0 \| ReferenceProblem \|$/m);
  assert.doesNotMatch(stdout, /bind9instance\/net\/dns-secondary-0/, "its key is an RndcKey");
  const json = JSON.parse(await said(world, "compliance", "report", "-o", "json")) as {
    readonly credentials: readonly { readonly name: string; readonly exceptions: readonly unknown[] }[];
  };
  const words = "its key is in a Secret of yours (spec.global.rndcSecretRef of Bind9Cluster net/lost)";
  assert.deepEqual(json.credentials.find(({ name }) => name === "lost-primary-0")?.exceptions, [
    { kind: "UserManaged", words },
  ]);
});
