import assert from "node:assert/strict";
import { test } from "node:test";
import { stringify } from "yaml";
import { UsageError } from "../base/errors.ts";
import { type KubeconfigFile, type ResolvedKubeconfig, resolveKubeconfig } from "./kubeconfig.ts";

const base64 = (text: string): string => Buffer.from(text).toString("base64");

function file(cluster: object, user: object | undefined = undefined, extra: object = {}): KubeconfigFile {
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "c", cluster: { server: "https://host:6443", ...cluster } }],
    ...(user && { users: [{ name: "u", user }] }),
    contexts: [{ name: "ctx", context: { cluster: "c", ...(user && { user: "u" }), namespace: "team" } }],
    "current-context": "ctx",
    ...extra,
  };
  return { path: "/home/me/.kube/config", text: stringify(config) };
}

const resolve = (cluster: object, user?: object): ResolvedKubeconfig => resolveKubeconfig([file(cluster, user)]);

test("the current context: server, namespace, names", () => {
  const { context, namespace, cluster, user, path } = resolve({});
  assert.deepEqual(
    { context, namespace, cluster, user, path },
    {
      context: "ctx",
      namespace: "team",
      cluster: { name: "c", server: "https://host:6443", skipVerify: false },
      user: {},
      path: "/home/me/.kube/config",
    },
  );
});

test("relative paths are relative to the file, data wins over files", () => {
  const { cluster, user } = resolve(
    { "certificate-authority": "pki/ca.crt", "tls-server-name": "kubernetes", "proxy-url": "http://proxy:3128" },
    {
      "client-certificate": "../me.crt",
      "client-key": "/keys/me.key",
      "client-key-data": base64("KEY"),
      tokenFile: "token",
    },
  );
  assert.deepEqual(cluster.ca, { kind: "file", path: "/home/me/.kube/pki/ca.crt" });
  assert.equal(cluster.serverName, "kubernetes");
  assert.equal(cluster.proxyUrl, "http://proxy:3128");
  assert.deepEqual(user.clientCertificate, { kind: "file", path: "/home/me/me.crt" });
  assert.equal(user.clientKey?.kind === "inline" && user.clientKey.value.reveal(), "KEY");
  assert.deepEqual(user.token, { kind: "file", path: "/home/me/.kube/token" });
});

test("a token is never visible, also one that YAML takes for a number", () => {
  const { user } = resolve({}, { token: 1234567890 });
  assert.equal(user.token?.kind === "inline" && user.token.value.reveal(), "1234567890");
  assert.doesNotMatch(JSON.stringify(user), /1234567890/);
});

test("an exec plugin: command by path or by name, environment, hint on one line", () => {
  const exec = {
    apiVersion: "client.authentication.k8s.io/v1",
    command: "./bin/login",
    args: ["get-token", 5],
    env: [{ name: "PROFILE", value: "dev" }],
    installHint: "install it\n\u001b[31mwith brew",
    provideClusterInfo: true,
    interactiveMode: "IfAvailable",
  };
  const extensions = [{ name: "client.authentication.k8s.io/exec", extension: { audience: "x" } }];
  const { user, cluster } = resolve({ extensions }, { exec });
  assert.deepEqual(user.exec, {
    apiVersion: "client.authentication.k8s.io/v1",
    command: "/home/me/.kube/bin/login",
    args: ["get-token", "5"],
    env: { PROFILE: "dev" },
    installHint: "install it [31mwith brew",
    provideClusterInfo: true,
  });
  assert.deepEqual(cluster.execConfig, { audience: "x" });
  const named = resolve({}, { exec: { ...exec, command: "aws", apiVersion: "client.authentication.k8s.io/v1beta1" } });
  assert.equal(named.user.exec?.command, "aws", "found on the PATH");
});

test("several files: the first that defines a name wins, and so does the first current context", () => {
  const first: KubeconfigFile = {
    path: "/one/config",
    text: stringify({ users: [{ name: "u", user: { tokenFile: "t" } }], clusters: null }),
  };
  const second = file({}, { token: "second" });
  const third = { ...file({ server: "https://third" }, {}), text: `${file({ server: "https://third" }).text}` };
  const resolved = resolveKubeconfig([first, second, third]);
  assert.deepEqual(resolved.user.token, { kind: "file", path: "/one/t" }, "relative to the file it stands in");
  assert.equal(resolved.cluster.server, "https://host:6443");
  assert.equal(resolved.context, "ctx");
});

test("a context by name instead of the current one", () => {
  const contexts = [
    { name: "ctx", context: { cluster: "c" } },
    { name: "other", context: { cluster: "c", namespace: "ns2" } },
  ];
  assert.equal(resolveKubeconfig([file({}, undefined, { contexts })], "other").namespace, "ns2");
  assert.equal(resolveKubeconfig([file({}, undefined, { contexts })]).namespace, "default");
});

const exec = { apiVersion: "client.authentication.k8s.io/v1", command: "x" };
const mistakes: readonly { readonly reason: string; readonly given: () => unknown; readonly says: RegExp }[] = [
  {
    reason: "no current context",
    given: () => resolveKubeconfig([file({}, undefined, { "current-context": "" })]),
    says: /no current-context.*ctx.*--context/,
  },
  { reason: "an unknown context", given: () => resolveKubeconfig([file({})], "nope"), says: /no context "nope".*ctx/ },
  {
    reason: "an unknown cluster",
    given: () => resolveKubeconfig([file({}, undefined, { clusters: [] })]),
    says: /cluster "c", which is not defined/,
  },
  {
    reason: "an unknown user",
    given: () => resolveKubeconfig([file({}, {}, { users: [] })]),
    says: /user "u", who is not defined/,
  },
  { reason: "no server", given: () => resolve({ server: "" }), says: /no "server"/ },
  {
    reason: "a server that is no URL",
    given: () => resolve({ server: "host:6443" }),
    says: /"server" must be an http/,
  },
  { reason: "a proxy of another kind", given: () => resolve({ "proxy-url": "socks5://p:1080" }), says: /proxy-url/ },
  {
    reason: "trust and no trust",
    given: () => resolve({ "certificate-authority": "x", "insecure-skip-tls-verify": true }),
    says: /keep one/,
  },
  { reason: "a flag that is text", given: () => resolve({ "insecure-skip-tls-verify": "yes" }), says: /true or false/ },
  {
    reason: "a certificate without a key",
    given: () => resolve({}, { "client-certificate": "x" }),
    says: /no client-key/,
  },
  {
    reason: "a key without a certificate",
    given: () => resolve({}, { "client-key": "x" }),
    says: /no client-certificate/,
  },
  {
    reason: "data that is not base64",
    given: () => resolve({ "certificate-authority-data": "#geheim#" }),
    says: /not valid base64/,
  },
  {
    reason: "two ways to log in",
    given: () => resolve({}, { token: "geheim", username: "u" }),
    says: /both a token and a username/,
  },
  {
    reason: "an auth-provider",
    given: () => resolve({}, { "auth-provider": { name: "oidc" } }),
    says: /exec plugin or a token/,
  },
  { reason: "impersonation", given: () => resolve({}, { as: "root" }), says: /not supported/ },
  {
    reason: "exec in an old version",
    given: () => resolve({}, { exec: { ...exec, apiVersion: "client.authentication.k8s.io/v1alpha1" } }),
    says: /v1 or v1beta1/,
  },
  {
    reason: "exec without a command",
    given: () => resolve({}, { exec: { ...exec, command: "" } }),
    says: /command is missing/,
  },
  {
    reason: "exec that wants a terminal",
    given: () => resolve({}, { exec: { ...exec, interactiveMode: "Always" } }),
    says: /terminal/,
  },
  {
    reason: "broken YAML",
    given: () => resolveKubeconfig([{ path: "/k", text: "a: b\n token: [geheim" }]),
    says: /^\/k: line \d+ is not valid YAML/,
  },
  {
    reason: "a password where it would be shown",
    given: () =>
      resolveKubeconfig([
        file({}, undefined, { clusters: [{ name: "c", cluster: { server: "https://u:geheim@h" } }] }),
      ]),
    says: /"server" holds a user or password/,
  },
  {
    reason: "another kind of file",
    given: () => resolveKubeconfig([{ path: "/k", text: "kind: Pod" }]),
    says: /not a kubeconfig file but a Pod/,
  },
  {
    reason: "not even a map",
    given: () => resolveKubeconfig([{ path: "/k", text: "geheim" }]),
    says: /not a kubeconfig file/,
  },
  {
    reason: "a list that is none",
    given: () => resolveKubeconfig([file({}, undefined, { users: "geheim" })]),
    says: /"users" must be a list/,
  },
  {
    reason: "an entry without a name",
    given: () => resolveKubeconfig([file({}, undefined, { users: [{}] })]),
    says: /has no name/,
  },
];

for (const { reason, given, says } of mistakes) {
  test(`one clear line: ${reason}`, () => {
    assert.throws(
      given,
      (error) =>
        error instanceof UsageError &&
        says.test(error.message) &&
        !/\n|geheim/.test(error.message) &&
        error.cause === undefined,
      reason,
    );
  });
}
