import assert from "node:assert/strict";
import { test } from "node:test";
import { Redacted } from "../base/redacted.ts";
import { embeddedCluster } from "../embedded/embedded-cluster.fixture.ts";
import type { KubeObject } from "../kube/objects.ts";
import { Fingerprinter } from "./fingerprint.ts";
import { encodeTexts } from "./secret-data.ts";
import { type SecretOwner, SecretPublisher, secretType } from "./secret-publisher.ts";

const { signal } = new AbortController();
const owner = { apiVersion: "example.org/v1", kind: "Widget", name: "orders", uid: "uid-1" };
const address = { namespace: "default", name: "orders-secret" };

test("data under another fingerprint key is believed and said to be unknown; an edit under ours is noticed", async () => {
  const { kube } = embeddedCluster();
  const publisherOf = (byte: number) =>
    new SecretPublisher(kube, new Fingerprinter(new Redacted(new Uint8Array(32).fill(byte))));
  const [ours, others] = [publisherOf(1), publisherOf(2)];
  const data = new Redacted(encodeTexts({ password: "canary" }));
  await ours.write(
    { address, owner, keyId: "k-1", sequence: 1, publishedAt: 0, layout: "flat", data, over: undefined },
    signal,
  );
  const soundness = async (publisher: SecretPublisher): Promise<unknown> => {
    const secret = await publisher.read(address, owner, signal);
    return secret && [secret.isSound, secret.isComparable];
  };
  assert.deepEqual(await soundness(ours), [true, true]);
  assert.deepEqual(await soundness(others), [true, false]);
  const body = { data: { password: Buffer.from("edited").toString("base64") } };
  await kube.patch<KubeObject>(secretType, address, { type: "merge", body });
  assert.deepEqual(await soundness(ours), [false, true]);
});

test("a Secret that is written says when, by the API server's clock where that is later", async () => {
  const { kube, clock } = embeddedCluster();
  const publisher = new SecretPublisher(kube, new Fingerprinter(new Redacted(new Uint8Array(32).fill(1))));
  const data = new Redacted(encodeTexts({ password: "canary" }));
  const [serverAt, later] = [Math.floor(clock.now() / 1000) * 1000, clock.now() + 5_000];
  const write = async (name: string, saidAt: number): Promise<readonly unknown[]> => {
    const address = { namespace: "default", name };
    const marks = { owner, keyId: "k-1", sequence: 1, publishedAt: saidAt, layout: "flat" };
    const written = await publisher.write({ ...marks, address, data, over: undefined }, signal);
    const read = await publisher.read(address, owner, signal);
    return [written.publishedAt, read?.publishedAt];
  };
  assert.deepEqual(await write("behind", serverAt - 30_000), [serverAt, serverAt]);
  assert.deepEqual(await write("ahead", later), [later, later]);
});

test("an immutable Secret is known for what it is before there is a key for it, and what to do is said", async () => {
  const { kube } = embeddedCluster();
  const publisher = new SecretPublisher(kube, new Fingerprinter(new Redacted(new Uint8Array(32).fill(1))));
  const data = new Redacted(encodeTexts({ password: "canary" }));
  const publication = { address, owner, keyId: "k-1", sequence: 1, publishedAt: 0, layout: "flat", data };
  const written = await publisher.write({ ...publication, over: undefined }, signal);
  await publisher.ensureWritable(address, written, signal);
  await kube.patch<KubeObject>(secretType, address, { type: "merge", body: { immutable: true } });
  const over = await publisher.read(address, owner, signal);
  const refusal = { code: "SecretRefused", message: /default\/orders-secret .* is immutable, .*: delete it/ };
  await assert.rejects(publisher.ensureWritable(address, over, signal), refusal);
  await assert.rejects(publisher.write({ ...publication, over }, signal), refusal);
});

test("the former Secrets of an owner in a namespace are looked for there alone", async () => {
  const { kube } = embeddedCluster();
  const publisher = new SecretPublisher(kube, new Fingerprinter(new Redacted(new Uint8Array(32).fill(1))));
  for (const namespace of ["default", "kube-system"]) {
    await kube.create<KubeObject>(secretType, {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { namespace, name: "former", labels: { "keyturn.dev/owner-uid": owner.uid } },
    });
  }
  const found = async (whose: SecretOwner): Promise<readonly string[]> => {
    const kept = { current: undefined, keyIds: new Set<string>() };
    const former = await publisher.findFormer(whose, kept, signal);
    return former.map(({ address }) => address.namespace);
  };
  assert.deepEqual(await found(owner), ["default", "kube-system"]);
  assert.deepEqual(await found({ ...owner, namespace: "default" }), ["default"]);
});
