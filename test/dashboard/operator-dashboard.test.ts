import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { parse, stringify } from "yaml";
import { rotatingResource } from "../../src/api/keyturn/rotating-resource.ts";
import { manifests } from "../../src/install/manifests.ts";
import { NotFound } from "../../src/kube/errors.ts";
import { apiVersionOf, type KubeObject, type ResourceType } from "../../src/kube/objects.ts";
import type { Kube } from "../../src/kube/port.ts";
import { namespaces, serviceAccounts } from "../conformance/kinds.ts";
import { installDefinitions } from "../operator/bindings.ts";
import { connect } from "../support/connect.ts";
import { eventually } from "../support/eventually.ts";
import { type KeyturnOperator, startKeyturnOperator } from "../support/keyturn-operator.ts";
import { pickTarget } from "../support/pick-target.ts";
import { scratchFolder } from "../support/scratch-folder.ts";

/**
 * The dashboard of an operator that has the rights of `keyturn manifests --serve-dashboard` and no others, asked by people
 * with rights of their own. On the embedded server there is one user, who may do everything.
 */
const target = await pickTarget();
const isReal = target.name === "real";
const HOME = "keyturn-dashboard-test";
const rbac = (kind: string, plural: string, namespaced: boolean): ResourceType => ({
  group: "rbac.authorization.k8s.io",
  version: "v1",
  plural,
  kind,
  namespaced,
});
const TYPES: readonly ResourceType[] = [
  namespaces,
  serviceAccounts,
  rbac("Role", "roles", true),
  rbac("RoleBinding", "rolebindings", true),
  rbac("ClusterRole", "clusterroles", false),
  rbac("ClusterRoleBinding", "clusterrolebindings", false),
];

const rule = (verbs: readonly string[]) => ({ apiGroups: ["keyturn.dev"], resources: ["rotatingresources"], verbs });

describe(`the dashboard of an operator, on the ${target.name} server`, { concurrency: 1 }, () => {
  const ends = new AsyncDisposableStack();
  let kube: Kube;
  let operator: KeyturnOperator;
  const tokens = { all: "", shop: "" };

  before(async () => {
    const server = await target.start();
    ends.defer(() => server.stop());
    kube = await connect(server.kubeconfig);
    ends.defer(() => kube.close());
    await installDefinitions(kube);
    const controllers = ["rotating-resource"];
    const all = manifests({ namespace: HOME, image: "unused", controllers, dashboard: { mayChange: true } });
    await apply(...all.filter(({ kind }) => TYPES.some((type) => type.kind === kind)));
    for (const name of ["dash-shop", "dash-bank"]) {
      await apply({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
      await eventually("the kind to be served", () => create(name).catch(() => undefined));
    }
    await admitViewers();
    const own = isReal ? await kubeconfigWith(server.kubeconfig, await tokenOf("keyturn")) : server.kubeconfig;
    if (!isReal) tokens.all = tokens.shop = await tokenIn(server.kubeconfig);
    const flags = ["--controllers", "rotating-resource", "--lease-namespace", HOME, "--audit-log", "off"];
    const dashboard = ["--dashboard-bind", "127.0.0.1:0", "--dashboard-changes"];
    operator = startKeyturnOperator({
      kubeconfig: own,
      flags: [...flags, ...dashboard],
      after: (end) => ends.defer(end),
    });
    await operator.ready();
  });
  after(() => ends.disposeAsync());

  async function apply(...objects: readonly KubeObject[]): Promise<void> {
    for (const object of objects) {
      const type = TYPES.find(({ kind }) => kind === object.kind) ?? assert.fail(object.kind);
      const { name, namespace } = object.metadata;
      const ref = { name, ...(namespace !== undefined && { namespace }) };
      if (!type.namespaced) ends.defer(() => kube.delete(type, ref).then(ignore, ignoreMissing));
      const body = JSON.parse(JSON.stringify(object)) as KubeObject;
      await kube.patch(type, ref, { type: "apply", body, force: true }, { fieldManager: "keyturn-test" });
    }
  }

  const create = (namespace: string): Promise<KubeObject> =>
    kube.create<KubeObject>(rotatingResource, {
      apiVersion: apiVersionOf(rotatingResource),
      kind: rotatingResource.kind,
      metadata: { namespace, name: "web", annotations: { "crossplane.io/paused": "true" } },
      spec: {
        rotationClassName: "none",
        serviceAccountName: "nobody",
        template: { apiVersion: "cert-manager.io/v1", kind: "Certificate", spec: { secretName: "$(name)-tls" } },
        childSecret: { name: "$(name)-tls" },
        rotation: { frequency: "720h", ttl: "1080h" },
        writeConnectionSecretToRef: { name: "web" },
      },
    });

  /** One who may look everywhere, and one who may look in one namespace; both may change nothing. */
  async function admitViewers(): Promise<void> {
    if (!isReal) return;
    const account = (name: string): KubeObject => ({
      apiVersion: "v1",
      kind: "ServiceAccount",
      metadata: { name, namespace: HOME },
    });
    await apply(account("viewer-all"), account("viewer-shop"));
    const apiVersion = "rbac.authorization.k8s.io/v1";
    const subject = (name: string) => [{ kind: "ServiceAccount", name, namespace: HOME }];
    const ref = (kind: string, name: string) => ({ apiGroup: "rbac.authorization.k8s.io", kind, name });
    const look = ["get", "list"];
    const everywhere = { name: "keyturn-dash-viewer" };
    const there = { name: "viewer", namespace: "dash-shop" };
    await apply(
      { apiVersion, kind: "ClusterRole", metadata: everywhere, rules: [rule(look)] },
      {
        apiVersion,
        kind: "ClusterRoleBinding",
        metadata: everywhere,
        roleRef: ref("ClusterRole", everywhere.name),
        subjects: subject("viewer-all"),
      },
      { apiVersion, kind: "Role", metadata: there, rules: [rule(look)] },
      {
        apiVersion,
        kind: "RoleBinding",
        metadata: there,
        roleRef: ref("Role", there.name),
        subjects: subject("viewer-shop"),
      },
    );
    tokens.all = await tokenOf("viewer-all");
    tokens.shop = await tokenOf("viewer-shop");
  }

  async function tokenOf(name: string): Promise<string> {
    const request = {
      apiVersion: "authentication.k8s.io/v1",
      kind: "TokenRequest",
      metadata: { name, namespace: HOME },
      spec: {},
    };
    const answer = await kube.create<KubeObject>(serviceAccounts, request, { subresource: "token" });
    return (answer.status as { readonly token: string }).token;
  }

  function ask(path: string, token: string, body?: object): Promise<Response> {
    const [start] = operator.lines("starting");
    return fetch(`${start?.dashboard}${path}`, {
      ...(body && { method: "POST", body: JSON.stringify(body) }),
      headers: { authorization: `Bearer ${token}`, ...(body && { "content-type": "application/json" }) },
    });
  }

  /** The ids of the first rows that a page is shown. */
  async function rowsOf(token: string): Promise<readonly string[]> {
    const response = await ask("/api/live", token);
    const decoder = new TextDecoder();
    let text = "";
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      if (text.includes('"isLast":true') && text.endsWith("\n\n")) break;
    }
    return [...new Set([...text.matchAll(/"id":"(RotatingResource[^"]*)"/g)].map(([, id = ""]) => id))].sort();
  }

  const SHOP = "RotatingResource/dash-shop/web";
  const BANK = "RotatingResource/dash-bank/web";

  test("nobody is let in whom the cluster does not know", async () => {
    const answer = await ask("/api/evidence", "made-up");
    assert.equal(answer.status, 401);
    assert.match(await answer.text(), /does not know this token/);
    assert.deepEqual(await (await ask("/api/way-in", "x")).json(), { by: "cluster-token" });
  });

  test("everybody sees what they may list", async () => {
    await eventually("both to be seen", async () => (await rowsOf(tokens.all)).includes(BANK) || undefined);
    assert.deepEqual(await rowsOf(tokens.all), [BANK, SHOP]);
    if (isReal) assert.deepEqual(await rowsOf(tokens.shop), [SHOP]);
  });

  test("details and changes are what the API server lets them have", async () => {
    const shown = await ask(`/api/credential?id=${SHOP}`, tokens.shop);
    assert.equal(shown.status, 200);
    const { seen, actions, refusal, consumersUnseen } = (await shown.json()) as {
      readonly seen: object;
      readonly actions: readonly object[];
      readonly refusal?: string;
      readonly consumersUnseen: readonly string[];
    };
    const freeze = { id: SHOP, action: "freeze", seen };
    if (isReal) {
      assert.equal((await ask(`/api/credential?id=${BANK}`, tokens.shop)).status, 403);
      assert.deepEqual(actions, [], "no button");
      assert.match(refusal ?? "", /^You may not change this/);
      assert.ok(consumersUnseen.length > 0);
      assert.equal((await ask("/api/action", tokens.shop, freeze)).status, 403);
      await apply({
        apiVersion: "rbac.authorization.k8s.io/v1",
        kind: "Role",
        metadata: { name: "viewer", namespace: "dash-shop" },
        rules: [rule(["get", "list", "patch"])],
      });
    }
    await eventually("the change to be allowed", async () => {
      const { status } = await ask("/api/action", tokens.shop, freeze);
      return status === 200 || undefined;
    });
    const { metadata } = await kube.get(rotatingResource, { namespace: "dash-shop", name: "web" });
    assert.equal(metadata.annotations?.["keyturn.dev/freeze"], "true");
  });

  test("no watch runs for it that would not run without", async () => {
    const watches = operator.lines("watching").filter(({ kind }) => String(kind).startsWith("RotatingResource."));
    assert.equal(watches.length, 1);
  });
});

const ignore = (): void => {};

function ignoreMissing(error: unknown): void {
  if (!(error instanceof NotFound)) throw error;
}

interface Kubeconfig {
  readonly users: readonly { readonly name: string; readonly user: { readonly token?: string } }[];
}

const readConfig = async (path: string): Promise<Kubeconfig> => parse(await readFile(path, "utf8")) as Kubeconfig;

const tokenIn = async (path: string): Promise<string> => (await readConfig(path)).users[0]?.user.token ?? "";

async function kubeconfigWith(admin: string, token: string): Promise<string> {
  const config = await readConfig(admin);
  const file = join(scratchFolder(), "kubeconfig");
  await writeFile(file, stringify({ ...config, users: config.users.map(({ name }) => ({ name, user: { token } })) }), {
    mode: 0o600,
  });
  return file;
}
