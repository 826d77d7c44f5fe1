import assert from "node:assert/strict";
import { test } from "node:test";
import { BadRequest, Forbidden } from "../../../kube/errors.ts";
import type { KubeObject, ResourceType } from "../../../kube/objects.ts";
import type { CallOptions, Kube } from "../../../kube/port.ts";
import { secretType } from "../../../publish/secret-publisher.ts";
import { type ActingOptions, actingKube } from "./acting-kube.ts";
import { RotationNotAllowed } from "./rotation-class-rules.ts";

const widgets: ResourceType = { group: "x.dev", version: "v1", plural: "widgets", kind: "Widget", namespaced: true };
const others: ResourceType = { ...widgets, plural: "others", kind: "Other" };
const USER = "system:serviceaccount:shop:rotator";
const objectIn = (namespace: string | undefined): KubeObject => ({
  apiVersion: "x.dev/v1",
  kind: "Widget",
  metadata: { name: "a", ...(namespace !== undefined && { namespace }) },
});

/** A Kube that notes who asked, and answers what it is told to. */
function recording(answer: (as: string | undefined) => unknown = () => ({ items: [], resourceVersion: "1" })) {
  const callers: (string | undefined)[] = [];
  const note = async (options: CallOptions = {}): Promise<never> => {
    callers.push(options.as);
    return answer(options.as) as never;
  };
  const kube: Kube = {
    get: (_type, _ref, options) => note(options),
    list: (_type, options) => note(options),
    create: (_type, _object, options) => note(options),
    replace: (_type, _object, options) => note(options),
    patch: (_type, _ref, _patch, options) => note(options),
    delete: (_type, _ref, options) => note(options),
    watch: () => assert.fail("watched"),
    fetch: () => assert.fail("fetched"),
    discover: () => assert.fail("discovered"),
    close: () => assert.fail("closed"),
  };
  return { kube, callers };
}

const acting = (kube: Kube, changes: Partial<ActingOptions> = {}): Kube =>
  actingKube({
    kube,
    account: { namespace: "shop", name: "rotator" },
    isWithinBounds: ({ type, name }) => [widgets, secretType].includes(type) && name !== "not-ours",
    ensureAllowed: () => {},
    ...changes,
  });

const calls = (type: ResourceType, namespace: string | undefined) => {
  const ref = { name: "a", ...(namespace !== undefined && { namespace }) };
  return {
    get: (kube: Kube) => kube.get(type, ref),
    list: (kube: Kube) => kube.list(type, namespace === undefined ? {} : { namespace }),
    create: (kube: Kube) => kube.create<KubeObject>(type, objectIn(namespace)),
    replace: (kube: Kube) => kube.replace(type, objectIn(namespace)),
    patch: (kube: Kube) => kube.patch(type, ref, { type: "merge", body: {} }),
    delete: (kube: Kube) => kube.delete(type, ref),
  };
};

test("children and Secrets of the own namespace are asked for as the account", async () => {
  for (const type of [widgets, secretType]) {
    for (const [verb, call] of Object.entries(calls(type, "shop"))) {
      const { kube, callers } = recording();
      await call(acting(kube));
      assert.deepEqual(callers, [USER], `${verb} ${type.kind}`);
    }
  }
});

test("nothing else is asked for at all", async () => {
  const outOfBounds = [...Object.entries(calls(others, "shop")), ...Object.entries(calls(widgets, "kube-system"))];
  for (const [verb, call] of [...outOfBounds, ...Object.entries(calls(secretType, undefined))]) {
    const { kube, callers } = recording();
    await assert.rejects(call(acting(kube)), BadRequest, verb);
    assert.deepEqual(callers, [], verb);
  }
  const { kube } = recording();
  assert.throws(() => acting(kube).watch(widgets, {}), BadRequest);
  assert.throws(() => acting(kube).fetch("/version"), BadRequest);
  assert.throws(() => acting(kube).discover("x.dev", "v1"), BadRequest);
  await acting(kube).close();
});

test("what is not its own is neither touched nor seen", async () => {
  const items = ["a", "not-ours"].map((name) => ({ ...objectIn("shop"), metadata: { namespace: "shop", name } }));
  const { kube, callers } = recording(() => ({ items, resourceVersion: "1" }));
  const seen = await acting(kube).list(widgets, { namespace: "shop" });
  assert.deepEqual(
    seen.items.map(({ metadata }) => metadata.name),
    ["a"],
  );
  const ref = { namespace: "shop", name: "not-ours" };
  await assert.rejects(acting(kube).get(widgets, ref), BadRequest);
  await assert.rejects(acting(kube).delete(widgets, ref), BadRequest);
  assert.equal(callers.length, 1);
});

test("whether it is allowed is asked before every call, not once", async () => {
  for (const [verb, call] of Object.entries(calls(widgets, "shop"))) {
    const { kube, callers } = recording();
    let isAllowed = true;
    const ensureAllowed = (): void => {
      if (!isAllowed) throw new RotationNotAllowed("not any more");
    };
    const guarded = acting(kube, { ensureAllowed });
    await call(guarded);
    isAllowed = false;
    await assert.rejects(call(guarded), RotationNotAllowed, verb);
    assert.equal(callers.length, 1, verb);
  }
});

const forbidden = new Forbidden('widgets.x.dev "a" is forbidden', { status: 403 });
const answering = (allowed: boolean) =>
  recording((as) => {
    if (as !== undefined) throw forbidden;
    return { ...objectIn(undefined), status: { allowed } };
  });

test("whose right is missing, the account's or the operator's, is told apart", async () => {
  const ofAccount = answering(true);
  await assert.rejects(acting(ofAccount.kube).get(widgets, { namespace: "shop", name: "a" }), forbidden);
  const ofOperator = answering(false);
  await assert.rejects(
    acting(ofOperator.kube).get(widgets, { namespace: "shop", name: "a" }),
    (error) =>
      error instanceof Forbidden &&
      error.status === 403 &&
      /^the operator may not act as the ServiceAccount shop\/rotator: give it the right to impersonate/.test(
        error.message,
      ),
  );
});
