import { after, before, describe, test } from "node:test";
import { systemRandom } from "../../src/base/random.ts";
import { generateRndcKey } from "../../src/rndc/key.ts";
import { controlStories } from "./control-stories.ts";
import { configure, type NamedPlace, type NamedStage, newPlace, untilUp } from "./named-stage.ts";
import { rotationStories } from "./rotation-stories.ts";
import { findProgram, NO_BIND, realNamed, standIn } from "./stages.ts";
import { updateStories } from "./update-stories.ts";

/** The same stories on BIND's named and on what stands in for it. */
function stories(stage: NamedStage): void {
  const key = generateRndcKey("op-0", "hmac-sha256", systemRandom);
  let place: NamedPlace | undefined;
  let running: { stop(): Promise<void> } | undefined;
  const placeOf = (): NamedPlace => {
    if (!place) throw new Error("nothing was started");
    return place;
  };
  before(async () => {
    place = await newPlace();
    configure(place, { keys: [key] });
    running = await stage.start(place);
    await untilUp(place, key);
  });
  after(() => running?.stop());
  controlStories(placeOf, key);
  rotationStories(placeOf, key);
  updateStories(placeOf, key);
}

describe(standIn.name, () => stories(standIn));

const program = await findProgram("named");
if (program === undefined) test("the same stories on named", { skip: NO_BIND });
else describe("named", () => stories(realNamed(program)));
