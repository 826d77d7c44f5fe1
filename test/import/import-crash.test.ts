import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { bind9Cluster } from "../../src/api/bind/bind9-cluster.ts";
import { bind9Instance } from "../../src/api/bind/bind9-instance.ts";
import { rndcKey } from "../../src/api/keyturn/rndc-key.ts";
import { importCommand, runImport } from "../../src/cli/import-command.ts";
import { parseFlags } from "../../src/cli/parse-flags.ts";
import { scriptedWorld } from "../../src/cli/scripted-world.fixture.ts";
import type { KubeObject } from "../../src/kube/objects.ts";
import { UndiciHttp } from "../../src/providers/undici-http.ts";
import { customResourceDefinitions, deployments, namespaces, secrets, services } from "../conformance/kinds.ts";
import { btp } from "../families/btp.ts";
import { Fuse, type Side } from "../reconcile/fuse.ts";
import { ignoreMissing, Stage } from "../rotation/stage.ts";
import { StoryBinding } from "../rotation/story-binding.ts";
import { pickTarget } from "../support/pick-target.ts";
import { putBindyServer } from "./bindys.ts";
import {
  CROSSPLANE_FINALIZER,
  credentialsOf,
  installSapBindings,
  putSapBinding,
  putSecret,
  sapBindings,
  sapTexts,
} from "./theirs.ts";

const target = await pickTarget();
/** More writes than any of them takes. */
const MAX_WRITES = 20;

/** An import that dies before or after any of its writes: the next one completes it, and the end is always the same. */
describe(`an import that dies on the ${target.name} server`, { concurrency: 1, timeout: 240_000 }, () => {
  let stage: Stage;
  before(async () => {
    stage = await Stage.set({ target, name: "import-crash" });
    const system = { apiVersion: "v1", kind: "Namespace", metadata: { name: "keyturn-system" } };
    await stage.kube.create<KubeObject>(namespaces, system).catch(() => undefined);
    await installSapBindings(stage.kube);
  });
  after(async () => {
    await stage.kube.delete(customResourceDefinitions, { name: `${sapBindings.plural}.${sapBindings.group}` });
    // Nobody has looked at these: they bear no finalizer.
    for (const type of [bind9Cluster, bind9Instance, rndcKey]) {
      const { items } = await stage.kube.list(type, { namespace: stage.namespace });
      for (const { metadata } of items) {
        await stage.kube.delete(type, { namespace: stage.namespace, name: metadata.name }).catch(ignoreMissing);
      }
    }
    // Who lets keys go.
    await stage.startOperator(["--controllers", "btp", "--settle-time", "1s"]).ready();
    await stage.strike();
  });

  const run = async (words: readonly string[], fuse?: Fuse) => {
    const { world, said } = scriptedWorld();
    const http = new UndiciHttp();
    const kube = fuse ? fuse.kube(stage.kube) : stage.kube;
    const flags = parseFlags(importCommand, [...words, "--yes"]);
    try {
      const call = { kube, namespace: "default", flags, world };
      return { code: await runImport(call, fuse ? fuse.http(http) : http), ...said };
    } catch (error) {
      if (!fuse?.isBlown) throw error;
      return { code: "died", ...said };
    } finally {
      await http.close();
    }
  };

  interface Made {
    readonly binding: StoryBinding;
    readonly words: readonly string[];
    readonly keyId: string;
    readonly retiredId: string;
  }

  const crossplane = async (name: string): Promise<Made> => {
    const binding = new StoryBinding(stage, { family: btp, name });
    const [retiredId, keyId] = [await binding.makeByHand(`${name}-a`), await binding.makeByHand(`${name}-b`)];
    const manifest = binding.manifest({ annotations: { "crossplane.io/external-name": keyId } });
    await binding.create({ ...manifest, metadata: { ...manifest.metadata, finalizers: [CROSSPLANE_FINALIZER] } });
    const now = new Date().toISOString();
    const status = {
      atProvider: { id: keyId, name: `${name}-b`, createdDate: now },
      retiredKeys: [{ id: retiredId, name: `${name}-a`, createdDate: now, deletionDate: "2999-01-01T00:00:00Z" }],
    };
    const owner = await binding.patch({ status }, { subresource: "status" });
    await putSecret(stage.kube, { ...binding.secretRef, owner, texts: credentialsOf(binding.standIn, keyId) });
    return { binding, keyId, retiredId, words: ["crossplane-btp", name] };
  };

  const sap = async (name: string): Promise<Made> => {
    const { kube, namespace } = stage;
    const binding = new StoryBinding(stage, { family: btp, name: `${namespace}-${name}` });
    binding.moveSecret(`${name}-secret`);
    const { instanceId } = binding;
    const [retiredId, keyId] = [await binding.makeByHand(`${name}-a`), await binding.makeByHand(`${name}-b`)];
    const credentialsRotationPolicy = { enabled: true, rotationFrequency: "2h", rotatedBindingTTL: "1h" };
    const common = { namespace, instanceId, spec: { credentialsRotationPolicy } };
    const owner = await putSapBinding(kube, { ...common, name, bindingId: keyId, secretName: `${name}-secret` });
    const labels = { "services.cloud.sap.com/stale": retiredId, "services.cloud.sap.com/rotationOf": name };
    const old = { name: `${name}-old`, bindingId: retiredId, secretName: `${name}-old`, labels, owner };
    await putSapBinding(kube, { ...common, ...old });
    const texts = sapTexts(credentialsOf(binding.standIn, keyId), { name: "instance", id: instanceId });
    await putSecret(kube, { ...binding.secretRef, owner, texts });
    const words = ["sap-btp-operator", name, "-n", namespace, "--provider-config", namespace];
    return { binding, keyId, retiredId, words };
  };

  const SOURCES = [
    { title: "crossplane-btp", make: crossplane },
    { title: "sap-btp-operator", make: sap },
  ];

  for (const { title, make } of SOURCES) {
    for (const side of ["before", "after"] satisfies readonly Side[]) {
      test(`${title}: it dies ${side} each of its writes`, async () => {
        let deaths = 0;
        for (let at = 1; at <= MAX_WRITES; at++) {
          const { binding, words, keyId, retiredId } = await make(`${title.slice(0, 3)}-${side}-${at}`);
          const { data, metadata } = await binding.liveSecret();
          const fuse = new Fuse(at, side);
          const first = await run(words, fuse);
          const second = await run(words);
          assert.equal(second.code, 0, `${fuse.last}\n${first.stdout}\n${second.stdout}`);
          const now = await binding.liveSecret();
          assert.deepEqual([now.data, now.metadata.uid], [data, metadata.uid], fuse.last);
          const ids = binding.keysAtService().map(({ id }) => id);
          assert.deepEqual(ids.sort(), [keyId, retiredId].sort(), fuse.last);
          const object = await binding.live();
          assert.deepEqual(object.metadata.finalizers, ["keyturn.dev/keys"], fuse.last);
          assert.equal(object.metadata.annotations?.["keyturn.dev/importing"], undefined, fuse.last);
          assert.equal(object.metadata.annotations?.["crossplane.io/external-name"], keyId);
          const { retired, sequence } = btp.readStatus(object);
          assert.deepEqual([retired.map(({ id }) => id), sequence], [[retiredId], 1], fuse.last);
          assert.equal(now.metadata.annotations?.["keyturn.dev/key-id"], keyId, fuse.last);
          const { items } = await stage.kube.list(sapBindings, { namespace: stage.namespace });
          assert.deepEqual(items, [], "nothing of theirs is left");
          if (!fuse.isBlown) break;
          deaths++;
        }
        assert.ok(deaths >= 5 && deaths < MAX_WRITES, `${deaths} deaths`);
      });
    }
  }

  for (const side of ["before", "after"] satisfies readonly Side[]) {
    test(`bindy: it dies ${side} each of its writes`, async () => {
      const { kube, namespace } = stage;
      let deaths = 0;
      for (let at = 1; at <= MAX_WRITES; at++) {
        const secretText = randomBytes(32).toString("base64");
        const server = await putBindyServer(kube, { namespace, cluster: `dns-${side}-${at}`, secretText });
        const { name, secret, deployment } = server;
        const words = ["bindy", name, "-n", namespace, "--accept-changes"];
        const fuse = new Fuse(at, side);
        const first = await run(words, fuse);
        const second = await run(words);
        assert.equal(second.code, 0, `${fuse.last}\n${first.stdout}\n${second.stdout}`);
        const [instance, now] = [
          await kube.get(bind9Instance, { namespace, name }),
          await kube.get(deployments, { namespace, name }),
        ];
        assert.deepEqual((instance.spec as { readonly deploymentRef?: object }).deploymentRef, { name }, fuse.last);
        assert.deepEqual([now.metadata.uid, now.spec], [deployment.metadata.uid, deployment.spec], fuse.last);
        assert.equal(now.metadata.annotations?.["keyturn.dev/import-note"], undefined, fuse.last);
        const secretRef = { namespace, name: secret.metadata.name };
        const kept = await kube.get(secrets, secretRef);
        assert.deepEqual([kept.data, kept.metadata.uid], [secret.data, secret.metadata.uid], fuse.last);
        const key = await kube.get(rndcKey, secretRef);
        assert.equal(key.metadata.annotations?.["keyturn.dev/importing"], undefined, fuse.last);
        assert.equal(key.metadata.ownerReferences?.[0]?.uid, instance.metadata.uid, fuse.last);
        await kube.get(services, { namespace, name });
        if (!fuse.isBlown) break;
        deaths++;
      }
      assert.ok(deaths >= 8 && deaths < MAX_WRITES, `${deaths} deaths`);
    });
  }
});
