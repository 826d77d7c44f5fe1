import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, describe, test } from "node:test";
import { parse } from "yaml";
import { rotatingResource } from "../../src/api/keyturn/rotating-resource.ts";
import { apiVersionOf, type KubeObject } from "../../src/kube/objects.ts";
import type { Kube } from "../../src/kube/port.ts";
import { namespaceType } from "../../src/reconcile/restart/restart-sources.ts";
import { installDefinitions } from "../operator/bindings.ts";
import { connect } from "../support/connect.ts";
import { eventually } from "../support/eventually.ts";
import { type KeyturnOperator, startKeyturnOperator } from "../support/keyturn-operator.ts";
import { accountKubeconfig } from "../support/operator-access.ts";
import { pickTarget } from "../support/pick-target.ts";
import { Installation } from "./installation.ts";

/**
 * The dashboard of an operator that has the rights of `keyturn manifests --serve-dashboard` and no others, asked by people
 * with rights of their own. On the embedded server there is one user, who may do everything.
 */
const target = await pickTarget();
const isReal = target.name === "real";
const HOME = "keyturn-dashboard-test";
const rule = (verbs: readonly string[]) => ({ apiGroups: ["keyturn.dev"], resources: ["rotatingresources"], verbs });

describe(`the dashboard of an operator, on the ${target.name} server`, { concurrency: 1 }, () => {
  const ends = new AsyncDisposableStack();
  let kube: Kube;
  let operator: KeyturnOperator;
  let installation: Installation;
  const tokens = { all: "", shop: "" };

  before(async () => {
    const server = await target.start();
    ends.defer(() => server.stop());
    kube = await connect(server.kubeconfig);
    ends.defer(() => kube.close());
    await installDefinitions(kube);
    installation = new Installation({ kube, home: HOME, isEnforced: isReal, ends });
    const account = await installation.install(["rotating-resource"]);
    for (const name of ["dash-shop", "dash-bank"]) {
      await installation.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
      await eventually("the kind to be served", () => create(name).catch(() => undefined));
    }
    await admitViewers();
    const own = isReal ? await accountKubeconfig(server.kubeconfig, kube, account) : server.kubeconfig;
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
    const rules = [rule(["get", "list"])];
    await installation.admit("viewer-all", { rules });
    await installation.admit("viewer-shop", { namespace: "dash-shop", rules });
    tokens.all = await installation.tokenOf("viewer-all");
    tokens.shop = await installation.tokenOf("viewer-shop");
  }

  function ask(path: string, token: string, body?: object): Promise<Response> {
    const [start] = operator.lines("starting");
    return fetch(`${start?.dashboard}${path}`, {
      ...(body && { method: "POST", body: JSON.stringify(body) }),
      headers: { authorization: `Bearer ${token}`, ...(body && { "content-type": "application/json" }) },
    });
  }

  /** What a page is shown first, up to all rows. */
  async function shownFirst(token: string): Promise<string> {
    const response = await ask("/api/live", token);
    const decoder = new TextDecoder();
    let text = "";
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      if (text.includes('"isLast":true') && text.endsWith("\n\n")) break;
    }
    return text;
  }

  /** The ids of the first rows. */
  async function rowsOf(token: string): Promise<readonly string[]> {
    const text = await shownFirst(token);
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

  test("the page says which cluster it shows", async () => {
    const { metadata } = await kube.get(namespaceType, { name: "kube-system" });
    assert.ok((await shownFirst(tokens.all)).includes(`"cluster":"cluster ${metadata.uid?.slice(0, 8)}"`));
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
      await installation.admit("viewer-shop", { namespace: "dash-shop", rules: [rule(["get", "list", "patch"])] });
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

const tokenIn = async (path: string): Promise<string> => {
  const { users } = parse(await readFile(path, "utf8")) as {
    readonly users: readonly { readonly user: { readonly token?: string } }[];
  };
  return users[0]?.user.token ?? "";
};
