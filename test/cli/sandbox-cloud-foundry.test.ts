import assert from "node:assert/strict";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { Redacted } from "../../src/base/redacted.ts";
import { parseCloudFoundryCredentials } from "../../src/providers/cloud-foundry/credentials.ts";
import { controlPages } from "../../src/sandbox/cloud-foundry/control-requests.ts";
import { defaultInstance, defaultSwitches } from "../../src/sandbox/cloud-foundry/switches.ts";
import type { IssuedLogin } from "../../src/sandbox/cloud-foundry/tokens.ts";
import { CloudFoundryClient } from "../support/cloud-foundry-client.ts";
import { type KeyturnProcess, startKeyturn } from "../support/keyturn-process.ts";
import { startKeyturnUp } from "../support/keyturn-up.ts";
import { runKeyturn } from "../support/run-keyturn.ts";
import { sayKeyturn } from "../support/say-keyturn.ts";
import { scratchFolder } from "../support/scratch-folder.ts";

type Sandbox = KeyturnProcess<{ readonly cloudFoundry: IssuedLogin }>;

const INSTANCE = "00000000-0000-4000-8000-000000000001";

/** Stopped also where the test fails. */
async function running(context: TestContext, flags: readonly string[] = [], folder = scratchFolder()) {
  const words = ["sandbox", ...flags];
  const sandbox: Sandbox = await startKeyturn({ words, readyFile: join(folder, "ready.json") });
  context.after(() => sandbox.stop("SIGKILL"));
  return { sandbox, client: new CloudFoundryClient(sandbox.ready.cloudFoundry), folder };
}

test("it prints where the Cloud Foundry is and how to log in, and a first key needs nothing else", async (context) => {
  const { sandbox, client } = await running(context);
  const { cloudFoundry } = sandbox.ready;
  assert.ok("username" in cloudFoundry);
  const { stdout } = sandbox.output();
  assert.ok(stdout.includes(`A Cloud Foundry is up, too: ${cloudFoundry.apiEndpoint}\n`));
  for (const said of [cloudFoundry.username, cloudFoundry.password, INSTANCE]) assert.ok(stdout.includes(said), said);
  assert.ok(await client.lets((await client.createKey("mine", INSTANCE)).credentials));
  assert.equal(await sandbox.stop("SIGINT"), 0);
});

test("-o json says the same as one object, which the provider reads as credentials", async (context) => {
  const { sandbox } = await running(context, ["-o", "json"]);
  const said = JSON.parse(sandbox.output().stdout) as {
    readonly cloudFoundry: Readonly<Record<string, string>> & { readonly instances: unknown };
  };
  const { instances, ...login } = said.cloudFoundry;
  assert.deepEqual([login, instances], [sandbox.ready.cloudFoundry, [{ id: INSTANCE, name: "example" }]]);
  const credentials = parseCloudFoundryCredentials(new Redacted(login));
  assert.deepEqual([credentials.apiUrl, credentials.login.kind], [login.apiEndpoint, "user"]);
});

test("--state keeps keys, the user, switches and the port in a file beside it, also across kill -9", async (context) => {
  const folder = scratchFolder();
  const state = ["--state", join(folder, "kept.json")];
  const { sandbox, client } = await running(context, state, folder);
  const { credentials } = await client.createKey("kept", INSTANCE);
  await client.control("PATCH", "switches", { largestPage: 7 });
  const file = join(folder, "kept.cloud-foundry.json");
  assert.ok(readFileSync(file, "utf8").includes('"largestPage":7'), "on the disk before the answer");
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.equal(await sandbox.stop("SIGKILL"), "SIGKILL");
  const { sandbox: next } = await running(context, state, folder);
  assert.deepEqual(next.ready.cloudFoundry, sandbox.ready.cloudFoundry);
  assert.ok(await client.lets(credentials));
  assert.deepEqual(await client.keys(), ["kept"]);
  assert.equal((await client.control("GET", "switches")).body.largestPage, 7);
  assert.equal(await next.stop("SIGINT"), 0);
});

test("--seed draws the same user in every run, and no secret twice", async (context) => {
  const { sandbox: one } = await running(context, ["--seed", "7"]);
  const { sandbox: two } = await running(context, ["--seed", "7"]);
  const secretOf = ({ ready }: Sandbox): string =>
    "password" in ready.cloudFoundry ? ready.cloudFoundry.password : "";
  assert.equal(secretOf(one), secretOf(two));
  const ready = JSON.stringify(one.ready);
  assert.equal(ready.split(secretOf(one)).length, 2);
});

test("--help lists its controls, switches and the settings of an instance, too", async () => {
  const { stdout } = await sayKeyturn(["sandbox", "--help"]);
  const page = stdout.slice(stdout.indexOf("Cloud Foundry: controls"));
  for (const { request, what } of controlPages) {
    assert.ok(page.includes(request), request);
    assert.ok(page.includes(what), what);
  }
  for (const name of [...Object.keys(defaultSwitches), ...Object.keys(defaultInstance), "space"]) {
    assert.match(page, new RegExp(`[ ,]${name}[,\\n]`));
  }
});

test("mistakes are one line", async (context) => {
  const folder = scratchFolder();
  writeFileSync(join(folder, "damaged.cloud-foundry.json"), "{");
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
  context.after(() => taken.close());
  const address = taken.address();
  const port = typeof address === "object" ? String(address?.port) : "";
  const mistakes: readonly (readonly [readonly string[], RegExp])[] = [
    [["--cloud-foundry-port", "x"], /--cloud-foundry-port must be a whole number from 0 to 65535/],
    [["--cloud-foundry-port", port], /the sandbox Cloud Foundry cannot listen on 127\.0\.0\.1:\d+: .*EADDRINUSE/],
    [["--state", join(folder, "damaged.json")], /damaged\.cloud-foundry\.json is damaged: remove it/],
  ];
  for (const [flags, message] of mistakes) {
    const { code, stdout, stderr } = await runKeyturn(["sandbox", ...flags]);
    assert.deepEqual([code, stdout], [2, ""], stderr);
    assert.match(stderr, message);
    assert.match(stderr, /^keyturn: [^\n]+\n$/);
  }
});

test("keyturn up serves one, too: in its ready file, in what it prints, and kept from one run to the next", async (context) => {
  const dataDirectory = scratchFolder();
  const first = await startKeyturnUp({ dataDirectory });
  context.after(() => first.stop("SIGKILL"));
  const client = new CloudFoundryClient(first.ready.cloudFoundry);
  const { apiEndpoint } = first.ready.cloudFoundry;
  assert.ok(first.output().stdout.includes(`${apiEndpoint}  (stands in for Cloud Foundry)\n`));
  await client.control("PUT", "instances/db", {});
  const { credentials } = await client.createKey("kept", "db");
  assert.equal(await first.stop("SIGTERM"), 0);
  const second = await startKeyturnUp({ dataDirectory });
  context.after(() => second.stop("SIGKILL"));
  assert.deepEqual(second.ready.cloudFoundry, first.ready.cloudFoundry);
  assert.ok(await client.lets(credentials));
  assert.equal(await second.stop("SIGTERM"), 0);
});
