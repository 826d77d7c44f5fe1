import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { connect } from "node:net";
import { test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { systemRandom } from "../../src/base/random.ts";
import { Redacted } from "../../src/base/redacted.ts";
import { ALGORITHMS, type RndcAlgorithm } from "../../src/rndc/algorithms.ts";
import { contentOf } from "../../src/rndc/control-message.ts";
import { RndcDialogue } from "../../src/rndc/dialogue.ts";
import { RndcCommandFailed, RndcRefused } from "../../src/rndc/errors.ts";
import { FrameReader, framed } from "../../src/rndc/frames.ts";
import { generateRndcKey, type RndcKey } from "../../src/rndc/key.ts";
import { signedMessage } from "../../src/rndc/signature.ts";
import { command, configure, HOST, type NamedPlace } from "./named-stage.ts";

/** What a control channel takes and what it hangs up on; the place runs already, and keeps `key` throughout. */
export function controlStories(placeOf: () => NamedPlace, key: RndcKey): void {
  const algorithms = Object.keys(ALGORITHMS) as RndcAlgorithm[];
  const another = (algorithm: RndcAlgorithm, name = `a-${algorithm}`): RndcKey =>
    generateRndcKey(name, algorithm, systemRandom);
  const configured = async (keys: readonly RndcKey[], controlKeys?: readonly string[]): Promise<NamedPlace> => {
    configure(placeOf(), { keys: [key, ...keys], ...(controlKeys && { controlKeys }) });
    await command(placeOf(), key, "reconfig");
    return placeOf();
  };

  test("keys of all four algorithms work side by side", async () => {
    const keys = algorithms.map((algorithm) => another(algorithm));
    const place = await configured(keys);
    for (const each of keys) assert.match((await command(place, each, "status")).text, /server is up and running$/);
  });

  test("a wrong secret, another algorithm and a key that is only there for updates are hung up on", async () => {
    const [mine, updater] = [another("hmac-sha384"), another("hmac-sha512")];
    const place = await configured([mine, updater], [key.name, mine.name]);
    assert.ok(await command(place, mine, "status"));
    const wrongSecret = { ...mine, secret: new Redacted(systemRandom.bytes(48)) };
    for (const wrong of [wrongSecret, { ...mine, algorithm: "hmac-sha512" as const }, updater]) {
      await assert.rejects(command(place, wrong, "status"), RndcRefused);
    }
  });

  test("the name of a key is not part of the protocol: under another name it works as well", async () => {
    const mine = another("hmac-sha256");
    const place = await configured([mine]);
    assert.ok(await command(place, { ...mine, name: "nobody-knows-me" }, "status"));
  });

  for (const [aheadMs, isAccepted] of [
    [290_000, true],
    [-290_000, true],
    [310_000, false],
    [-310_000, false],
  ] as const) {
    test(`a clock ${aheadMs / 1000} s ahead of named's is ${isAccepted ? "accepted" : "hung up on"}`, async () => {
      const asked = command(placeOf(), key, "status", aheadMs);
      if (isAccepted) assert.ok(await asked);
      else await assert.rejects(asked, RndcRefused);
    });
  }

  test("a conversation that was overheard cannot be had again", async () => {
    const spoken = await conversation(placeOf(), key);
    assert.equal(await answers(placeOf(), spoken), 0);
  });

  const data = { type: "status" };
  const control = (serial: number, sentAt = systemClock.now()) => ({ serial, sentAt, isReply: false, data });
  const serial = (): number => Math.floor(Math.random() * 2 ** 32);

  test("a command without the nonce, or with another, is hung up on", async () => {
    for (const nonce of [undefined, 1]) {
      const first = signedMessage(contentOf(control(serial())), key);
      const second = signedMessage(contentOf({ ...control(serial()), ...(nonce && { nonce }) }), key);
      assert.equal(await answers(placeOf(), [first, second]), 1, `nonce ${nonce}`);
    }
  });

  test("a first message is never carried out, whatever it asks for", async () => {
    const stop = { ...control(serial()), data: { type: "stop" } };
    assert.equal(await answers(placeOf(), [signedMessage(contentOf(stop), key)]), 1);
    assert.ok(await command(placeOf(), key, "status"));
  });

  test("an answer is no question, and a message that is expired no longer one", async () => {
    const reply = signedMessage(contentOf({ ...control(serial()), isReply: true }), key);
    const expired = signedMessage(contentOf({ ...control(serial()), expiresAt: systemClock.now() - 5000 }), key);
    for (const message of [reply, expired]) assert.equal(await answers(placeOf(), [message]), 0);
  });

  test("what is cut off, too long or not signed gets no answer, and the next one is served", async () => {
    const whole = signedMessage(contentOf(control(serial())), key);
    for (const bad of [
      whole.subarray(0, 40),
      whole.subarray(0, whole.length - 1),
      Buffer.alloc(40_000),
      Buffer.alloc(4),
    ]) {
      assert.equal(await answers(placeOf(), [bad]), 0, `${bad.length} bytes`);
    }
    assert.ok(await command(placeOf(), key, "status"));
  });

  const failing = [
    { text: "bogus", result: 172, says: /bogus failed: unknown command/ },
    { text: "reload nowhere.test", result: 23, says: /reload failed: not found/ },
    { text: "reload example.test", result: 171, says: /reload failed: dynamic zone/ },
  ];
  for (const { text, result, says } of failing) {
    test(`${text} fails, and named says why`, async () => {
      await assert.rejects(command(placeOf(), key, text), (error) => {
        assert.ok(error instanceof RndcCommandFailed);
        assert.match(error.message, says);
        assert.equal(error.result, result);
        return true;
      });
    });
  }

  test("null does nothing, case does not matter, and reload reads the configuration too", async () => {
    const place = await configured([]);
    assert.deepEqual(await command(place, key, "null"), { text: "" });
    assert.match((await command(place, key, "STATUS")).text, /up and running/);
    assert.match((await command(place, key, "reload")).text, /server reload successful/);
  });
}

/** The messages of our side of a whole command. */
async function conversation({ controlPort: port }: NamedPlace, key: RndcKey): Promise<readonly Buffer[]> {
  const dialogue = new RndcDialogue({ key, command: "status", clock: systemClock, random: systemRandom });
  const spoken = [dialogue.open()];
  await new Promise<void>((resolve, reject) => {
    const frames = new FrameReader(65_536);
    const socket = connect(port, HOST, () => socket.write(framed(spoken[0] ?? Buffer.of())));
    socket.on("error", reject).on("data", (piece) => {
      for (const message of frames.push(piece)) {
        const step = dialogue.receive(message);
        if (step.kind === "send") {
          spoken.push(step.message);
          socket.write(framed(step.message));
        } else {
          socket.destroy();
          resolve();
        }
      }
    });
  });
  return spoken;
}

/** Says one message after the other, each once the one before is answered; how many are. */
function answers({ controlPort: port }: NamedPlace, messages: readonly Buffer[]): Promise<number> {
  return new Promise((resolve) => {
    let count = 0;
    const frames = new FrameReader(65_536);
    const socket = connect(port, HOST);
    const sayNext = (): void => {
      const message = messages[count];
      if (message) socket.write(framed(message));
      else socket.end();
    };
    socket.on("connect", sayNext).on("error", () => {});
    socket.on("data", (piece) => {
      for (const _ of frames.push(piece)) {
        count++;
        sayNext();
      }
    });
    socket.on("close", () => resolve(count));
  });
}
