import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { putBinding } from "../../src/dashboard/dashboard-world.fixture.ts";
import { installDefinitions } from "../operator/bindings.ts";
import { connect } from "../support/connect.ts";
import { embeddedTarget } from "../support/embedded-target.ts";
import { startKeyturn } from "../support/keyturn-process.ts";
import { runKeyturn } from "../support/run-keyturn.ts";
import { scratchFolder } from "../support/scratch-folder.ts";
import type { RunningTarget } from "../support/target.ts";

/** `keyturn dashboard` as somebody starts it. */
interface Ready {
  readonly dashboard: { readonly url: string; readonly link: string };
}

async function opened({ url, link }: Ready["dashboard"]): Promise<string> {
  const body = JSON.stringify({ token: link.split("#token=")[1] });
  const headers = { "content-type": "application/json" };
  const answer = await fetch(`${url}/api/session`, { method: "POST", headers, body });
  assert.equal(answer.status, 200);
  return ((await answer.json()) as { readonly token: string }).token;
}

/** The first overview that shows this. */
async function overviewWith(url: string, token: string, isMeant: RegExp): Promise<string> {
  const response = await fetch(`${url}/api/live`, { headers: { authorization: `Bearer ${token}` } });
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (isMeant.test(text)) break;
  }
  return text;
}

describe("keyturn dashboard", { timeout: 90_000 }, () => {
  let server: RunningTarget;
  before(async () => {
    server = await embeddedTarget().start();
    const kube = await connect(server.kubeconfig);
    await installDefinitions(kube);
    await putBinding(kube, "orders");
    await kube.close();
  });
  after(() => server.stop());

  test("prints a link that opens once, shows the cluster, prints the next link, and ends when it is told to", async () => {
    const folder = scratchFolder();
    const running = await startKeyturn<Ready>({
      words: ["dashboard", "--kubeconfig", server.kubeconfig],
      readyFile: join(folder, "ready.json"),
    });
    const { url, link } = running.ready.dashboard;
    assert.match(url, /^http:\/\/127\.0\.0\.1:\d+$/);
    assert.ok(running.output().stdout.includes(link));
    const token = await opened(running.ready.dashboard);
    await overviewWith(url, token, /"name":"orders","phase":"Ready"/);
    assert.match(running.output().stdout, /For another browser: http:\/\/127\.0\.0\.1:\d+\/#token=/);
    assert.equal(await running.stop("SIGTERM"), 0);
  });

  test("a cluster that does not answer is waited for, and the page says so", async () => {
    const folder = scratchFolder();
    const kubeconfig = join(folder, "kubeconfig");
    const cluster = { server: "https://127.0.0.1:1", "insecure-skip-tls-verify": true };
    const context = { cluster: "c", user: "u" };
    const config = {
      apiVersion: "v1",
      kind: "Config",
      "current-context": "x",
      clusters: [{ name: "c", cluster }],
      users: [{ name: "u", user: { token: "t" } }],
      contexts: [{ name: "x", context }],
    };
    await writeFile(kubeconfig, JSON.stringify(config));
    const running = await startKeyturn<Ready>({
      words: ["dashboard", "--kubeconfig", kubeconfig],
      readyFile: join(folder, "ready.json"),
    });
    const { url } = running.ready.dashboard;
    const token = await opened(running.ready.dashboard);
    await overviewWith(url, token, /the cluster does not answer/);
    assert.equal(await running.stop("SIGINT"), 0);
  });

  test("mistakes are one line", async () => {
    const table: readonly (readonly [reason: string, words: readonly string[], line: RegExp])[] = [
      ["no such kubeconfig", ["--kubeconfig", "/nonexistent/config"], /nonexistent/],
      ["no such file", ["--audit-log", "/nonexistent/audit.log"], /audit\.log: there is no such file/],
      ["no namespace", ["-n", "No Such"], /cannot be a namespace/],
      ["no port", ["--port", "70000"], /--port must be a whole number/],
    ];
    for (const [reason, words, line] of table) {
      const { code, stderr } = await runKeyturn(["dashboard", ...words]);
      assert.equal(code, 2, `${reason}: ${stderr}`);
      assert.match(stderr, line, reason);
      assert.equal(stderr.trim().split("\n").length, 1, `${reason}: ${stderr}`);
    }
  });
});
