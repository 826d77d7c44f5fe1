import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { keyName } from "../../src/reconcile/managed/key-name.ts";

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
