import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { describe, test } from "node:test";
import { promisify } from "node:util";
import { parseAllDocuments } from "yaml";
import { parseFlags } from "../../src/cli/parse-flags.ts";
import { uninstallCommand } from "../../src/cli/uninstall-command.ts";
import { manifests } from "../../src/install/manifests.ts";
import { dashboardConfigMap } from "../../src/install/monitoring/dashboard.ts";
import { prometheusRule } from "../../src/install/monitoring/prometheus-rule.ts";
import { controllerNeeds } from "../../src/install/permissions.ts";
import type { KubeObject } from "../../src/kube/objects.ts";
import { root } from "../../tools/run.ts";

/** What Helm makes of the chart: the same objects as `keyturn manifests` where the same is asked for, and what else can be said. */
const helm = process.env.KEYTURN_HELM;
const skip = helm === undefined && "no helm here: npm run test:cluster builds one";
const execute = promisify(execFile);
const NAMESPACE = "keyturn-system";
const all = [...controllerNeeds.keys()];

const isHook = ({ metadata }: KubeObject): boolean => metadata.annotations?.["helm.sh/hook"] !== undefined;

/** What is installed; hooks are not part of it. */
const render = async (...sets: readonly string[]): Promise<readonly KubeObject[]> =>
  (await renderAll(...sets)).filter((object) => !isHook(object));

async function renderAll(...sets: readonly string[]): Promise<readonly KubeObject[]> {
  const words = ["template", "keyturn", join(root, "chart"), "--namespace", NAMESPACE, "--kube-version", "1.36.3"];
  const { stdout } = await execute(helm ?? "", [...words, ...sets.flatMap((each) => ["--set", each])], {
    maxBuffer: 64 * 1024 * 1024,
  });
  return parseAllDocuments(stdout)
    .map((document) => document.toJS() as KubeObject | null)
    .filter((object) => object !== null);
}

const nameOf = ({ kind, metadata }: KubeObject): string => `${kind} ${metadata.namespace ?? ""}/${metadata.name}`;

const HELMS_LABELS = [
  "app.kubernetes.io/instance",
  "app.kubernetes.io/version",
  "app.kubernetes.io/managed-by",
  "helm.sh/chart",
];

/** Without what only Helm says: its labels, and that CRDs stay. */
function plain(object: KubeObject): KubeObject {
  const text = JSON.stringify(object, (key, value: unknown) => {
    if (key !== "labels" || value === null || typeof value !== "object") return value;
    return Object.fromEntries(Object.entries(value).filter(([label]) => !HELMS_LABELS.includes(label)));
  });
  const copy = JSON.parse(text) as KubeObject;
  const { annotations, ...metadata } = copy.metadata;
  const { "helm.sh/resource-policy": _, ...rest } = annotations ?? {};
  const kept = { ...metadata, ...(Object.keys(rest).length > 0 && { annotations: rest }) };
  return { ...copy, metadata: kept };
}

/** The part that every object of the chart has, whose kind alone does not have it in the plain manifests. */
const withName = (object: KubeObject): KubeObject => ({
  ...object,
  metadata: { ...object.metadata, labels: { "app.kubernetes.io/name": "keyturn", ...object.metadata.labels } },
});

function assertSame(rendered: readonly KubeObject[], expected: readonly KubeObject[]): void {
  assert.deepEqual(rendered.map(nameOf).sort(), expected.map(nameOf).sort());
  const byName = new Map(rendered.map((object) => [nameOf(object), object]));
  for (const object of expected) {
    const found = byName.get(nameOf(object));
    assert.ok(found);
    assert.deepEqual(withoutChoices(plain(found)), withoutChoices(withName(object)), nameOf(object));
  }
}

/** Said by the chart, and by default what the server would have said. */
function withoutChoices(object: KubeObject): unknown {
  return JSON.parse(JSON.stringify(object, (key, value: unknown) => (key === "imagePullPolicy" ? undefined : value)));
}

const find = (objects: readonly KubeObject[], kind: string): readonly KubeObject[] =>
  objects.filter((object) => object.kind === kind);

const VERSION = "0.2.0";
const expected = (options: Partial<Parameters<typeof manifests>[0]> = {}): readonly KubeObject[] =>
  manifests({ namespace: NAMESPACE, image: `keyturn:${VERSION}`, controllers: all, ...options }).filter(
    ({ kind }) => kind !== "Namespace",
  );

describe("the chart", { concurrency: 2, skip, timeout: 120_000 }, () => {
  test("gives what keyturn manifests gives, but for the Namespace, which helm install makes", async () => {
    assertSame(await render(), expected());
  });

  test("the same with controllers, namespaces and the policy chosen", async () => {
    const rendered = await render(
      "controllers={btp,korifi,restart}",
      "scopedNamespaces={shop,billing}",
      "admission.protectPublishedSecrets=true",
    );
    const controllers = ["btp", "cf-instances", "cf-bindings", "cf-apps", "restart"];
    assertSame(rendered, expected({ controllers, scopedNamespaces: ["shop", "billing"], protectSecrets: true }));
  });

  test("the same with the dashboard, to look at and with buttons", async () => {
    assertSame(await render("dashboard.enabled=true"), expected({ dashboard: { mayChange: false } }));
    const rendered = await render("dashboard.enabled=true", "dashboard.changes=true", "scopedNamespaces={shop}");
    assertSame(rendered, expected({ dashboard: { mayChange: true }, scopedNamespaces: ["shop"] }));
  });

  test("a certificate, names and who may reach the dashboard are as they are said", async () => {
    const rendered = await render(
      "dashboard.enabled=true",
      "dashboard.tlsSecret=dash",
      "dashboard.hosts={keys.example.org}",
      "dashboard.from[0].podSelector.matchLabels.app=ingress",
    );
    const text = JSON.stringify(find(rendered, "Deployment"));
    assert.match(text, /"--dashboard-host=keys.example.org"/);
    assert.match(text, /"--dashboard-tls-cert=\/etc\/keyturn\/dashboard-tls\/tls.crt"/);
    assert.match(text, /"secretName":"dash"/);
    assert.match(JSON.stringify(find(rendered, "NetworkPolicy")), /"app":"ingress"/);
  });

  test("alerts and the dashboard are those of keyturn manifests, when they are asked for", async () => {
    const rendered = await render("prometheusRule.enabled=true", "grafanaDashboard.enabled=true");
    const monitoring = [prometheusRule(NAMESPACE), dashboardConfigMap(NAMESPACE)];
    const names = monitoring.map(nameOf);
    const found = rendered.filter((object) => names.includes(nameOf(object)));
    assert.equal(found.length, 2);
    for (const object of monitoring) {
      const same = found.find((each) => nameOf(each) === nameOf(object));
      assert.deepEqual(
        { spec: same?.spec, data: trimmed(same?.data) },
        { spec: object.spec, data: trimmed(object.data) },
      );
    }
  });

  const changes = [
    {
      reason: "a name of its own: the Lease that it takes is the one that it may renew",
      sets: ["fullnameOverride=prod"],
      check: (objects: readonly KubeObject[]) => {
        const own = find(objects, "Role").find(({ metadata }) => metadata.name === "prod");
        const rules = own?.rules as readonly {
          readonly resources: readonly string[];
          readonly resourceNames?: unknown;
        }[];
        const named = rules.filter(({ resources, resourceNames }) => resources.includes("leases") && resourceNames);
        assert.deepEqual(
          named.map(({ resourceNames }) => resourceNames),
          [["prod"]],
        );
        assert.ok(JSON.stringify(find(objects, "Deployment")).includes('"--lease-name=prod"'));
        assert.ok(!JSON.stringify(objects).includes('"NAME"'));
      },
    },
    {
      reason: "no CRDs",
      sets: ["crds.enabled=false"],
      check: (objects: readonly KubeObject[]) => assert.equal(find(objects, "CustomResourceDefinition").length, 0),
    },
    {
      reason: "Helm deletes no CRD, whatever is to become of them when the release goes",
      sets: ["crds.keep=false"],
      check: (objects: readonly KubeObject[]) => {
        const definitions = find(objects, "CustomResourceDefinition");
        assert.ok(definitions.length > 0);
        for (const { metadata } of definitions) {
          assert.equal(metadata.annotations?.["helm.sh/resource-policy"], "keep", metadata.name);
        }
      },
    },
    {
      reason: "an image by its digest",
      sets: [`image.digest=sha256:${"a".repeat(64)}`, "image.repository=registry.example/keyturn"],
      check: (objects: readonly KubeObject[]) =>
        assert.ok(
          JSON.stringify(find(objects, "Deployment")).includes(`registry.example/keyturn@sha256:${"a".repeat(64)}`),
        ),
    },
    {
      reason: "one replica without election",
      sets: ["replicaCount=1", "leaderElect=false"],
      check: (objects: readonly KubeObject[]) =>
        assert.ok(!JSON.stringify(find(objects, "Deployment")).includes("--leader-elect")),
    },
    {
      reason: "more flags, and a longer lease",
      sets: ["extraArgs={--min-frequency=1h}", "leaseDuration=30s"],
      check: (objects: readonly KubeObject[]) => {
        const text = JSON.stringify(find(objects, "Deployment"));
        assert.ok(text.includes("--min-frequency=1h") && text.includes("--lease-duration=30s"), text);
      },
    },
    {
      reason: "a log level; a flag that says another one comes after it and counts",
      sets: ["logLevel=warn", "extraArgs={--log-level=debug}"],
      check: (objects: readonly KubeObject[]) =>
        assert.match(JSON.stringify(find(objects, "Deployment")), /"--log-level=warn","--log-level=debug"/),
    },
    {
      reason: "a service account of somebody else's, and no roles",
      sets: ["serviceAccount.create=false", "serviceAccount.name=robot", "rbac.create=false"],
      check: (objects: readonly KubeObject[]) => {
        assert.deepEqual([...find(objects, "ServiceAccount"), ...find(objects, "ClusterRole")], []);
        assert.ok(JSON.stringify(find(objects, "Deployment")).includes('"serviceAccountName":"robot"'));
      },
    },
    {
      reason: "none of what surrounds it",
      sets: ["networkPolicy.enabled=false", "podDisruptionBudget.enabled=false", "admission.advice=false"],
      check: (objects: readonly KubeObject[]) => {
        for (const kind of ["NetworkPolicy", "PodDisruptionBudget", "ValidatingAdmissionPolicy"]) {
          assert.deepEqual(find(objects, kind), [], kind);
        }
      },
    },
    {
      reason: "a ServiceMonitor",
      sets: ["serviceMonitor.enabled=true", "serviceMonitor.labels.release=prometheus"],
      check: (objects: readonly KubeObject[]) =>
        assert.equal(find(objects, "ServiceMonitor")[0]?.metadata.labels?.release, "prometheus"),
    },
  ];
  for (const { reason, sets, check } of changes) {
    test(reason, async () => check(await render(...sets)));
  }

  const hooks = [
    { reason: "keys stay where CRDs do", sets: [], keys: "keep", mayDelete: false },
    { reason: "keys are deleted where CRDs are", sets: ["crds.keep=false"], keys: "delete", mayDelete: true },
    { reason: "CRDs that are not the release's stay", sets: ["crds.enabled=false"], keys: "keep", mayDelete: false },
  ];
  for (const { reason, sets, keys, mayDelete } of hooks) {
    test(`a Job goes before the release does: ${reason}`, async () => {
      const objects = (await renderAll(...sets)).filter(isHook);
      for (const { metadata } of objects) assert.equal(metadata.annotations?.["helm.sh/hook"], "pre-delete");
      const [job] = find(objects, "Job");
      assert.ok(job);
      const { template } = job.spec as { readonly template: KubeObject };
      const { containers } = template.spec as { readonly containers: readonly [{ readonly args: readonly string[] }] };
      const [name = "", ...words] = containers[0].args;
      assert.equal(name, uninstallCommand.name);
      const flags = parseFlags(uninstallCommand, words);
      const said = [flags.text("keys"), flags.text("crds"), flags.text("namespace"), flags.isOn("yes")];
      assert.deepEqual(said, [keys, keys, NAMESPACE, true]);
      assert.equal(template.metadata.labels?.["app.kubernetes.io/part-of"], undefined, "it is no pod of the operator");
      const verbs = find(objects, "ClusterRole").flatMap(
        ({ rules }) => rules as readonly { verbs: readonly string[] }[],
      );
      assert.equal(
        verbs.some((rule) => rule.verbs.includes("delete")),
        mayDelete,
      );
    });
  }

  test("no Job where nobody wants one", async () => {
    assert.deepEqual((await renderAll("uninstallHook.enabled=false")).filter(isHook), []);
  });

  const refused = [
    {
      reason: "a controller that there is not",
      sets: ["controllers={btp,nope}"],
      says: /there is no controller "nope"/,
    },
    {
      reason: "two replicas without election",
      sets: ["leaderElect=false"],
      says: /more than one replica needs leaderElect/,
    },
    { reason: "a value that there is not", sets: ["replicas=3"], says: /replicas/ },
    { reason: "a namespace that cannot be", sets: ["scopedNamespaces={Shop}"], says: /scopedNamespaces/ },
    { reason: "an image with a blank", sets: ["image.repository=my image"], says: /image.repository/ },
    { reason: "an image with capitals", sets: ["image.repository=example/KeyTurn"], says: /image.repository/ },
    { reason: "a tag with a blank", sets: ["image.tag=0.2 0"], says: /image.tag/ },
    { reason: "half a digest", sets: ["image.digest=sha256:1234"], says: /digest/ },
    { reason: "a lease that is too short", sets: ["leaseDuration=1s"], says: /leaseDuration/ },
    { reason: "half a second of a lease", sets: ["leaseDuration=3500ms"], says: /leaseDuration/ },
    { reason: "a budget that is none", sets: ["podDisruptionBudget.maxUnavailable=abc"], says: /maxUnavailable/ },
    { reason: "a flag that there is not", sets: ["extraArgs={--foo}"], says: /has no flag --foo/ },
    {
      reason: "a flag that a value is for",
      sets: ["extraArgs={--namespaces=shop}"],
      says: /--namespaces is set by the values/,
    },
    { reason: "a log level that there is not", sets: ["logLevel=chatty"], says: /logLevel/ },
    { reason: "an argument that is none", sets: ["extraArgs={min-frequency}"], says: /extraArgs/ },
  ];
  for (const { reason, sets, says } of refused) {
    test(`refused: ${reason}`, async () => {
      await assert.rejects(render(...sets), (error: { readonly stderr: string }) => {
        assert.match(error.stderr, says);
        return true;
      });
    });
  }
});

const trimmed = (data: unknown): unknown =>
  data === undefined
    ? undefined
    : Object.fromEntries(Object.entries(data as Record<string, string>).map(([key, text]) => [key, text.trim()]));
