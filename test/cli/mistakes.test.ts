import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { runKeyturn } from "../support/run-keyturn.ts";
import { sayKeyturn } from "../support/say-keyturn.ts";

let folder: string;
before(() => {
  folder = mkdtempSync(join(tmpdir(), "keyturn-cli-"));
});
after(() => rmSync(folder, { recursive: true }));

function kubeconfig(name: string, server: string, user: Record<string, unknown> = { token: "t" }): string {
  const path = join(folder, name);
  const content = {
    clusters: [{ name: "c", cluster: { server } }],
    users: [{ name: "u", user }],
    contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
    "current-context": "x",
  };
  writeFileSync(path, JSON.stringify(content));
  return path;
}

/** One clear line on stderr, nothing on stdout, no stack, an exit code that is not 0. */
async function assertOneLine(
  words: readonly string[],
  message: RegExp,
  environment?: Record<string, string>,
): Promise<void> {
  const { code, stdout, stderr } = await sayKeyturn(words, environment);
  const said = `keyturn ${words.join(" ")} said: ${stderr}`;
  assert.notEqual(code, 0, said);
  assert.match(stderr, message, said);
  assert.match(stderr, /^keyturn: [^\n]+\n$/, said);
  assert.doesNotMatch(stderr, /\bat .*\.[jt]s:\d+/, said);
  assert.equal(stdout, "", said);
}

test("a command or flag that does not exist", async () => {
  await assertOneLine(["opertor"], /unknown command "opertor", did you mean "operator"\?/);
  await assertOneLine(["--verbose"], /flag --verbose before a command/);
  await assertOneLine(["operator", "--kubeconfg", "x"], /unknown flag --kubeconfg, did you mean --kubeconfig\?/);
  await assertOneLine(["up", "now"], /unexpected argument "now"/);
  await assertOneLine(
    ["status", "secret"],
    /"secret" is not a kind that Keyturn rotates \(choose from servicebinding, servicecredentialbinding\b/,
  );
});

test("a value that makes no sense", async () => {
  await assertOneLine(["operator", "--controllers", "btp,cloud"], /--controllers: "cloud" is not one of btp/);
  await assertOneLine(["operator", "--workers", "0"], /--workers must be a whole number from 1 to 1024, not "0"/);
  await assertOneLine(["operator", "--log-level", "loud"], /--log-level must be one of debug, info, warn, error/);
  await assertOneLine(["operator", "--metrics-bind", "nine"], /cannot listen on "nine": give host:port/);
  await assertOneLine(["crds", "-o", "toml"], /--output must be one of yaml, json/);
  await assertOneLine(["up", "--ephemeral", "--ready-file", "/nope/x"], /cannot write --ready-file \/nope\/x/);
  await assertOneLine(["up", "--port", "70000"], /--port must be a whole number from 0 to 65535/);
});

test("a kubeconfig that cannot be read", async () => {
  await assertOneLine(
    ["operator", "--kubeconfig", join(folder, "none")],
    /there is no such file; give another one with --kubeconfig/,
  );
  const broken = join(folder, "broken");
  writeFileSync(broken, "clusters: [\n");
  await assertOneLine(["operator", "--kubeconfig", broken], /broken/);
  const empty = join(folder, "empty");
  writeFileSync(empty, "");
  await assertOneLine(["operator", "--kubeconfig", empty], /empty/);
  await assertOneLine(["operator", "--kubeconfig", folder], /cannot read the kubeconfig/);
  await assertOneLine(["operator"], /no kubeconfig found .*; give one with --kubeconfig/);
  await assertOneLine(["operator"], /no kubeconfig found/, { KUBECONFIG: join(folder, "none") });
  const good = kubeconfig("good", "https://127.0.0.1:1");
  await assertOneLine(["operator", "--kubeconfig", good, "--context", "other"], /other/);
});

test("a file that is not there is said before anything is asked of a cluster", async () => {
  const none = join(folder, "none.log");
  await assertOneLine(["audit", "verify", none], /none\.log: there is no such file/);
  await assertOneLine(["audit", "verify", folder], /: is a folder: give the files in it/);
});

test("a server that is not there, or is not Kubernetes", async () => {
  const nobody = kubeconfig("nobody", "https://127.0.0.1:1");
  await assertOneLine(
    ["operator", "--kubeconfig", nobody, "--metrics-bind", "0"],
    /https:\/\/127\.0\.0\.1:1 .* does not answer: .*is it running/,
  );
  const server = createServer((_, response) => response.end("<html>hello</html>"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  try {
    const website = kubeconfig("website", `http://127.0.0.1:${port}`);
    await assertOneLine(
      ["operator", "--kubeconfig", website, "--metrics-bind", "0"],
      /is not a Kubernetes API server that works/,
    );
  } finally {
    server.close();
  }
});

test("credentials that nobody accepts", async () => {
  const status = { apiVersion: "v1", kind: "Status", status: "Failure", message: "Unauthorized", code: 401 };
  // As a real server does: the version is told to anybody.
  const server = createServer(({ url }, response) => {
    response.writeHead(url === "/version" ? 200 : 401, { "content-type": "application/json" });
    response.end(JSON.stringify(url === "/version" ? { gitVersion: "v1.36.3" } : status));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  try {
    const stranger = kubeconfig("stranger", `http://127.0.0.1:${port}`);
    await assertOneLine(["status", "--kubeconfig", stranger], /does not accept the credentials of .*: log in again/);
  } finally {
    server.close();
  }
});

test("a mistake is one line of the process too, and its exit code", async () => {
  const { code, stdout, stderr } = await runKeyturn(["status", "secret"]);
  assert.deepEqual([code, stdout], [2, ""]);
  assert.match(stderr, /^keyturn: "secret" is not a kind that Keyturn rotates [^\n]+\n$/);
});

test("an output that cannot be written", { skip: existsSync("/dev/full") ? false : "needs /dev/full" }, async () => {
  const { code, stderr } = await runKeyturn(["crds"], {}, openSync("/dev/full", "w"));
  assert.equal(code, 1);
  assert.match(stderr, /^keyturn: the output cannot be written: [^\n]+\n$/);
});

test("an exec plugin that is not installed", async () => {
  const exec = { apiVersion: "client.authentication.k8s.io/v1", command: "no-such-plugin", interactiveMode: "Never" };
  const path = kubeconfig("exec", "https://127.0.0.1:1", { exec });
  await assertOneLine(["operator", "--kubeconfig", path], /no-such-plugin/);
});

test("a data directory that cannot be used", async () => {
  const file = join(folder, "file");
  writeFileSync(file, "");
  chmodSync(file, 0o600);
  await assertOneLine(["up", "--data-dir", file], /cannot use --data-dir .*choose another one, or --ephemeral/);
});
