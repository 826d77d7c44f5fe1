import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { bind9Cluster } from "../../src/api/bind/bind9-cluster.ts";
import { systemClock } from "../../src/base/clock.ts";
import { systemRandom } from "../../src/base/random.ts";
import { Redacted } from "../../src/base/redacted.ts";
import { fieldAt } from "../../src/bind/fields.ts";
import { CONTROL_PORT } from "../../src/bind/render-ring.ts";
import type { Kube } from "../../src/kube/port.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { podType } from "../../src/restart/workload-kinds.ts";
import { RndcRefused, RndcUnreachable } from "../../src/rndc/errors.ts";
import type { RndcKey } from "../../src/rndc/key.ts";
import { parseRndcKey } from "../../src/rndc/key-file.ts";
import { sendCommand } from "../../src/rndc/send-command.ts";
import { connect } from "../support/connect.ts";
import { eventually } from "../support/eventually.ts";
import { findOnPath } from "../support/find-on-path.ts";
import { type KeyturnUp, startKeyturnUp } from "../support/keyturn-up.ts";
import { runKeyturn } from "../support/run-keyturn.ts";
import { scratchFolder } from "../support/scratch-folder.ts";

const NAMESPACE = "dns";
const PRIMARY = "dns-primary-0";

async function running(context: TestContext, folder: string, which: string): Promise<{ up: KeyturnUp; kube: Kube }> {
  const up = await startKeyturnUp({ dataDirectory: folder, flags: ["--named", which] });
  const kube = await connect(up.ready.kubeconfig);
  context.after(async () => {
    await kube.close();
    await up.stop("SIGKILL");
  });
  return { up, kube };
}

/** The published key, and where the pod of the instance has its control channel. */
async function serverOf(kube: Kube): Promise<{ readonly key: RndcKey; readonly host: string }> {
  const labelSelector = `app.kubernetes.io/instance=${PRIMARY}`;
  const host = await eventually("the name server is ready", async () => {
    const { items } = await kube.list(podType, { namespace: NAMESPACE, labelSelector });
    const ready = items.find(({ status }) => {
      const conditions = fieldAt(status, ["conditions"]) as { type: string; status: string }[] | undefined;
      return conditions?.some((condition) => condition.type === "Ready" && condition.status === "True");
    });
    return ready && String(fieldAt(ready, ["status", "podIP"]));
  });
  const { data } = await kube.get(secretType, { namespace: NAMESPACE, name: `${PRIMARY}-rndc` });
  const text = Buffer.from(String(fieldAt(data, ["rndc.key"])), "base64").toString();
  return { key: parseRndcKey(new Redacted(text)).key, host };
}

async function status(host: string, key: RndcKey): Promise<string> {
  const about = { timeoutMs: 10_000, clock: systemClock, random: systemRandom };
  return (await sendCommand({ host, port: CONTROL_PORT, key, command: "status", ...about })).text;
}

const rejection = (host: string, key: RndcKey): Promise<unknown> =>
  status(host, key).then(
    () => undefined,
    (error: unknown) => error,
  );

const stages = [
  { which: "stand-in", says: /^a stand-in$/, version: /stand-in/, missing: undefined },
  {
    which: "auto",
    says: /\/named$/,
    version: /BIND 9/,
    missing: (await findOnPath("named")) ? undefined : "named is not on the PATH (Debian: apt-get install bind9)",
  },
];

/** Side by side: they mostly wait. */
describe("name servers of keyturn up", { concurrency: 2 }, () => {
  for (const { which, says, version, missing } of stages) {
    test(`--named ${which}: they answer, follow their keys, outlive a restart, and end with their cluster`, {
      skip: missing ?? false,
    }, async (context) => {
      const folder = scratchFolder();
      const first = await running(context, folder, which);
      assert.match(first.up.ready.named, says);
      const before = await serverOf(first.kube);
      assert.match(await status(before.host, before.key), version);
      const words = ["rotate", "rndckey", `${PRIMARY}-rndc`, "-n", NAMESPACE, "--compromised", "--yes", "--wait"];
      const rotated = await runKeyturn([...words, "--kubeconfig", first.up.ready.kubeconfig]);
      assert.equal(rotated.code, 0, rotated.stdout + rotated.stderr);
      const after = await serverOf(first.kube);
      assert.equal(after.host, before.host);
      assert.notDeepEqual(after.key.name, before.key.name);
      assert.match(await status(after.host, after.key), /up and running/);
      const refused = async () =>
        (await rejection(before.host, before.key)) instanceof RndcRefused ? true : undefined;
      await eventually("the old key is refused", refused);
      assert.equal(await first.up.stop("SIGTERM"), 0, first.up.output().stderr);
      assert.ok((await rejection(after.host, after.key)) instanceof RndcUnreachable);
      const { stdout } = first.up.output();
      assert.match(stdout, new RegExp(`RndcKey dns/${PRIMARY}-rndc {2}key \\S+ is active and published in Secret`));
      assert.doesNotMatch(stdout, /rndc-ring/, "the ring is told of with its keys");

      const { kube } = await running(context, folder, which);
      const again = await serverOf(kube);
      assert.equal(again.host, before.host);
      assert.match(await status(again.host, again.key), /up and running/);
      await kube.delete(bind9Cluster, { namespace: NAMESPACE, name: "dns" });
      const isGone = async () =>
        (await rejection(again.host, again.key)) instanceof RndcUnreachable ? true : undefined;
      await eventually("nobody listens", isGone);
      await eventually("nothing is left", async () =>
        readdirSync(join(folder, "named")).length > 0 ? undefined : true,
      );
    });
  }

  test("--named off leaves the name servers out of the examples, and says so", async (context) => {
    const folder = scratchFolder();
    const { up, kube } = await running(context, folder, "off");
    assert.equal(up.ready.named, "off");
    assert.match(up.output().stdout, /^ {2}named {7}off$/m);
    assert.deepEqual((await kube.list(bind9Cluster)).items, []);
    assert.ok(!existsSync(join(folder, "named")));
  });

  test("what --named does not know is one line", async () => {
    const { code, stderr } = await runKeyturn(["up", "--ephemeral", "--named", "unbound"]);
    assert.equal(code, 2);
    assert.equal(stderr, 'keyturn: --named must be one of auto, stand-in, off, not "unbound"\n');
  });
});
