import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { parseAllDocuments } from "yaml";
import { systemClock } from "../../src/base/clock.ts";
import { stopOperator } from "../../src/cli/uninstall/stop-operator.ts";
import { families } from "../families/families.ts";
import { brisk, ignoreMissing, Stage } from "../rotation/stage.ts";
import { StoryBinding } from "../rotation/story-binding.ts";
import { connect } from "../support/connect.ts";
import { eventually } from "../support/eventually.ts";
import { accountKubeconfig } from "../support/operator-access.ts";
import { pickTarget } from "../support/pick-target.ts";
import { runKeyturn } from "../support/run-keyturn.ts";
import type { RunningTarget } from "../support/target.ts";

/** `keyturn manifests`, applied as its page says, to the embedded server and to a real one. */
const target = await pickTarget();
const { kubectl } = target;
const skip = kubectl === undefined && "no kubectl here: install one, or run `npm run test:cluster`, which builds one";
const execute = promisify(execFile);

const NAMESPACE = "keyturn-install";
/** The selector of a budget is replaced as a whole, and kubectl writes that down for a change each time. */
const AS_IT_IS = / unchanged|^poddisruptionbudget\.policy\/keyturn configured/;

describe(`what keyturn manifests prints, on the ${target.name} server`, { concurrency: 1, skip }, () => {
  let server: RunningTarget;
  let folder: string;
  let file: string;
  before(async () => {
    server = await target.start();
    folder = await mkdtemp(join(tmpdir(), "keyturn-install-"));
    file = join(folder, "keyturn.yaml");
    const { code, stdout, stderr } = await runKeyturn(["manifests", "--namespace", NAMESPACE]);
    assert.equal(code, 0, stderr);
    await writeFile(file, stdout);
  });
  after(async () => {
    try {
      await run("delete", "--ignore-not-found", "-f", file);
    } finally {
      await rm(folder, { recursive: true, force: true });
      await server.stop();
    }
  });

  const run = async (...words: readonly string[]): Promise<string> => {
    const env = { PATH: process.env.PATH ?? "", HOME: folder };
    const { stdout } = await execute(kubectl ?? "", ["--kubeconfig", server.kubeconfig, ...words], {
      env,
      timeout: 200_000,
    });
    return stdout;
  };

  test("is applied in one go", async () => {
    const lines = (await run("apply", "-f", file)).trim().split("\n");
    assert.equal(lines.length, parseAllDocuments(await readFile(file, "utf8")).length);
    for (const line of lines) assert.match(line, / (created|configured)$/);
  });

  test("is taken as it is: applying it again changes nothing", async () => {
    for (const words of [["apply"], ["apply", "--dry-run=server"]]) {
      for (const line of (await run(...words, "-f", file)).trim().split("\n")) assert.match(line, AS_IT_IS);
    }
  });

  test("runs two pods", async () => {
    await run("rollout", "status", "deployment/keyturn", "--namespace", NAMESPACE, "--timeout=180s");
    const pods = await run("get", "pods", "--namespace", NAMESPACE, "--no-headers");
    assert.equal(pods.trim().split("\n").length, 2);
  });

  test("starts the operator again that an uninstallation has stopped before it ended", async () => {
    const apply = ["apply", "--server-side", "-f", file];
    // Once, since it was applied by the client before.
    await run(...apply, "--force-conflicts");
    const kube = await connect(server.kubeconfig);
    try {
      await stopOperator({
        ...{ kube, clock: systemClock, namespace: NAMESPACE, timeoutMs: 60_000 },
        wish: { keys: "keep", definitions: "keep", isAbandoning: false },
        ...{ signal: new AbortController().signal, tell: () => {} },
      });
    } finally {
      await kube.close();
    }
    const replicas = ["get", "deployment", "keyturn", "--namespace", NAMESPACE, "-o", "jsonpath={.spec.replicas}"];
    assert.equal(await run(...replicas), "0");
    await run(...apply);
    assert.equal(await run(...replicas), "2");
  });

  // The embedded server enforces neither RBAC nor Pod Security.
  if (target.name === "real") defineEnforced();

  function defineEnforced(): void {
    test("grants what a rotation needs, from the first key to the last", { timeout: 180_000 }, async () => {
      const stage = await Stage.set({ target, name: "install", kubeconfigFor: asServiceAccount });
      try {
        const access = { ...stage.access, namespace: NAMESPACE };
        const operator = stage.startOperator([...brisk(), "--leader-elect"], access);
        await operator.ready();
        for (const family of families) {
          const binding = new StoryBinding(stage, { family, name: `install-${family.controller}` });
          await binding.create(binding.manifest({ rotation: { ttl: "6s", frequency: "3s" } }));
          const first = await binding.calm();
          await binding.rotated(first);
          await binding.removed(first.activeId ?? "");
          await binding.end();
        }
        for (const family of families) {
          await stage.kube.delete(family.configType, { name: stage.namespace }).catch(ignoreMissing);
          const isLetGo = async () => !(await stage.hasProviderConfig(family, stage.namespace)) || undefined;
          await eventually("the ProviderConfig to be let go", isLetGo);
        }
        assert.doesNotMatch(operator.text, /forbidden/i);
      } finally {
        await stage.strike();
      }
    });

    test("grants no more than that", async () => {
      const account = `system:serviceaccount:${NAMESPACE}:keyturn`;
      for (const asked of [
        ["delete", "servicebindings.account.btp.sap.crossplane.io"],
        ["create", "pods"],
        ["update", "configmaps"],
        // Those of name servers are made, patched, and deleted when another kind takes their place; none is written as a whole.
        ["update", "deployments.apps"],
        ["update", "statefulsets.apps"],
        ["create", "daemonsets.apps"],
        ["delete", "daemonsets.apps"],
        ["get", "namespaces/default"],
        ["update", "leases/another", "--namespace", NAMESPACE],
        ["get", "leases/keyturn", "--namespace", "default"],
        ["create", "clusterrolebindings"],
        ["impersonate", "serviceaccounts"],
      ]) {
        const answer = await run("auth", "can-i", ...asked, "--as", account).catch(
          (error: { stdout: string }) => error.stdout,
        );
        assert.equal(answer.trim(), "no", asked.join(" "));
      }
    });

    test("the namespace refuses pods that ask for more", async () => {
      const pod = ["run", "greedy", "--image=example", "--namespace", NAMESPACE, "--dry-run=server"];
      await assert.rejects(run(...pod), /violates PodSecurity "restricted/);
    });
  }

  /** A kubeconfig that speaks as the pods would. */
  async function asServiceAccount(): Promise<string> {
    const kube = await connect(server.kubeconfig);
    try {
      return await accountKubeconfig(server.kubeconfig, kube, { namespace: NAMESPACE, name: "keyturn" });
    } finally {
      await kube.close();
    }
  }
});
