import assert from "node:assert/strict";
import { test } from "node:test";
import { definitionOf } from "../../api/custom-resource.ts";
import { korifiResources } from "../../api/korifi/korifi-resources.ts";
import { embeddedCluster } from "../../embedded/embedded-cluster.fixture.ts";
import { bindingObject, instanceObject } from "../../korifi/korifi.fixture.ts";
import { Forbidden } from "../../kube/errors.ts";
import type { KubeObject } from "../../kube/objects.ts";
import type { Kube } from "../../kube/port.ts";
import { secretType } from "../../publish/secret-publisher.ts";
import { crdType } from "../../runtime/operator.ts";
import { ObjectRefused } from "../objects/owned-objects.ts";
import { AppSecrets } from "./app-secrets.ts";
import { korifiSources } from "./korifi-sources.ts";
import { LiveSecrets } from "./live-secrets.ts";
import { ToldCaches } from "./told-caches.fixture.ts";

const SPACE = "default";
const { signal } = new AbortController();

test("a Secret that the server refuses is told to whoever looks after the bindings, until it is taken", async () => {
  const { kube: open, clock } = embeddedCluster();
  for (const resource of korifiResources) await open.create<KubeObject>(crdType, definitionOf(resource));
  await clock.advance(1_000);
  let isRefusing = true;
  const get: Kube["get"] = (...input) => open.get(...input);
  const create: Kube["create"] = async (...input) => {
    if (isRefusing) throw new Forbidden("a policy has denied it");
    return open.create(...input);
  };
  // Nothing else is called.
  const kube = { get, create } as Kube;
  const data = { credentials: Buffer.from("{}").toString("base64") };
  const metadata = { name: "db", namespace: SPACE };
  await open.create<KubeObject>(secretType, { apiVersion: "v1", kind: "Secret", metadata, data });
  const told = new ToldCaches();
  const inSpace = (object: KubeObject): KubeObject => ({
    ...object,
    metadata: { ...object.metadata, namespace: SPACE, resourceVersion: "1" },
  });
  told.tell(korifiSources.instances, inSpace(instanceObject({ status: { credentials: { name: "db" } } })));
  told.tell(korifiSources.bindings, inSpace(bindingObject()));
  const { caches } = told;
  const apps = new AppSecrets({ kube, caches, secrets: new LiveSecrets({ kube, clock, caches }) });
  const heard: string[] = [];
  apps.troubles.listen((appKey) => void heard.push(appKey));
  for (let attempt = 1; attempt <= 2; attempt++) {
    await assert.rejects(apps.look(SPACE, "shop", signal), ObjectRefused);
    const reasons = apps.troubles.of("default/shop").map(({ reason }) => reason);
    assert.deepEqual([reasons, heard], [["ObjectRefused"], ["default/shop"]], `attempt ${attempt}`);
  }
  isRefusing = false;
  await apps.look(SPACE, "shop", signal);
  assert.deepEqual([apps.troubles.of("default/shop"), heard], [[], ["default/shop", "default/shop"]]);
});
