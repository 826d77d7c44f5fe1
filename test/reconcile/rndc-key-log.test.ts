import assert from "node:assert/strict";
import { test } from "node:test";
import type { LogLevel } from "../../src/base/logger.ts";
import { ManualClock } from "../../src/base/manual-clock.ts";
import { type LogLine, recordingLogger } from "../../src/base/recording-logger.fixture.ts";
import { secretText } from "../../src/rndc/key.ts";
import { createLogWriter } from "../../src/runtime/log-writer.ts";
import { NAME, RndcKeyWorld } from "./rndc-key-world.ts";
import { WorldOperator } from "./world-operator.ts";

const MINUTE_MS = 60_000;
const KEY = `default/${NAME}`;

test("the log has each rotation with its key, reason and next date, each look at debug, and nothing of a key", async (context) => {
  const world = await RndcKeyWorld.begin();
  context.after(() => world.stop());
  const lines: LogLine[] = [];
  await world.operator.stop();
  world.operator = new WorldOperator(world, {}, recordingLogger(lines));
  const about = (level: LogLevel): readonly LogLine[] =>
    lines.filter((line) => line.level === level && line.fields.key === KEY && line.message !== "step");
  await world.create();
  await world.pass(5_000);
  const secrets = [await world.publishedKey()];
  world.kubelet.silent.add("web-0");
  await world.annotate({ "keyturn.dev/compromised": "leaked" });
  await world.pass(3 * MINUTE_MS, 5_000);
  assert.deepEqual(
    about("warn").map(({ message }) => message),
    ["something is wrong"],
    "said once",
  );
  world.kubelet.silent.delete("web-0");
  await world.pass(5 * MINUTE_MS, 5_000);
  secrets.push(await world.publishedKey());
  const [first, second, ...more] = about("info");
  assert.deepEqual([first?.message, second?.message, more], ["a first key was made", "a key was rotated", []]);
  const { atProvider, nextRotation } = (await world.status()) as Awaited<ReturnType<typeof world.status>> & {
    readonly nextRotation?: string;
  };
  assert.deepEqual(second?.fields, {
    controller: "bind9-keys",
    kind: "RndcKey",
    key: KEY,
    keyId: atProvider?.id,
    keyName: atProvider?.name,
    reason: "compromised",
    nextRotation,
  });
  assert.ok(about("debug").some(({ message }) => message === "nothing to do now"));
  const written: string[] = [];
  const writer = createLogWriter({
    clock: new ManualClock(),
    level: "debug",
    write: (line) => void written.push(line),
  });
  for (const { level, message, fields } of lines) writer[level](message, fields);
  for (const key of secrets) assert.ok(!written.join("").includes(secretText(key).reveal()));
});
