import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { parse, parseAllDocuments, stringify } from "yaml";
import { serviceBinding } from "../../src/api/btp/service-binding.ts";
import { ifFound } from "../../src/kube/if-found.ts";
import type { KubeObject, ObjectRef } from "../../src/kube/objects.ts";
import type { Kube } from "../../src/kube/port.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { namespaceType } from "../../src/reconcile/restart/restart-sources.ts";
import { deploymentType } from "../../src/restart/workload-kinds.ts";
import { crdType } from "../../src/runtime/operator.ts";
import { root } from "../../tools/run.ts";
import { btp } from "../families/btp.ts";
import { ignoreMissing } from "../rotation/stage.ts";
import { connect } from "../support/connect.ts";
import { eventually } from "../support/eventually.ts";
import { pickTarget } from "../support/pick-target.ts";
import { sayKeyturn } from "../support/say-keyturn.ts";
import { scratchFolder } from "../support/scratch-folder.ts";
import { typeOf } from "./type-of.ts";

/** What the Job of the chart does before a release goes, with exactly the rights that it has. */
const target = await pickTarget();
const helm = process.env.KEYTURN_HELM;
const { kubectl } = target;
const skip =
  (target.name !== "real" || helm === undefined || kubectl === undefined) &&
  "needs a server that enforces RBAC, and helm: npm run test:cluster";
const execute = promisify(execFile);
const NAMESPACE = "keyturn-hook";
const SECRET = { namespace: NAMESPACE, name: "login" };

describe("the Job that goes before a release, as its ServiceAccount", {
  concurrency: 1,
  skip,
  timeout: 300_000,
}, () => {
  const folder = scratchFolder();
  let kube: Kube;
  let kubeconfig: string;
  let applied: readonly KubeObject[] = [];
  before(async () => {
    ({ kubeconfig } = await target.start());
    kube = await connect(kubeconfig);
    await apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } });
  });
  after(async () => {
    for (const object of applied) await kube.delete(typeOf(object), refOf(object)).catch(ignoreMissing);
    await kube.delete(namespaceType, { name: NAMESPACE }).catch(ignoreMissing);
    await kube.close();
  });

  async function apply(body: KubeObject): Promise<void> {
    const how = { fieldManager: "keyturn-test" };
    await kube.patch(typeOf(body), refOf(body), { type: "apply", body, force: true }, how);
  }

  /** The release, but for its pods, and the objects of its hook; the words of the Job. */
  async function release(...sets: readonly string[]): Promise<readonly string[]> {
    const words = ["template", "keyturn", join(root, "chart"), "--namespace", NAMESPACE, "--kube-version", "1.36.3"];
    const all = [...words, ...sets.flatMap((each) => ["--set", each])];
    const { stdout } = await execute(helm ?? "", all, { maxBuffer: 64 * 1024 * 1024 });
    const objects = parseAllDocuments(stdout).map((document) => document.toJS() as KubeObject);
    const [jobs, others] = [objects.filter(isJob), objects.filter((object) => object && !isJob(object))];
    applied = others;
    for (const object of others) await apply(object);
    await eventually("the kind to be served", () => kube.list(serviceBinding).catch(() => undefined));
    const [job] = jobs;
    assert.ok(job);
    return (job.spec as { readonly template: { readonly spec: Pod } }).template.spec.containers[0].args;
  }

  /** A binding that an operator has looked at, and the Secret that its ProviderConfig names. */
  async function leave(finalizers: readonly string[]): Promise<void> {
    const manifest = btp.manifest({ name: "hooked", instanceId: "i", config: "none", secretRef: SECRET });
    await kube.create<KubeObject>(serviceBinding, { ...manifest, metadata: { ...manifest.metadata, finalizers } });
    const metadata = { ...SECRET, finalizers: finalizers.length > 0 ? ["keyturn.dev/in-use"] : [] };
    await apply({ apiVersion: "v1", kind: "Secret", metadata });
  }

  async function runAsJob(words: readonly string[]): Promise<void> {
    const { stdout: token } = await execute(kubectl ?? "", [
      ...["--kubeconfig", kubeconfig, "create", "token", "keyturn-uninstall", "--namespace", NAMESPACE],
    ]);
    const config = parse(await readFile(kubeconfig, "utf8")) as {
      readonly users: readonly { readonly name: string }[];
    };
    const users = config.users.map(({ name }) => ({ name, user: { token: token.trim() } }));
    const path = join(folder, "job.kubeconfig");
    await writeFile(path, stringify({ ...config, users }), { mode: 0o600 });
    const { code, stdout, stderr } = await sayKeyturn([...words, "--kubeconfig", path]);
    assert.equal(code, 0, stdout + stderr);
  }

  test("takes finalizers off, stops the operator, and leaves the rest to Helm", async () => {
    const words = await release();
    await leave(["keyturn.dev/keys"]);
    await runAsJob(words);
    assert.deepEqual((await kube.get(serviceBinding, { name: "hooked" })).metadata.finalizers ?? [], []);
    assert.deepEqual((await kube.get(secretType, SECRET)).metadata.finalizers ?? [], []);
    const { spec } = await kube.get(deploymentType, { namespace: NAMESPACE, name: "keyturn" });
    assert.equal((spec as { readonly replicas: number }).replicas, 0);
    await kube.delete(serviceBinding, { name: "hooked" });
  });

  test("deletes resources, and then their definitions, where these are not to stay", async () => {
    const words = await release("crds.keep=false");
    await leave([]);
    await runAsJob(words);
    const name = `${serviceBinding.plural}.${serviceBinding.group}`;
    assert.equal(await ifFound(kube.get(crdType, { name })), undefined);
  });
});

interface Pod {
  readonly containers: readonly [{ readonly args: readonly string[] }];
}

const isJob = (object: KubeObject | null): boolean => object?.kind === "Job";

const refOf = ({ metadata: { name, namespace } }: KubeObject): ObjectRef => ({
  name,
  ...(namespace !== undefined && { namespace }),
});
