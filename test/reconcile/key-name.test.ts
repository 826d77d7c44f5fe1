import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../src/base/properties.fixture.ts";
import { isKeyName, keyName, mentionsKeyName } from "../../src/reconcile/managed/key-name.ts";

const owner = fc.record({ uid: fc.uuid(), sequence: fc.nat() });

test("a key's name is computed: the same for the same owner and sequence, another for any other", () => {
  fc.assert(
    fc.property(owner, owner, (a, b) => {
      const name = keyName("my-sample", a.uid, a.sequence);
      assert.match(name, /^my-sample-[bcdfghjkmnpqrstvwxz2-9]{8}$/);
      assert.equal(keyName("my-sample", a.uid, a.sequence), name);
      const isSame = a.uid === b.uid && a.sequence === b.sequence;
      assert.equal(keyName("my-sample", b.uid, b.sequence) === name, isSame);
    }),
  );
});

test("names of keys are told from other names", () => {
  fc.assert(
    fc.property(owner, fc.stringMatching(/^[a-z0-9.-]{0,6}$/), ({ uid, sequence }, around) => {
      const name = keyName("my.sample-a", uid, sequence);
      assert.ok(isKeyName("my.sample-a", name));
      assert.ok(mentionsKeyName("my.sample-a", `${around}${name}${around}`));
      assert.equal(isKeyName("my.sample-a", `${name}${around}`), around === "");
      assert.ok(!isKeyName("my.sample", name));
      assert.ok(!mentionsKeyName("myxsample-a", name));
    }),
  );
  for (const name of ["admin", "web", "web-", "web-admin", "web-tls-secret", "web-0000000", "web-00000000"]) {
    assert.ok(!isKeyName("web", name), name);
    assert.ok(!mentionsKeyName("web", `x-${name}`), name);
  }
  assert.ok(mentionsKeyName("web", "web-web-bcdfghjk-tls"), "also where the base name comes twice");
});
