import assert from "node:assert/strict";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { parseAllDocuments } from "yaml";
import { Redacted } from "../../src/base/redacted.ts";
import type { SandboxPlace } from "../../src/cli/sandbox/sandbox-place.ts";
import { parseServiceManagerCredentials } from "../../src/providers/service-manager/credentials.ts";
import { controlPages } from "../../src/sandbox/service-manager/control-requests.ts";
import { defaultInstance, defaultSwitches } from "../../src/sandbox/service-manager/switches.ts";
import { eventually } from "../support/eventually.ts";
import { type KeyturnProcess, startKeyturn } from "../support/keyturn-process.ts";
import { runKeyturn } from "../support/run-keyturn.ts";
import { SandboxClient } from "../support/sandbox-client.ts";
import { sayKeyturn } from "../support/say-keyturn.ts";
import { scratchFolder } from "../support/scratch-folder.ts";

type Sandbox = KeyturnProcess<{ readonly sandbox: SandboxPlace; readonly processId: number }>;

interface SecretManifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly stringData: Readonly<Record<string, string>>;
}

interface ConfigManifest {
  readonly kind: string;
  readonly spec: { readonly serviceManagerSecret: { readonly secretRef: unknown } };
}

interface JsonOutput extends SandboxPlace {
  readonly instances: readonly { readonly id: string }[];
  readonly manifests: { readonly items: readonly [SecretManifest, ConfigManifest] };
}

const start = (folder: string, flags: readonly string[] = []): Promise<Sandbox> =>
  startKeyturn({ words: ["sandbox", ...flags], readyFile: join(folder, "ready.json") });

/** Stopped also where the test fails. */
async function running(context: TestContext, flags?: readonly string[], folder = scratchFolder()) {
  const sandbox = await start(folder, flags);
  context.after(() => sandbox.stop("SIGKILL"));
  return { sandbox, client: new SandboxClient(sandbox.ready.sandbox), folder };
}

test("it prints its address, a Secret and a ProviderConfig to paste, and Ctrl-C stops it", async (context) => {
  const { sandbox, folder } = await running(context, ["-n", "team"]);
  const { url, clientId, clientSecret } = sandbox.ready.sandbox;
  assert.equal(statSync(join(folder, "ready.json")).mode & 0o777, 0o600);
  const { stdout } = sandbox.output();
  assert.ok(stdout.includes(`The sandbox is up: ${url}\n`));
  const pasted = stdout.slice(stdout.indexOf("apiVersion: v1"), stdout.indexOf("Try, in another"));
  const [secret, config] = parseAllDocuments(pasted).map((document) => document.toJS()) as [
    SecretManifest,
    ConfigManifest,
  ];
  assert.deepEqual([secret.kind, secret.metadata.namespace], ["Secret", "team"]);
  const credentials = parseServiceManagerCredentials(new Redacted(secret.stringData));
  assert.deepEqual([credentials.apiUrl, credentials.clientId], [url, clientId]);
  assert.equal(secret.stringData.clientsecret, clientSecret);
  assert.deepEqual([config.kind, config.spec.serviceManagerSecret.secretRef], ["ProviderConfig", secret.metadata]);
  assert.equal(await sandbox.stop("SIGINT"), 0);
});

test("-o json says the same as one object; what it names works", async (context) => {
  const { sandbox, client } = await running(context, ["-o", "json"]);
  const said = JSON.parse(sandbox.output().stdout) as JsonOutput;
  const { url, tokenUrl, clientId, clientSecret } = said;
  assert.deepEqual({ url, tokenUrl, clientId, clientSecret }, sandbox.ready.sandbox);
  assert.equal(said.manifests.items[0].stringData.sm_url, url);
  const made = await client.call("POST", "/v1/service_bindings", {
    name: "mine",
    service_instance_id: said.instances[0]?.id,
  });
  assert.equal(made.status, 201);
  assert.ok(await client.lets(made.body.credentials));
  assert.equal(await sandbox.stop("SIGTERM"), 0);
});

test("--state keeps bindings, clients, tokens, switches and the port, also across kill -9", async (context) => {
  const folder = scratchFolder();
  const file = join(folder, "kept.json");
  const { sandbox, client } = await running(context, ["--state", file], folder);
  await client.control("PUT", "instances/db", {});
  const made = await client.call("POST", "/v1/service_bindings", { name: "kept", service_instance_id: "db" });
  await client.control("PATCH", "switches", { createdHiddenMs: 7 });
  await eventually("the state is on the disk", async () =>
    readFileSync(file, "utf8").includes('"createdHiddenMs":7') ? true : undefined,
  );
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.equal(await sandbox.stop("SIGKILL"), "SIGKILL");
  const { sandbox: next } = await running(context, ["--state", file], folder);
  assert.deepEqual(next.ready.sandbox, sandbox.ready.sandbox);
  assert.ok(await client.lets(made.body.credentials));
  assert.deepEqual(await client.keys(), ["kept"]);
  assert.equal((await client.control("GET", "switches")).body.createdHiddenMs, 7);
  await client.call("DELETE", `/v1/service_bindings/${made.body.id}`);
  assert.equal(await next.stop("SIGINT"), 0);
  assert.ok(!readFileSync(file, "utf8").includes('"name":"kept"'), "what happened last is kept when it stops");
});

test("--seed draws the same client and secrets in every run", async (context) => {
  const { sandbox: one } = await running(context, ["--seed", "7"]);
  const { sandbox: two } = await running(context, ["--seed", "7"]);
  const { sandbox: other } = await running(context, ["--seed", "8"]);
  const secretOf = ({ ready }: Sandbox): string => ready.sandbox.clientSecret;
  assert.equal(secretOf(one), secretOf(two));
  assert.notEqual(secretOf(one), secretOf(other));
});

test("--latency makes every answer take so much longer", async (context) => {
  const { client } = await running(context, ["--latency", "300ms"]);
  const startedAt = performance.now();
  await client.token();
  assert.ok(performance.now() - startedAt >= 290);
});

test("--help lists the controls, the switches and the settings of an instance", async () => {
  const { stdout } = await sayKeyturn(["sandbox", "--help"]);
  for (const { request, what } of controlPages) {
    assert.ok(stdout.includes(request), request);
    assert.ok(stdout.includes(what), what);
  }
  for (const name of [...Object.keys(defaultSwitches), ...Object.keys(defaultInstance)]) {
    assert.match(stdout, new RegExp(`[ ,]${name}[,\\n]`));
  }
});

test("mistakes are one line", async (context) => {
  const folder = scratchFolder();
  const damaged = join(folder, "damaged.json");
  writeFileSync(damaged, '{"port":1,"snapshot":');
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
  context.after(() => taken.close());
  const address = taken.address();
  const port = typeof address === "object" ? String(address?.port) : "";
  const mistakes: readonly (readonly [readonly string[], RegExp])[] = [
    [["--port", "x"], /--port must be a whole number from 0 to 65535/],
    [["--port", port], /the sandbox cannot listen on 127\.0\.0\.1:\d+: .*EADDRINUSE/],
    [["--seed", "-1"], /--seed/],
    [["--seed", "1", "--state", join(folder, "new.json")], /--seed and --state exclude each other/],
    [["--latency", "soon"], /--latency: "soon" is not a duration/],
    [["-o", "xml"], /--output must be one of text, json/],
    [["--state", damaged], /damaged\.json is damaged: remove it, and a new sandbox is made/],
    [["--state", folder], /cannot read the state of the sandbox/],
    [["--state", "/nope/x.json"], /cannot keep the state of the sandbox in \/nope\/x\.json/],
    [["--ready-file", "/nope/x"], /cannot write --ready-file/],
  ];
  for (const [flags, message] of mistakes) {
    const { code, stdout, stderr } = await runKeyturn(["sandbox", ...flags]);
    assert.deepEqual([code, stdout], [2, ""], stderr);
    assert.match(stderr, message);
    assert.match(stderr, /^keyturn: [^\n]+\n$/);
  }
});
