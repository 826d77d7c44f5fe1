import assert from "node:assert/strict";
import { test } from "node:test";
import { ManualClock } from "../../base/manual-clock.ts";
import { fc } from "../../base/properties.fixture.ts";
import type { SecretAddress, SecretContent } from "../../publish/secret-publisher.ts";
import type { Outcome } from "../../runtime/workers.ts";
import { specWith } from "./managed-kind.fixture.ts";
import { type Known, Rests } from "./rest.ts";

const KEY = "orders";
const UID = "uid-1";
const NOW = 1_000_000;
const target = { namespace: "default", name: "orders-secret", layout: { kind: "flat" } } as const;
const outcome: Outcome = { kind: "recheck", at: NOW + 60_000 };
const secret: SecretContent = {
  resourceVersion: "20",
  keyId: "k-1",
  sequence: 1,
  publishedAt: NOW,
  layout: "flat",
  fingerprint: "f",
  isSound: true,
  isComparable: true,
};

/** What the watches know, to be changed between looks. */
class Watched implements Known {
  resourceVersion: string | undefined = "10";
  secretVersion: string | undefined = "20";
  position = "20";
  input = "config-1";
  seesSecrets = true;

  resource(): string | undefined {
    return this.resourceVersion;
  }
  secret({ namespace, name }: SecretAddress): string | undefined {
    return namespace === target.namespace && name === target.name ? this.secretVersion : undefined;
  }
  secretPosition(): string {
    return this.position;
  }
  inputs(): string {
    return this.input;
  }
}

/** A resource that came to rest at version 10, its Secret at 20. */
function rested(changes: { readonly secret?: undefined; readonly outcome?: Outcome; readonly isSure?: false } = {}) {
  const known = new Watched();
  const clock = new ManualClock(NOW);
  const rests = new Rests({ clock, longestMs: 3_600_000, known });
  const spec = specWith({ secret: "secret" in changes ? undefined : target });
  const content = "secret" in changes ? undefined : secret;
  const common = { uid: UID, resourceVersion: "10", spec, inputs: known.input, isSure: changes.isSure ?? true };
  rests.remember(KEY, { ...common, secret: content, outcome: changes.outcome ?? outcome });
  return { known, rests, clock };
}

test("what has come to rest stays there, until something that the watches know has moved", () => {
  const table: readonly (readonly [change: (known: Watched) => void, isAtRest: boolean, reason: string])[] = [
    [() => {}, true, "nothing has happened"],
    [(known) => (known.resourceVersion = "9"), true, "the watch has not come so far yet"],
    [(known) => (known.resourceVersion = "11"), false, "the resource was changed"],
    [(known) => (known.resourceVersion = undefined), false, "the resource is gone, or was never seen"],
    [(known) => (known.resourceVersion = "x10"), false, "a version that cannot be compared"],
    [(known) => (known.input = "config-2"), false, "its ProviderConfig was changed"],
    [(known) => (known.secretVersion = "19"), true, "the Secret's watch is behind"],
    [(known) => (known.secretVersion = "21"), false, "somebody wrote the Secret"],
    [
      (known) => {
        known.secretVersion = undefined;
        known.position = "19";
      },
      true,
      "the Secret's watch has not come to its creation",
    ],
    [
      (known) => {
        known.secretVersion = undefined;
        known.position = "20";
      },
      false,
      "a watch that has come so far and does not show the Secret: it is gone",
    ],
    [
      (known) => {
        known.secretVersion = undefined;
        known.position = "later";
      },
      false,
      "a position that cannot be compared",
    ],
  ];
  for (const [change, isAtRest, reason] of table) {
    const { known, rests } = rested();
    change(known);
    assert.deepEqual(rests.outcome(KEY), isAtRest ? outcome : undefined, reason);
  }
});

test("rest ends when its time is up, whatever the wall clock says, and no later than the next look", async () => {
  const { rests, clock } = rested();
  await clock.advance(59_999);
  assert.deepEqual(rests.outcome(KEY), outcome);
  await clock.advance(1);
  assert.equal(rests.outcome(KEY), undefined);
  const endless = rested({ outcome: { kind: "settled" } });
  assert.deepEqual(endless.rests.outcome(KEY), { kind: "recheck", at: NOW + 3_600_000 });
  const jumped = rested({ outcome: { kind: "recheck", at: NOW + 60_000 } });
  jumped.clock.jump(-86_400_000);
  assert.deepEqual(jumped.rests.outcome(KEY), { kind: "recheck", at: NOW - 86_400_000 + 60_000 });
});

test("where no Secret is published, one that appears under any name is not its affair", () => {
  const { known, rests } = rested({ secret: undefined });
  known.secretVersion = "99";
  assert.deepEqual(rests.outcome(KEY), outcome);
});

test("nothing is known of others, after a forget, or without watches", () => {
  const { rests, known } = rested();
  assert.equal(rests.outcome("invoices"), undefined);
  rests.forget(KEY);
  assert.equal(rests.outcome(KEY), undefined);
  assert.equal(rests.secret(KEY, UID, target), undefined);
  const blind = new Rests({ clock: new ManualClock(NOW), longestMs: 3_600_000, known: undefined });
  const spec = specWith({ secret: target });
  blind.remember(KEY, { uid: UID, resourceVersion: "10", spec, secret, outcome, inputs: known.input, isSure: true });
  assert.equal(blind.outcome(KEY), undefined);
  assert.equal(blind.secret(KEY, UID, target), undefined);
  assert.equal(blind.inputs(KEY), "");
});

test("a Secret is known again only as the same one, of the same resource, at the same address", () => {
  const elsewhere = { namespace: "default", name: "elsewhere" };
  const table: readonly (readonly [uid: string, address: SecretAddress, isKnown: boolean, reason: string])[] = [
    [UID, target, true, "the same"],
    ["uid-2", target, false, "another resource of that name"],
    [UID, elsewhere, false, "the reference has moved"],
  ];
  for (const [uid, address, isKnown, reason] of table) {
    const { rests } = rested();
    assert.deepEqual(rests.secret(KEY, uid, address), isKnown ? secret : undefined, reason);
  }
  const { known, rests } = rested();
  known.secretVersion = "21";
  assert.equal(rests.secret(KEY, UID, target), undefined, "somebody wrote it");
});

test("never an answer when anything the watch knows is newer than what the pass left, whatever else is the case", () => {
  const version = fc.option(fc.integer({ min: 1, max: 30 }).map(String), { nil: undefined });
  fc.assert(
    fc.property(
      version,
      version,
      fc.integer({ min: 1, max: 30 }),
      fc.boolean(),
      (resource, content, position, same) => {
        const { known, rests } = rested();
        known.resourceVersion = resource;
        known.secretVersion = content;
        known.position = String(position);
        if (!same) known.input = "other";
        const isResourceNews = resource === undefined || Number(resource) > 10;
        const isSecretNews = content === undefined ? position >= 20 : Number(content) > 20;
        const isNews = isResourceNews || isSecretNews || !same;
        assert.equal(rests.outcome(KEY) === undefined, isNews);
      },
    ),
  );
});

test("a resource is where the last pass left it only at that version, under that UID", () => {
  const { rests } = rested();
  const at = (uid: string, resourceVersion: string): boolean =>
    rests.isContinued(KEY, { name: KEY, uid, resourceVersion });
  assert.equal(at(UID, "10"), true);
  assert.equal(at(UID, "11"), false, "somebody has written it since");
  assert.equal(at(UID, "9"), false, "it is from before");
  assert.equal(at("uid-2", "10"), false, "another resource of that name");
  rests.forget(KEY);
  assert.equal(at(UID, "10"), false);
});

test("a pass that did not know its status to be the latest leaves nothing to go on from, though nobody has touched it", () => {
  const { rests } = rested({ isSure: false });
  assert.equal(rests.isContinued(KEY, { name: KEY, uid: UID, resourceVersion: "10" }), false);
  assert.notEqual(rests.outcome(KEY), undefined, "it rests all the same");
});

test("where Secrets are not watched, one is left alone while all is at rest, and read when it is not", async () => {
  const { known, rests, clock } = rested();
  known.seesSecrets = false;
  known.secretVersion = undefined;
  known.position = "0";
  assert.deepEqual(rests.outcome(KEY), outcome);
  assert.equal(rests.secret(KEY, UID, target), undefined);
  await clock.advance(60_000);
  assert.equal(rests.outcome(KEY), undefined);
});
