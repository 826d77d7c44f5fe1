import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { ownSecretNames, planInstance } from "./instance-plan.ts";
import { instanceOf, secretOf, textsIn, told } from "./korifi.fixture.ts";
import type { Instance, SecretView } from "./model.ts";
import type { SecretWrite } from "./plan.ts";

const JSON_TEXT = '{"type":"database","user":{"name":"alice","password":"bob"}}';
const LEGACY = secretOf(
  "db",
  { type: "database", user: "alice" },
  { type: "servicebinding.io/database", owner: "db", version: "7" },
);
const MIGRATED = '{"type":"database","user":"alice"}';

interface Row {
  readonly why: string;
  readonly instance?: Instance;
  readonly source?: SecretView;
  readonly secrets?: readonly SecretView[];
  readonly plan: readonly string[];
  /** Of the Secret that is written. */
  readonly credentials?: string;
}

const following = (keys?: readonly string[]): Instance =>
  instanceOf({ spec: { credentialsFrom: { secretName: "rotated", ...(keys && { keys }) } } });

function unmarked({ isMarked: _, ...secret }: SecretView): SecretView {
  return secret;
}

const rows: readonly Row[] = [
  {
    why: "the Secret of the spec is published, and not touched",
    source: secretOf("db", { credentials: JSON_TEXT }, { version: "4" }),
    plan: ["status db at 4"],
  },
  {
    why: "what is published already is not published again",
    instance: instanceOf({ status: { credentials: { name: "db" }, credentialsObservedVersion: "4" } }),
    source: secretOf("db", { credentials: JSON_TEXT }, { version: "4" }),
    plan: [],
  },
  {
    why: "a change is observed",
    instance: instanceOf({ status: { credentials: { name: "db" }, credentialsObservedVersion: "4" } }),
    source: secretOf("db", { credentials: JSON_TEXT }, { version: "5" }),
    plan: ["status db at 5"],
  },
  {
    why: "the Secret may have another name than the instance",
    instance: instanceOf({ spec: { secretName: "mine" } }),
    source: secretOf("mine", { credentials: JSON_TEXT }),
    plan: ["status mine at 1"],
  },
  { why: "without a Secret nothing is published", plan: ["SecretMissing: there is no Secret db"] },
  {
    why: "what is a broker's is left alone",
    instance: instanceOf({ spec: { type: "managed" } }),
    plan: ["Managed: a service of type managed is its broker's, and left alone"],
  },
  {
    why: "what is being deleted is left alone",
    instance: instanceOf({ metadata: { deletionTimestamp: "2025-01-01T00:00:00Z" } }),
    source: secretOf("db", { credentials: JSON_TEXT }),
    plan: [],
  },
  {
    why: "credentials that are not JSON change nothing",
    instance: instanceOf({ status: { credentials: { name: "db" }, credentialsObservedVersion: "4" } }),
    source: secretOf("db", { credentials: "bob" }, { version: "5" }),
    plan: ["CredentialsNotJson: the credentials are not JSON"],
  },
  {
    why: "a legacy Secret is migrated before anything names the new one",
    source: LEGACY,
    plan: ["create db-migrated from db", "status db-migrated at 7"],
    credentials: MIGRATED,
  },
  {
    why: "a migration that was cut off goes on",
    source: LEGACY,
    secrets: [secretOf("db-migrated", { credentials: MIGRATED }, { owner: "db", derivedFrom: "db" })],
    plan: ["status db-migrated at 7"],
  },
  {
    why: "the mark of what is made from others is put back, where somebody has taken it away",
    source: LEGACY,
    secrets: [unmarked(secretOf("db-migrated", { credentials: MIGRATED }, { owner: "db", derivedFrom: "db" }))],
    plan: ["update db-migrated from db", "status db-migrated at 7"],
    credentials: MIGRATED,
  },
  {
    why: "a legacy Secret that was changed is migrated anew",
    source: LEGACY,
    secrets: [secretOf("db-migrated", { credentials: '{"type":"database"}' }, { owner: "db", derivedFrom: "db" })],
    plan: ["update db-migrated from db", "status db-migrated at 7"],
    credentials: MIGRATED,
  },
  {
    why: "what Korifi has migrated keeps its bytes",
    source: secretOf("db", { uri: "a&b" }, { type: "servicebinding.io/x", owner: "db" }),
    secrets: [secretOf("db-migrated", { credentials: '{ "uri": "a\\u0026b" }' }, { owner: "db" })],
    plan: ["update db-migrated from db", "status db-migrated at 1"],
    credentials: '{ "uri": "a\\u0026b" }',
  },
  {
    why: "somebody else's Secret is not written over",
    source: LEGACY,
    secrets: [secretOf("db-migrated", { a: "b" })],
    plan: ["SecretTaken: the Secret db-migrated is somebody else's: its name is needed"],
  },
  {
    why: "once the instance is pointed at the migrated Secret, the legacy one does not count",
    instance: instanceOf({ spec: { secretName: "db-migrated" }, status: { credentials: { name: "db-migrated" } } }),
    source: secretOf("db-migrated", { credentials: '{"user":"bob"}' }, { owner: "db", version: "9" }),
    plan: ["status db-migrated at 9"],
  },
  {
    why: "before that, the mark of what is made from others goes, whatever is in it",
    instance: instanceOf({ spec: { secretName: "db-migrated" } }),
    source: secretOf("db-migrated", { credentials: "bob" }, { owner: "db", derivedFrom: "db" }),
    plan: ["release db-migrated"],
  },
  {
    why: "and so it does from the Secret of an instance that follows nobody any more",
    source: secretOf("db", { credentials: JSON_TEXT }, { owner: "db", derivedFrom: "rotated" }),
    plan: ["release db"],
  },
  {
    why: "what was made for somebody else stays marked",
    instance: instanceOf({ spec: { secretName: "other-migrated" } }),
    source: secretOf("other-migrated", { credentials: JSON_TEXT }, { owner: "other", derivedFrom: "other" }),
    plan: ["status other-migrated at 1"],
  },
  {
    why: "another Secret is followed: whole credentials beside single values are taken as they are",
    instance: following(),
    source: secretOf("rotated", { user: "{}", credentials: JSON_TEXT }, { version: "3" }),
    plan: ["create db from rotated", "status db at 3"],
    credentials: JSON_TEXT,
  },
  {
    why: "another Secret is followed: values are texts",
    instance: following(),
    source: secretOf("rotated", { user: "alice", port: "1" }),
    plan: ["create db from rotated", "status db at 1"],
    credentials: '{"port":"1","user":"alice"}',
  },
  {
    why: "another Secret is followed: a password under the name credentials is one",
    instance: following(),
    source: secretOf("rotated", { credentials: "hunter2" }),
    plan: ["create db from rotated", "status db at 1"],
    credentials: '{"credentials":"hunter2"}',
  },
  {
    why: "another Secret is followed: an object that is refused is not taken for a text",
    instance: following(),
    source: secretOf("rotated", { credentials: '{"user":"alice","\\ud800":"bob"}', user: "alice" }),
    plan: [
      'InvalidKey: "\\ud800" cannot be a key of a Secret: these have letters, digits, "-", "_" and ".", at most 253 of them, and do not begin with ".."',
    ],
  },
  {
    why: "a token of the cluster's own is not followed",
    instance: following(),
    source: secretOf("rotated", { token: "alice" }, { type: "kubernetes.io/service-account-token" }),
    plan: [
      "SecretRefused: the Secret rotated holds a token of the cluster's own (kubernetes.io/service-account-token), which is not copied",
    ],
  },
  {
    why: "some of its keys",
    instance: following(["user"]),
    source: secretOf("rotated", { user: "alice", port: "1" }),
    plan: ["create db from rotated", "status db at 1"],
    credentials: '{"user":"alice"}',
  },
  {
    why: "some keys of its whole credentials",
    instance: following(["user"]),
    source: secretOf("rotated", { credentials: JSON_TEXT }),
    plan: ["create db from rotated", "status db at 1"],
    credentials: '{"user":{"name":"alice","password":"bob"}}',
  },
  {
    why: "a key that is not there is named",
    instance: following(["port", "user", "host"]),
    source: secretOf("rotated", { credentials: JSON_TEXT }),
    plan: ['CredentialsMissing: the credentials in the Secret rotated have no "host", no "port"'],
  },
  {
    why: "a rotation is followed",
    instance: following(),
    source: secretOf("rotated", { user: "bob" }, { version: "2" }),
    secrets: [secretOf("db", { credentials: '{"user":"alice"}' }, { owner: "db", derivedFrom: "rotated" })],
    plan: ["update db from rotated", "status db at 2"],
    credentials: '{"user":"bob"}',
  },
  {
    why: "a Secret of the user's of the instance's name stays: there is another name",
    instance: following(),
    source: secretOf("rotated", { user: "bob" }),
    secrets: [secretOf("db", { credentials: "{}" })],
    plan: ["create db-migrated from rotated", "status db-migrated at 1"],
  },
  {
    why: "a legacy Secret stays, since bindings may have it projected",
    instance: following(),
    source: secretOf("rotated", { user: "bob" }),
    secrets: [LEGACY],
    plan: ["create db-migrated from rotated", "status db-migrated at 1"],
  },
  {
    why: "nothing is made from itself",
    instance: instanceOf({ spec: { credentialsFrom: { secretName: "db" } } }),
    source: secretOf("db", { user: "bob" }, { owner: "db" }),
    secrets: [secretOf("db", { user: "bob" }, { owner: "db" })],
    plan: ["create db-migrated from db", "status db-migrated at 1"],
  },
];

for (const { why, instance = instanceOf(), source, secrets = [], plan, credentials } of rows) {
  test(why, () => {
    const made = planInstance({ instance, source, secrets });
    assert.deepEqual(told(made), plan);
    assert.ok(!/alice|bob|hunter2/.test(inspect(made, { depth: null })));
    if (credentials === undefined) return;
    const [secret] = made.writes as readonly SecretWrite[];
    assert.deepEqual({ type: secret?.type, ...(secret && textsIn(secret.data)) }, { type: "Opaque", credentials });
  });
}

test("every Secret that a plan writes or looks at is one of those that were asked for", () => {
  for (const { why, instance = instanceOf(), source, secrets = [], plan } of rows) {
    const names = ownSecretNames(instance);
    const asked = secrets.filter(({ name }) => names.includes(name));
    const made = planInstance({ instance, source, secrets: asked });
    assert.deepEqual(told(made), plan, why);
    for (const write of made.writes) if (write.kind === "secret") assert.ok(names.includes(write.name), why);
  }
});
