import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { cfServiceInstance } from "../../src/api/korifi/cf-service-instance.ts";
import { KeyturnError, UsageError } from "../../src/base/errors.ts";
import { embeddedCluster } from "../../src/embedded/embedded-cluster.fixture.ts";
import { NotServed } from "../../src/kube/errors.ts";
import type { Kube } from "../../src/kube/port.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { Fuse, type Side } from "../reconcile/fuse.ts";
import { sayKeyturn } from "../support/say-keyturn.ts";
import { scratchFolder } from "../support/scratch-folder.ts";
import { runOn } from "./command-world.ts";
import { CredentialsWorld, SPACE } from "./credentials-world.ts";

/** In every set of credentials, and never in what is printed. */
const CANARY = "s3cr3t-canary";
const NEW = `{"user": "u2", "password": "${CANARY}", "port": 12345678901234567890, "tls": {"a": "& < >"}}`;
const COMPACT = `{"user":"u2","password":"${CANARY}","port":12345678901234567890,"tls":{"a":"& < >"}}`;

test("a Secret that is not there yet is made, goes with its instance, and keeps every digit", async () => {
  const world = await CredentialsWorld.start();
  const { metadata } = await world.instance();
  const { code, stdout, stderr } = await world.set(NEW, ["--no-wait"]);
  assert.deepEqual(
    [code, stdout, stderr],
    [0, "cfserviceinstance/space/db: Secret db made with the credentials\n", ""],
  );
  const secret = await world.get("Secret", "db");
  assert.equal(secret.type, "Opaque");
  assert.deepEqual(await world.texts("db"), { credentials: COMPACT });
  const owners = secret.metadata.ownerReferences?.map(({ kind, uid }) => [kind, uid]);
  assert.deepEqual(owners, [["CFServiceInstance", metadata.uid]]);
});

test("a Secret that is there is written where it has the credentials, and nowhere else", async () => {
  const world = await CredentialsWorld.start();
  await world.instance({ secretName: "given" });
  await world.secret("given", { credentials: "{}", other: "stays" }, {}, { labels: { team: "shop" } });
  const { stdout } = await world.set(NEW, ["--no-wait"]);
  assert.equal(stdout, "cfserviceinstance/space/db: credentials written to the Secret given\n");
  assert.deepEqual(await world.texts("given"), { credentials: COMPACT, other: "stays" });
  const { labels, ownerReferences } = (await world.get("Secret", "given")).metadata;
  assert.deepEqual([labels, ownerReferences], [{ team: "shop" }, undefined]);
});

test("what is so already is not written again, in whatever order it is given", async () => {
  const world = await CredentialsWorld.start();
  await world.instance();
  await world.secret("db", { credentials: '{ "b": 2, "a": 1 }' });
  const before = await world.get("Secret", "db");
  const { code, stdout } = await world.set('{"a":1,"b":2}', ["--no-wait"]);
  assert.deepEqual([code, stdout], [0, "cfserviceinstance/space/db: the Secret db has these credentials already\n"]);
  assert.deepEqual(await world.get("Secret", "db"), before);
});

test("a legacy instance is pointed at its migrated Secret, then that is written, and the legacy one stays", async () => {
  const world = await CredentialsWorld.start();
  const legacy = await world.legacy();
  const { code, stdout } = await world.set(NEW, ["--no-wait"]);
  assert.equal(code, 0);
  assert.deepEqual(stdout.trimEnd().split("\n"), [
    "cfserviceinstance/space/db: spec.secretName set to db-migrated",
    "cfserviceinstance/space/db: credentials written to the Secret db-migrated",
  ]);
  assert.equal(await world.namedSecret(), "db-migrated");
  assert.deepEqual(await world.texts("db-migrated"), { credentials: COMPACT });
  const { annotations = {}, labels = {} } = (await world.get("Secret", "db-migrated")).metadata;
  assert.deepEqual([annotations, labels], [{}, {}], "it is not made from the other one any more");
  assert.deepEqual(await world.get("Secret", "db"), legacy);
});

test("a call that ends at any write is finished by the next one", async () => {
  const ends: string[] = [];
  for (const start of ["legacy", "none", "there"] as const) {
    for (const side of ["before", "after"] as const satisfies readonly Side[]) {
      for (let at = 1; ; at++) {
        const world = await CredentialsWorld.start();
        if (start === "legacy") await world.legacy();
        else await world.instance();
        if (start === "there") await world.secret("db", { credentials: "{}" });
        const legacy = start === "legacy" ? await world.get("Secret", "db") : undefined;
        const fuse = new Fuse(at, side);
        const cut = world.set(NEW, ["--no-wait"], fuse.kube(world.kube));
        if (
          !(await cut.then(
            () => false,
            () => true,
          ))
        )
          break;
        ends.push(`${start} ${side} ${fuse.last}`);
        assert.equal((await world.set(NEW, ["--no-wait"])).code, 0);
        const name = start === "legacy" ? "db-migrated" : "db";
        assert.deepEqual(await world.texts(name), { credentials: COMPACT }, ends.at(-1));
        if (legacy) assert.deepEqual(await world.get("Secret", "db"), legacy, ends.at(-1));
        if (legacy) assert.equal(await world.namedSecret(), "db-migrated", ends.at(-1));
      }
    }
  }
  assert.deepEqual(ends, [
    ...["legacy before patch CFServiceInstance", "legacy before patch Secret"],
    ...["legacy after patch CFServiceInstance", "legacy after patch Secret"],
    ...["none before create Secret", "none after create Secret"],
    ...["there before patch Secret", "there after patch Secret"],
  ]);
});

test("who comes between a look and a write is not written over", async () => {
  const world = await CredentialsWorld.start();
  await world.legacy();
  const met = new Set<string>();
  /** Somebody else writes to the same object, once, just before we do. */
  const kube: Kube = {
    ...world.kube,
    get: (type, ref, options) => world.kube.get(type, ref, options),
    patch: async (type, ref, patch, options) => {
      const body = { metadata: { labels: { "example.com/met": "true" } } };
      if (!met.has(type.kind)) await world.kube.patch(type, ref, { type: "merge", body });
      met.add(type.kind);
      return world.kube.patch(type, ref, patch, options);
    },
  };
  const { code, stdout } = await world.set(NEW, ["--no-wait"], kube);
  assert.deepEqual([code, stdout.split("\n").length, [...met].sort()], [0, 3, ["CFServiceInstance", "Secret"]]);
  for (const [kind, name] of [
    ["CFServiceInstance", "db"],
    ["Secret", "db-migrated"],
  ] as const) {
    assert.equal((await world.get(kind, name)).metadata.labels?.["example.com/met"], "true", kind);
  }
  assert.deepEqual(await world.texts("db-migrated"), { credentials: COMPACT });
});

test("an instance that is pointed elsewhere meanwhile has them there in the end", async () => {
  const world = await CredentialsWorld.start();
  await world.instance();
  let isMoved = false;
  const kube: Kube = {
    ...world.kube,
    get: (type, ref, options) => world.kube.get(type, ref, options),
    create: async (type, object, options) => {
      const made = await world.kube.create(type, object, options);
      const body = { spec: { secretName: "elsewhere" } };
      if (!isMoved)
        await world.kube.patch(cfServiceInstance, { namespace: SPACE, name: "db" }, { type: "merge", body });
      isMoved = true;
      return made;
    },
  };
  assert.equal((await world.set(NEW, ["--no-wait"], kube)).code, 0);
  assert.deepEqual(await world.texts("elsewhere"), { credentials: COMPACT });
});

test("what cannot be set is refused with a reason, and nothing is written", async () => {
  type Arrange = (world: CredentialsWorld) => Promise<unknown>;
  const keeper = { apiVersion: "example.com/v1", kind: "Vault", name: "main", uid: "1", controller: true };
  const table: readonly (readonly [arrange: Arrange, message: RegExp])[] = [
    [(world) => world.instance({ type: "managed" }), /it is of type managed: its service broker gives out/],
    [
      (world) => world.instance({ credentialsFrom: { secretName: "rotated" } }),
      /its credentials are those of the Secret rotated \(spec\.credentialsFrom\): change them there/,
    ],
    [
      async (world) => {
        await world.instance({}, { finalizers: ["example.com/stays"] });
        await world.kube.delete(cfServiceInstance, { namespace: SPACE, name: "db" });
      },
      /it is being deleted/,
    ],
    [
      async (world) => {
        await world.instance();
        await world.secret("db", { user: "u" }, { type: "servicebinding.io/mysql" });
      },
      /its Secret db is a legacy one that nobody has migrated yet: is the operator running\?/,
    ],
    [
      async (world) => {
        await world.instance();
        await world.secret("db", { credentials: "{}" }, {}, { ownerReferences: [keeper] });
      },
      /the Secret db is that of Vault main: change it there/,
    ],
    [
      async (world) => {
        await world.instance();
        await world.secret("db", { credentials: "{}" }, {}, { labels: { "keyturn.dev/owner-uid": "1" } });
      },
      /the Secret db is published by Keyturn/,
    ],
    [
      async (world) => {
        await world.instance();
        await world.secret("db", { credentials: "{}" }, { immutable: true });
      },
      /the Secret db is immutable/,
    ],
  ];
  for (const [arrange, message] of table) {
    const world = await CredentialsWorld.start();
    await arrange(world);
    const before = (await world.kube.list(secretType, { namespace: SPACE })).items;
    const { code, stdout, stderr } = await world.set(NEW);
    assert.deepEqual([code, stdout], [1, ""], String(message));
    assert.match(stderr, /^keyturn: cfserviceinstance\/space\/db: [^\n]+\n$/);
    assert.match(stderr, message);
    assert.deepEqual((await world.kube.list(secretType, { namespace: SPACE })).items, before, String(message));
  }
});

test("an instance, or a kind, that is not there", async () => {
  const world = await CredentialsWorld.start();
  await assert.rejects(world.set(NEW), (error) => {
    return error instanceof UsageError && error.message === "there is no CFServiceInstance db in namespace space";
  });
  const { kube, clock } = embeddedCluster();
  const words = ["credentials", "set", "db", "-f", "-"];
  await assert.rejects(runOn({ kube, clock }, words, NEW), (error) => {
    return error instanceof NotServed && /does not know CFServiceInstance: keyturn crds/.test(error.message);
  });
});

test("a dry run says what would be done, and does nothing", async () => {
  const world = await CredentialsWorld.start();
  await world.legacy();
  const before = await Promise.all([world.get("CFServiceInstance", "db"), world.get("Secret", "db-migrated")]);
  const { code, stdout } = await world.set(NEW, ["--dry-run"]);
  assert.equal(code, 0);
  assert.deepEqual(stdout.trimEnd().split("\n"), [
    "cfserviceinstance/space/db: spec.secretName set to db-migrated (dry run)",
    "cfserviceinstance/space/db: credentials written to the Secret db-migrated (dry run)",
  ]);
  const json = await world.set(NEW, ["--dry-run", "-o", "json"]);
  assert.deepEqual(JSON.parse(json.stdout), {
    namespace: "space",
    name: "db",
    secretName: "db-migrated",
    isDryRun: true,
    steps: [
      { step: "SecretNamed", secretName: "db-migrated" },
      { step: "SecretWritten", secretName: "db-migrated" },
    ],
  });
  const after = await Promise.all([world.get("CFServiceInstance", "db"), world.get("Secret", "db-migrated")]);
  assert.deepEqual(after, before);
});

test("what is no credentials is one line that names the key and no value, before a cluster is asked for", async () => {
  const folder = scratchFolder();
  const table: readonly (readonly [content: string | Buffer, message: RegExp])[] = [
    [`["${CANARY}"]`, /CredentialsNotObject: the credentials are JSON, and not an object/],
    [`"${CANARY}"`, /CredentialsNotObject/],
    [`{"a": ${CANARY}}`, /CredentialsNotJson: the credentials are not JSON/],
    ["", /CredentialsMissing: the credentials are empty: for none, say \{\}/],
    [`{"pass word": "${CANARY}"}`, /InvalidKey: "pass word" cannot be a key of a Secret/],
    [`{"..x": "${CANARY}", ".": 1}`, /InvalidKey: "\." cannot .*; InvalidKey: "\.\.x" cannot/],
    [`{"a": "${CANARY.repeat(100_000)}"}`, /CredentialsTooLarge: the credentials have \d+ bytes/],
    [Buffer.concat([Buffer.from(`{"a": "${CANARY}`), Buffer.from([0xff]), Buffer.from('"}')]), /is not text in UTF-8/],
  ];
  for (const [content, message] of table) {
    const file = join(folder, "creds.json");
    writeFileSync(file, content);
    const { code, stdout, stderr } = await sayKeyturn(["credentials", "set", "db", "-f", file]);
    assert.notEqual(code, 0, String(message));
    assert.match(stderr, message);
    assert.match(stderr, /^keyturn: [^\n]*creds\.json: [^\n]+\n$/);
    assert.ok(!`${stdout}${stderr}`.includes(CANARY), String(message));
  }
});

test("a file with a byte order mark is read, and bytes from a pipe that are no text are refused", async () => {
  const world = await CredentialsWorld.start();
  await world.instance();
  assert.equal((await world.set("\uFEFF{}", ["--no-wait"])).code, 0);
  assert.deepEqual(await world.texts("db"), { credentials: "{}" });
  await assert.rejects(world.set('{"a":"\uFFFD"}'), /is not text in UTF-8/);
});

test("a call that makes no sense", async () => {
  const table: readonly (readonly [words: readonly string[], message: RegExp])[] = [
    [[], /what of them\? keyturn credentials set INSTANCE -f FILE/],
    [["show", "db"], /what of them\?/],
    [["set"], /give the name of a CFServiceInstance/],
    [["set", "db"], /give the file with the credentials/],
    [["set", "db", "-f", "a", "-f", "b"], /give one file/],
    [["set", "a/b/c", "-f", "-"], /cannot be a name in Kubernetes/],
    [["set", "shop/db", "-n", "space", "-f", "-"], /is in namespace shop, and -n says space/],
    [["set", "db", "-f", "/nonexistent.json"], /-f \/nonexistent\.json: there is no such file/],
    [["set", "db", "-f", "-", "--timeout", "soon"], /--timeout: "soon" is not a duration/],
    [["set", "db", "-f", "-", "-o", "yaml"], /--output must be one of text, json/],
  ];
  for (const [words, message] of table) {
    const { code, stderr } = await sayKeyturn(["credentials", ...words]);
    assert.equal(code, 2, words.join(" "));
    assert.match(stderr, message, words.join(" "));
  }
});

test("errors of the server are told without a value", async () => {
  const world = await CredentialsWorld.start();
  await world.instance();
  const kube: Kube = {
    ...world.kube,
    get: (type, ref, options) => world.kube.get(type, ref, options),
    create: (type, object, options) =>
      world.kube.create(type, { ...object, metadata: { ...object.metadata, name: "No" } }, options),
  };
  await assert.rejects(world.set(NEW, ["--no-wait"], kube), (error) => {
    return error instanceof KeyturnError && !error.message.includes(CANARY);
  });
});
