import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { rotatingResource } from "../../src/api/keyturn/rotating-resource.ts";
import { rotationClass } from "../../src/api/keyturn/rotation-class.ts";
import { Forbidden, Invalid } from "../../src/kube/errors.ts";
import { impersonating, serviceAccountUser } from "../../src/kube/impersonating.ts";
import type { KubeObject } from "../../src/kube/objects.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { certificates } from "../reconcile/foreign-kinds.ts";
import { eventually } from "../support/eventually.ts";
import { pickTarget } from "../support/pick-target.ts";
import { runKeyturn } from "../support/run-keyturn.ts";
import { RightsStage, roleBindings } from "./rights-stage.ts";

/**
 * What the page for RotatingResources says, written down as it says it, and then that nobody gets further by it than the
 * ServiceAccount could go alone. The latter only rights can show, which the embedded server does not enforce.
 */
const target = await pickTarget();

describe(`RotatingResources on the ${target.name} server`, { concurrency: 8, timeout: 180_000 }, () => {
  let stage: RightsStage;
  before(async () => {
    stage = await RightsStage.set(target);
  });
  after(() => stage.strike());

  test("what the page says is enough, for the administrator and for the user", async () => {
    const team = await stage.admit("rights-page");
    await team.write({ rotation: { frequency: "5s", ttl: "8s" } });
    const first = await team.published();
    const second = await team.published(first);
    await eventually("the first child and its Secret to go", async () => {
      const names = [...(await team.children()).map(({ metadata }) => metadata.name), ...(await team.secretNames())];
      return !names.some((name) => name.startsWith(first)) || undefined;
    });
    assert.notEqual(first, second);
    await team.leave();
    await eventually("everything to go", async () => {
      const isGone = (await team.isGone()) && (await team.children()).length === 0;
      return (isGone && (await team.secretNames()).length === 0) || undefined;
    });
  });

  test("the commands know it: status, explain, rotate", async () => {
    const team = await stage.admit("rights-commands");
    await team.write({ rotation: undefined });
    const first = await team.published();
    const run = async (...words: readonly string[]): Promise<string> => {
      const { code, stdout, stderr } = await runKeyturn([...words, "--kubeconfig", stage.kubeconfig]);
      assert.equal(code, 0, stderr);
      return stdout;
    };
    const where = ["rotatingresource", "web", "--namespace", team.namespace];
    assert.match(await run("status", ...where), /web\b/);
    assert.ok((await run("status", ...where, "-o", "json")).includes(first));
    assert.match(await run("explain", ...where), new RegExp(first));
    await run("rotate", ...where);
    await team.published(first);
  });

  if (target.name === "real") defineEnforced();

  function defineEnforced(): void {
    test("who writes one may not read what it publishes", async () => {
      const team = await stage.admit("rights-user");
      await team.write({ rotation: undefined });
      const child = await team.published();
      const ask = { namespace: team.namespace };
      await assert.rejects(team.jane.get(secretType, { ...ask, name: "web-certificate" }), Forbidden);
      await assert.rejects(team.jane.get(certificates, { ...ask, name: child }), Forbidden);
    });

    test("an account without any right: nothing is made, and what is missing is said", async () => {
      const team = await stage.admit("rights-none", ["RoleBinding rotator"]);
      await team.write();
      await team.says(/^False .*User "system:serviceaccount:rights-none:rotator" cannot get resource "secrets"/);
      assert.deepEqual([...(await team.children()), ...(await team.secretNames())], []);
    });

    test("rights to make children, and none to read Secrets", async () => {
      const team = await stage.admit("rights-make");
      await stage.apply(roleOf(team.namespace, [childRights]));
      await team.write();
      await team.says(/^False .*rights-make:rotator" cannot get resource "secrets"/);
      assert.deepEqual(await team.children(), []);
    });

    test("rights to read Secrets, and none to make children", async () => {
      const team = await stage.admit("rights-read");
      await stage.apply(roleOf(team.namespace, [{ ...childRights, verbs: ["get", "list"] }, secretRights]));
      await team.write();
      await team.says(/^False ProviderForbidden: not allowed to create Certificate\.cert-manager\.io .*cannot create/);
      assert.deepEqual(await team.children(), []);
      assert.deepEqual(await team.secretNames(), []);
    });

    test("an account that may read one Secret alone gives no other away", async () => {
      const team = await stage.admit("rights-one");
      const readOne = { ...secretRights, resourceNames: ["web-certificate"] };
      const others = [{ ...secretRights, verbs: ["create", "list"] }, ownerRights];
      await stage.apply(roleOf(team.namespace, [childRights, readOne, ...others]));
      await team.write();
      await team.says(/^False .*rights-one:rotator" cannot get resource "secrets"/);
      assert.equal(await team.secret("web-certificate"), undefined);
    });

    test("an operator that may not act as the account says so, and whose right is missing", async () => {
      const team = await stage.admit("rights-operator", ["RoleBinding keyturn-acts-as-rotator"]);
      await team.write();
      await team.says(
        /^False .*the operator may not act as the ServiceAccount rights-operator\/rotator: give it the right/,
      );
      assert.deepEqual([...(await team.children()), ...(await team.secretNames())], []);
    });

    test("an account of the same name elsewhere, with every right, is another one", async () => {
      await stage.admit("rights-strong");
      const team = await stage.admit("rights-weak", ["RoleBinding rotator"]);
      await team.write({ serviceAccountName: "rotator" });
      await team.says(/^False .*system:serviceaccount:rights-weak:rotator" cannot/);
      await assert.rejects(team.write({ serviceAccountName: "rights-strong:rotator" }), Invalid);
    });

    test("what the class does not list: a kind, an account, a namespace", async () => {
      const others = await stage.admit("rights-class");
      const spec = {
        kinds: [{ group: "external-secrets.io", kind: "ExternalSecret" }],
        serviceAccounts: ["rotator"],
        namespaces: ["rights-class"],
      };
      await stage.kube.patch(rotationClass, { name: "rights-class" }, { type: "merge", body: { spec } });
      await others.write();
      await others.says(/^False RotationNotAllowed: .*Certificate\.cert-manager\.io \(v1\) is not among its kinds/);

      const team = await stage.admit("rights-account");
      await team.write({ serviceAccountName: "default" });
      await team.says(/^False RotationNotAllowed: .*ServiceAccount default is not among its serviceAccounts/);

      const foreign = await stage.admit("rights-foreign");
      await foreign.write({ rotationClassName: "rights-account" });
      await foreign.says(/^False RotationNotAllowed: .*namespace rights-foreign is not among its namespaces/);
      for (const one of [others, team, foreign]) assert.deepEqual(await one.children(), []);
    });

    test("what is never allowed is refused when it is written, in classes and in templates", async () => {
      const team = await stage.admit("rights-never");
      for (const [apiVersion, kind] of [
        ["v1", "Secret"],
        ["v1", "ServiceAccount"],
        ["apps/v1", "Deployment"],
        ["batch/v1", "Job"],
        ["rbac.authorization.k8s.io/v1", "RoleBinding"],
        ["admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration"],
        ["apiextensions.k8s.io/v1", "CustomResourceDefinition"],
        ["keyturn.dev/v1alpha1", "RotatingResource"],
      ] as const) {
        await assert.rejects(team.write({ template: { apiVersion, kind } }), Invalid, kind);
        const [group = "", version] = apiVersion.split("/");
        const kinds = [{ group: version === undefined ? "" : group, kind }];
        const made: KubeObject = {
          apiVersion: "keyturn.dev/v1alpha1",
          kind: "RotationClass",
          metadata: { name: "rights-never-2" },
          spec: { kinds, serviceAccounts: ["rotator"] },
        };
        await assert.rejects(stage.kube.create(rotationClass, made), Invalid, `class with ${kind}`);
      }
    });

    test("another namespace cannot be asked for", async () => {
      const team = await stage.admit("rights-bounds");
      const template = {
        apiVersion: "cert-manager.io/v1",
        kind: "Certificate",
        metadata: { namespace: "kube-system" },
      };
      await assert.rejects(team.write({ template }), Invalid);
      const writeConnectionSecretToRef = { name: "web-certificate", namespace: "kube-system" };
      await team.write({ writeConnectionSecretToRef, rotation: undefined });
      await team.published();
      const { items } = await stage.kube.list(secretType, { namespace: "kube-system" });
      assert.ok(!items.some(({ metadata }) => metadata.name === "web-certificate"), "the field is not even kept");
    });

    test("an account that loses its rights keeps nobody from leaving, and what it made is collected", async () => {
      const team = await stage.admit("rights-lost");
      await team.write({ rotation: undefined });
      await team.published();
      await stage.kube.delete(roleBindings, { namespace: team.namespace, name: "rotator" });
      await team.says(/^False .*rights-lost:rotator" cannot/);
      await team.leave();
      await eventually("it to leave", () => team.isGone());
      const areGone = async () => (await team.children()).length === 0 || undefined;
      // A real garbage collector hears of a new kind up to half a minute late.
      await eventually("its children to be collected", areGone, 90_000);
    });

    test("the operator itself may read no Secret, make no child, and act as nobody it was not told of", async () => {
      const team = await stage.admit("rights-itself", ["RoleBinding keyturn-acts-as-rotator"]);
      const itself = impersonating(
        stage.kube,
        serviceAccountUser({ namespace: stage.operatorNamespace, name: "keyturn" }),
      );
      const { namespace } = team;
      await itself.list(rotatingResource, { namespace });
      for (const [what, call] of Object.entries({
        "read a Secret": () => itself.get(secretType, { namespace, name: "web-certificate" }),
        "list Secrets": () => itself.list(secretType, { namespace }),
        "read a child": () => itself.list(certificates, { namespace }),
        "make a child": () =>
          itself.create<KubeObject>(certificates, {
            apiVersion: "cert-manager.io/v1",
            kind: "Certificate",
            metadata: { namespace, name: "x" },
          }),
        "make a RotatingResource": () =>
          itself.create<KubeObject>(rotatingResource, {
            apiVersion: "keyturn.dev/v1alpha1",
            kind: "RotatingResource",
            metadata: { namespace, name: "x" },
          }),
      })) {
        await assert.rejects(call, Forbidden, what);
      }
    });
  }
});

const childRights = {
  apiGroups: ["cert-manager.io"],
  resources: ["certificates"],
  verbs: ["get", "list", "create", "patch", "delete"],
};
/** To make what holds up the deletion of a RotatingResource. */
const ownerRights = { apiGroups: ["keyturn.dev"], resources: ["rotatingresources/finalizers"], verbs: ["update"] };
const secretRights = {
  apiGroups: [""],
  resources: ["secrets"],
  verbs: ["get", "list", "create", "update", "patch", "delete"],
};

const roleOf = (namespace: string, rules: readonly object[]): KubeObject => ({
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "Role",
  metadata: { name: "rotator", namespace },
  rules,
});
