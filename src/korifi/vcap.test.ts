import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../base/properties.fixture.ts";
import { Redacted } from "../base/redacted.ts";
import { anyCredentials } from "./korifi.fixture.ts";
import { type BoundService, entriesIn, vcapEntry, vcapServices } from "./vcap.ts";

const service = (more: Partial<BoundService> = {}): BoundService => ({
  bindingName: "b1",
  instanceName: "db-guid",
  instanceDisplayName: "db",
  label: "user-provided",
  tags: ["t1"],
  credentials: new Redacted('{"user":{"name":"alice"},"id":12345678901234567890,"uri":"a&b<c>"}'),
  ...more,
});

const vcapOf = (...services: readonly BoundService[]): string => vcapServices(services.map(vcapEntry)).reveal();

test("one service, as Cloud Foundry has it", () => {
  assert.equal(
    vcapOf(service()),
    '{"user-provided":[{"label":"user-provided","name":"db","tags":["t1"],"instance_guid":"db-guid","instance_name":"db","binding_guid":"b1","binding_name":null,"credentials":{"user":{"name":"alice"},"id":12345678901234567890,"uri":"a&b<c>"},"syslog_drain_url":null,"volume_mounts":[]}]}',
  );
});

test("without bindings it is an empty object", () => {
  assert.equal(vcapOf(), "{}");
});

test("a binding with a name of its own goes by that", () => {
  const [entry] = (JSON.parse(vcapOf(service({ bindingDisplayName: "mine" }))) as Parsed)["user-provided"] ?? [];
  assert.deepEqual([entry?.name, entry?.binding_name, entry?.instance_name], ["mine", "mine", "db"]);
});

type Parsed = Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>;

test("the map's key is the label, whatever it is", () => {
  const parsed = JSON.parse(
    vcapOf(
      service({ label: "redis", bindingName: "b2" }),
      service({ label: "__proto__", bindingName: "b3" }),
      service(),
    ),
  ) as Parsed;
  assert.deepEqual(Object.keys(parsed), ["__proto__", "redis", "user-provided"]);
});

const services = fc
  .uniqueArray(
    fc.tuple(fc.stringMatching(/^[a-z]{1,4}$/), fc.constantFrom("x", "y", "user-provided"), anyCredentials),
    {
      selector: ([name]) => name,
      maxLength: 5,
    },
  )
  .map((rows) =>
    rows.map(([bindingName, label, { compact }]) =>
      service({ bindingName, label, credentials: new Redacted(compact) }),
    ),
  );

test("the order in which bindings are found does not matter", () => {
  fc.assert(
    fc.property(services, (all) => {
      assert.equal(vcapOf(...all), vcapOf(...[...all].reverse()));
      const lists = Object.values(JSON.parse(vcapOf(...all)) as Parsed);
      for (const list of lists) {
        const names = list.map((entry) => String(entry.binding_guid));
        assert.deepEqual(names, [...names].sort());
      }
    }),
  );
});

test("credentials are in it to the last digit, and can be taken from it again", () => {
  fc.assert(
    fc.property(services, (all) => {
      const text = vcapOf(...all);
      const entries = entriesIn(new Redacted(text));
      assert.equal(vcapServices([...entries.values()]).reveal(), text);
      for (const one of all) {
        const kept = entries.get(one.bindingName)?.text.reveal() ?? "";
        assert.ok(kept.includes(`"credentials":${one.credentials.reveal()},`));
        assert.equal(kept, vcapEntry(one).text.reveal());
      }
    }),
  );
});

const unreadable = ["", "no JSON", "[]", "null", '{"a":{}}', '{"a":[1,null,[]]}', '{"a":[{"binding_guid":5}]}'];
for (const text of unreadable) {
  test(`in ${JSON.stringify(text)} there are no entries`, () => assert.equal(entriesIn(new Redacted(text)).size, 0));
}
