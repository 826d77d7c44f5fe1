import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { ManualClock, settle } from "../../base/manual-clock.ts";
import { NotFound } from "../../kube/errors.ts";
import type { KubeObject, ObjectRef, ResourceType } from "../../kube/objects.ts";

import { fingerprinter } from "../../restart/restart.fixture.ts";
import { digestFor } from "../../restart/source-digests.ts";
import { SourceReader } from "./source-reader.ts";

const signal = new AbortController().signal;
const CANARY = "canary-7b1e";

/** A server with one Secret after the other, whose answers come when the test says so. */
class Server {
  readonly objects = new Map<string, KubeObject>();
  readonly asked: string[] = [];
  readonly #answers: (() => void)[] = [];
  readonly clock = new ManualClock();
  isHeld = false;
  /** What the watch says, where it is not what is there. */
  watchedVersion: string | undefined;

  put(name: string, version: string, password: string): void {
    const metadata = { namespace: "shop", name, uid: name, resourceVersion: version };
    const data = { password: Buffer.from(password).toString("base64") };
    this.objects.set(name, { apiVersion: "v1", kind: "Secret", metadata, data });
  }

  async get({ kind }: ResourceType, { name }: ObjectRef): Promise<KubeObject> {
    this.asked.push(`${kind}/${name}`);
    if (this.isHeld) await new Promise<void>((resolve) => this.#answers.push(resolve));
    const object = this.objects.get(name);
    if (!object) throw new NotFound(`there is no ${name}`);
    return object;
  }

  get waiting(): number {
    return this.#answers.length;
  }

  async answer(): Promise<void> {
    this.#answers.shift()?.();
    await settle();
  }

  reader(): SourceReader {
    return new SourceReader({
      kube: this,
      clock: this.clock,
      fingerprinter,
      reloader: false,
      versionOf: (_, source) =>
        this.watchedVersion ?? this.objects.get(source.slice(source.indexOf("/") + 1))?.metadata.resourceVersion,
    });
  }
}

test("what was read of a version is known from then on, and nothing of another version", async () => {
  const server = new Server();
  const reader = server.reader();
  server.put("db", "5", "one");
  assert.equal(reader.known("shop", "secret/db", "5"), undefined);
  const read = await reader.read("shop", "secret/db", reader.mark(), signal);
  assert.equal(reader.known("shop", "secret/db", "5"), read);
  assert.equal(reader.known("shop", "secret/db", "6"), undefined);
  assert.equal(reader.known("other", "secret/db", "5"), undefined);
  server.put("db", "6", "two");
  const next = await reader.read("shop", "secret/db", reader.mark(), signal);
  assert.notEqual(next?.digests.all, read?.digests.all);
  assert.notEqual(
    next && digestFor(next.digests, { keys: ["password"] }),
    read && digestFor(read.digests, { keys: ["password"] }),
  );
  assert.equal(reader.known("shop", "secret/db", "5"), undefined, "one version is kept");
});

test("a source that is not there is undefined, and what was known of it is forgotten", async () => {
  const server = new Server();
  const reader = server.reader();
  server.put("db", "5", "one");
  await reader.read("shop", "secret/db", reader.mark(), signal);
  server.objects.delete("db");
  assert.equal(await reader.read("shop", "secret/db", reader.mark(), signal), undefined);
  assert.equal(reader.known("shop", "secret/db", "5"), undefined);
});

test("many who ask cost one read, and a read that began too early is nobody's", async () => {
  const server = new Server();
  const reader = server.reader();
  server.put("db", "5", "one");
  server.isHeld = true;
  const ask = () => reader.read("shop", "secret/db", reader.mark(), signal);
  const early = [ask(), ask(), ask()];
  await settle();
  assert.equal(server.asked.length, 1);
  const late = ask();
  await server.answer();
  server.put("db", "6", "two");
  await server.answer();
  assert.deepEqual(
    (await Promise.all(early)).map((reading) => reading?.resourceVersion),
    ["5", "5", "5"],
  );
  assert.equal((await late)?.resourceVersion, "6");
});

const laterWorkloads: readonly {
  readonly reason: string;
  readonly reads: number;
  readonly meanwhile?: (server: Server) => Promise<unknown>;
  readonly isSeenAfter?: boolean;
}[] = [
  { reason: "seen before the read began", reads: 1 },
  { reason: "written since: what it was compared with may be newer", reads: 2, isSeenAfter: true },
  { reason: "the read is a second old", reads: 2, meanwhile: ({ clock }) => clock.advance(1000) },
  {
    reason: "the watch knows of another version",
    reads: 2,
    meanwhile: async (server) => {
      server.watchedVersion = "6";
    },
  },
];

for (const { reason, reads, meanwhile, isSeenAfter } of laterWorkloads) {
  test(`a read of a moment ago, for a workload: ${reason}`, async () => {
    const server = new Server();
    const reader = server.reader();
    server.put("db", "5", "one");
    const seenAt = reader.mark();
    await reader.read("shop", "secret/db", seenAt, signal);
    await meanwhile?.(server);
    const later = await reader.read("shop", "secret/db", isSeenAfter ? reader.mark() : seenAt, signal);
    assert.equal(later?.resourceVersion, "5");
    assert.equal(server.asked.length, reads);
  });
}

test("at most eight reads at a time", async () => {
  const server = new Server();
  const reader = server.reader();
  server.isHeld = true;
  const all = Array.from({ length: 20 }, (_, index) => reader.read("shop", `configmap/c-${index}`, 0, signal));
  await settle();
  assert.equal(server.waiting, 8);
  await server.answer();
  assert.equal(server.asked.length, 9);
  while (server.waiting > 0) await server.answer();
  assert.equal((await Promise.all(all)).length, 20);
});

test("nothing of a value is kept", async () => {
  const server = new Server();
  const reader = server.reader();
  server.put("db", "5", CANARY);
  const reading = await reader.read("shop", "secret/db", reader.mark(), signal);
  for (const shown of [
    inspect(reading, { depth: 9 }),
    JSON.stringify(reading),
    inspect(reader, { showHidden: true }),
  ]) {
    assert.ok(!shown.includes(CANARY) && !shown.includes(Buffer.from(CANARY).toString("base64")));
  }
});

test("the latest of many are remembered, and one that was forgotten is read again as it was", async () => {
  const server = new Server();
  const reader = server.reader();
  for (let index = 0; index <= 1024; index++) server.put(`s-${index}`, "5", "one");
  const readAt = (index: number): ReturnType<SourceReader["read"]> =>
    reader.read("shop", `secret/s-${index}`, reader.mark(), signal);
  const first = await readAt(0);
  for (let index = 1; index <= 1024; index++) await readAt(index);
  assert.equal(reader.known("shop", "secret/s-0", "5"), undefined);
  assert.ok(reader.known("shop", "secret/s-1", "5"));
  assert.equal((await readAt(0))?.digests.all, first?.digests.all);
});
