import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../base/properties.fixture.ts";
import { Redacted } from "../base/redacted.ts";
import type { RndcKey } from "../rndc/key.ts";
import { LONG_SECRET } from "./bind-objects.fixture.ts";
import { followKey, heedServers, isUnsettled, readFollowedKey, readFollowingRing } from "./followed-ring.ts";
import { acceptableKeys, EMPTY_RING, type KeyRing } from "./key-ring.ts";
import { renderRing } from "./render-ring.ts";

const AT = Date.UTC(2026, 0, 1);
const key = (name: string, letter: string): RndcKey => ({
  name,
  algorithm: "hmac-sha256",
  secret: new Redacted(new TextEncoder().encode(letter.repeat(32))),
});
const [a, b, c] = [key("office", "a"), key("office", "b"), key("branch", "c")];
const said = (ring: KeyRing): readonly string[] =>
  ring.keys.map(({ id, key: { name }, phase }) => `${id} ${name} ${phase}`);
const follow = (ring: KeyRing, ...keys: readonly RndcKey[]): KeyRing =>
  keys.reduce((left, each) => followKey(left, each, AT), ring);

test("the first key is what servers start with; at rest nothing changes", () => {
  const first = follow(EMPTY_RING, a);
  assert.deepEqual(said(first), ["followed-1 office accepted"]);
  assert.equal(follow(first, a), first);
});

test("a new key of another name joins, is accepted, and then the old one leaves", () => {
  const joined = follow(EMPTY_RING, a, c);
  assert.deepEqual(said(joined), ["followed-1 office accepted", "followed-2 branch adding"]);
  assert.equal(follow(joined, c), joined, "the old one stays while a server does not accept the new one");
  const accepted = heedServers(joined, { accepted: ["followed-2"], refused: [] });
  const leaving = follow(accepted, c);
  assert.deepEqual(said(leaving), ["followed-1 office removing", "followed-2 branch accepted"]);
  assert.ok(isUnsettled(leaving));
  const gone = heedServers(leaving, { accepted: ["followed-2"], refused: ["followed-1"] });
  assert.deepEqual(said(gone), ["followed-2 branch accepted"]);
  assert.ok(!isUnsettled(gone));
});

test("a new key of the same name has the name, and the old one goes on under another", () => {
  const joined = follow(EMPTY_RING, a, b);
  assert.deepEqual(said(joined), ["followed-1 former-followed-1 accepted", "followed-2 office adding"]);
  assert.match(renderRing(joined).reveal()["keys.conf"] ?? "", /former-followed-1.*office/s);
});

test("back to the old key: it has its name again, and what bears the same secret is not waited for", () => {
  const back = follow(EMPTY_RING, a, b, a, a);
  const names = acceptableKeys(back).map(({ key: { name, secret } }) => `${name} ${secret.reveal()[0]}`);
  assert.ok(names.includes(`office ${"a".charCodeAt(0)}`), names.join());
});

test("a key that was replaced before all servers knew it leaves without being waited for", () => {
  const ring = follow(EMPTY_RING, a, c, b, b);
  assert.deepEqual(
    ring.keys.filter(({ phase }) => phase === "removing").map(({ key: { name } }) => name),
    ["branch"],
  );
  assert.equal(acceptableKeys(ring).length, 2, "the one that is accepted, and the one that is wanted");
});

test("whatever is wanted one after the other, one that was accepted is there until the wanted one is, and in the end it alone", () => {
  const wish = fc.record({
    letter: fc.constantFrom("a", "b", "c"),
    name: fc.constantFrom("office", "branch"),
    heard: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(wish, { minLength: 1, maxLength: 12 }), (wishes) => {
      let ring = EMPTY_RING;
      let last = a;
      const hear = (): void => {
        const accepted = ring.keys.filter(({ phase }) => phase !== "removing").map(({ id }) => id);
        const refused = ring.keys.filter(({ phase }) => phase === "removing").map(({ id }) => id);
        ring = heedServers(ring, { accepted, refused });
      };
      for (const { letter, name, heard } of wishes) {
        last = key(name, letter);
        ring = follow(ring, last, last);
        assert.ok(
          ring.keys.some(({ phase }) => phase === "accepted"),
          "some key is accepted everywhere",
        );
        if (heard) hear();
      }
      for (let round = 0; round < 4; round++) {
        ring = follow(ring, last);
        hear();
      }
      assert.deepEqual(
        ring.keys.map(({ key: { name, secret } }) => [name, ...secret.reveal()]),
        [[last.name, ...last.secret.reveal()]],
      );
    }),
  );
});

test("a ring is read from its Secret; a damaged one is begun anew", () => {
  const ring = follow(EMPTY_RING, a, c);
  const data = Object.entries(renderRing(ring).reveal()).map(([name, text]) => [
    name,
    Buffer.from(text).toString("base64"),
  ]);
  assert.deepEqual(said(readFollowingRing(Object.fromEntries(data))), said(ring));
  assert.equal(readFollowingRing({}), EMPTY_RING);
  assert.equal(readFollowingRing({ "ring.json": "bm9uc2Vuc2U=" }), EMPTY_RING);
});

test("a Secret without the fields says which, and nothing of what it holds", () => {
  const ref = { name: "mine", algorithm: "hmac-sha256", keyNameKey: "key-name", secretKey: "secret" } as const;
  const encoded = (text: string): string => Buffer.from(text).toString("base64");
  const missing = readFollowedKey(new Redacted({ secret: encoded(LONG_SECRET) }), ref);
  assert.deepEqual(missing, { kind: "unusable", why: "there is neither rndc.key nor key-name" });
  const read = readFollowedKey(new Redacted({ "key-name": encoded("office"), secret: encoded(LONG_SECRET) }), ref);
  assert.ok(read.kind === "key" && read.key.name === "office" && !read.isShort);
});
