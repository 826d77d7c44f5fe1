import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { LogLevel } from "../base/logger.ts";
import { ManualClock } from "../base/manual-clock.ts";
import { fc } from "../base/properties.fixture.ts";
import { Redacted } from "../base/redacted.ts";
import { createLogWriter, type LogFormat } from "./log-writer.ts";

function newLogger(options: { level?: LogLevel; format?: LogFormat } = {}) {
  const lines: string[] = [];
  return {
    lines,
    logger: createLogWriter({ clock: new ManualClock(), write: (line) => lines.push(line), ...options }),
  };
}

describe("json", () => {
  test("one object a line: time, level, message, bound fields, own fields", () => {
    const { lines, logger } = newLogger();
    logger.with({ controller: "btp" }).with({ key: "a/b" }).info("rotated", { count: 2 });
    assert.deepEqual(lines, [
      '{"ts":"2026-01-01T00:00:00.000Z","level":"info","msg":"rotated","controller":"btp","key":"a/b","count":2}\n',
    ]);
  });

  test("fields cannot pass for the time, level or message, and `__proto__` is just a name", () => {
    const { lines, logger } = newLogger();
    logger.warn("real", JSON.parse('{"msg":"false","level":"debug","ts":1,"__proto__":{"x":1}}'));
    const line: unknown = JSON.parse(lines[0] ?? "");
    assert.equal(Reflect.get(Object(line), "msg"), "real");
    assert.equal(Reflect.get(Object(line), "level"), "warn");
    assert.equal(Reflect.get(Object(line), "msg_"), "false");
  });
});

test("text: for people, with everything on one line and no terminal sequences", () => {
  const { lines, logger } = newLogger({ format: "text" });
  logger.error("failed\nfor \u001b[31mnow", { key: "a/b", error: new Error("no\nway"), token: "t" });
  assert.deepEqual(lines, [
    '2026-01-01T00:00:00.000Z ERROR failed\\u000afor \\u001b[31mnow key=a/b error={"name":"Error","message":"no\\nway"} token="[redacted]"\n',
  ]);
});

test("levels: what is below the threshold is not even rendered", () => {
  const levels: readonly LogLevel[] = ["debug", "info", "warn", "error"];
  for (const [index, level] of levels.entries()) {
    const { lines, logger } = newLogger({ level });
    for (const each of levels) logger[each](each);
    assert.deepEqual(
      lines.map((line) => Reflect.get(Object(JSON.parse(line)), "msg")),
      levels.slice(index),
      level,
    );
  }
});

test("stacks are written at debug only", () => {
  for (const level of ["debug", "info"] as const) {
    const { lines, logger } = newLogger({ level });
    logger.error("failed", { error: new Error("no") });
    assert.equal(/log-writer\.test\.ts/.test(lines[0] ?? ""), level === "debug", level);
  }
});

test("secrets in messages, bound fields and own fields are masked in both formats", () => {
  for (const format of ["json", "text"] as const) {
    const { lines, logger } = newLogger({ format, level: "debug" });
    const canary = "canary-77aa";
    logger
      .with({ password: canary, nested: { deep: new Redacted(canary) } })
      .error(`Authorization: Bearer ${canary}`, { error: new Error("x", { cause: { token: canary } }) });
    assert.equal(lines.length, 1);
    assert.ok(!lines[0]?.includes(canary), lines[0]);
  }
});

test("never throws, and every line is one line of valid JSON, whatever it is handed", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "binary" }),
      fc.dictionary(fc.string(), fc.anything({ withBigInt: true, withMap: true })),
      (message, fields) => {
        const { lines, logger } = newLogger();
        logger.info(message, fields);
        assert.equal(lines.length, 1);
        assert.equal((lines[0] ?? "").indexOf("\n"), (lines[0] ?? "").length - 1);
        assert.equal(Reflect.get(Object(JSON.parse(lines[0] ?? "")), "level"), "info");
      },
    ),
    { numRuns: 300 },
  );
});

test("a field that cannot be read costs that field, not the line", () => {
  const { lines, logger } = newLogger();
  const fields = {
    get broken(): string {
      throw new Error("no");
    },
    fine: 1,
  };
  logger.info("x", fields);
  assert.match(lines[0] ?? "", /"msg":"x","broken":"\[unreadable\]","fine":1/);
});

test("a sink that fails stops nobody", () => {
  const write = (): void => {
    throw new Error("EPIPE");
  };
  createLogWriter({ clock: new ManualClock(), write }).error("still here");
});

test("a clock beyond what a date can say still gives a line", () => {
  const lines: string[] = [];
  const clock = new ManualClock(Number.MAX_SAFE_INTEGER);
  createLogWriter({ clock, write: (line) => lines.push(line) }).info("x");
  assert.match(lines[0] ?? "", /a log line could not be rendered/);
});
