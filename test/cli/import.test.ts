import assert from "node:assert/strict";
import { beforeEach, describe, test } from "node:test";
import { serviceBinding } from "../../src/api/btp/service-binding.ts";
import { importCommand, runImport } from "../../src/cli/import-command.ts";
import { parseFlags } from "../../src/cli/parse-flags.ts";
import { scriptedWorld } from "../../src/cli/scripted-world.fixture.ts";
import { NotFound } from "../../src/kube/errors.ts";
import type { KubeObject } from "../../src/kube/objects.ts";
import type { Kube } from "../../src/kube/port.ts";
import type { HttpPort } from "../../src/providers/http-port.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { bindingOf } from "../../src/reconcile/btp/btp-objects.fixture.ts";
import { FINGERPRINT_KEY_NAME } from "../../src/reconcile/cluster-identity.ts";
import { FamilySource } from "../../src/reconcile/managed/family-source.ts";
import { installForeignKind } from "../../src/reconcile/objects.fixture.ts";
import { namespaceType } from "../../src/reconcile/restart/restart-sources.ts";
import { customResourceDefinitions } from "../conformance/kinds.ts";
import { putSapBinding, sapBindings } from "../import/theirs.ts";
import { BtpWorld } from "../reconcile/btp-world.ts";
import { CANARY, FINGERPRINTER } from "../reconcile/managed-world.ts";
import { sayKeyturn } from "../support/say-keyturn.ts";

const IMPORTING = "keyturn.dev/importing";
const EXTERNAL_NAME = "crossplane.io/external-name";
const NAMESPACE_OBJECT = { apiVersion: "v1", kind: "Namespace" };
const OWN = ["--lease-namespace", "default"];

class TheirWorld extends BtpWorld {
  get http(): HttpPort {
    return this.operatorHttp;
  }

  /** Nobody of ours has ever seen the key. */
  async unmark(keyId: string): Promise<void> {
    const { kube, clock, http } = this;
    const source = new FamilySource(this.createFamily(), { kube, clock, http, fingerprinter: FINGERPRINTER });
    const signal = new AbortController().signal;
    await (await source.visit("default", signal)).mark(keyId, undefined, signal);
  }
}

type Words = Readonly<Record<string, unknown>>;

interface Ran {
  readonly code: number;
  readonly stdout: string;
}

/** The command itself, on a binding that the operator has made and Crossplane then looked after: `keyturn import`. */
describe("keyturn import", () => {
  let world: TheirWorld;
  let keyId: string;

  beforeEach(async () => {
    world = new TheirWorld();
    await world.start();
    await world.create("orders");
    await world.reconcile("orders");
    const { status, metadata } = await world.kube.get(serviceBinding, { name: "orders" });
    keyId = (status as { readonly atProvider: { readonly id: string } }).atProvider.id;
    // As Crossplane leaves it: another finalizer, no marks outside, and none on the Secret.
    const body = { metadata: { finalizers: ["finalizer.managedresource.crossplane.io"] } };
    await world.kube.patch(serviceBinding, { name: "orders" }, { type: "merge", body });
    assert.equal(metadata.annotations?.["crossplane.io/external-name"], keyId);
    await world.unmark(keyId);
    world.sandbox.clearRequestLog();
  });

  const run = async (
    words: readonly string[],
    kube: Kube = world.kube,
    onStep?: (stop: () => void) => void,
  ): Promise<Ran> => {
    const { world: around, said, signal } = scriptedWorld({ clock: world.clock });
    const flags = parseFlags(importCommand, words);
    onStep?.(() => signal("SIGINT"));
    const code = await runImport({ kube, namespace: "default", flags, world: around }, world.http);
    assert.ok(!said.stdout.includes(CANARY), "a value was shown");
    return { code, stdout: said.stdout };
  };

  const writes = (): readonly string[] =>
    world.sandbox
      .requestLog()
      .flatMap(({ method, pattern }) => (method === "GET" || pattern.includes("oauth") ? [] : [method]));

  test("the plan is shown, and nothing is written", async () => {
    const before = await world.kube.get(serviceBinding, { name: "orders" });
    const { code, stdout } = await run(["crossplane-btp", "--all", ...OWN]);
    assert.equal(code, 0, stdout);
    assert.match(stdout, /^Before anything else\n {2}1\. {7}make the key of the operator's fingerprints in default: /);
    assert.match(stdout, /^ServiceBinding orders\n {2}1\. {7}pause it \(crossplane\.io\/paused\): /m);
    assert.match(stdout, /\n1 to take over; nothing was written: --yes does it\.\n$/);
    const after = await world.kube.get(serviceBinding, { name: "orders" });
    assert.equal(after.metadata.resourceVersion, before.metadata.resourceVersion);
    const key = { namespace: "default", name: FINGERPRINT_KEY_NAME };
    await assert.rejects(world.kube.get(secretType, key), NotFound);
    assert.deepEqual(writes(), []);
  });

  test("without the namespace of the operator all is refused, with the remedy", async () => {
    const { code, stdout } = await run(["crossplane-btp", "--all", "--yes"]);
    assert.equal(code, 1);
    assert.match(stdout, /refused {2}there is no namespace keyturn-system/);
    assert.match(stdout, /remedy {3}kubectl create namespace keyturn-system/);
  });

  test("interrupted, it finishes the step it is at, and says how to go on", async () => {
    let stop = (): void => {};
    const kube = new Proxy<Kube>(world.kube, {
      get: (target, name) => {
        const method: unknown = Reflect.get(target, name);
        if (typeof method !== "function") return method;
        const call = method.bind(target) as (...words: readonly unknown[]) => Promise<unknown>;
        return name === "patch" ? (...words: readonly unknown[]) => call(...words).finally(() => stop()) : call;
      },
    });
    const first = await run(["crossplane-btp", "orders", "--yes", ...OWN], kube, (end) => {
      stop = end;
    });
    assert.equal(first.code, 130);
    assert.match(first.stdout, /it was interrupted/);
    const half = await world.kube.get(serviceBinding, { name: "orders" });
    assert.equal(half.metadata.annotations?.[IMPORTING], "crossplane-btp");
    const second = await run(["crossplane-btp", "orders", "--yes", ...OWN]);
    assert.equal(second.code, 0, second.stdout);
    const whole: KubeObject = await world.kube.get(serviceBinding, { name: "orders" });
    assert.equal(whole.metadata.annotations?.[IMPORTING], undefined);
    assert.deepEqual(whole.metadata.finalizers, ["keyturn.dev/keys"]);
  });

  const crossplanes = { finalizers: ["finalizer.managedresource.crossplane.io"] };
  /** Another binding of Crossplane's, by hand or from a copied manifest, of the same key. */
  const copyAs = async (name: string, externalName: string, spec: Words = {}): Promise<void> => {
    const { instanceId } = world;
    const metadata = { name, annotations: { [EXTERNAL_NAME]: externalName }, ...crossplanes };
    await world.kube.create<KubeObject>(serviceBinding, bindingOf({ instanceId, metadata, spec }));
  };

  test("of two that name the same key the later one is refused, by name as well, and after the first is taken over", async () => {
    await world.clock.advance(60_000);
    await copyAs("a-copy", `subaccount,${keyId}`);
    const isCopy = new RegExp(`^ServiceBinding a-copy\\n {2}refused {2}ServiceBinding orders has key ${keyId}, `, "m");
    const all = await run(["crossplane-btp", "--all", ...OWN]);
    assert.equal(all.code, 1);
    assert.match(all.stdout, isCopy);
    assert.match(all.stdout, /\n1 to take over, 1 refused; nothing was written/);
    assert.match((await run(["crossplane-btp", "a-copy", ...OWN])).stdout, isCopy);
    assert.equal((await run(["crossplane-btp", "orders", "--yes", ...OWN])).code, 0);
    const again = await run(["crossplane-btp", "--all", "--yes", ...OWN]);
    assert.equal(again.code, 1);
    assert.match(again.stdout, isCopy);
    assert.match(again.stdout, /\n0 taken over, 1 with nothing to do, 1 refused\./);
  });

  test("a ProviderConfig that is missing says nothing of where the key is published", async () => {
    await copyAs("mail", "another-key", { providerConfigRef: { name: "elsewhere" } });
    const { code, stdout } = await run(["crossplane-btp", "mail", ...OWN]);
    assert.equal(code, 1);
    assert.match(stdout, /refused {2}.*ProviderConfig "?elsewhere/);
    assert.doesNotMatch(stdout, /published nowhere/);
  });

  describe("from sap-btp-operator", () => {
    const sap = (words: readonly string[]): Promise<Ran> => run(["sap-btp-operator", ...words, ...OWN]);
    const putSap = async (namespace: string, name: string, spec: Words = {}): Promise<void> => {
      const { kube, instanceId } = world;
      await kube
        .create<KubeObject>(namespaceType, { ...NAMESPACE_OBJECT, metadata: { name: namespace } })
        .catch(() => {});
      const wishes = { namespace, name, bindingId: keyId, instanceId, secretName: name, spec };
      await putSapBinding(kube, wishes);
    };

    test("where its kind is not known there is nothing to take over, by name as well", async () => {
      for (const words of [["--all"], ["orders"], ["orders", "-A"]]) {
        await assert.rejects(sap(words), {
          message: "the cluster does not know ServiceBinding.services.cloud.sap.com: there is nothing to take over",
        });
      }
    });

    test("where ours is not known either, one that is not there is a mistake, and the others say what is missing", async () => {
      await installForeignKind(world.kube, sapBindings);
      await putSap("shop", "orders");
      const ours = { name: "orders" };
      await world.kube.patch(serviceBinding, ours, { type: "merge", body: { metadata: { finalizers: [] } } });
      await world.kube.delete(serviceBinding, ours);
      await world.kube.delete(customResourceDefinitions, { name: `${serviceBinding.plural}.${serviceBinding.group}` });
      await assert.rejects(sap(["gone", "-n", "shop"]), /there is no ServiceBinding "gone" in namespace shop/);
      assert.match((await sap(["orders", "-n", "shop"])).stdout, /keyturn crds/);
    });

    test("of two that would be called alike the second is refused in the plan", async () => {
      await installForeignKind(world.kube, sapBindings);
      await putSap("x", "y-z");
      await putSap("x-y", "z");
      const { code, stdout } = await sap(["--all", "-A"]);
      assert.equal(code, 1);
      assert.match(
        stdout,
        /^ServiceBinding x\/y-z\n {2}refused {2}ServiceBinding x-y\/z becomes x-y-z, and so would this one/m,
      );
      assert.doesNotMatch(stdout, /^ServiceBinding x-y\/z\n.*becomes/m);
    });

    test("a frequency that the operator would not take is refused", async () => {
      await installForeignKind(world.kube, sapBindings);
      const credentialsRotationPolicy = { enabled: true, rotationFrequency: "30s", rotatedBindingTTL: "1h" };
      await putSap("shop", "orders", { credentialsRotationPolicy });
      const { code, stdout } = await sap(["orders", "-n", "shop"]);
      assert.equal(code, 1);
      assert.match(
        stdout,
        /refused {2}spec\.rotation\.frequency: must be at least 1m \(--min-frequency of the operator\)/,
      );
    });
  });

  const MISTAKES: readonly (readonly [reason: string, words: readonly string[], message: RegExp])[] = [
    ["no source", [], /^keyturn: from what\? keyturn import crossplane-btp\|/],
    ["an unknown source", ["flux"], /"flux" is not known: crossplane-btp, .* are/],
    ["neither names nor --all", ["bindy"], /give names, or --all: keyturn import bindy --all/],
    ["both", ["bindy", "x", "--all"], /give names or --all, not both \("x"\)/],
    ["what can be no name", ["bindy", "No"], /"No" cannot be a name/],
    ["names for Reloader", ["reloader", "x"], /looked at as a whole/],
    ["what can be no namespace", ["bindy", "x", "-n", "No"], /cannot be a namespace/],
    ["an unknown format", ["bindy", "x", "-o", "xml"], /--output must be one of text, json/],
  ];
  for (const [reason, words, message] of MISTAKES) {
    test(`a mistake is said before a cluster is asked: ${reason}`, async () => {
      const { code, stderr } = await sayKeyturn(["import", ...words]);
      assert.equal(code, 2);
      assert.match(stderr, message);
    });
  }

  test("a name that is not there is a mistake", async () => {
    await assert.rejects(run(["crossplane-btp", "nobody", ...OWN]), /there is no ServiceBinding "nobody"/);
  });
});
