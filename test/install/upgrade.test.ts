import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, type TestContext, test } from "node:test";
import { customResources } from "../../src/api/custom-resources.ts";
import type { KubeObject } from "../../src/kube/objects.ts";
import { root } from "../../tools/run.ts";
import { buildClusterTools } from "../cluster/build.ts";
import { type ControlPlane, startControlPlane } from "../cluster/control-plane.ts";
import { customResourceDefinitions, deployments } from "../conformance/kinds.ts";
import { trackedKinds } from "../soak/resources.ts";
import { eventually } from "../support/eventually.ts";
import { type FormerRelease, unpackFormer } from "./upgrade/former-release.ts";
import { HelmRelease } from "./upgrade/helm-release.ts";
import { processOf } from "./upgrade/pod-process.ts";
import { type Edition, Replicas } from "./upgrade/replicas.ts";
import { assertStoredVersions, StoredObjects } from "./upgrade/stored-objects.ts";
import { UpgradeWorld } from "./upgrade/upgrade-world.ts";

/**
 * From an empty cluster to the latest release, from there to what is here, and back, by Helm, while keys of every kind are
 * rotated every few seconds: on a control plane of its own, since an empty cluster is what it begins with. kwok's pods run
 * nothing: processes stand in for those of the operator, as its ServiceAccount, with the flags and the environment that the
 * chart gives them.
 */
const { KEYTURN_HELM: helm, KEYTURN_TEST_CLUSTER: isAsked } = process.env;
const skip = (helm === undefined || isAsked !== "yes") && "needs a real control plane and Helm: npm run test:cluster";

const { version: VERSION } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  readonly version: string;
};
const [NAME, NAMESPACE] = ["keyturn", "keyturn-system"];
const CHART = join(root, "chart");
/** Everything is quick; what an operator allows by default is slower. */
const VALUES = {
  image: { repository: "registry.example/keyturn" },
  extraArgs: [
    ...["--min-frequency=1s", "--min-rotate-after=1s", "--drift-check=5s", "--child-check=1s", "--settle-time=3s"],
    ...["--sweep-every=3s", "--restart-quiet-period=1s", "--restart-max-wait=3s", "--restart-max-per-hour=0"],
  ],
};
/** The length of the lease, and a few seconds. */
const LATEST_MS = 20_000;

describe("an upgrade under rotations", { skip, timeout: 400_000, concurrency: 1 }, () => {
  const ends = new AsyncDisposableStack();
  let cluster: ControlPlane;
  let former: FormerRelease;
  let release: HelmRelease;
  let world: UpgradeWorld;
  let replicas: Replicas;
  let stored: StoredObjects;
  let hasFailed = false;

  /** Whoever comes after one that has failed has nothing to begin with. */
  const part = (title: string, run: (context: TestContext) => Promise<void>): void => {
    test(title, async (context) => {
      if (hasFailed) return context.skip("a part before this one has failed");
      hasFailed = true;
      await run(context);
      hasFailed = false;
    });
  };

  before(async () => {
    former = await unpackFormer();
    // An upgrade is for clusters of before, too.
    cluster = await startControlPlane(await buildClusterTools(() => {}), { withoutWatchList: true });
    ends.defer(() => cluster.stop({ keepLogs: hasFailed }));
    release = new HelmRelease({ helm: helm ?? "", kubeconfig: cluster.kubeconfig, name: NAME, namespace: NAMESPACE });
  });
  after(() => ends.disposeAsync());

  /** The same, during which every rotation is begun soon after it was due. */
  const punctualPart = (title: string, run: () => Promise<void>): void =>
    part(title, async (context) => {
      const beganAt = Date.now();
      await run();
      replicas.assertRunning();
      const { rotations, latestMs, latest } = world.rotations.figures(beganAt);
      context.diagnostic(`${rotations} rotations, the latest ${latestMs} ms after it was due (${latest})`);
      assert.ok(rotations > 10 && latestMs < LATEST_MS, `${latest} was begun ${latestMs} ms after it was due`);
    });

  /** What the Deployment says now, run by this version of the operator. */
  const edition = async (version: string, main?: string): Promise<Edition> => {
    const deployment = await world.stage.kube.get(deployments, { namespace: NAMESPACE, name: NAME });
    return { version, process: processOf(deployment), ...(main !== undefined && { main }) };
  };

  /** All that was stored is there, as it was written. */
  const keptAll = async (): Promise<StoredObjects> => {
    const now = await StoredObjects.read(world.stage.kube);
    now.assertKept(stored);
    now.assertManaged();
    await assertStoredVersions(world.stage.kube);
    return now;
  };

  part("the latest release is installed into an empty cluster, and does what the documents write down", async () => {
    await release.install(former.chart, VALUES);
    const target = {
      name: "real",
      start: async () => ({ kubeconfig: cluster.kubeconfig, stop: async () => {} }),
    } as const;
    world = await UpgradeWorld.open(target);
    ends.defer(() => world.close());
    const first = await edition(former.version, former.main);
    const { serviceAccount: name } = first.process;
    const kubeconfig = await cluster.serviceAccountKubeconfig({ namespace: NAMESPACE, name });
    replicas = new Replicas(kubeconfig, (operator) => world.addOperator(operator));
    ends.defer(() => replicas.close({ logsTo: hasFailed ? join(cluster.directory, "logs") : undefined }));
    await replicas.start(first);
    await world.begin();
    stored = await StoredObjects.read(world.stage.kube);
    assert.equal(stored.kinds.size, customResources.length, "there is one of every kind");
    assert.deepEqual(observed(stored), [], "of which generation a status speaks is new");
    await world.assertWell("before");
  });

  punctualPart(
    "the chart of now is put over it, with a value that is new, and the operator of before goes on",
    async () => {
      await world.underWay();
      await release.upgrade(CHART, "logLevel=debug");
      await keptAll();
      assert.ok(await hasColumn("servicebindings.account.btp.sap.crossplane.io"), "the definitions are those of now");
      await world.moves();
      await world.assertWell("with the definitions of now");
    },
  );

  punctualPart("its replicas are replaced one after the other, in the middle of rotations", async () => {
    const next = await edition(VERSION);
    assert.ok(next.process.flags.includes("--log-level=debug"));
    await replicas.roll(next, () => world.underWay());
    await Promise.all([world.moves(), world.beginAgain()]);
    await eventually("every status to say of which generation it speaks", async () => {
      const now = await keptAll();
      return observed(now).length === tracked(now) || undefined;
    });
    await world.assertWell("upgraded");
  });

  punctualPart("and back: the release of before reads what the one of now has written", async () => {
    await world.underWay();
    await release.rollback(1);
    await eventually("what the schemas of before do not know to be dropped", async () => {
      return observed(await keptAll()).length === 0 || undefined;
    });
    assert.equal(await hasColumn("servicebindings.account.btp.sap.crossplane.io"), false);
    await replicas.roll(await edition(former.version, former.main), () => world.underWay());
    await world.moves();
    await keptAll();
    await world.assertWell("taken back");
    assert.deepEqual(await release.history(), [
      `keyturn-${former.version} superseded`,
      `keyturn-${VERSION} superseded`,
      `keyturn-${former.version} deployed`,
    ]);
  });

  part("nothing is left outside when all of it goes", async (context) => {
    const figures = await world.end();
    context.diagnostic(JSON.stringify(figures));
    assert.deepEqual(figures.problems, []);
    assert.ok(figures.logins > 0 && figures.keysGone > 0 && figures.rollouts > 0, "there was something to judge");
  });

  async function hasColumn(name: string): Promise<boolean> {
    const { spec } = await world.stage.kube.get(customResourceDefinitions, { name });
    return JSON.stringify(spec).includes('"Next-Rotation"');
  }
});

/** Those with keys whose status says of which generation it speaks. */
const observed = (objects: StoredObjects): readonly KubeObject[] => {
  const all = new Set(objects.observed);
  return trackedKinds.flatMap(({ type }) => objects.of(type)).filter((object) => all.has(object));
};

const tracked = (objects: StoredObjects): number => trackedKinds.flatMap(({ type }) => objects.of(type)).length;
