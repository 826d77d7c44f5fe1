import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { customResources } from "../../src/api/custom-resources.ts";
import { ifFound } from "../../src/kube/if-found.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { deployments } from "../conformance/kinds.ts";
import { btp } from "../families/btp.ts";
import { eventually } from "../support/eventually.ts";
import { sayKeyturn } from "../support/say-keyturn.ts";
import { heldIn } from "./every-object.ts";
import { FULL_NAME, HelmScene, NAMESPACE, OPERATOR, SHOP } from "./helm-scene.ts";

/**
 * `helm uninstall` of a release that works, with the Job that goes before it: with keys left, and with nothing left. A process
 * stands in for the pod of the Job, as its ServiceAccount and with its words; all else is Helm's and the cluster's doing.
 */
const { KEYTURN_HELM: helm, KEYTURN_TEST_CLUSTER: isAsked } = process.env;
const skip = (helm === undefined || isAsked !== "yes") && "needs a real control plane and Helm: npm run test:cluster";

const OWN_SECRETS = ["keyturn-fingerprint-key", "keyturn-audit-key", "keyturn-audit-anchor"].map(
  (name) => `${NAMESPACE}/${name}`,
);
/** Stands in every secret that a sandbox gives out. */
const CANARY = /sandbox-secret/;

describe("helm uninstall", { skip, concurrency: 1, timeout: 300_000 }, () => {
  let scene: HelmScene;
  let snapshot: unknown;
  let held: readonly string[];
  before(async () => {
    scene = await HelmScene.set(helm ?? "");
    await scene.install();
    await scene.populate("orders", "stock");
  });
  after(() => scene?.close());

  /** The last run of the Job, which must have ended so. */
  const assertRun = (code: number, args: readonly string[], said: RegExp): void => {
    assert.deepEqual(scene.job.problems, []);
    const run = scene.job.runs.at(-1);
    const output = `${run?.stdout}${run?.stderr}`;
    assert.equal(run?.code, code, output + scene.log);
    for (const word of args) assert.ok(run.args.includes(word), run.args.join(" "));
    assert.match(output, said);
    assert.doesNotMatch(output, CANARY);
  };

  const pause = async (name: string, paused: "true" | null): Promise<void> => {
    const body = { metadata: { annotations: { "crossplane.io/paused": paused } } };
    await scene.kube.patch(btp.type, { name }, { type: "merge", body });
  };

  const untilNothingLeft = async (): Promise<void> => {
    let left: readonly string[] = [];
    const isGone = async (): Promise<true | undefined> => {
      left = await scene.left();
      return left.length === 0 || undefined;
    };
    await eventually("all of the release to be gone", isGone).catch((error: unknown) =>
      assert.fail(`${error}: ${left.join(", ")}`),
    );
  };

  test("there is a release to take away, and its account has the rights that it needs", async () => {
    held = await heldIn(scene.kube);
    assert.deepEqual(held, [
      "ProviderConfig main",
      `Secret ${SHOP}/login`,
      "ServiceBinding orders",
      "ServiceBinding stock",
    ]);
    assert.ok(scene.keys().length >= 4, "a key and a retired one of each");
    const account = `${NAMESPACE}/${FULL_NAME}`;
    const call = ["check", "-n", NAMESPACE, "--as-service-account", account, "--kubeconfig", scene.kubeconfig];
    const { stdout } = await sayKeyturn([...call, "--offline", "-o", "json"]);
    const { findings } = JSON.parse(stdout) as { readonly findings: readonly { group: string; level: string }[] };
    const rights = findings.filter(({ group }) => group === "rights");
    assert.deepEqual(
      rights.map(({ level }) => level),
      ["ok"],
      JSON.stringify(rights),
    );
  });

  test("a Job that fails ends it, and everything goes on", async () => {
    await pause("stock", "true");
    await scene.kube.delete(btp.type, { name: "stock" });
    await assert.rejects(scene.release.uninstall(), /BackoffLimitExceeded/);
    assertRun(1, ["--yes"], /on their way out, and not gone yet: ServiceBinding stock/);
    const { spec } = await scene.kube.get(deployments, OPERATOR);
    assert.ok((spec as { readonly replicas: number }).replicas > 0, "nobody has stopped the operator");
    assert.deepEqual(await heldIn(scene.kube), held);
    await pause("stock", null);
    const isGone = async () => (await ifFound(scene.kube.get(btp.type, { name: "stock" }))) === undefined || undefined;
    await eventually("the binding to go, now that it may", isGone);
    assert.ok(!scene.operators.at(-1)?.hasEnded, scene.log);
  });

  test("with its keys left: nothing of the release, no finalizer, and nothing else changed", async () => {
    snapshot = await scene.snapshot();
    await scene.release.uninstall();
    assertRun(0, ["--keys=keep", "--crds=keep"], /ServiceBinding orders: its finalizer is taken off/);
    await untilNothingLeft();
    assert.deepEqual(await heldIn(scene.kube), []);
    assert.deepEqual(await scene.snapshot(), snapshot);
    assert.equal((await scene.definitions()).length, customResources.length);
    const atHome = await scene.atHome();
    assert.ok(atHome.includes(OWN_SECRETS[0] ?? ""), "it is needed by whoever takes everything up");
    assert.deepEqual(
      atHome.filter((name) => !OWN_SECRETS.includes(name)),
      [],
    );
    assert.equal(await scene.operators.at(-1)?.ended(), 0, scene.log);
    await assert.rejects(scene.release.history(), /not found/);
  });

  test("installed again, everything is taken up as it is", async () => {
    await scene.install({ crds: { enabled: true, keep: false } });
    await eventually("everything to be held again", async () => (await heldIn(scene.kube)).length === 3 || undefined);
    assert.deepEqual(await scene.snapshot(), snapshot);
  });

  test("with nothing left: keys, resources and definitions are gone, and what is the user's own stays", async () => {
    await scene.release.uninstall();
    assertRun(0, ["--keys=delete", "--crds=delete"], /servicebindings\.account\.btp\S+: deleted/);
    await untilNothingLeft();
    assert.deepEqual(scene.keys(), [], "nothing is left outside");
    assert.deepEqual(await heldIn(scene.kube), []);
    assert.deepEqual(await scene.definitions(), []);
    assert.deepEqual(await scene.atHome(), []);
    const { items } = await scene.kube.list(secretType, { namespace: SHOP });
    assert.deepEqual(
      items.map(({ metadata }) => metadata.name),
      ["login"],
    );
    assert.equal(await scene.operators.at(-1)?.ended(), 0, scene.log);
  });
});
