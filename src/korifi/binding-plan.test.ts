import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { type BindingScene, mountSecretNames, planBinding } from "./binding-plan.ts";
import { bindingOf, instanceOf, secretOf, textsIn, told } from "./korifi.fixture.ts";
import type { Binding, Instance, SecretView } from "./model.ts";
import { typedSecretName } from "./names.ts";
import { bindingStatus, type SecretWrite } from "./plan.ts";

const READY = instanceOf({ status: { credentials: { name: "creds" } } });
const creds = (text: string, name = "creds"): SecretView => secretOf(name, { credentials: text });
const DATABASE = '{"type":"database","user":{"name":"alice"}}';
const FLAT = { type: "database", user: '{"name":"alice"}' };

const bound = (mountName: string, envName = "creds"): Binding =>
  bindingOf({ status: bindingStatus({ mountName, envName }) });
const own = (name: string, texts: Readonly<Record<string, string>> = FLAT, type = "database"): SecretView =>
  secretOf(name, texts, { type: `servicebinding.io/${type}`, owner: "b1", derivedFrom: "creds" });

const CACHE = '{"type":"cache","user":"bob"}';
const B1_CACHE = typedSecretName("b1", "servicebinding.io/cache");
const B1_DATABASE = typedSecretName("b1", "servicebinding.io/database");
const FLAT_CACHE = { type: "cache", user: "bob" };

interface Row {
  readonly why: string;
  readonly binding?: Binding;
  readonly instance?: Instance | undefined;
  readonly credentials?: SecretView | undefined;
  readonly secrets?: readonly SecretView[];
  readonly inUse?: readonly string[];
  readonly plan: readonly string[];
  readonly written?: Readonly<Record<string, string>>;
}

const legacyInstance = instanceOf({ status: { credentials: { name: "db-migrated" } } });
const movedInstance = instanceOf({
  spec: { secretName: "db-migrated" },
  status: { credentials: { name: "db-migrated" } },
});
const legacySecret = secretOf("db", { user: "alice" }, { type: "servicebinding.io/user-provided", owner: "db" });

const rows: readonly Row[] = [
  {
    why: "a Secret to project is made before the status names it, and both are named",
    plan: ["create b1 from creds", "status b1, creds"],
    written: FLAT,
  },
  { why: "cut off after the Secret, it goes on with the status", secrets: [own("b1")], plan: ["status b1, creds"] },
  { why: "what is there is not written again", binding: bound("b1"), secrets: [own("b1")], plan: [] },
  {
    why: "changed credentials are written over the old ones at once",
    binding: bound("b1"),
    secrets: [own("b1", { type: "database", user: "bob", port: "1" })],
    plan: ["update b1 from creds"],
    written: FLAT,
  },
  {
    why: "a Secret that somebody has deleted comes back under the name that is known",
    binding: bound(B1_DATABASE),
    plan: [`create ${B1_DATABASE} from creds`],
    written: FLAT,
  },
  {
    why: "another type: the new Secret, then the reference, then the old one goes",
    binding: bound("b1"),
    credentials: creds(CACHE),
    secrets: [own("b1")],
    plan: [`create ${B1_CACHE} from creds`, `status ${B1_CACHE}, creds`, "delete b1"],
    written: FLAT_CACHE,
  },
  {
    why: "cut off after the new Secret",
    binding: bound("b1"),
    credentials: creds(CACHE),
    secrets: [own("b1"), own(B1_CACHE, FLAT_CACHE, "cache")],
    plan: [`status ${B1_CACHE}, creds`, "delete b1"],
  },
  {
    why: "cut off after the reference",
    binding: bound(B1_CACHE),
    credentials: creds(CACHE),
    secrets: [own("b1"), own(B1_CACHE, FLAT_CACHE, "cache")],
    plan: ["delete b1"],
  },
  {
    why: "the old one stays while pods have it",
    binding: bound(B1_CACHE),
    credentials: creds(CACHE),
    secrets: [own("b1"), own(B1_CACHE, FLAT_CACHE, "cache")],
    inUse: ["b1"],
    plan: [],
  },
  {
    why: "a type that comes back finds its first name again",
    binding: bound(B1_CACHE),
    secrets: [own(B1_CACHE, FLAT_CACHE, "cache")],
    plan: ["create b1 from creds", "status b1, creds", `delete ${B1_CACHE}`],
    written: FLAT,
  },
  {
    why: "seen late, a reference does not lead back: what is there already goes before what would be made",
    binding: bound("b1"),
    credentials: creds(CACHE),
    secrets: [own(B1_CACHE, FLAT_CACHE, "cache")],
    plan: [`status ${B1_CACHE}, creds`],
  },
  {
    why: "a Secret of the user's of the binding's name stays: there is another name",
    secrets: [secretOf("b1", { mine: "x" })],
    plan: [`create ${B1_DATABASE} from creds`, `status ${B1_DATABASE}, creds`],
  },
  {
    why: "where both names are taken, nothing is written",
    secrets: [secretOf("b1", {}), secretOf(B1_DATABASE, {})],
    plan: [
      `SecretTaken: the Secrets b1 and ${B1_DATABASE} are somebody else's, or immutable: one of these names is needed`,
    ],
  },
  {
    why: "one that has become immutable makes room for another",
    binding: bound("b1"),
    secrets: [{ ...own("b1", { ...FLAT, user: "old" }), isImmutable: true }],
    plan: [`create ${B1_DATABASE} from creds`, `status ${B1_DATABASE}, creds`, "delete b1"],
    written: FLAT,
  },
  {
    why: "one that has become immutable, and says the same, stays",
    binding: bound("b1"),
    secrets: [{ ...own("b1"), isImmutable: true }],
    plan: [],
  },
  {
    why: "a binding of the instance's name does not write over its credentials",
    instance: instanceOf({ status: { credentials: { name: "b1" } } }),
    credentials: creds(DATABASE, "b1"),
    secrets: [creds(DATABASE, "b1")],
    plan: [`create ${B1_DATABASE} from b1`, `status ${B1_DATABASE}, b1`],
  },
  {
    why: "a key that cannot be one of a Secret: the Secret that is there stays",
    binding: bound("b1"),
    credentials: creds('{"pass word":"bob"}'),
    secrets: [own("b1")],
    plan: [
      'InvalidKey: "pass word" cannot be a key of a Secret: these have letters, digits, "-", "_" and ".", at most 253 of them, and do not begin with ".."',
    ],
  },
  {
    why: "credentials that are gone: the Secret that is there stays",
    binding: bound("b1"),
    credentials: undefined,
    secrets: [own("b1")],
    plan: ["InstanceNotReady: the service db has no credentials yet"],
  },
  {
    why: "an instance without credentials is waited for",
    instance: instanceOf(),
    plan: ["InstanceNotReady: the service db has no credentials yet"],
  },
  {
    why: "an instance that is not there is named",
    instance: undefined,
    plan: ["InstanceMissing: there is no CFServiceInstance db"],
  },
  {
    why: "bindings of a broker's service are left alone",
    instance: instanceOf({ spec: { type: "managed" }, status: { credentials: { name: "creds" } } }),
    plan: ["Managed: the service db is its broker's, and its bindings are left alone"],
  },
  {
    why: "a binding that is being deleted is left alone",
    binding: bindingOf({ metadata: { deletionTimestamp: "2025-01-01T00:00:00Z" } }),
    plan: [],
  },
  {
    why: "an upgrade: the reference stays at the legacy Secret, and only the credentials are named anew",
    binding: bound("db", "db"),
    instance: legacyInstance,
    credentials: creds('{"user":"alice"}', "db-migrated"),
    secrets: [legacySecret],
    plan: ["status db, db-migrated"],
  },
  {
    why: "an upgrade that is over changes nothing",
    binding: bound("db", "db-migrated"),
    instance: legacyInstance,
    credentials: creds('{"user":"alice"}', "db-migrated"),
    secrets: [legacySecret],
    plan: [],
  },
  {
    why: "legacy credentials that really change move the reference, and the legacy Secret stays",
    binding: bound("db", "db-migrated"),
    instance: movedInstance,
    credentials: creds('{"user":"bob"}', "db-migrated"),
    secrets: [legacySecret],
    plan: ["create b1 from db-migrated", "status b1, db-migrated"],
    written: { type: "user-provided", user: "bob" },
  },
  {
    why: "a new binding to a legacy instance has a Secret of its own",
    instance: legacyInstance,
    credentials: creds('{"user":"alice"}', "db-migrated"),
    secrets: [legacySecret],
    plan: ["create b1 from db-migrated", "status b1, db-migrated"],
  },
  {
    why: "the later names of the references are read as well, and the others added",
    binding: bindingOf({ status: { mountSecretRef: { name: B1_DATABASE }, envSecretRef: { name: "creds" } } }),
    secrets: [own(B1_DATABASE)],
    plan: [`status ${B1_DATABASE}, creds`],
  },
  {
    why: "where two names of a reference differ, the document's counts",
    binding: bindingOf({
      status: { ...bindingStatus({ mountName: "b1", envName: "creds" }), mountSecretRef: { name: "x" } },
    }),
    secrets: [own("b1")],
    plan: ["status b1, creds"],
  },
  {
    why: "a key has a Secret as an application has",
    binding: bindingOf({ spec: { type: "key", appRef: { name: "" } } }),
    plan: ["create b1 from creds", "status b1, creds"],
  },
];

function sceneOf({ binding = bindingOf(), secrets = [], inUse = [], ...row }: Row): BindingScene {
  const instance = "instance" in row ? row.instance : READY;
  const credentials = "credentials" in row ? row.credentials : creds(DATABASE);
  return { binding, instance, credentials, secrets, inUse: new Set(inUse) };
}

for (const row of rows) {
  test(row.why, () => {
    const made = planBinding(sceneOf(row));
    assert.deepEqual(told(made), row.plan);
    assert.ok(!/alice|bob/.test(inspect(made, { depth: null })));
    if (row.written === undefined) return;
    const [secret] = made.writes as readonly SecretWrite[];
    assert.deepEqual(secret && textsIn(secret.data), row.written);
    assert.equal(secret?.type, `servicebinding.io/${row.written.type}`);
  });
}

test("every Secret that a plan writes or reads is one of those that were asked for", () => {
  for (const row of rows) {
    const scene = sceneOf(row);
    const names = mountSecretNames(scene);
    const ours = scene.secrets.filter(({ ownerUids }) => ownerUids.includes(scene.binding.uid));
    for (const write of planBinding(scene).writes) {
      if (write.kind === "secret") assert.ok(names.includes(write.name), row.why);
    }
    const asked = scene.secrets.filter((secret) => names.includes(secret.name) || ours.includes(secret));
    assert.deepEqual(told(planBinding({ ...scene, secrets: asked })), row.plan, row.why);
  }
});
