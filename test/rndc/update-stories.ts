import assert from "node:assert/strict";
import { test } from "node:test";
import { systemRandom } from "../../src/base/random.ts";
import { Redacted } from "../../src/base/redacted.ts";
import { ALGORITHMS, type RndcAlgorithm } from "../../src/rndc/algorithms.ts";
import { generateRndcKey, type RndcKey } from "../../src/rndc/key.ts";
import { RCODE, TSIG_ERROR } from "../../src/sandbox/named/dns/numbers.ts";
import { addText, queryText } from "./dns-client.ts";
import { command, configure, type NamedPlace } from "./named-stage.ts";

const DONE = { rcode: RCODE.NOERROR, tsigError: TSIG_ERROR.NONE, isAuthentic: true, texts: [] };

/** Updates signed with the keys of a list, before, during and after a change of keys. */
export function updateStories(placeOf: () => NamedPlace, key: RndcKey): void {
  const reconfigured = async (keys: readonly RndcKey[], updaters?: readonly string[]): Promise<NamedPlace> => {
    configure(placeOf(), { keys, ...(updaters && { updaters }) });
    await command(placeOf(), key, "reconfig");
    return placeOf();
  };

  test("an update is taken from any key of the list, and is there at once", async () => {
    const keys = (Object.keys(ALGORITHMS) as RndcAlgorithm[]).map((algorithm) =>
      generateRndcKey(`u-${algorithm}`, algorithm, systemRandom),
    );
    const place = await reconfigured([key, ...keys]);
    for (const each of keys) {
      assert.deepEqual(await addText(place, each.algorithm, each.name, { key: each }), DONE);
      assert.deepEqual((await queryText(place, each.algorithm)).texts, [each.name]);
    }
  });

  test("old, both, new: updates follow the list, and the old key is unknown in the end", async () => {
    const next = generateRndcKey("up-2", "hmac-sha256", systemRandom);
    const old = generateRndcKey("up-1", "hmac-sha256", systemRandom);
    const place = await reconfigured([key, old]);
    assert.deepEqual(await addText(place, "r1", "old", { key: old }), DONE);
    assert.equal((await addText(place, "r2", "new", { key: next })).tsigError, TSIG_ERROR.BADKEY);
    await reconfigured([key, old, next]);
    for (const each of [old, next]) assert.deepEqual(await addText(place, "r3", each.name, { key: each }), DONE);
    await reconfigured([key, next]);
    assert.deepEqual(await addText(place, "r4", "new", { key: next }), DONE);
    const refused = await addText(place, "r5", "old", { key: old });
    assert.deepEqual([refused.rcode, refused.tsigError], [RCODE.NOTAUTH, TSIG_ERROR.BADKEY]);
    const texts = await Promise.all(["r1", "r2", "r3", "r4", "r5"].map((name) => queryText(place, name)));
    assert.deepEqual(
      texts.map(({ texts: [...found] }) => found.sort()),
      [["old"], [], ["up-1", "up-2"], ["new"], []],
    );
  });

  test("whoever is not in the list, or not who they say, changes nothing and hears why", async () => {
    const listed = generateRndcKey("listed", "hmac-sha256", systemRandom);
    const unlisted = generateRndcKey("unlisted", "hmac-sha256", systemRandom);
    const place = await reconfigured([key, listed, unlisted], ["listed"]);
    const wrong = { ...listed, secret: new Redacted(systemRandom.bytes(32)) };
    const cases = [
      { signed: {}, rcode: RCODE.REFUSED, tsig: undefined },
      { signed: { key: unlisted }, rcode: RCODE.REFUSED, tsig: TSIG_ERROR.NONE },
      { signed: { key: { ...listed, name: "stranger" } }, rcode: RCODE.NOTAUTH, tsig: TSIG_ERROR.BADKEY },
      { signed: { key: wrong }, rcode: RCODE.NOTAUTH, tsig: TSIG_ERROR.BADSIG },
      { signed: { key: listed, aheadMs: 400_000 }, rcode: RCODE.NOTAUTH, tsig: TSIG_ERROR.BADTIME },
      { signed: { key: listed, aheadMs: -400_000 }, rcode: RCODE.NOTAUTH, tsig: TSIG_ERROR.BADTIME },
    ];
    for (const { signed, rcode, tsig } of cases) {
      const outcome = await addText(place, "never", "no", signed);
      assert.deepEqual([outcome.rcode, outcome.tsigError], [rcode, tsig]);
    }
    assert.equal((await queryText(place, "never")).rcode, RCODE.NXDOMAIN);
  });

  test("a signed question gets a signed answer, and the zone is as its file says", async () => {
    const place = await reconfigured([key]);
    assert.deepEqual(await queryText(place, "www", { key }), { ...DONE, texts: ["hello"] });
    assert.deepEqual((await queryText(place, "www")).texts, ["hello"]);
    assert.deepEqual(await queryText(place, "ns"), { rcode: RCODE.NOERROR, isAuthentic: false, texts: [] });
  });
}
