import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { systemRandom } from "../../src/base/random.ts";
import { Redacted } from "../../src/base/redacted.ts";
import { EMPTY_RING, findKey, type KeyRing } from "../../src/bind/key-ring.ts";
import { createBindConnection } from "../../src/providers/bind/bind-connection.ts";
import type { RingStore } from "../../src/providers/bind/ports.ts";
import { marks, PLACE } from "../../src/providers/bind/ring-marks.fixture.ts";
import type { Connection } from "../../src/providers/contract.ts";
import { RndcRefused } from "../../src/rndc/errors.ts";
import type { RndcKey } from "../../src/rndc/key.ts";
import { command, HOST, type NamedPlace, type NamedStage, newPlace, untilUp } from "../rndc/named-stage.ts";
import { findProgram, NO_BIND, realNamed, standIn } from "../rndc/stages.ts";
import { mountConfig, mountRing } from "./ring-folder.ts";

const { signal } = new AbortController();

/** A ring in memory, and in the folders of servers as far as their mounts follow. */
class FolderRing implements RingStore {
  ring: KeyRing = EMPTY_RING;
  readonly #places: readonly NamedPlace[];
  /** Those whose mounts are behind. */
  readonly behind = new Set<NamedPlace>();
  #version = 0;

  constructor(places: readonly NamedPlace[]) {
    this.#places = places;
  }

  async read() {
    return { ring: this.ring, version: String(this.#version) };
  }

  async replace(ring: KeyRing, over: { readonly version: string | undefined }) {
    if (over.version !== String(this.#version)) return "changed" as const;
    this.ring = ring;
    this.#version++;
    this.mount();
    return this.read();
  }

  mount(): void {
    for (const place of this.#places) if (!this.behind.has(place)) mountRing(place, this.ring);
  }

  key(id: string): RndcKey {
    return findKey(this.ring, id)?.key ?? assert.fail("the key is not in the ring");
  }
}

async function add(connection: Connection, sequence: number): Promise<string> {
  const request = { name: `web-${sequence}`, instanceId: PLACE, parameters: new Redacted({}), marks: marks(sequence) };
  const created = await connection.create(request, signal);
  return created.kind === "ready" ? created.key.id : created.id;
}

function stories(stage: NamedStage): void {
  test("keys come and go while servers run: ready when all accept them, gone when all refuse them", async () => {
    const places = [await newPlace(), await newPlace()];
    const store = new FolderRing(places);
    const listed = places.map(({ controlPort: port }, index) => ({ name: `web-${index}`, host: HOST, port }));
    const connection = createBindConnection({
      place: PLACE,
      mode: { kind: "overlap" },
      store,
      servers: { list: async () => listed },
      clock: systemClock,
      random: systemRandom,
    });
    let current = await add(connection, 1);
    for (const place of places) mountConfig(place);
    const running = await Promise.all(places.map((place) => stage.start(place)));
    try {
      for (const place of places) await untilUp(place, store.key(current));
      for (const sequence of [2, 3, 4]) {
        const [late] = places;
        assert.ok(late);
        store.behind.add(late);
        const next = await add(connection, sequence);
        const early = await connection.observe(next, signal);
        assert.equal(early?.state, "creating");
        assert.deepEqual([early?.isHindered, early?.complaint], [true, undefined], "nothing to speak of yet");
        store.behind.clear();
        store.mount();
        assert.equal((await connection.observe(next, signal))?.state, "ready");
        const [old, fresh] = [store.key(current), store.key(next)];
        for (const place of places) for (const key of [old, fresh]) await command(place, key, "status");
        store.behind.add(late);
        assert.equal(await connection.delete(current, signal), "accepted");
        assert.match((await connection.observe(current, signal))?.complaint ?? "", /: web-0 \(still accepts it/);
        store.behind.clear();
        store.mount();
        assert.equal(await connection.observe(current, signal), undefined);
        for (const place of places) {
          await assert.rejects(command(place, old, "status"), RndcRefused);
          await command(place, fresh, "status");
        }
        current = next;
      }
      assert.deepEqual(
        store.ring.keys.map(({ id }) => id),
        [current],
      );
    } finally {
      for (const one of running) await one.stop();
    }
  });
}

describe(standIn.name, () => stories(standIn));

const program = await findProgram("named");
if (program === undefined) test("the same on named", { skip: NO_BIND });
else describe("named", () => stories(realNamed(program)));
