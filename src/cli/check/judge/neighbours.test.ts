import assert from "node:assert/strict";
import { test } from "node:test";
import { controllerNeeds } from "../../../install/permissions.ts";
import type { KubeObject } from "../../../kube/objects.ts";
import { seen, unseen } from "../finding.ts";
import { judgeNeighbours } from "./neighbours.ts";

const ALL = [...controllerNeeds.keys()];

const running = (image: string, replicas?: number): KubeObject => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { namespace: "them", name: "other" },
  spec: { ...(replicas !== undefined && { replicas }), template: { spec: { containers: [{ name: "main", image }] } } },
});

const said = (deployment: KubeObject, controllers: readonly string[] = ALL): string =>
  judgeNeighbours({ deployments: seen([deployment]), controllers })
    .map(({ level, message }) => `${level} ${message.replace(/, which .*/, "")}`)
    .join();

test("who else is at work is told by images, and only where it matters", () => {
  const cases: readonly (readonly [
    deployment: KubeObject,
    controllers: readonly string[],
    said: string,
    reason: string,
  ])[] = [
    [
      running("xpkg.example/sap/crossplane-provider-btp:v1.2.0"),
      ALL,
      "hint seems to be crossplane-provider-btp",
      "a Crossplane provider",
    ],
    [
      running("example/provider-btp-controller:v1"),
      ALL,
      "hint seems to be crossplane-provider-btp",
      "its controller image",
    ],
    [
      running("example/crossplane-provider-cloudfoundry@sha256:00"),
      ["cloudfoundry-rotating"],
      "hint seems to be crossplane-provider-cloudfoundry",
      "by digest",
    ],
    [
      running("ghcr.example/sap/sap-btp-service-operator/controller:v0.6"),
      ALL,
      "hint seems to be sap-btp-service-operator",
      "the operator of SAP",
    ],
    [running("example:5000/stakater/reloader:v1.4"), ["restart"], "hint seems to be Reloader", "Reloader, and a port"],
    [running("example/korifi-controllers:0.15"), ["cf-apps"], "hint seems to be Korifi", "Korifi"],
    [running("example/firestoned/bindy:0.1"), ["bind9-keys"], "hint seems to be Bindy", "Bindy"],
    [running("example/stakater/reloader:v1.4"), ["btp"], "", "nothing of ours restarts anything"],
    [running("example/stakater/reloader:v1.4", 0), ALL, "", "it is stopped"],
    [running("example/config-reloader:v1"), ALL, "", "a name that only sounds like it"],
    [running("example/shop:v1"), ALL, "", "an application"],
  ];
  for (const [deployment, controllers, expected, reason] of cases) {
    assert.equal(said(deployment, controllers), expected, reason);
  }
});

test("Deployments that may not be listed are a hint", () => {
  const findings = judgeNeighbours({ deployments: unseen("forbidden"), controllers: ALL });
  assert.deepEqual(
    findings.map(({ level }) => level),
    ["hint"],
  );
});
