/** Checks a cron line the way the controller's parser reads it: five fields, or a descriptor such as `@daily`. */
const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

interface Bounds {
  readonly low: number;
  readonly high: number;
  readonly names: readonly string[];
}

const FIELDS: readonly Bounds[] = [
  { low: 0, high: 59, names: [] },
  { low: 0, high: 23, names: [] },
  { low: 1, high: 31, names: [] },
  { low: 1, high: 12, names: MONTHS },
  { low: 0, high: 6, names: DAYS },
];

const DESCRIPTORS = ["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"];

/** What is wrong with the line; undefined when it can be scheduled. */
export function cronMistake(schedule: string): string | undefined {
  const line = schedule.replace(/^(TZ|CRON_TZ)=\S+\s*/, "").trim();
  if (line.startsWith("@")) return descriptorMistake(line);
  const fields = line.split(/\s+/).filter((field) => field !== "");
  if (fields.length !== FIELDS.length) {
    return `expected exactly 5 fields, found ${fields.length}: [${fields.join(" ")}]`;
  }
  for (const [index, field] of fields.entries()) {
    const bounds = FIELDS[index];
    for (const part of field.split(",")) {
      const wrong = bounds && rangeMistake(part, bounds);
      if (wrong !== undefined) return wrong;
    }
  }
  return undefined;
}

function descriptorMistake(line: string): string | undefined {
  if (DESCRIPTORS.includes(line)) return undefined;
  if (!line.startsWith("@every ")) return `unrecognized descriptor: ${line}`;
  const isDuration = /^@every (\d+(\.\d+)?(ns|us|µs|ms|s|m|h))+$/.test(line);
  return isDuration ? undefined : `failed to parse duration ${line}`;
}

function rangeMistake(part: string, bounds: Bounds): string | undefined {
  const [range = "", step, ...rest] = part.split("/");
  const [from = "", to, ...more] = range.split("-");
  if (more.length > 0) return `too many hyphens: ${part}`;
  if (rest.length > 0) return `too many slashes: ${part}`;
  const isAny = from === "*" || from === "?";
  const start = isAny ? bounds.low : numberOf(from, bounds);
  if (typeof start === "string") return start;
  const end = isAny
    ? bounds.high
    : to === undefined
      ? step === undefined
        ? start
        : bounds.high
      : numberOf(to, bounds);
  if (typeof end === "string") return end;
  if (start < bounds.low) return `beginning of range (${start}) below minimum (${bounds.low}): ${part}`;
  if (end > bounds.high) return `end of range (${end}) above maximum (${bounds.high}): ${part}`;
  if (start > end) return `beginning of range (${start}) beyond end of range (${end}): ${part}`;
  if (step === undefined) return undefined;
  const every = numberOf(step, { ...bounds, names: [] });
  if (typeof every === "string") return every;
  return every === 0 ? `step of range should be a positive number: ${part}` : undefined;
}

/** A number or the text of what is wrong with it. */
function numberOf(text: string, { names, low }: Bounds): number | string {
  const named = names.indexOf(text.toLowerCase());
  if (named >= 0) return named + low;
  if (!/^[+-]?\d+$/.test(text)) {
    return `failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`;
  }
  const number = Number.parseInt(text, 10);
  return number < 0 ? `negative number (${number}) not allowed: ${text}` : number;
}
