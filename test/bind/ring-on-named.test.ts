import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { systemRandom } from "../../src/base/random.ts";
import { acceptKey, addKey, dropKey, EMPTY_RING, findKey, type KeyRing, removeKey } from "../../src/bind/key-ring.ts";
import { RndcRefused } from "../../src/rndc/errors.ts";
import { generateRndcKey, type RndcKey } from "../../src/rndc/key.ts";
import { command, type NamedStage, newPlace, untilUp } from "../rndc/named-stage.ts";
import { findProgram, NO_BIND, realNamed, standIn } from "../rndc/stages.ts";
import { mountConfig, mountRing } from "./ring-folder.ts";

const added = (ring: KeyRing, id: string): KeyRing =>
  addKey(ring, {
    id,
    key: generateRndcKey(`bindy-operator-${id}`, "hmac-sha256", systemRandom),
    createdAt: 0,
    marks: undefined,
  });

function keyIn(ring: KeyRing, id: string): RndcKey {
  const found = findKey(ring, id);
  assert.ok(found);
  return found.key;
}

function stories(stage: NamedStage): void {
  test("a ring goes from one key to the next, and at no moment is there none that works", async () => {
    const place = await newPlace();
    mountConfig(place);
    let ring = added(EMPTY_RING, "1");
    const first = keyIn(ring, "1");
    mountRing(place, ring);
    const running = await stage.start(place);
    try {
      await untilUp(place, first);
      ring = added(acceptKey(ring, "1"), "2");
      const second = keyIn(ring, "2");
      await assert.rejects(command(place, second, "status"), RndcRefused, "it is not there yet");
      mountRing(place, ring);
      await command(place, first, "reconfig");
      await command(place, second, "status");
      await command(place, first, "status");
      ring = removeKey(acceptKey(ring, "2"), "1");
      mountRing(place, ring);
      await command(place, second, "reconfig");
      await assert.rejects(command(place, first, "status"), RndcRefused, "the old one is refused");
      ring = dropKey(ring, "1");
      mountRing(place, ring);
      await command(place, second, "reconfig");
      await command(place, second, "status");
    } finally {
      await running.stop();
    }
  });
}

describe(standIn.name, () => stories(standIn));

const program = await findProgram("named");
if (program === undefined) test("the same on named", { skip: NO_BIND });
else describe("named", () => stories(realNamed(program)));
