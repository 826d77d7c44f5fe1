import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { NotFound } from "../../src/kube/errors.ts";
import type { KubeObject } from "../../src/kube/objects.ts";
import { customResourceDefinitions, deployments } from "../conformance/kinds.ts";
import { btp } from "../families/btp.ts";
import { cloudFoundry } from "../families/cloud-foundry.ts";
import type { Family } from "../families/family.ts";
import type { StandIn } from "../families/stand-in.ts";
import { brisk, Stage } from "../rotation/stage.ts";
import { StoryBinding } from "../rotation/story-binding.ts";
import { StoryConsumer } from "../rotation/story-consumer.ts";
import { eventually } from "../support/eventually.ts";
import { operatorAccess } from "../support/operator-access.ts";
import { pickTarget } from "../support/pick-target.ts";
import { sayKeyturn } from "../support/say-keyturn.ts";
import {
  CROSSPLANE_FINALIZER,
  credentialsOf,
  doingsAt,
  installSapBindings,
  putSapBinding,
  putSecret,
  SAP_FINALIZER,
  sapBindings,
  sapTexts,
  type Texts,
} from "./theirs.ts";

const target = await pickTarget();
const slow = { frequency: "2h", ttl: "3h" };
const EXTERNAL_NAME = "crossplane.io/external-name";

/** What is in the cluster of one story before the import. */
interface Scene {
  readonly binding: StoryBinding;
  readonly keyId: string;
  readonly secret: KubeObject;
  readonly consumer: StoryConsumer;
  readonly template: unknown;
  /** Where another key of the same resource lives on. */
  readonly retiredId?: string;
}

/**
 * Keys that other operators have made, taken over: nothing is made or deleted outside, the Secret stays what it is, nobody
 * restarts, and the next rotation works. An operator with the restart controller alone watches all along.
 */
describe(`keys of other operators on the ${target.name} server`, { concurrency: 1, timeout: 300_000 }, () => {
  let stage: Stage;
  const scenes = new Map<string, Scene>();
  /** What was made and deleted outside before the import. */
  let done: readonly string[];
  const doings = (): readonly string[] => Object.values<StandIn>({ ...stage.standIns }).flatMap(doingsAt);
  const sceneOf = (name: string): Scene => scenes.get(name) ?? assert.fail(`there is no scene ${name}`);

  const startOperatorOf = async (...controllers: readonly string[]): Promise<void> => {
    const access = await operatorAccess({ ...stage.server, name: target.name }, { controllers });
    await stage.startOperator([...brisk(), "--controllers", controllers.join()], access).ready();
  };

  before(async () => {
    stage = await Stage.set({ target, name: "import" });
    await installSapBindings(stage.kube);
    await startOperatorOf("restart");
  });
  after(async () => {
    const name = `${sapBindings.plural}.${sapBindings.group}`;
    await stage.kube.delete(customResourceDefinitions, { name });
    await stage.strike();
  });

  const keyturn = async (...words: readonly string[]) => {
    const flags = ["--kubeconfig", stage.server.kubeconfig];
    return sayKeyturn(["import", ...words, ...flags]);
  };

  /** The steps of a command that must succeed. */
  const imported = async (...words: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await keyturn(...words, "--yes");
    assert.deepEqual([code, stderr], [0, ""], stdout);
    return stdout;
  };

  const templateOf = async (name: string): Promise<unknown> => {
    const { spec } = await stage.kube.get(deployments, { namespace: stage.namespace, name });
    return (spec as { readonly template: unknown }).template;
  };

  const addScene = async (name: string, parts: Omit<Scene, "consumer" | "template">): Promise<void> => {
    const consumer = new StoryConsumer(stage.kube, stage.namespace, `${name}-user`);
    await consumer.deploy(parts.secret.metadata.name);
    scenes.set(name, { ...parts, consumer, template: await templateOf(consumer.name) });
  };

  /** A resource of Crossplane's, whose kind is ours too, with a key, a Secret and a key that it has rotated away. */
  const putCrossplane = async (name: string, family: Family, texts: (credentials: Texts) => Texts): Promise<void> => {
    const binding = new StoryBinding(stage, { family, name });
    const { standIn, secretRef } = binding;
    const [retiredId, keyId] = [await binding.makeByHand(`${name}-aaaaa`), await binding.makeByHand(`${name}-bbbbb`)];
    const manifest = binding.manifest({ rotation: slow, annotations: { [EXTERNAL_NAME]: keyId } });
    await binding.create({ ...manifest, metadata: { ...manifest.metadata, finalizers: [CROSSPLANE_FINALIZER] } });
    const now = new Date().toISOString();
    const { id, createdAt } =
      family === btp ? { id: "id", createdAt: "createdDate" } : { id: "guid", createdAt: "createdAt" };
    const retiredKeys = [{ [id]: retiredId, [createdAt]: now }];
    const atProvider = { [id]: keyId, [createdAt]: now };
    const status =
      family === btp
        ? { atProvider: { ...atProvider, name: `${name}-bbbbb` }, retiredKeys }
        : { atProvider: { ...atProvider, retiredKeys } };
    const object = await binding.patch({ status }, { subresource: "status" });
    const secret = await putSecret(stage.kube, {
      ...secretRef,
      owner: object,
      type: "connection.crossplane.io/v1alpha1",
      texts: texts(credentialsOf(standIn, keyId)),
    });
    await addScene(name, { binding, keyId, secret, retiredId });
  };

  test("there are keys of crossplane-provider-btp and crossplane-provider-cloudfoundry", async () => {
    await putCrossplane("orders", btp, (credentials) => credentials);
    await putCrossplane("mail", cloudFoundry, (credentials) => credentials);
  });

  /** A binding of SAP's operator with a key, a Secret and a binding that it has rotated away. */
  const putSap = async (name: string, more: Texts): Promise<void> => {
    const { kube, namespace } = stage;
    const binding = new StoryBinding(stage, { family: btp, name: `${namespace}-${name}` });
    binding.moveSecret(`${name}-secret`);
    const { standIn, instanceId } = binding;
    const [retiredId, keyId] = [await binding.makeByHand(`${name}-old`), await binding.makeByHand(name)];
    const policy = { enabled: true, rotationFrequency: "2h", rotatedBindingTTL: "1h" };
    const common = { namespace, instanceId, spec: { credentialsRotationPolicy: policy } };
    const theirs = await putSapBinding(kube, { ...common, name, bindingId: keyId, secretName: `${name}-secret` });
    await putSapBinding(kube, {
      ...common,
      name: `${name}-old`,
      bindingId: retiredId,
      secretName: `${name}-secret-old`,
      labels: { "services.cloud.sap.com/stale": retiredId, "services.cloud.sap.com/rotationOf": name },
      owner: theirs,
    });
    const texts = { ...sapTexts(credentialsOf(standIn, keyId), { name: "instance", id: instanceId }), ...more };
    const annotations = { binding: name };
    const secret = await putSecret(kube, { ...binding.secretRef, owner: theirs, texts, annotations });
    await addScene(name, { binding, keyId, secret, retiredId });
  };

  test("there are keys of sap-btp-service-operator, each with one that was rotated away", async () => {
    await putSap("stock", {});
    await putSap("late", { instance_external_name: "instance", instance_name: "db" });
  });

  const SOURCES: readonly (readonly [scene: string, ...words: string[]])[] = [
    ["orders", "crossplane-btp", "orders"],
    ["mail", "crossplane-cloudfoundry", "mail"],
    ["stock", "sap-btp-operator", "stock"],
    ["late", "sap-btp-operator", "late", "--accept-changes"],
  ];

  const wordsFor = (words: readonly string[]): readonly string[] =>
    words[0] === "sap-btp-operator" ? [...words, "-n", stage.namespace, "--provider-config", stage.namespace] : words;

  test("keys of a Secret that would go or say something else are named, and have to be accepted", async () => {
    const { code, stdout } = await keyturn(...wordsFor(["sap-btp-operator", "late"]));
    assert.equal(code, 1);
    assert.match(
      stdout,
      /differs: without instance_external_name; with something else, or in another form, in instance_name/,
    );
    assert.match(stdout, /--accept-changes/);
  });

  test("a dry run says what would be done, and writes nothing", async () => {
    done = doings();
    assert.equal(done.length, 2 * SOURCES.length, "each has two keys, and somebody has made them");
    for (const [name, ...words] of SOURCES) {
      const { binding, secret } = sceneOf(name);
      const before = binding.standIn.keys();
      const { code, stdout, stderr } = await keyturn(...wordsFor(words), "-o", "json");
      assert.deepEqual([code, stderr], [0, ""], stdout);
      const { isApplied, items } = JSON.parse(stdout) as {
        readonly isApplied: boolean;
        readonly items: readonly { readonly state: string; readonly steps: readonly unknown[] }[];
      };
      assert.deepEqual([isApplied, items.map(({ state }) => state)], [false, ["planned"]]);
      assert.ok((items[0]?.steps.length ?? 0) >= 4, stdout);
      assert.deepEqual((await binding.liveSecret()).metadata.resourceVersion, secret.metadata.resourceVersion);
      assert.deepEqual(binding.standIn.keys(), before);
      assert.doesNotMatch(stdout, /sandbox-secret/);
    }
  });

  test("while the other operator runs, all is refused, with the way to stop it", async () => {
    const { kube, namespace } = stage;
    const labels = { app: "sap" };
    const container = { name: "manager", image: "example.com/sap-btp-service-operator/controller:v1" };
    const template = { metadata: { labels }, spec: { containers: [container] } };
    const metadata = { namespace, name: "sap-btp-operator-controller-manager" };
    const deployment = { apiVersion: "apps/v1", kind: "Deployment", metadata };
    await kube.create<KubeObject>(deployments, {
      ...deployment,
      spec: { replicas: 1, selector: { matchLabels: labels }, template },
    });
    const words = wordsFor(["sap-btp-operator", "stock"]);
    const { code, stdout } = await keyturn(...words, "--yes");
    assert.equal(code, 1);
    assert.match(stdout, /sap-btp-service-operator runs: Deployment .* has 1 replicas/);
    assert.match(stdout, /kubectl scale deployment sap-btp-operator-controller-manager -n \S+ --replicas 0/);
    await kube.patch(deployments, metadata, { type: "merge", body: { spec: { replicas: 0 } } });
    await eventually("its pods to be gone", async () => {
      const { status } = await kube.get(deployments, metadata);
      return ((status as { readonly replicas?: number } | undefined)?.replicas ?? 0) === 0 || undefined;
    });
  });

  test("imported, nothing changes outside but marks, and the Secret is what it was", async () => {
    for (const [name, ...words] of SOURCES) {
      const { binding, secret, keyId, retiredId = "" } = sceneOf(name);
      const said = await imported(...wordsFor(words));
      assert.match(said, /1 taken over\./);
      assert.doesNotMatch(said, /sandbox-secret/);
      const ids = binding.keysAtService().map(({ id }) => id);
      assert.deepEqual(ids.sort(), [keyId, retiredId].sort());
      const now = await binding.liveSecret();
      assert.deepEqual([now.data, now.type, now.metadata.uid], [secret.data, secret.type, secret.metadata.uid]);
      const { finalizers, annotations = {} } = (await binding.live()).metadata;
      assert.deepEqual(finalizers, ["keyturn.dev/keys"]);
      assert.equal(annotations[EXTERNAL_NAME], keyId);
      assert.equal(annotations["crossplane.io/paused"], undefined);
    }
  });

  test("a second time there is nothing to do", async () => {
    for (const source of ["crossplane-btp", "crossplane-cloudfoundry", "sap-btp-operator"]) {
      const { code, stdout } = await keyturn(source, "--all", "-A", "--yes");
      assert.equal(code, 0, stdout);
      assert.match(stdout, /^0 taken over/m);
    }
  });

  test("what SAP's operator had made is gone, and hangs on nothing", async () => {
    const { items } = await stage.kube.list(sapBindings, { namespace: stage.namespace });
    assert.deepEqual(
      items.map(({ metadata }) => [metadata.name, metadata.finalizers?.includes(SAP_FINALIZER)]),
      [],
    );
  });

  test("the operator takes the keys over: same key, same Secret, no restart", async () => {
    await startOperatorOf("btp", "cloudfoundry");
    for (const [name] of SOURCES) {
      const { binding, keyId, secret, retiredId = "", consumer, template } = sceneOf(name);
      const view = await binding.calm("the key to be taken over");
      assert.equal(view.activeId, keyId);
      assert.deepEqual(
        view.retired.map(({ id }) => id),
        [retiredId],
      );
      assert.ok((view.retired[0]?.deletionAt ?? 0) > Date.now() + 1_800_000, "it lives on as long as it was to");
      const now = await binding.remains(3_000, ({ activeId, outside }) => activeId === keyId && outside.length === 2);
      assert.equal(now.sequence, 2);
      const live = await binding.liveSecret();
      assert.deepEqual([live.data, live.metadata.uid], [secret.data, secret.metadata.uid]);
      assert.deepEqual(await templateOf(consumer.name), template);
    }
    assert.deepEqual(doings(), done, "nothing was made or deleted outside");
  });

  test("the policy is the one that was meant", async () => {
    assert.deepEqual(btp.readRotation(await sceneOf("stock").binding.live()), { frequency: "2h", ttl: "3h" });
  });

  test("the next rotation works, and restarts who uses the Secret", async () => {
    for (const [name] of SOURCES) {
      const { binding, keyId, consumer } = sceneOf(name);
      const view = await binding.force("after the import");
      assert.notEqual(view.activeId, keyId);
      assert.ok(view.outside.includes(keyId), "the old key lives on beside the new one");
      await consumer.written();
    }
  });

  test("deleted, everything outside goes with it", async () => {
    for (const [name] of SOURCES) {
      const { binding, consumer } = sceneOf(name);
      await stage.kube
        .delete(deployments, { namespace: stage.namespace, name: consumer.name })
        .catch((error: unknown) => {
          if (!(error instanceof NotFound)) throw error;
        });
      await binding.end();
    }
  });
});
