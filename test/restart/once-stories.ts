import assert from "node:assert/strict";
import { Conflict, NotFound } from "../../src/kube/errors.ts";
import type { KubeObject } from "../../src/kube/objects.ts";
import { recordOf } from "../../src/kube/record.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { deploymentType } from "../../src/restart/workload-kinds.ts";
import {
  annotationsIn,
  type ClockedStage,
  clockedStory,
  type RestartStage,
  type Story,
  story,
} from "./restart-stage.ts";
import { configVolume, podSpec, Shop, secretVolume } from "./shop.ts";

/** One restart for a change: none lost, none twice, none for nothing. */
export const onceStories: readonly Story[] = [
  story("no restart because the operator starts", async (stage) => {
    const shop = new Shop(stage);
    await shop.secret("db", { password: "one" });
    await shop.workload("web");
    await shop.adopted("web");
    await stage.restartOperator();
    await shop.staysAt("web", 0, "Deployment", "on what was known");
    await shop.secret("db", { password: "two" });
    await shop.rolled("web", 1);
    await stage.restartOperator();
    await shop.staysAt("web", 1, "Deployment", "on what was rolled out");
  }),
  story("a change while the operator is down is not lost, and is rolled out once", async (stage) => {
    const shop = new Shop(stage);
    await shop.secret("db", { password: "one" });
    await shop.workload("web");
    await shop.adopted("web");
    await stage.stopOperator();
    await shop.secret("db", { password: "two" });
    await shop.secret("db", { password: "three" });
    await stage.startOperator();
    await shop.rolled("web", 1);
    await shop.staysAt("web", 1);
  }),
  story("no restart for what is not mounted", async (stage) => {
    const shop = new Shop(stage);
    await shop.secret("db", { password: "one", comment: "a" });
    await shop.configMap("settings", { level: "info", colour: "red" });
    const items = [{ key: "password", path: "password" }];
    const env = [{ name: "LEVEL", valueFrom: { configMapKeyRef: { name: "settings", key: "level" } } }];
    const pod = {
      containers: [{ name: "main", image: "example.com/app:1", env }],
      volumes: [secretVolume("db", { items })],
    };
    await shop.workload("web", { pod });
    await shop.adopted("web");
    await shop.secret("db", { password: "one", comment: "b" });
    await shop.configMap("settings", { level: "info", colour: "blue", more: "of it" });
    await shop.secret("other", { password: "of nobody" });
    await shop.merge(secretType, "db", { metadata: { labels: { touched: "yes" } } });
    await shop.staysAt("web", 0);
    await shop.secret("db", { password: "two", comment: "b" });
    await shop.rolled("web", 1);
    await shop.configMap("settings", { level: "debug" });
    await shop.rolled("web", 2);
    await shop.staysAt("web", 2);
  }),
  story("a key that goes restarts nothing; what comes in its place counts by its value", async (stage) => {
    const shop = new Shop(stage);
    await shop.secret("db", { password: "one", comment: "a" });
    const password = { name: "P", valueFrom: { secretKeyRef: { name: "db", key: "password" } } };
    const late = { name: "L", valueFrom: { secretKeyRef: { name: "db", key: "late", optional: true } } };
    const container = { name: "main", image: "example.com/app:1" };
    await shop.workload("web", { pod: { containers: [{ ...container, env: [password] }] } });
    await shop.workload("late", { pod: { containers: [{ ...container, env: [late] }] } });
    await shop.adopted("web");
    await shop.adopted("late");
    await shop.secret("db", { comment: "a" });
    await shop.staysAt("web", 0, "Deployment", "it is gone");
    await shop.secret("db", { password: "one", comment: "a" });
    await shop.staysAt("web", 0, "Deployment", "it is back");
    await shop.deleteSecret("db");
    await shop.secret("db", { comment: "a" });
    await shop.secret("db", { password: "two", comment: "a" });
    await shop.rolled("web", 1);
    await shop.staysAt("late", 0);
    await shop.secret("db", { password: "two", comment: "a", late: "it came" });
    await shop.rolled("late", 1);
    await shop.staysAt("web", 1);
  }),
  story("a Secret to pull images is no reason", async (stage) => {
    const shop = new Shop(stage);
    await shop.secret("registry", { token: "one" });
    await shop.secret("db", { password: "one" });
    await shop.workload("web", { pod: { ...podSpec(secretVolume("db")), imagePullSecrets: [{ name: "registry" }] } });
    await shop.adopted("web");
    await shop.secret("registry", { token: "two" });
    await shop.staysAt("web", 0);
  }),
  story("a Secret that is deleted restarts nothing; what comes in its place counts by its values", async (stage) => {
    const shop = new Shop(stage);
    await shop.secret("db", { password: "one" });
    await shop.workload("web");
    await shop.adopted("web");
    await shop.deleteSecret("db");
    await shop.staysAt("web", 0, "Deployment", "deleted");
    await shop.secret("db", { password: "one" });
    await shop.staysAt("web", 0, "Deployment", "the same again");
    await shop.deleteSecret("db");
    await stage.calm();
    await shop.secret("db", { password: "two" });
    await shop.rolled("web", 1);
    await shop.staysAt("web", 1);
  }),
  story("an optional Secret that comes is a change; one that pods cannot do without is not", async (stage) => {
    const shop = new Shop(stage);
    await shop.secret("other", { a: "1" });
    await shop.workload("may", { pod: podSpec(secretVolume("db", { optional: true }), secretVolume("other")) });
    await shop.workload("must", { pod: podSpec(secretVolume("db"), secretVolume("other")) });
    await shop.adopted("may");
    await shop.adopted("must");
    await stage.calm();
    await shop.secret("db", { password: "one" });
    await shop.rolled("may", 1);
    await shop.staysAt("may", 1);
    await shop.staysAt("must", 0, "Deployment", "its pods have waited for it, and started with it");
    await shop.secret("db", { password: "two" });
    await shop.rolled("must", 1);
    await shop.rolled("may", 2);
  }),
  story("a use that is added, or taken away, restarts nothing more than it does by itself", async (stage) => {
    const shop = new Shop(stage);
    await shop.secret("db", { password: "one" });
    await shop.configMap("settings", { level: "info" });
    await shop.workload("web");
    await shop.adopted("web");
    const volumes = [secretVolume("db"), configVolume("settings")];
    await shop.merge(deploymentType, "web", { spec: { template: { spec: { volumes } } } });
    await stage.until("its own rollout", async () => (await shop.rolls("web")) === 1);
    await shop.staysAt("web", 1);
    await shop.configMap("settings", { level: "debug" });
    await shop.rolled("web", 2);
    await shop.staysAt("web", 2);
  }),
  story("digests are keyed and say nothing to others: equal values differ from name to name", async (stage) => {
    const shop = new Shop(stage);
    await shop.secret("db", { password: "one" });
    await shop.secret("cache", { password: "one" });
    await shop.workload("web", { pod: podSpec(secretVolume("db"), secretVolume("cache")) });
    await shop.adopted("web");
    await shop.secret("db", { password: "two" });
    await shop.secret("cache", { password: "two" });
    await shop.rolled("web", 1);
    const text = (await shop.digests("web")) ?? "";
    const [cache = "", db = ""] = text.split(",").map((one) => one.split("=")[1] ?? "");
    assert.match(db, /^a\.[0-9a-f]{8}\.[\w-]{22}$/);
    assert.notEqual(db, cache);
    const state = JSON.stringify(await shop.state("web"));
    assert.ok(!state.includes("two") && !state.includes(Buffer.from("two").toString("base64")));
  }),
  story("writes are server-side applies of annotations alone", async (stage) => {
    const shop = new Shop(stage);
    await shop.secret("db", { password: "one" });
    await shop.workload("web");
    await shop.adopted("web");
    await shop.secret("db", { password: "two" });
    await shop.rolled("web", 1);
    const { metadata } = await shop.get("Deployment", "web");
    const ours = (metadata.managedFields ?? []) as readonly { manager: string; operation: string; fieldsV1: object }[];
    const entries = ours.filter(({ manager }) => manager.startsWith("keyturn-restart"));
    assert.ok(entries.length > 0);
    for (const { operation, fieldsV1 } of entries) {
      assert.equal(operation, "Apply");
      const names = [...JSON.stringify(fieldsV1).matchAll(/"f:([^"]+)"/g)].map(([, name]) => name);
      const allowed = /^(metadata|annotations|spec|template|keyturn\.dev\/(restart-state|digests|restartedAt))$/;
      for (const name of names) assert.match(name ?? "", allowed);
    }
  }),
  story("what is adopted after a restart leaves the pod template alone", async (stage) => {
    const shop = new Shop(stage);
    await shop.secret("db", { password: "one" });
    await shop.workload("web");
    await shop.adopted("web");
    await shop.secret("db", { password: "two" });
    await shop.rolled("web", 1);
    const template = await shop.template("web");
    await shop.secret("cache", { password: "one" });
    const volumes = [secretVolume("db"), secretVolume("cache")];
    await shop.merge(deploymentType, "web", { spec: { template: { spec: { volumes } } } });
    await stage.until("cache to be known", async () =>
      JSON.stringify(await shop.state("web")).includes("secret/cache"),
    );
    assert.deepEqual(await shop.template("web"), template);
    await shop.staysAt("web", 2, "Deployment", "one by us, one by who added the volume");
  }),
];

const gitOps = (title: string, revert: (shop: Shop) => Promise<void>, rolls: number): Story =>
  story(`what GitOps reverts is not fought over: ${title}`, async (stage) => {
    const shop = new Shop(stage);
    await shop.secret("db", { password: "one" });
    await shop.workload("web");
    await shop.adopted("web");
    await shop.secret("db", { password: "two" });
    await shop.rolled("web", 1);
    await shop.complete("web", 2);
    for (let round = 0; round < 3; round++) {
      await revert(shop);
      await stage.calm();
    }
    assert.equal(await shop.rolls("web"), rolls);
    await shop.secret("db", { password: "three" });
    await shop.rolled("web", rolls + 1);
  });

const ownAway = (shop: Shop): Promise<void> =>
  shop.annotate(deploymentType, "web", { "keyturn.dev/restart-state": null });
export const templateAway = (shop: Shop): Promise<void> => {
  const annotations = { "keyturn.dev/digests": null, "keyturn.dev/restartedAt": null };
  return shop.merge(deploymentType, "web", { spec: { template: { metadata: { annotations } } } });
};

/** As kubectl does it: the template of the former ReplicaSet, and its annotations. */
export async function undo({ kube, namespace }: RestartStage, before: KubeObject): Promise<void> {
  const [path, value] = ["/metadata/annotations/keyturn.dev~1restart-state", annotationsIn(before)[STATE] ?? ""];
  const template = recordOf(recordOf(recordOf(before.spec).template).metadata).annotations;
  const body = [
    { op: "replace", path: "/spec/template/metadata/annotations", value: template },
    { op: "replace", path, value },
  ];
  const ref = { namespace, name: before.metadata.name };
  await kube.patch(deploymentType, ref, { type: "json", body }, { fieldManager: "kubectl-rollout" });
}

/** Whoever undoes a rollout means it. */
const undone: Story = story("a restart that is over and is undone is not rolled forward again", async (stage) => {
  const shop = new Shop(stage);
  await shop.secret("db", { password: "one" });
  await shop.workload("web");
  await shop.adopted("web");
  const before = await shop.get("Deployment", "web");
  await shop.secret("db", { password: "two" });
  await shop.rolled("web", 1);
  await shop.complete("web", 2);
  await undo(stage, before);
  await stage.calm();
  const rolls = await shop.rolls("web");
  assert.equal(await shop.digests("web"), undefined, "the template is as it was");
  await shop.staysAt("web", rolls);
  await shop.secret("db", { password: "three" });
  await shop.rolled("web", rolls + 1);
});

export const revertStories: readonly Story[] = [
  gitOps("the state", ownAway, 1),
  gitOps("the pod template", templateAway, 2),
  gitOps(
    "both",
    async (shop) => {
      await ownAway(shop);
      await templateAway(shop);
    },
    2,
  ),
  story("a workload that is deleted while it is to be restarted stays deleted", async (stage) => {
    const shop = new Shop(stage);
    await shop.secret("db", { password: "one" });
    await shop.workload("web");
    await shop.adopted("web");
    const { metadata } = await shop.get("Deployment", "web");
    const ref = { namespace: stage.namespace, name: "web" };
    await stage.kube.delete(deploymentType, ref, { propagationPolicy: "Background" });
    const { uid = "", resourceVersion = "" } = metadata;
    const identity = { ...ref, uid, resourceVersion, annotations: { [STATE]: "{}" } };
    const body = { apiVersion: "apps/v1", kind: "Deployment", metadata: identity };
    // What an operator that has not seen the deletion sends.
    const patch = { type: "apply", body, force: true } as const;
    const late = stage.kube.patch(deploymentType, ref, patch, { fieldManager: "keyturn-restart-state" });
    await assert.rejects(late, (error) => error instanceof Conflict || error instanceof NotFound);
    await shop.secret("db", { password: "two" });
    await stage.calm();
    assert.equal(await shop.exists("Deployment", "web"), false);
  }),
  story("what a policy refuses is said, and done when the policy lets it", async (stage) => {
    const shop = new Shop(stage);
    await shop.secret("db", { password: "one" });
    await shop.workload("web");
    await shop.adopted("web");
    const name = `no-restarts-${stage.namespace}`;
    const types = (plural: string, kind: string) => ({ ...POLICIES, plural, kind });
    const [policies, bindings] = [
      types("validatingadmissionpolicies", "ValidatingAdmissionPolicy"),
      types("validatingadmissionpolicybindings", "ValidatingAdmissionPolicyBinding"),
    ];
    const apiVersion = "admissionregistration.k8s.io/v1";
    const resourceRules = [
      { apiGroups: ["apps"], apiVersions: ["v1"], resources: ["deployments"], operations: ["UPDATE"] },
    ];
    const expression = `object.metadata.namespace != '${stage.namespace}' || !has(object.spec.template.metadata.annotations) || !('keyturn.dev/digests' in object.spec.template.metadata.annotations)`;
    const validations = [{ expression, message: "not in the busy season" }];
    const spec = { failurePolicy: "Fail", matchConstraints: { resourceRules }, validations };
    await stage.kube.create(policies, { apiVersion, kind: policies.kind, metadata: { name }, spec });
    await stage.kube.create(bindings, {
      apiVersion,
      kind: bindings.kind,
      metadata: { name },
      spec: { policyName: name, validationActions: ["Deny"] },
    });
    await stage.calm();
    await shop.secret("db", { password: "two" });
    await stage.until("the refusal to be told", async () => (await shop.events("RestartRefused")).length > 0);
    assert.match(String((await shop.events("RestartRefused"))[0]?.note), /not in the busy season/);
    assert.equal(await shop.rolls("web"), 0);
    await stage.kube.delete(bindings, { name });
    await stage.kube.delete(policies, { name });
    await shop.rolled("web", 1);
    assert.equal((await shop.events("RestartRefused")).length, 1, "once");
  }),
  undone,
  story("a copy of a workload, state and all, starts from what is there", async (stage) => {
    const shop = new Shop(stage);
    await shop.secret("db", { password: "one" });
    await shop.workload("web");
    await shop.adopted("web");
    const { metadata } = await shop.get("Deployment", "web");
    await stage.stopOperator();
    await shop.secret("db", { password: "two" });
    await shop.workload("copy", { own: { [STATE]: annotationsIn({ metadata })[STATE] ?? "" } });
    await stage.startOperator();
    await shop.rolled("web", 1);
    await shop.staysAt("copy", 0, "Deployment", "its pods started on the second value");
  }),
];

const STATE = "keyturn.dev/restart-state";
const POLICIES = { group: "admissionregistration.k8s.io", version: "v1", namespaced: false };

/** With an operator that dies, or has a twin. */
export const crashStories: readonly Story<ClockedStage>[] = [
  // The key of the fingerprints, what is adopted, and two restarts.
  ...([1, 2, 3, 4] as const).flatMap((write) =>
    (["before", "after"] as const).map((side) =>
      clockedStory(`killed ${side} write ${write}: each change is rolled out once`, async (stage) => {
        const shop = new Shop(stage);
        let deaths = 0;
        const revive = async (): Promise<void> => {
          await stage.advance(10_000);
          if (!stage.isDead) return;
          deaths++;
          await stage.restartOperator();
        };
        await shop.secret("db", { password: "one" });
        stage.killAt(write, side);
        await shop.workload("web");
        await revive();
        await shop.adopted("web");
        await shop.secret("db", { password: "two" });
        await revive();
        await shop.rolled("web", 1);
        await shop.secret("db", { password: "three" });
        await revive();
        await shop.rolled("web", 2);
        assert.equal(deaths, 1, "it was killed");
        await stage.restartOperator();
        await shop.staysAt("web", 2);
      }),
    ),
  ),
  clockedStory("two operators that do not know of each other restart once", async (stage) => {
    const shop = new Shop(stage);
    await stage.addOperator();
    await shop.secret("db", { password: "one" });
    for (const name of ["a", "b", "c"]) await shop.workload(name);
    for (const name of ["a", "b", "c"]) await shop.adopted(name);
    for (const password of ["two", "three", "four"]) {
      await shop.secret("db", { password });
      await stage.calm();
    }
    for (const name of ["a", "b", "c"]) await shop.staysAt(name, 3);
  }),
];
