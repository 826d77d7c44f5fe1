import assert from "node:assert/strict";
import { test } from "node:test";
import { ManualClock } from "../base/manual-clock.ts";
import { BadRequest } from "./errors.ts";
import { impersonating, onBehalfOf, serviceAccountUser } from "./impersonating.ts";
import { createKubeClient } from "./kube-client.ts";
import type { KubeObject, ResourceType } from "./objects.ts";
import type { Kube } from "./port.ts";
import type { TransportRequest } from "./transport.ts";

const secrets: ResourceType = { group: "", version: "v1", plural: "secrets", kind: "Secret", namespaced: true };
const ref = { namespace: "shop", name: "s" };
const secret: KubeObject = { apiVersion: "v1", kind: "Secret", metadata: ref };
const user = serviceAccountUser({ namespace: "shop", name: "rotator" });

/** Whatever is asked for, the answer is not what the caller wants: only the request counts here. */
function setUp(): { readonly kube: Kube; readonly requests: TransportRequest[]; isClosed(): boolean } {
  const requests: TransportRequest[] = [];
  let isClosed = false;
  const transport = {
    async send(request: TransportRequest) {
      requests.push(request);
      return { status: 503, headers: {}, body: (async function* () {})() };
    },
    async close() {
      isClosed = true;
    },
  };
  const kube = createKubeClient({ transport, clock: new ManualClock(), userAgent: "keyturn/1" });
  return { kube, requests, isClosed: () => isClosed };
}

async function firstEvent(events: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of events) return;
}

const calls: Readonly<Record<Exclude<keyof Kube, "close">, (kube: Kube) => Promise<unknown>>> = {
  get: (kube) => kube.get(secrets, ref),
  list: (kube) => kube.list(secrets, { namespace: "shop", labelSelector: "a=b" }),
  watch: (kube) => firstEvent(kube.watch(secrets, { namespace: "shop" })),
  create: (kube) => kube.create(secrets, secret),
  replace: (kube) => kube.replace(secrets, secret),
  patch: (kube) => kube.patch(secrets, ref, { type: "merge", body: {} }),
  delete: (kube) => kube.delete(secrets, ref, { uid: "u" }),
  fetch: (kube) => kube.fetch("/version"),
  discover: (kube) => kube.discover("x.dev", "v1"),
};

test("every call is made as that user, and without it as oneself", async () => {
  for (const [name, call] of Object.entries(calls)) {
    const { kube, requests } = setUp();
    await assert.rejects(call(impersonating(kube, user)));
    await assert.rejects(call(kube));
    assert.deepEqual(
      requests.map(({ headers }) => headers["impersonate-user"]),
      ["system:serviceaccount:shop:rotator", undefined],
      name,
    );
    const [first, second] = requests.map(({ method, path, body }) => ({ method, path, body }));
    assert.deepEqual(first, second, `${name}: nothing else differs`);
  }
});

test("nobody becomes somebody else by wrapping again, or by an option", async () => {
  const { kube, requests } = setUp();
  const acting = impersonating(kube, user);
  await assert.rejects(acting.get(secrets, ref, { as: "system:admin" }));
  assert.equal(requests[0]?.headers["impersonate-user"], user);
});

test("a name that no header can carry is refused before anything is sent", async () => {
  for (const name of ["", "a\r\nimpersonate-group: system:masters", "käse", "a b"]) {
    const { kube, requests } = setUp();
    await assert.rejects(impersonating(kube, name).get(secrets, ref), BadRequest);
    assert.equal(requests.length, 0, JSON.stringify(name));
  }
});

test("connections are not closed by whoever only acts as somebody", async () => {
  const { kube, isClosed } = setUp();
  await impersonating(kube, user).close();
  assert.equal(isClosed(), false);
});

test("every call says on whose behalf it is made, and still as whom", async () => {
  for (const [name, call] of Object.entries(calls)) {
    const { kube, requests } = setUp();
    await call(impersonating(onBehalfOf(kube, "btp"), user)).catch(() => {});
    assert.equal(requests[0]?.headers["user-agent"], "keyturn/1 (btp)", name);
    assert.equal(requests[0]?.headers["impersonate-user"], user, name);
  }
});

test("on whose behalf is asked at each call, where that may change", async () => {
  for (const [name, call] of Object.entries(calls)) {
    const { kube, requests } = setUp();
    const callers = ["btp"];
    const theirs = onBehalfOf(kube, () => callers.join(","));
    await call(theirs).catch(() => {});
    callers.push("restart");
    await call(theirs).catch(() => {});
    assert.deepEqual(
      requests.map(({ headers }) => headers["user-agent"]),
      ["keyturn/1 (btp)", "keyturn/1 (btp,restart)"],
      name,
    );
  }
});
