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
import { FINGERPRINT_KEY_NAME } from "../../src/reconcile/cluster-identity.ts";
import { FamilySource } from "../../src/reconcile/managed/family-source.ts";
import { BtpWorld } from "../reconcile/btp-world.ts";
import { CANARY, FINGERPRINTER } from "../reconcile/managed-world.ts";
import { sayKeyturn } from "../support/say-keyturn.ts";

const IMPORTING = "keyturn.dev/importing";
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
