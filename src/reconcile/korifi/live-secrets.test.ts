import assert from "node:assert/strict";
import { test } from "node:test";
import { Redacted } from "../../base/redacted.ts";
import { embeddedCluster } from "../../embedded/embedded-cluster.fixture.ts";
import type { SecretView } from "../../korifi/model.ts";
import { createKubeClient } from "../../kube/kube-client.ts";
import type { KubeObject } from "../../kube/objects.ts";
import { secretType } from "../../publish/secret-publisher.ts";
import { korifiSources } from "./korifi-sources.ts";
import { LiveSecrets, type SecretVersion } from "./live-secrets.ts";
import { ToldCaches } from "./told-caches.fixture.ts";

const { signal } = new AbortController();
const NAMESPACE = "default";
const NAME = "db";

/** Credentials that somebody changes, and a watch that brings it when the test says so. */
class ToldSecret {
  readonly #cluster = embeddedCluster();
  readonly clock = this.#cluster.clock;
  readonly #told = new ToldCaches();
  readonly secrets: LiveSecrets;
  reads = 0;

  constructor() {
    const { transport } = this.#cluster;
    const counting = {
      ...transport,
      send: (request: Parameters<typeof transport.send>[0]) => {
        if (request.method === "GET") this.reads++;
        return transport.send(request);
      },
    };
    const kube = createKubeClient({ transport: counting, clock: this.clock, userAgent: "keyturn/test" });
    this.secrets = new LiveSecrets({ kube, clock: this.clock, caches: this.#told.caches });
  }

  async create(credentials: string): Promise<KubeObject> {
    const metadata = { namespace: NAMESPACE, name: NAME };
    const secret = { apiVersion: "v1", kind: "Secret", metadata, data: { credentials: base64(credentials) } };
    return this.#cluster.kube.create<KubeObject>(secretType, secret);
  }

  async change(credentials: string): Promise<KubeObject> {
    const body = { data: { credentials: base64(credentials) } };
    return this.#cluster.kube.patch(secretType, { namespace: NAMESPACE, name: NAME }, { type: "merge", body });
  }

  tell(secret: KubeObject): void {
    this.#told.tell(korifiSources.secrets, secret);
  }

  /** As the operator does it. */
  write(credentials: string, over: SecretVersion): Promise<SecretVersion> {
    const data = new Redacted({ credentials: base64(credentials) });
    const fields = { name: NAME, type: "Opaque", data, owner: "instance", derivedFrom: "source", over } as const;
    const place = { namespace: NAMESPACE, owner: undefined, present: undefined };
    return this.secrets.write({ kind: "secret", ...fields }, place, signal);
  }

  async watched(): Promise<string> {
    return textIn(await this.secrets.watched(NAMESPACE, NAME, signal));
  }

  async live(): Promise<string> {
    return textIn(await this.secrets.shared(NAMESPACE, NAME, this.secrets.mark(), signal));
  }
}

const base64 = (text: string): string => Buffer.from(text).toString("base64");
const textIn = (view: SecretView | undefined): string =>
  Buffer.from(view?.data.reveal().credentials ?? "", "base64").toString();

test("credentials of one version are read once, at a time or one after the other", async () => {
  const secret = new ToldSecret();
  secret.tell(await secret.create("one"));
  const ask = (): Promise<string> => secret.watched();
  assert.deepEqual(await Promise.all([ask(), ask(), ask()]), ["one", "one", "one"]);
  assert.equal(await ask(), "one");
  assert.equal(secret.reads, 1);
});

test("what was read is no answer for a version that the watch tells of since", async () => {
  const secret = new ToldSecret();
  secret.tell(await secret.create("one"));
  await secret.watched();
  const changed = await secret.change("two");
  assert.equal(await secret.watched(), "one", "nobody has told of another");
  secret.tell(changed);
  assert.equal(await secret.watched(), "two");
  assert.equal(secret.reads, 2);
});

test("a read that is under way for the version before is no answer", async () => {
  const secret = new ToldSecret();
  secret.tell(await secret.create("one"));
  const early = secret.watched();
  const changed = secret.change("two");
  const late = changed.then((object) => {
    secret.tell(object);
    return secret.watched();
  });
  await early;
  assert.equal(await late, "two");
});

test("once something newer was read than the watch tells of, the older is not given out again", async () => {
  const secret = new ToldSecret();
  secret.tell(await secret.create("one"));
  await secret.watched();
  await secret.change("two");
  assert.equal(await secret.live(), "two");
  assert.equal(await secret.watched(), "two");
  await secret.change("three");
  assert.equal(await secret.watched(), "three", "of what the watch does not know nothing is kept");
});

test("what this process has written itself is read, until the watch tells of it", async () => {
  const secret = new ToldSecret();
  const made = await secret.create("one");
  secret.tell(made);
  await secret.watched();
  await secret.write("two", { uid: made.metadata.uid ?? "", version: made.metadata.resourceVersion ?? "" });
  assert.equal(await secret.watched(), "two");
});

test("an echo is what this process wrote over something, and nothing else", async () => {
  const secret = new ToldSecret();
  const made = await secret.create("one");
  secret.tell(made);
  const over = { uid: made.metadata.uid ?? "", version: made.metadata.resourceVersion ?? "" };
  const { version } = await secret.write("two", over);
  const entryOf = (resourceVersion: string) => {
    return { key: `${NAMESPACE}/${NAME}`, uid: over.uid, resourceVersion, record: {} };
  };
  const old = entryOf(over.version);
  const { key } = old;
  const isEcho = (resourceVersion: string): boolean =>
    secret.secrets.isEcho({ type: "updated", via: "watch", key, old, entry: entryOf(resourceVersion) });
  assert.equal(isEcho(version), true);
  assert.equal(isEcho(`${version}0`), false, "somebody else wrote after that");
  assert.equal(
    secret.secrets.isEcho({ type: "added", via: "watch", key, entry: entryOf(version) }),
    false,
    "it is new",
  );
});

test("nothing is known of what is not watched, and after a while of nothing", async () => {
  const secret = new ToldSecret();
  const made = await secret.create("one");
  await secret.watched();
  await secret.watched();
  assert.equal(secret.reads, 2, "the watch has not told of it");
  secret.tell(made);
  await secret.watched();
  assert.equal(secret.reads, 2);
  await secret.clock.advance(10_000);
  await secret.watched();
  assert.equal(secret.reads, 3);
});
