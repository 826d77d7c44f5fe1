import assert from "node:assert/strict";
import { test } from "node:test";
import { embeddedCluster } from "../embedded/embedded-cluster.fixture.ts";
import { Forbidden, NotFound } from "../kube/errors.ts";
import type { Kube } from "../kube/port.ts";
import { namespaceType } from "../reconcile/restart/restart-sources.ts";
import { flagsOf } from "./flags.fixture.ts";
import { ownNamespace, SYSTEM_NAMESPACE } from "./own-namespace.ts";

const OUTSIDE = { namespace: "team", isOfPod: false };
const isThere = (kube: Kube): Promise<boolean> =>
  kube.get(namespaceType, { name: SYSTEM_NAMESPACE }).then(
    () => true,
    () => false,
  );

test("what is the operator's own is where the flag says, in a pod beside it, and elsewhere in the usual place", async () => {
  const { kube } = embeddedCluster();
  assert.equal(await ownNamespace(flagsOf({ "lease-namespace": "here" }), { kube, access: OUTSIDE }), "here");
  assert.equal(await ownNamespace(flagsOf({}), { kube, access: { namespace: "ops", isOfPod: true } }), "ops");
  assert.equal(await isThere(kube), false, "nothing was made for those");
  assert.equal(await ownNamespace(flagsOf({}), { kube, access: OUTSIDE }), SYSTEM_NAMESPACE);
  assert.equal(await isThere(kube), true, "it is made where it is missing");
  assert.equal(await ownNamespace(flagsOf({}), { kube, access: OUTSIDE }), SYSTEM_NAMESPACE, "and found again");
  await assert.rejects(
    ownNamespace(flagsOf({ "lease-namespace": "No Name" }), { kube, access: OUTSIDE }),
    /--lease-namespace: "No Name"/,
  );
});

test("who may not make the namespace is told what to do", async () => {
  const { kube } = embeddedCluster();
  const refuse = (error: Error) => () => Promise.reject(error);
  const missing = { ...kube, get: refuse(new NotFound("no namespace")), create: refuse(new Forbidden("not you")) };
  await assert.rejects(
    ownNamespace(flagsOf({}), { kube: missing, access: OUTSIDE }),
    /kubectl create namespace keyturn-system\), or name another one with --lease-namespace/,
  );
  const unseen = { ...kube, get: refuse(new Forbidden("not you")) };
  assert.equal(await ownNamespace(flagsOf({}), { kube: unseen, access: OUTSIDE }), SYSTEM_NAMESPACE);
});
