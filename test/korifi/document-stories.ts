import assert from "node:assert/strict";
import { secrets } from "../conformance/kinds.ts";
import { bindingType, instanceType, projectionType } from "./kinds.ts";
import { fields, nameIn } from "./secret-texts.ts";
import { filesOf, further, hidden, type KorifiStory, story, versioned } from "./story.ts";

/** As the document has it. */
const EXAMPLE = '{"type":"database","user":{"name":"alice", "password": "bob"}}';

/** What people wrote in JSON, and the files of it: every digit and every character. */
const ODD_TEXT = `{"big":12345678901234567890,"price":1.10,"html":{"a":"& < >"},"list":[1, "two"],"none":null,
  "yes":true,"empty":"","snow":"☃ ${hidden("ü")}","nothing":{},"provider":"somebody"}`;
const ODD_FILES = {
  big: "12345678901234567890",
  price: "1.10",
  html: '{"a":"& < >"}',
  list: '[1,"two"]',
  none: "null",
  yes: "true",
  empty: "",
  snow: `☃ ${hidden("ü")}`,
  nothing: "{}",
  provider: "somebody",
  type: "user-provided",
};

export const documentStories: readonly KorifiStory[] = [
  story(
    "instance",
    "an instance names the Secret of its name, which is left as it is, and observes changes",
    async (scene) => {
      await scene.service("db", EXAMPLE);
      await scene.ready(instanceType, "db");
      const written = await scene.get(secrets, "db");
      const { credentials, credentialsObservedVersion } = fields((await scene.get(instanceType, "db"))?.status);
      assert.deepEqual(credentials, { name: "db" });
      assert.equal(credentialsObservedVersion, written?.metadata.resourceVersion);
      assert.equal(written?.type, "Opaque");
      assert.deepEqual((await scene.secret("db"))?.texts, { credentials: EXAMPLE });
      await scene.setCredentials("db", versioned(2));
      await scene.until("the change to be observed", () => {
        const [instance, secret] = [scene.seen(instanceType, "db"), scene.seen(secrets, "db")];
        const seen = fields(instance?.status).credentialsObservedVersion;
        return seen === secret?.metadata.resourceVersion;
      });
    },
  ),

  story("elsewhere", "an instance whose spec names another Secret names that", async (scene) => {
    await scene.setCredentials("kept-elsewhere", versioned(1));
    await scene.instance("db", { secretName: "kept-elsewhere" });
    await scene.bind("db-key", { service: "db" });
    await scene.gives("db-key", filesOf(versioned(1)));
    assert.equal(nameIn(await scene.get(instanceType, "db"), "credentials"), "kept-elsewhere");
    assert.equal(nameIn(await scene.get(bindingType, "db-key"), "credentials"), "kept-elsewhere");
  }),

  story(
    "example",
    "the document's credentials become the document's Secret, named after the binding",
    async (scene) => {
      await scene.service("db", EXAMPLE);
      await scene.bind("web-db", { service: "db", app: "web" });
      await scene.ready(bindingType, "web-db");
      assert.deepEqual(await scene.secret("web-db"), {
        type: "servicebinding.io/database",
        texts: { type: "database", user: '{"name":"alice","password":"bob"}' },
      });
      const binding = await scene.get(bindingType, "web-db");
      const names = ["binding", "mountSecretRef", "credentials", "envSecretRef"].map((field) => nameIn(binding, field));
      assert.deepEqual(names, ["web-db", "web-db", "db", "db"], "under the document's names, and under the later ones");
    },
  ),

  story(
    "odd",
    "nested objects, large numbers and odd characters are what they were, in files and in VCAP_SERVICES",
    async (scene) => {
      await scene.service("db", ODD_TEXT);
      await scene.bind("web-db", { service: "db", app: "web" });
      await scene.gives("web-db", ODD_FILES);
      assert.equal(scene.mounted("web-db")?.type, "servicebinding.io/user-provided");
      await scene.until("VCAP_SERVICES", () => scene.entry("web", "web-db") !== undefined);
      const text = (await scene.secret("web-vcap-services"))?.texts.VCAP_SERVICES ?? "";
      for (const piece of ['"big":12345678901234567890', '"price":1.10', '"html":{"a":"& < >"}', '"none":null']) {
        assert.ok(text.includes(piece), piece);
      }
    },
  ),

  story(
    "services",
    "VCAP_SERVICES has the credentials as an object, under the label, with all that Cloud Foundry says",
    async (scene) => {
      await scene.service("db-guid", versioned(1), { displayName: "db", tags: ["sql"], serviceLabel: "postgres" });
      await scene.service("other", { uri: hidden("uri") });
      await scene.bind("one", { service: "db-guid", app: "web" });
      await scene.bind("two", { service: "other", app: "web", displayName: "mine" });
      await scene.until("both services", () => Object.keys(scene.services("web") ?? {}).length === 2);
      const rest = { syslog_drain_url: null, volume_mounts: [] };
      assert.deepEqual(scene.services("web"), {
        postgres: [
          {
            label: "postgres",
            name: "db",
            tags: ["sql"],
            instance_guid: "db-guid",
            instance_name: "db",
            binding_guid: "one",
            binding_name: null,
            credentials: versioned(1),
            ...rest,
          },
        ],
        "user-provided": [
          {
            label: "user-provided",
            name: "mine",
            tags: [],
            instance_guid: "other",
            instance_name: "other",
            binding_guid: "two",
            binding_name: "mine",
            credentials: { uri: hidden("uri") },
            ...rest,
          },
        ],
      });
    },
  ),

  further("many", "several bindings to one instance, for applications and as keys, all follow it", async (scene) => {
    await scene.service("db", versioned(1));
    const bound = [["a", "web"], ["b", "worker"], ["c", "web"], ["key"], ["spare"]] as const;
    for (const [name, app] of bound) await scene.bind(name, { service: "db", ...(app && { app }) });
    for (const version of [1, 2, 3]) {
      await scene.setCredentials("db", versioned(version));
      for (const [name, app] of bound) await scene.gives(name, filesOf(versioned(version)), app, versioned(version));
    }
    const projections = await scene.world.kube.list(projectionType, { namespace: scene.namespace });
    const services = projections.items.map(({ spec }) => (spec as { service: { name: string } }).service.name);
    assert.deepEqual(services.sort(), ["a", "b", "c"], "a key is projected nowhere");
  }),

  story(
    "library",
    "an application finds its services in files, by a public library, and in VCAP_SERVICES",
    async (scene) => {
      const credentials = {
        type: "postgresql",
        provider: "somebody",
        host: "db.example.com",
        port: 5432,
        database: "orders",
        username: hidden("alice"),
        password: hidden("bob"),
        settings: { ssl: true, hosts: ["a", "b"] },
      };
      await scene.service("db", credentials);
      const other = { type: "postgresql", host: "archive.example.com", password: hidden("other") };
      await scene.service("archive", other);
      await scene.bind("web-db", { service: "db", app: "web", displayName: "orders-db" });
      await scene.bind("web-archive", { service: "archive", app: "web" });
      await scene.app("web");
      await scene.running("web", "web-db", "web-archive");
      const container = await scene.container("web");
      const { found, services } = await container.run("POSTGRESQL", "pg", "orders-db");
      const { username: user, ...rest } = credentials;
      assert.deepEqual(found, { ...rest, user, port: "5432", settings: JSON.stringify(credentials.settings) });
      assert.deepEqual(services?.["user-provided"]?.find(({ name }) => name === "orders-db")?.credentials, credentials);
      assert.deepEqual((await container.run("POSTGRESQL", "pg", "web-archive")).found, other);
    },
  ),

  further(
    "unbound",
    "what was made for a binding goes with it, and VCAP_SERVICES stays, without its entry",
    async (scene) => {
      await scene.service("db", versioned(1));
      await scene.app("web");
      for (const name of ["one", "two"]) await scene.bind(name, { service: "db", app: "web" });
      await scene.running("web", "one", "two");
      for (const name of ["one", "two"]) {
        await scene.delete(bindingType, name);
        await scene.until(`${name} to be out of it`, () => scene.entry("web", name) === undefined);
        await scene.until(`the Secret ${name} to go`, () => scene.seen(secrets, name) === undefined);
      }
      assert.deepEqual(scene.services("web"), {});
      assert.deepEqual(
        (await scene.secret("db"))?.texts,
        { credentials: JSON.stringify(versioned(1)) },
        "the service stays",
      );
    },
  ),

  further("managed", "a managed service is left alone, with a condition, and so are its bindings", async (scene) => {
    await scene.setCredentials("broker", versioned(1));
    await scene.instance("broker", { type: "managed" });
    await scene.bind("web-broker", { service: "broker", app: "web" });
    await scene.until("it to be said", () => scene.complaints(instanceType, "broker").includes("Managed"));
    await scene.until("of the binding", () => scene.complaints(bindingType, "web-broker").includes("Managed"));
    await scene.calm();
    const [instance, binding] = [await scene.get(instanceType, "broker"), await scene.get(bindingType, "web-broker")];
    assert.deepEqual([nameIn(instance, "credentials"), nameIn(binding, "binding")], [undefined, undefined]);
    assert.equal(await scene.secret("web-broker"), undefined);
  }),
];
