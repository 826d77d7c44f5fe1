import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "../kube/objects.ts";
import { manifests } from "./manifests.ts";
import { controllerNeeds, isOfCluster, type PolicyRule } from "./permissions.ts";

const OPTIONS = { namespace: "somewhere", image: "example/keyturn:1", controllers: ["btp"] };
const items = manifests(OPTIONS);

const ofKind = (kind: string): KubeObject => {
  const found = items.filter((item) => item.kind === kind);
  assert.equal(found.length, 1, kind);
  return found[0] as KubeObject;
};

const named = (kind: string, name: string, all = items): KubeObject =>
  all.find((item) => item.kind === kind && item.metadata.name === name) ?? assert.fail(`there is no ${kind} ${name}`);
const rulesOf = (kind: string, name = "keyturn", all = items): readonly PolicyRule[] =>
  named(kind, name, all).rules as readonly PolicyRule[];
const listed = (rules: readonly PolicyRule[]): readonly string[] =>
  rules.map(
    ({ apiGroups, resources, resourceNames = [], verbs }) =>
      `${apiGroups.join()} ${[...resources, ...resourceNames].join(":")} ${verbs.join()}`,
  );

test("what others refer to comes first", () => {
  assert.deepEqual(
    items.map(({ kind }) => kind),
    [
      "CustomResourceDefinition",
      "CustomResourceDefinition",
      "ValidatingAdmissionPolicy",
      "ValidatingAdmissionPolicyBinding",
      "Namespace",
      "ServiceAccount",
      "ClusterRole",
      "ClusterRoleBinding",
      "ClusterRole",
      "ClusterRoleBinding",
      "Role",
      "RoleBinding",
      "Service",
      "NetworkPolicy",
      "PodDisruptionBudget",
      "Deployment",
    ],
  );
});

test("everything says that it is Keyturn's, and what has a namespace is in the one that was asked for", () => {
  for (const { kind, metadata } of items) {
    assert.equal(metadata.labels?.["app.kubernetes.io/part-of"], "keyturn", kind);
    assert.ok(metadata.namespace === undefined || metadata.namespace === "somewhere", kind);
  }
  assert.equal(ofKind("Namespace").metadata.name, "somewhere");
});

test("nothing is granted by a wildcard, and no Secret or key can be read through another right", () => {
  const whole = manifests({ ...OPTIONS, controllers: [...controllerNeeds.keys()] });
  const all = whole.flatMap((item) => (item.rules ?? []) as readonly PolicyRule[]);
  assert.ok(all.length > 50);
  for (const rule of all) {
    const words = [...rule.apiGroups, ...rule.resources, ...rule.verbs];
    assert.ok(!words.includes("*"), JSON.stringify(rule));
    for (const verb of ["impersonate", "escalate", "bind", "deletecollection"]) {
      assert.ok(!rule.verbs.includes(verb), JSON.stringify(rule));
    }
  }
});

test("the rights of the btp controller are these", () => {
  assert.deepEqual(listed(rulesOf("ClusterRole")), [
    "events.k8s.io events create",
    "apiextensions.k8s.io customresourcedefinitions get,list,watch",
    " namespaces:kube-system get",
  ]);
  assert.deepEqual(listed(rulesOf("ClusterRole", "keyturn-btp")), [
    "account.btp.sap.crossplane.io servicebindings get,list,watch,patch",
    "account.btp.sap.crossplane.io servicebindings/status update",
    "account.btp.sap.crossplane.io providerconfigs get,list,watch,patch",
    "account.btp.sap.crossplane.io serviceinstances get,list,watch",
    " secrets get,list,watch,create,update,patch,delete",
  ]);
});

test("the rights of the cloudfoundry controller are these", () => {
  assert.deepEqual(listed(controllerNeeds.get("cloudfoundry")?.rules ?? []), [
    "cloudfoundry.crossplane.io servicecredentialbindings get,list,watch,patch",
    "cloudfoundry.crossplane.io servicecredentialbindings/status update",
    "cloudfoundry.crossplane.io providerconfigs get,list,watch,patch",
    "cloudfoundry.crossplane.io serviceinstances get,list,watch",
    "cloudfoundry.crossplane.io apps get,list",
    "cloudfoundry.crossplane.io rotatingcredentialbindings get",
    " secrets get,list,watch,create,update,patch,delete",
  ]);
});

test("the rights of the cloudfoundry-rotating controller are these: children are made and deleted, and not changed", () => {
  assert.deepEqual(listed(controllerNeeds.get("cloudfoundry-rotating")?.rules ?? []), [
    "cloudfoundry.crossplane.io rotatingcredentialbindings get,list,watch,patch",
    "cloudfoundry.crossplane.io rotatingcredentialbindings/status update",
    "cloudfoundry.crossplane.io rotatingcredentialbindings/finalizers update",
    "cloudfoundry.crossplane.io servicecredentialbindings get,list,watch,create,patch,delete",
    " secrets get,list,watch,create,update,delete",
  ]);
});

test("for RotatingResources no child, no Secret and no other user is the operator's own to use", () => {
  assert.deepEqual(listed(controllerNeeds.get("rotating-resource")?.rules ?? []), [
    "keyturn.dev rotatingresources get,list,watch,patch",
    "keyturn.dev rotatingresources/status update",
    "keyturn.dev rotationclasses list,watch",
  ]);
});

test("each controller that is switched on has a role of its own, and no other has", () => {
  const roles = items.filter(({ kind }) => kind === "ClusterRole").map(({ metadata }) => metadata.name);
  assert.deepEqual(roles, ["keyturn", "keyturn-btp"]);
});

test("an operator of some namespaces has its rights there, and in the cluster to what is in no namespace", () => {
  const scoped = manifests({ ...OPTIONS, controllers: ["btp", "restart"], scopedNamespaces: ["shop", "bank"] });
  assert.deepEqual(listed(rulesOf("ClusterRole", "keyturn-restart", scoped)), [" namespaces:shop:bank list,watch"]);
  assert.ok(!JSON.stringify(rulesOf("ClusterRole", "keyturn-btp", scoped)).includes("secrets"));
  const where = (name: string): readonly (string | undefined)[] =>
    scoped
      .filter(({ kind, metadata }) => kind === "Role" && metadata.name === name)
      .map(({ metadata }) => metadata.namespace);
  assert.deepEqual(where("keyturn-btp-scoped"), ["shop", "bank"]);
  assert.deepEqual(where("keyturn-scoped"), ["shop", "bank", "default"], "events of what is in no namespace");
  assert.deepEqual(listed(rulesOf("Role", "keyturn-btp-scoped", scoped)), [
    " secrets get,list,watch,create,update,patch,delete",
  ]);
  assert.deepEqual(where("keyturn-btp-at-home"), [OPTIONS.namespace], "credentials of ProviderConfigs are there");
  assert.deepEqual(listed(rulesOf("Role", "keyturn-btp-at-home", scoped)), [" secrets get,patch"]);
  assert.match(JSON.stringify(podSpec(scoped).containers), /"--namespaces=shop,bank"/);
});

test("who may look everywhere, or at home among others, needs no role for home", () => {
  for (const scopedNamespaces of [[], ["shop", OPTIONS.namespace]]) {
    const names = manifests({ ...OPTIONS, controllers: ["btp"], scopedNamespaces }).map(
      ({ metadata }) => metadata.name,
    );
    assert.ok(!names.includes("keyturn-btp-at-home"), scopedNamespaces.join());
  }
});

test("every rule is about one kind of scope", () => {
  for (const [controller, { rules }] of controllerNeeds) {
    for (const rule of rules) {
      const each = rule.resources.map((resource) => isOfCluster({ ...rule, resources: [resource] }));
      assert.equal(new Set(each).size, 1, `${controller}: ${JSON.stringify(rule)}`);
    }
  }
});

test("a policy keeps others from the data of what is published, when it is asked for", () => {
  const names = (all: readonly KubeObject[]): readonly string[] => all.map(({ metadata }) => metadata.name);
  assert.ok(!names(items).includes("protect.secrets.keyturn.dev"));
  const whole = manifests({ ...OPTIONS, protectSecrets: true });
  const policy = named("ValidatingAdmissionPolicy", "protect.secrets.keyturn.dev", whole);
  assert.match(JSON.stringify(policy), /system:serviceaccount:somewhere:keyturn/);
  assert.deepEqual(named("ValidatingAdmissionPolicyBinding", "protect.secrets.keyturn.dev", whole).spec, {
    policyName: "protect.secrets.keyturn.dev",
    validationActions: ["Deny"],
  });
});

test("nothing reaches out but to what the controllers need", () => {
  const portsOf = (controllers: readonly string[]): readonly number[] => {
    const policy = named("NetworkPolicy", "keyturn", manifests({ ...OPTIONS, controllers }));
    const { egress } = policy.spec as { readonly egress: readonly { readonly ports: readonly { port: number }[] }[] };
    return [...new Set(egress.flatMap(({ ports }) => ports.map(({ port }) => port)))];
  };
  assert.deepEqual(portsOf(["restart"]), [53, 443, 6443, 8443, 16443]);
  assert.deepEqual(portsOf(["bind9-keys"]), [53, 443, 6443, 8443, 16443, 953, 9953]);
});

test("advice is given for the kinds that are installed", () => {
  const whole = manifests({ ...OPTIONS, controllers: [...controllerNeeds.keys()] });
  const advice = (all: readonly KubeObject[]): readonly string[] =>
    all.filter(({ kind }) => kind === "ValidatingAdmissionPolicy").map(({ metadata }) => metadata.name);
  assert.deepEqual(advice(items), ["advice.servicebindings.account.btp.sap.crossplane.io"]);
  assert.deepEqual(advice(whole).slice(1), [
    "advice.servicecredentialbindings.cloudfoundry.crossplane.io",
    "advice.rotatingcredentialbindings.cloudfoundry.crossplane.io",
    "advice.rotatingresources.keyturn.dev",
    "advice.clusterbind9providers.bindy.firestoned.io",
    "advice.bind9clusters.bindy.firestoned.io",
    "advice.bind9instances.bindy.firestoned.io",
  ]);
});

test("in its own namespace the operator has one Lease and three Secrets", () => {
  assert.deepEqual(rulesOf("Role"), [
    { apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["create"] },
    { apiGroups: ["coordination.k8s.io"], resources: ["leases"], resourceNames: ["keyturn"], verbs: ["get", "update"] },
    { apiGroups: [""], resources: ["secrets"], verbs: ["create"] },
    {
      apiGroups: [""],
      resources: ["secrets"],
      resourceNames: ["keyturn-fingerprint-key", "keyturn-audit-key"],
      verbs: ["get"],
    },
    { apiGroups: [""], resources: ["secrets"], resourceNames: ["keyturn-audit-anchor"], verbs: ["get", "update"] },
  ]);
  assert.equal(ofKind("Role").metadata.namespace, "somewhere");
});

test("roles are bound to the ServiceAccount that the pods run as", () => {
  const { metadata } = ofKind("ServiceAccount");
  const subject = { kind: "ServiceAccount", name: metadata.name, namespace: "somewhere" };
  const bindings = items.filter(({ kind }) => kind.endsWith("RoleBinding"));
  assert.equal(bindings.length, 3);
  for (const binding of bindings) assert.deepEqual(binding.subjects, [subject], binding.metadata.name);
  assert.equal(podSpec().serviceAccountName, metadata.name);
});

interface PodSpec {
  readonly serviceAccountName: string;
  readonly securityContext: object;
  readonly containers: readonly Readonly<Record<string, unknown>>[];
}

function podSpec(all = items): PodSpec {
  return (named("Deployment", "keyturn", all).spec as { readonly template: { readonly spec: PodSpec } }).template.spec;
}

test("of two replicas one leads, and both are probed where the metrics are", () => {
  assert.equal((ofKind("Deployment").spec as { readonly replicas: number }).replicas, 2);
  const [container] = podSpec().containers;
  assert.ok(container);
  assert.equal(container.image, OPTIONS.image);
  assert.equal(container.command, undefined, "the image's own entrypoint");
  assert.deepEqual(container.args, [
    "operator",
    "--controllers=btp",
    "--leader-elect",
    "--lease-namespace=somewhere",
    "--lease-name=keyturn",
    "--metrics-bind=:8080",
  ]);
  assert.deepEqual(container.ports, [{ name: "metrics", containerPort: 8080 }]);
  for (const [probe, path] of [
    ["livenessProbe", "/healthz"],
    ["readinessProbe", "/readyz"],
  ] as const) {
    assert.deepEqual((container[probe] as { readonly httpGet: object }).httpGet, { path, port: "metrics" });
  }
});

test("the pods keep to the restricted profile, and the namespace enforces it", () => {
  assert.equal(ofKind("Namespace").metadata.labels?.["pod-security.kubernetes.io/enforce"], "restricted");
  assert.deepEqual(podSpec().securityContext, {
    runAsNonRoot: true,
    runAsUser: 65532,
    runAsGroup: 65532,
    seccompProfile: { type: "RuntimeDefault" },
  });
  assert.deepEqual(podSpec().containers[0]?.securityContext, {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ["ALL"] },
  });
});

test("a namespace that is the cluster's own is left as it is", () => {
  for (const [namespace, kinds] of [
    ["default", []],
    ["kube-system", []],
    ["kube-keys", []],
    ["kubernetes", ["Namespace"]],
    ["default-keys", ["Namespace"]],
  ] as const) {
    const all = manifests({ ...OPTIONS, namespace });
    assert.deepEqual(
      all.filter(({ kind }) => kind === "Namespace").map(({ kind }) => kind),
      kinds,
      namespace,
    );
    assert.equal(named("Deployment", "keyturn", all).metadata.namespace, namespace);
  }
});

test("a controller that there is not is refused", () => {
  assert.throws(() => manifests({ ...OPTIONS, controllers: ["btp", "nope"] }), /there is no controller "nope"/);
});

test("every kind that a controller brings is installed with it", () => {
  const installed = manifests({ ...OPTIONS, controllers: [...controllerNeeds.keys()] })
    .filter(({ kind }) => kind === "CustomResourceDefinition")
    .map(({ metadata }) => metadata.name);
  for (const { kinds } of controllerNeeds.values()) {
    for (const { plural, group } of kinds) assert.ok(installed.includes(`${plural}.${group}`), plural);
  }
});
