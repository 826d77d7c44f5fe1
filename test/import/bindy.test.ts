import assert from "node:assert/strict";
import { randomBytes, randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { bind9Cluster } from "../../src/api/bind/bind9-cluster.ts";
import { bind9Instance } from "../../src/api/bind/bind9-instance.ts";
import { rndcKey } from "../../src/api/keyturn/rndc-key.ts";
import type { KubeObject, ResourceType } from "../../src/kube/objects.ts";
import type { Kube } from "../../src/kube/port.ts";
import { deployments, namespaces, secrets } from "../conformance/kinds.ts";
import { ignoreMissing } from "../rotation/stage.ts";
import { eventually } from "../support/eventually.ts";
import { type KeyturnOperator, startKeyturnOperator } from "../support/keyturn-operator.ts";
import { type OpenedStage, openStage } from "../support/opened-stage.ts";
import { pickTarget } from "../support/pick-target.ts";
import { sayKeyturn } from "../support/say-keyturn.ts";
import { putBindyServer } from "./bindys.ts";

const target = await pickTarget();
const INSTANCE = "dns-primary-0";
const SECRET = `${INSTANCE}-rndc-key`;
const FORCE = "rndckey.keyturn.dev/force-rotation";
const CONTROLLERS = ["bind9-provider", "bind9-cluster", "bind9-instance", "bind9-keys", "restart"];

const SECRET_TEXT = randomBytes(32).toString("base64");

type Data = Readonly<Record<string, string>>;
const dataOf = ({ data }: KubeObject): Data => data as Data;
const templateOf = ({ spec }: KubeObject): unknown => (spec as { readonly template: unknown }).template;

/** A name server that Bindy runs: its key is taken over, and its pods never notice. */
describe(`a name server of Bindy's on the ${target.name} server`, { concurrency: 1, timeout: 240_000 }, () => {
  const namespace = `import-dns-${randomUUID().slice(0, 8)}`;
  let stage: OpenedStage;
  let kube: Kube;
  let secret: KubeObject;
  let deployment: KubeObject;
  let operator: KeyturnOperator;

  before(async () => {
    stage = await openStage({ target, controllers: CONTROLLERS }, async (opened) => opened);
    kube = stage.kube;
    await kube.create<KubeObject>(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
    const system = { apiVersion: "v1", kind: "Namespace", metadata: { name: "keyturn-system" } };
    await kube.create<KubeObject>(namespaces, system).catch(() => undefined);
  });
  after(async () => {
    try {
      for (const type of [bind9Cluster, bind9Instance, rndcKey]) {
        const { items } = await kube.list(type, { namespace });
        for (const { metadata } of items)
          await kube.delete(type, { namespace, name: metadata.name }).catch(ignoreMissing);
      }
      await eventually("all RndcKeys to go", async () => {
        const { items } = await kube.list(rndcKey, { namespace });
        return items.length === 0 || undefined;
      });
      await kube.delete(namespaces, { name: namespace });
    } finally {
      await operator?.stop("SIGTERM");
      await stage.ends.disposeAsync();
    }
  });

  const get = (type: ResourceType, name: string): Promise<KubeObject> => kube.get(type, { namespace, name });
  const keyturn = (...words: readonly string[]) =>
    sayKeyturn(["import", "bindy", "--all", "-n", namespace, ...words, "--kubeconfig", stage.server.kubeconfig]);

  test("there is one, with a key", async () => {
    ({ secret, deployment } = await putBindyServer(kube, { namespace, cluster: "dns", secretText: SECRET_TEXT }));
  });

  test("other white space in rndc.key is said, and has to be accepted", async () => {
    const { code, stdout } = await keyturn();
    assert.equal(code, 1);
    assert.match(stdout, /the same key would be written with other white space: rndc\.key/);
    assert.ok(!stdout.includes(SECRET_TEXT));
  });

  test("imported, the Secret, the Deployment and its pods are what they were", async () => {
    const { code, stdout, stderr } = await keyturn("--accept-changes", "--yes");
    assert.deepEqual([code, stderr], [0, ""], stdout);
    assert.match(stdout, /1 taken over\./);
    assert.ok(!stdout.includes(SECRET_TEXT));
    const [now, kept] = [await get(secrets, SECRET), await get(deployments, INSTANCE)];
    assert.deepEqual([now.data, now.metadata.uid], [secret.data, secret.metadata.uid]);
    assert.deepEqual([templateOf(kept), kept.metadata.uid], [templateOf(deployment), deployment.metadata.uid]);
    assert.deepEqual(kept.metadata.ownerReferences ?? [], []);
    assert.equal(kept.metadata.annotations?.["keyturn.dev/import-note"], undefined);
    const instance = await get(bind9Instance, INSTANCE);
    assert.deepEqual(instance.metadata.finalizers ?? [], []);
    assert.deepEqual((instance.spec as Record<string, unknown>).deploymentRef, { name: INSTANCE });
    const key = await get(rndcKey, SECRET);
    assert.equal(key.metadata.ownerReferences?.[0]?.uid, instance.metadata.uid);
    assert.equal(key.metadata.annotations?.["crossplane.io/paused"], undefined);
  });

  test("a second time there is nothing to do", async () => {
    const { code, stdout } = await keyturn("--yes");
    assert.equal(code, 0, stdout);
    assert.match(stdout, /^0 taken over, 1 with nothing to do/m);
  });

  test("the operator takes the key over: the same one, and no pod is replaced", async () => {
    const end = (done: () => Promise<void>): void => void stage.ends.defer(done);
    const flags = ["--controllers", CONTROLLERS.join(), "--restart-quiet-period", "1s", "--log-level", "debug"];
    operator = startKeyturnOperator({ ...stage.access, flags, after: end });
    await operator.ready();
    await operator.until("the key to be taken over", async () => {
      const { status } = await get(rndcKey, SECRET);
      const { atProvider, pending } = (status ?? {}) as {
        readonly atProvider?: { readonly id: string };
        pending?: object;
      };
      return atProvider?.id === secret.metadata.uid && pending === undefined;
    });
    await operator.until("the instance to be told so", async () => {
      const { status } = await get(bind9Instance, INSTANCE);
      return ((status ?? {}) as { readonly rndcKey?: { readonly name?: string } }).rndcKey?.name === SECRET;
    });
    const now = await get(secrets, SECRET);
    assert.equal(now.metadata.uid, secret.metadata.uid);
    for (const field of ["key-name", "algorithm", "secret"]) assert.equal(dataOf(now)[field], dataOf(secret)[field]);
    assert.deepEqual(templateOf(await get(deployments, INSTANCE)), templateOf(deployment));
    assert.ok(!operator.text.includes(SECRET_TEXT));
  });

  test("the next rotation works, and restarts the pods", async () => {
    const body = { metadata: { annotations: { [FORCE]: "after the import" } } };
    await kube.patch(rndcKey, { namespace, name: SECRET }, { type: "merge", body });
    await operator.until("another key to be published", async () => {
      const now = await get(secrets, SECRET);
      return dataOf(now).secret !== dataOf(secret).secret && dataOf(now)["key-name"] === dataOf(secret)["key-name"];
    });
    await operator.until("the pods to be restarted for it", async () => {
      const { metadata } = templateOf(await get(deployments, INSTANCE)) as KubeObject;
      return metadata?.annotations?.["bindy.firestoned.io/rndc-key-rotated-at"] !== undefined;
    });
  });
});
