import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { rndcKey } from "../../src/api/keyturn/rndc-key.ts";
import type { Random } from "../../src/base/random.ts";
import { Redacted } from "../../src/base/redacted.ts";
import { acceptKey, addKey, EMPTY_RING, findKey, type KeyRing, ringFromJson } from "../../src/bind/key-ring.ts";
import { embeddedCluster } from "../../src/embedded/embedded-cluster.fixture.ts";
import { createFaultyTransport, type Fault } from "../../src/kube/faulty-transport.ts";
import { createKubeClient } from "../../src/kube/kube-client.ts";
import { apiVersionOf } from "../../src/kube/objects.ts";
import type { TransportRequest } from "../../src/kube/transport.ts";
import { createBindConnection } from "../../src/providers/bind/bind-connection.ts";
import type { RingStore } from "../../src/providers/bind/ports.ts";
import type { ProviderHarness } from "../../src/providers/conformance-harness.fixture.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { KubeRingStore } from "../../src/reconcile/bind/rndc-key-ring-store.ts";
import { generateRndcKey } from "../../src/rndc/key.ts";
import { parseRndcKey } from "../../src/rndc/key-file.ts";
import { memorySend } from "../../src/sandbox/named/memory-send.fixture.ts";
import { MountedNamed, type SecretData } from "../bind/ring-mount.ts";
import { kubeFaults } from "./kube-faults.ts";

/** In base64 this stands at the beginning of every secret. */
const CANARY = "canary5d20cc";
const WORK_MS = 20_000;
const HOST = "10.2.0.1";
const { signal } = new AbortController();
const RING = { namespace: "default", name: "web-rndc-ring" };
const OWNER = { apiVersion: apiVersionOf(rndcKey), kind: rndcKey.kind, name: "web-rndc", uid: "u-1", controller: true };

/** A ring on an embedded API as a provider, and one stand-in for named that follows it, at once or in its own time. */
export async function startBind(): Promise<ProviderHarness> {
  const { clock, kube, server, transport: inner, random: plain } = embeddedCluster();
  const random = telling(plain);
  let fault: ((request: TransportRequest) => Fault | undefined) | undefined;
  const transport = createFaultyTransport({ inner, clock, plan: (request) => fault?.(request) });
  const options = {
    ring: RING,
    published: { namespace: "default", name: "web-rndc" },
    owner: OWNER,
    marksOf: () => assert.fail("nothing is published here"),
    now: () => clock.now(),
    recovery: { isWanted: () => true, isEdited: () => false },
  };
  const truth = new KubeRingStore({ ...options, kube });
  const foreign = generateRndcKey("theirs", "hmac-sha256", random);
  const added = addKey(EMPTY_RING, { id: "their-key", key: foreign, createdAt: clock.now(), marks: undefined });
  await truth.replace(acceptKey(added, "their-key"), { ring: EMPTY_RING, version: undefined }, signal);
  const ringData = async (): Promise<SecretData> => (await kube.get(secretType, RING)).data as SecretData;
  const mounted = new MountedNamed(await ringData(), { clock, random });
  const due: { readonly at: number; readonly data: SecretData }[] = [];
  let isSlow = false;
  const follow = async (): Promise<void> => {
    while ((due[0]?.at ?? Infinity) <= clock.now()) mounted.mount(due.shift()?.data ?? {});
  };
  const stored = new KubeRingStore({
    ...options,
    kube: createKubeClient({ transport, clock, userAgent: "keyturn/test" }),
  });
  const store: RingStore = {
    read: (end) => stored.read(end),
    replace: async (ring, over, end) => {
      try {
        return await stored.replace(ring, over, end);
      } finally {
        due.push({ at: clock.now() + (isSlow ? WORK_MS : 0), data: await ringData() });
        await follow();
      }
    },
  };
  const send = memorySend((host) => (host === HOST ? mounted.named : undefined));
  const connection = createBindConnection({
    place: "default/web-rndc-ring",
    mode: { kind: "overlap" },
    store,
    servers: { list: async () => [{ name: "web-0", host: HOST, port: 9953 }] },
    clock,
    random,
    send,
  });
  const begin = (next: typeof fault): void => {
    fault = next;
  };
  const faults: ProviderHarness["faults"] = {
    ...kubeFaults(begin, "PUT"),
    quota: { impossible: "a ring has room for more keys than there ever are; that it ends is shown beside the code" },
    asynchronous: {
      set: (isOn) => {
        isSlow = isOn;
      },
    },
    failingCreates: { impossible: "a key that servers do not come to accept is waited for, and never fails" },
    nameCollision: { impossible: "a ring has no two keys of a name" },
  };
  const ringNow = async (): Promise<KeyRing> =>
    ringFromJson(new Redacted(Buffer.from((await ringData())["ring.json"] ?? "", "base64").toString()));
  return {
    connection,
    instanceId: "default/web-rndc-ring",
    instance: { impossible: "a ring is of no service that anybody could describe" },
    asksNobody: ["observeInstance", "describeInstance"],
    renameInstance: () => {},
    missingInstanceId: "default/other-rndc-ring",
    missingKeyId: "3f2b7c1e-0000-4000-8000-00000000beef",
    foreignKey: { id: "their-key", name: "theirs" },
    moreThanAPage: 12,
    canary: CANARY,
    faults,
    foreignLabels: async () => {
      const key = findKey(await ringNow(), "their-key");
      return { name: key?.key.name, createdAt: key?.createdAt };
    },
    keysOutside: async () => (await ringNow()).keys.map(({ id }) => id),
    canLogIn: async (credentials) => {
      const { key } = parseRndcKey(new Redacted(String(credentials.reveal()["rndc.key"])));
      const options = { host: HOST, port: 9953, key, command: "status", timeoutMs: 1_000, clock, random };
      return send(options).then(
        () => true,
        () => false,
      );
    },
    advance: async (byMs) => {
      await clock.advance(byMs);
      await follow();
    },
    stop: async () => {
      await server.stop();
      assert.equal(clock.timerCount, 0, "a timer was left behind");
    },
  };
}

/** What is long enough for a secret begins with the canary. */
const telling = (random: Random): Random => ({
  next: () => random.next(),
  bytes: (length) => {
    const bytes = random.bytes(length);
    if (length >= 28) bytes.set(Buffer.from(CANARY, "base64"));
    return bytes;
  },
});
