import type { LogFields, Logger, LogLevel } from "./logger.ts";

export interface LogLine {
  readonly level: LogLevel;
  readonly message: string;
  readonly fields: LogFields;
}

/** A logger that keeps every line, with the fields that it was given on the way. */
export function recordingLogger(lines: LogLine[], bound: LogFields = {}): Logger {
  const at =
    (level: LogLevel) =>
    (message: string, fields: LogFields = {}): void =>
      void lines.push({ level, message, fields: { ...bound, ...fields } });
  return {
    debug: at("debug"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
    with: (fields) => recordingLogger(lines, { ...bound, ...fields }),
  };
}
