import { InvalidValue } from "../base/errors.ts";

/**
 * Cron lines of five fields, read as Kubernetes reads those of a CronJob, plus 7 for Sunday. Made for text from
 * strangers: its size is bounded, and it is taken apart by splitting, never by a pattern that could backtrack. Must not:
 * know time zones or instants; it speaks of minutes of a day, and of days.
 */
export interface CronLine {
  /** Minutes since midnight, ascending; at least one. */
  readonly minutesOfDay: readonly number[];
  readonly daysOfMonth: ReadonlySet<number>;
  readonly months: ReadonlySet<number>;
  /** Sunday is 0. */
  readonly daysOfWeek: ReadonlySet<number>;
  /** Both kinds of day are restricted: then either is enough, as cron has always done. */
  readonly isEitherDayEnough: boolean;
}

interface Field {
  readonly label: string;
  readonly low: number;
  readonly high: number;
  readonly names: readonly string[];
}

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

const MINUTE: Field = { label: "minute", low: 0, high: 59, names: [] };
const HOUR: Field = { label: "hour", low: 0, high: 23, names: [] };
const DAY_OF_MONTH: Field = { label: "day of the month", low: 1, high: 31, names: [] };
const MONTH: Field = { label: "month", low: 1, high: 12, names: MONTHS };
const DAY_OF_WEEK: Field = { label: "day of the week", low: 0, high: 7, names: DAYS };

const MACROS: ReadonlyMap<string, string> = new Map([
  ["@yearly", "0 0 1 1 *"],
  ["@annually", "0 0 1 1 *"],
  ["@monthly", "0 0 1 * *"],
  ["@weekly", "0 0 * * 0"],
  ["@daily", "0 0 * * *"],
  ["@midnight", "0 0 * * *"],
  ["@hourly", "0 * * * *"],
]);

const MAX_LENGTH = 256;
const LOOKS_LIKE =
  'a cron line has five fields (minute, hour, day of the month, month, day of the week), such as "0 2 * * sat,sun"';

/** The line, or `InvalidValue` with the field that is wrong. */
export function parseCron(text: string): CronLine {
  if (text.length > MAX_LENGTH) throw new InvalidValue(`more than ${MAX_LENGTH} characters: ${LOOKS_LIKE}`);
  const words = text.split(/[ \t]/).filter((word) => word !== "");
  const [first = ""] = words;
  if (first.startsWith("@")) return parseCron(macro(text, words));
  const [minute, hour, dayOfMonth, month, dayOfWeek, ...rest] = words;
  if (dayOfWeek === undefined || rest.length > 0 || !minute || !hour || !dayOfMonth || !month) {
    throw new InvalidValue(`${JSON.stringify(text)} has ${words.length} fields: ${LOOKS_LIKE}`);
  }
  const minutes = readField(minute, MINUTE);
  const hours = readField(hour, HOUR);
  const monthDays = readField(dayOfMonth, DAY_OF_MONTH);
  const weekDays = readField(dayOfWeek, DAY_OF_WEEK);
  return {
    minutesOfDay: ascending(hours.values).flatMap((h) => ascending(minutes.values).map((m) => h * 60 + m)),
    daysOfMonth: monthDays.values,
    months: readField(month, MONTH).values,
    daysOfWeek: new Set([...weekDays.values].map((day) => day % 7)),
    isEitherDayEnough: !monthDays.isAny && !weekDays.isAny,
  };
}

/** Whether the line fires at all on a day, counted from 1 January 1970. */
export function firesOn(line: CronLine, dayNumber: number): boolean {
  const date = new Date(dayNumber * 86_400_000);
  if (!line.months.has(date.getUTCMonth() + 1)) return false;
  const isMonthDay = line.daysOfMonth.has(date.getUTCDate());
  const isWeekDay = line.daysOfWeek.has(date.getUTCDay());
  return line.isEitherDayEnough ? isMonthDay || isWeekDay : isMonthDay && isWeekDay;
}

function macro(text: string, words: readonly string[]): string {
  const line = words.length === 1 ? MACROS.get(words[0] ?? "") : undefined;
  if (line === undefined) {
    throw new InvalidValue(`${JSON.stringify(text)} is not one of ${[...MACROS.keys()].join(", ")}; ${LOOKS_LIKE}`);
  }
  return line;
}

interface FieldValues {
  readonly values: ReadonlySet<number>;
  /** A bare `*` stands in it; one with a step is a restriction. */
  readonly isAny: boolean;
}

function readField(text: string, field: Field): FieldValues {
  const values = new Set<number>();
  let isAny = false;
  for (const part of text.split(",")) {
    const { start, end, step } = readPart(part, field);
    for (let value = start; value <= end; value += step) values.add(value);
    isAny ||= isStar(part.split("/")[0]) && step === 1;
  }
  return { values, isAny };
}

const isStar = (text: string | undefined): boolean => text === "*" || text === "?";

/** `*`, `5`, `mon-fri`, and each with `/step`; a single number with a step goes on to the end of the field. */
function readPart(part: string, field: Field): { start: number; end: number; step: number } {
  const refuse = (why: string): InvalidValue => new InvalidValue(`${field.label} ${JSON.stringify(part)}: ${why}`);
  const [range = "", stepText, ...moreSteps] = part.split("/");
  const [from = "", to, ...moreEnds] = range.split("-");
  if (moreSteps.length > 0 || moreEnds.length > 0) throw refuse("at most one - and one / are allowed");
  // 7 is Sunday once more: with it, "any day" would begin and end with the same one.
  const last = field === DAY_OF_WEEK ? 6 : field.high;
  const step = stepText === undefined ? 1 : wholeNumber(stepText);
  if (step === undefined || step < 1 || step > last - field.low + 1) {
    throw refuse(`the step must be a number from 1 to ${last - field.low + 1}`);
  }
  if (isStar(from) && to === undefined) return { start: field.low, end: last, step };
  const start = readValue(from, field);
  const end =
    to === undefined ? (stepText === undefined ? start : Math.max(last, start ?? 0)) : endOf(to, field, start);
  if (start === undefined || end === undefined) throw refuse(`expected ${expected(field)}`);
  if (start > end) throw refuse("the range ends before it begins");
  return { start, end, step };
}

/** `fri-sun` means what it says: a range that ends in Sunday ends in day 7. */
function endOf(text: string, field: Field, start: number | undefined): number | undefined {
  const end = readValue(text, field);
  return field === DAY_OF_WEEK && end === 0 && text !== "0" && (start ?? 0) > 0 ? 7 : end;
}

function readValue(text: string, { low, high, names }: Field): number | undefined {
  const named = names.indexOf(text.toLowerCase());
  if (named >= 0) return named + low;
  const value = wholeNumber(text);
  return value !== undefined && value >= low && value <= high ? value : undefined;
}

function expected({ low, high, names }: Field): string {
  const numbers = `numbers from ${low} to ${high}`;
  return names.length === 0 ? numbers : `${numbers} or names from ${names.at(0)} to ${names.at(-1)}`;
}

const wholeNumber = (text: string): number | undefined => (/^[0-9]{1,2}$/.test(text) ? Number(text) : undefined);

const ascending = (values: ReadonlySet<number>): number[] => [...values].sort((a, b) => a - b);
