import assert from "node:assert/strict";
import { test } from "node:test";
import { ManualClock } from "../base/manual-clock.ts";
import { type LogLine, recordingLogger } from "../base/recording-logger.fixture.ts";
import { Contact } from "./contact.ts";
import { Forbidden, Unreachable } from "./errors.ts";
import { ServerOutage } from "./server-outage.ts";

const MINUTE_MS = 60_000;

function start() {
  const lines: LogLine[] = [];
  const [clock, logger] = [new ManualClock(), recordingLogger(lines)];
  const outage = new ServerOutage(clock, logger);
  const watches = [1, 2, 3].map(() => new Contact(clock, logger, outage));
  const pass = async (minutes: number, each: (watch: Contact, index: number) => void): Promise<void> => {
    for (let minute = 0; minute < minutes; minute++) {
      watches.forEach(each);
      await clock.advance(MINUTE_MS);
    }
  };
  const told = (): readonly string[] =>
    lines.filter(({ message }) => /the API server/.test(message)).map(({ level, message }) => `${level} ${message}`);
  return { pass, told };
}

const failing = (watch: Contact): void => watch.failed(new Unreachable("refused"), false);
const UNAVAILABLE = "error the API server is unavailable; nothing is rotated or restarted before it answers";

test("an outage of more than five minutes is one error for all watches, and one line when it is over", async () => {
  const { pass, told } = start();
  await pass(5, failing);
  assert.deepEqual(told(), []);
  await pass(20, failing);
  assert.deepEqual(told(), [UNAVAILABLE]);
  await pass(1, (watch) => watch.made());
  assert.deepEqual(told(), [UNAVAILABLE, "info the API server answers again"]);
  await pass(6, failing);
  assert.equal(told().at(-1), UNAVAILABLE);
});

test("a server that answers one watch, or refuses one, is there", async () => {
  const { pass, told } = start();
  await pass(20, (watch, index) => (index === 0 ? watch.made() : failing(watch)));
  await pass(20, (watch, index) => (index === 0 ? watch.failed(new Forbidden("no"), true) : failing(watch)));
  assert.deepEqual(told(), []);
});
