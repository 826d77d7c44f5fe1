import type { Clock } from "../base/clock.ts";
import type { LogFields, Logger, LogLevel } from "../base/logger.ts";
import { redactFields, redactText } from "./redaction.ts";

/**
 * The logger of the running program: one line per message, as JSON for machines or as text for people, with secrets
 * masked by `redaction.ts`. Must not: throw, whatever it is handed, or write anything that was not redacted.
 */
export interface LogWriterOptions {
  readonly clock: Clock;
  /** Receives one line, with its line feed. */
  readonly write: (line: string, level: LogLevel) => void;
  readonly level?: LogLevel;
  readonly format?: LogFormat;
}

export type LogFormat = "json" | "text";

const RANKS: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warn: 2, error: 3 };
const RESERVED: ReadonlySet<string> = new Set(["ts", "level", "msg"]);

export function createLogWriter(options: LogWriterOptions): Logger {
  return loggerWith({}, options);
}

function loggerWith(bound: LogFields, options: LogWriterOptions): Logger {
  const threshold = RANKS[options.level ?? "info"];
  const at =
    (level: LogLevel) =>
    (message: string, fields: LogFields = {}): void => {
      if (RANKS[level] >= threshold) writeLine({ level, message, bound, fields }, options);
    };
  return {
    debug: at("debug"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
    with: (fields) => loggerWith({ ...bound, ...fields }, options),
  };
}

interface Line {
  readonly level: LogLevel;
  readonly message: string;
  readonly bound: LogFields;
  readonly fields: LogFields;
}

/** A line that cannot be rendered is still announced; a sink that fails has nobody left to be told. */
function writeLine(line: Line, options: LogWriterOptions): void {
  try {
    options.write(`${renderLine(line, options)}\n`, line.level);
  } catch {
    try {
      options.write(`${JSON.stringify({ level: line.level, msg: "a log line could not be rendered" })}\n`, line.level);
    } catch {
      // Nothing is left to be done.
    }
  }
}

function renderLine(line: Line, options: LogWriterOptions): string {
  const ts = new Date(options.clock.now()).toISOString();
  const msg = redactText(String(line.message));
  const redaction = { stacks: options.level === "debug" };
  const fields = new Map([...redactFields(line.bound, redaction), ...redactFields(line.fields, redaction)]);
  if (options.format === "text") {
    const pairs = [...fields].map(([key, value]) => ` ${printable(key)}=${pairValue(value)}`);
    return `${ts} ${line.level.toUpperCase().padEnd(5)} ${printable(msg)}${pairs.join("")}`;
  }
  const named = [...fields].map(([key, value]) => [RESERVED.has(key) ? `${key}_` : key, value] as const);
  return JSON.stringify({ ts, level: line.level, msg, ...Object.fromEntries(named) });
}

function pairValue(value: unknown): string {
  if (typeof value === "string" && /^[\w./:@+-]+$/.test(value)) return value;
  return printable(JSON.stringify(value));
}

/** Line feeds and terminal sequences in a message must not pass for lines or colours of ours. */
const printable = (text: string): string =>
  text.replace(/[\p{Cc}\u2028\u2029]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return `\\u${code.toString(16).padStart(4, "0")}`;
  });
