import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { stringify } from "yaml";
import { UsageError } from "../base/errors.ts";
import { ManualClock } from "../base/manual-clock.ts";
import { accessFromCluster, accessFromKubeconfig, type ClusterAccess } from "./cluster-access.ts";

const directory = await mkdtemp(join(tmpdir(), "keyturn-access-"));
after(() => rm(directory, { recursive: true }));

const path = (name: string): string => join(directory, name);

async function kubeconfig(name: string, user: object, cluster: object = {}): Promise<string> {
  const config = {
    clusters: [{ name: "c", cluster: { server: "https://host:6443", ...cluster } }],
    users: [{ name: "u", user }],
    contexts: [{ name: "ctx", context: { cluster: "c", user: "u" } }],
    "current-context": "ctx",
  };
  await writeFile(path(name), stringify(config));
  return path(name);
}

const bearer = async (access: ClusterAccess): Promise<string | undefined> =>
  (await access.credentials.current()).authorization?.reveal();

const open = (paths: string | readonly string[], clock = new ManualClock()): Promise<ClusterAccess> =>
  accessFromKubeconfig({ paths, clock, environment: { PATH: process.env.PATH } });

test("a token in the file", async () => {
  const access = await open(await kubeconfig("token", { token: "abc" }));
  assert.equal(await bearer(access), "Bearer abc");
  assert.equal(access.server, "https://host:6443");
  assert.match(access.origin, /^context "ctx" of /);
  assert.equal(access.context, "ctx");
  assert.equal(
    await access.credentials.current(),
    await access.credentials.current(),
    "the same object while nothing changes",
  );
});

test("a user name and a password", async () => {
  const access = await open(await kubeconfig("basic", { username: "me", password: "pass" }));
  assert.equal(await bearer(access), `Basic ${Buffer.from("me:pass").toString("base64")}`);
});

test("nothing secret goes over plain HTTP", async () => {
  const access = await open(await kubeconfig("plain", { token: "abc" }, { server: "http://host" }));
  assert.equal(await bearer(access), undefined);
});

test("a token file is read again when it changes, and at once after a 401", async () => {
  const clock = new ManualClock();
  await writeFile(path("rotating"), "one\n");
  const access = await open(await kubeconfig("token-file", { tokenFile: "rotating" }), clock);
  assert.equal(await bearer(access), "Bearer one");
  await writeFile(path("rotating"), "number two");
  assert.equal(await bearer(access), "Bearer one", "not looked at for every request");
  const { tls } = await access.credentials.current();
  await clock.advance(10_000);
  assert.equal(await bearer(access), "Bearer number two");
  assert.equal((await access.credentials.current()).tls, tls, "a new token needs no new connections");
  await writeFile(path("rotating"), "the third");
  access.credentials.reject(await access.credentials.current());
  assert.equal(await bearer(access), "Bearer the third");
  await rm(path("rotating"));
  await clock.advance(10_000);
  assert.equal(await bearer(access), "Bearer the third", "a file that is gone for a moment");
  await writeFile(path("rotating"), "");
  await clock.advance(10_000);
  assert.equal(await bearer(access), "Bearer the third", "a file that is being written");
});

test("certificates from files: new ones mean a new identity for connections", async () => {
  const clock = new ManualClock();
  for (const name of ["ca.pem", "me.crt", "me.key"]) await writeFile(path(name), name);
  const file = await kubeconfig(
    "certificates",
    { "client-certificate": "me.crt", "client-key": "me.key" },
    { "certificate-authority": "ca.pem", "tls-server-name": "kubernetes" },
  );
  const access = await open(file, clock);
  const { tls } = await access.credentials.current();
  assert.deepEqual(
    [tls.ca, tls.clientCertificate, tls.clientKey?.reveal(), tls.serverName],
    ["ca.pem", "me.crt", "me.key", "kubernetes"],
  );
  assert.doesNotMatch(JSON.stringify(tls), /me\.key/);
  await writeFile(path("me.crt"), "a new certificate");
  await clock.advance(10_000);
  const renewed = (await access.credentials.current()).tls;
  assert.notEqual(renewed, tls);
  assert.equal(renewed.clientCertificate, "a new certificate");
});

test("files: a list skips what is missing, an explicit one must be there", async () => {
  const there = await kubeconfig("there", { token: "abc" });
  assert.equal(await bearer(await open(["", path("missing"), there, there])), "Bearer abc");
  await assert.rejects(
    open(path("missing")),
    (error) => error instanceof UsageError && /no such file.*--kubeconfig/.test(error.message),
  );
  await assert.rejects(
    open([path("missing")]),
    (error) => error instanceof UsageError && /no kubeconfig found/.test(error.message),
  );
  await assert.rejects(open([]), UsageError);
  await assert.rejects(open(directory), UsageError, "a directory");
});

test("a file that the kubeconfig names and that is not there is a mistake at the start", async () => {
  const file = await kubeconfig("dangling", { tokenFile: "nowhere" });
  await assert.rejects(
    open(file),
    (error) => error instanceof UsageError && /cannot read .*nowhere/.test(error.message),
  );
});

/** A plugin that says what it was told and counts its runs. */
async function plugin(name: string, body: string): Promise<object> {
  await writeFile(path(`${name}.mjs`), `import { appendFileSync, readFileSync } from "node:fs";\n${body}`);
  return { apiVersion: "client.authentication.k8s.io/v1", command: process.execPath, args: [path(`${name}.mjs`)] };
}

const printing = (status: string): string =>
  `console.log(JSON.stringify({ apiVersion: "client.authentication.k8s.io/v1", kind: "ExecCredential", status: ${status} }));`;

test("exec: run once, kept until it expires, run again after a 401 though not in a loop", async () => {
  const clock = new ManualClock();
  const expires = JSON.stringify(new Date(clock.now() + 60_000).toISOString());
  const runs = JSON.stringify(path("runs"));
  await writeFile(path("runs"), "");
  const exec = await plugin(
    "counting",
    `appendFileSync(${runs}, "x"); const run = readFileSync(${runs}).length;\n${printing(`{ token: "t" + run, expirationTimestamp: ${expires} }`)}`,
  );
  const access = await open(await kubeconfig("exec", { exec }), clock);
  const both = await Promise.all([bearer(access), bearer(access)]);
  assert.deepEqual(both, ["Bearer t1", "Bearer t1"]);
  await clock.advance(4000);
  access.credentials.reject(await access.credentials.current());
  assert.equal(await bearer(access), "Bearer t1", "too soon after it was run");
  await clock.advance(1000);
  access.credentials.reject(await access.credentials.current());
  assert.equal(await bearer(access), "Bearer t2");
  await clock.advance(55_000);
  assert.equal(await bearer(access), "Bearer t3", "expired");
});

test("exec: the plugin is told what it asked for, and nothing is inherited that was not handed in", async () => {
  const exec = await plugin(
    "telling",
    printing(
      `{ token: JSON.stringify([JSON.parse(process.env.KUBERNETES_EXEC_INFO), process.env.PROFILE, process.env.HOME]) }`,
    ),
  );
  const user = { exec: { ...exec, provideClusterInfo: true, env: [{ name: "PROFILE", value: "dev" }] } };
  const extensions = [{ name: "client.authentication.k8s.io/exec", extension: { audience: "x" } }];
  const ca = Buffer.from("CA").toString("base64");
  const access = await open(await kubeconfig("told", user, { "certificate-authority-data": ca, extensions }));
  const told: unknown = JSON.parse((await bearer(access))?.slice("Bearer ".length) ?? "");
  const cluster = { server: "https://host:6443", "certificate-authority-data": ca, config: { audience: "x" } };
  const info = {
    kind: "ExecCredential",
    apiVersion: "client.authentication.k8s.io/v1",
    spec: { interactive: false, cluster },
  };
  assert.deepEqual(told, [info, "dev", null]);
});

test("exec: a certificate and its key", async () => {
  const exec = await plugin("certifying", printing(`{ clientCertificateData: "CERT", clientKeyData: "KEY" }`));
  const { tls, authorization } = await (await open(await kubeconfig("cert", { exec }))).credentials.current();
  assert.deepEqual([tls.clientCertificate, tls.clientKey?.reveal(), authorization], ["CERT", "KEY", undefined]);
});

const badPlugins: readonly { readonly reason: string; readonly body: string; readonly says: RegExp }[] = [
  { reason: "fails", body: "process.exit(3);", says: /exit code 3; get it from the shop/ },
  { reason: "prints no JSON", body: `console.log("geheim");`, says: /not JSON/ },
  { reason: "prints something else", body: `console.log("{}");`, says: /no ExecCredential/ },
  { reason: "gives nothing", body: printing(`{ note: "geheim" }`), says: /neither a token nor/ },
  { reason: "speaks another version", body: printing("{}").replace("/v1", "/v9"), says: /another version/ },
  { reason: "prints without end", body: `process.stdout.write("x".repeat(3_000_000));`, says: /too much/ },
];

for (const { reason, body, says } of badPlugins) {
  test(`exec, one clear line when the plugin ${reason}`, async () => {
    const exec = { ...(await plugin(`bad-${reason.replaceAll(" ", "-")}`, body)), installHint: "get it from the shop" };
    await assert.rejects(
      open(await kubeconfig("bad", { exec })),
      (error) => error instanceof UsageError && says.test(error.message) && !/geheim|\n/.test(error.message),
      reason,
    );
  });
}

test("exec: a plugin that is not installed says how to get it", async () => {
  const exec = {
    apiVersion: "client.authentication.k8s.io/v1",
    command: "keyturn-no-such-plugin",
    installHint: "brew it",
  };
  await assert.rejects(
    open(await kubeconfig("absent", { exec })),
    (error) => error instanceof UsageError && /keyturn-no-such-plugin is not installed; brew it/.test(error.message),
  );
});

test("exec: a plugin that hangs is ended", async () => {
  const clock = new ManualClock();
  const exec = await plugin("hanging", "setInterval(() => {}, 1000);");
  const outcome = assert.rejects(
    open(await kubeconfig("hang", { exec }), clock),
    (error) => error instanceof UsageError && /60 s/.test(error.message),
  );
  while (clock.timerCount === 0) await clock.advance(0);
  await clock.advance(60_000);
  await outcome;
});

test("in a cluster: token and CA are read again as they rotate, the namespace is known", async () => {
  const clock = new ManualClock();
  await writeFile(path("token"), "pod-token");
  await writeFile(path("ca.crt"), "CA 1");
  await writeFile(path("namespace"), "team\n");
  const access = await accessFromCluster({ host: "fd00::1", port: "443", clock, directory });
  assert.equal(access.server, "https://[fd00::1]:443");
  assert.equal(access.namespace, "team");
  assert.equal(await bearer(access), "Bearer pod-token");
  const { tls } = await access.credentials.current();
  await writeFile(path("token"), "renewed token");
  await writeFile(path("ca.crt"), "CA 1 and CA 2");
  await clock.advance(10_000);
  assert.equal(await bearer(access), "Bearer renewed token");
  assert.equal((await access.credentials.current()).tls.ca, "CA 1 and CA 2");
  assert.notEqual((await access.credentials.current()).tls, tls);
});

test("in a cluster: without the service account's files it says so", async () => {
  await assert.rejects(
    accessFromCluster({ host: "h", port: "1", clock: new ManualClock(), directory: path("none") }),
    (error) => error instanceof UsageError && /cannot read .*none/.test(error.message),
  );
});
