import assert from "node:assert/strict";
import { test } from "node:test";
import { InvalidValue } from "../base/errors.ts";
import { fc } from "../base/properties.fixture.ts";
import { firesOn, parseCron } from "./cron.ts";

const DAY = 86_400_000;

const fires = (line: string, date: string): boolean => firesOn(parseCron(line), Date.parse(`${date}T00:00:00Z`) / DAY);
const clock = (line: string): string[] =>
  parseCron(line).minutesOfDay.map((minute) => `${Math.floor(minute / 60)}:${String(minute % 60).padStart(2, "0")}`);

const times: readonly [line: string, clock: readonly string[], reason: string][] = [
  ["30 2 * * *", ["2:30"], "one time a day"],
  ["0,30 1,13 * * *", ["1:00", "1:30", "13:00", "13:30"], "lists"],
  ["0 22-23 * * *", ["22:00", "23:00"], "a range"],
  ["*/20 4 * * *", ["4:00", "4:20", "4:40"], "steps"],
  ["5/25 4 * * *", ["4:05", "4:30", "4:55"], "a number with a step goes on to the end"],
  ["10-30/10 4 * * *", ["4:10", "4:20", "4:30"], "a range with a step"],
  ["30,0,30 04 * * *", ["4:00", "4:30"], "in order and once, leading zeros are decimal"],
  ["0 */8 ? * ?", ["0:00", "8:00", "16:00"], "a question mark is a star"],
  [" \t0  4\t* * * ", ["4:00"], "spaces and tabs"],
  ["*/60 4 * * *", ["4:00"], "a step as wide as the field"],
  ["@daily", ["0:00"], "a macro"],
  ["@midnight", ["0:00"], "its other name"],
];

for (const [line, expected, reason] of times) {
  test(`times: ${reason} (${line.trim()})`, () => assert.deepEqual(clock(line), expected, reason));
}

test("every minute is 1440 of them, and @hourly is 24", () => {
  assert.equal(parseCron("* * * * *").minutesOfDay.length, 1440);
  assert.equal(parseCron("@hourly").minutesOfDay.length, 24);
});

const days: readonly [line: string, yes: readonly string[], no: readonly string[], reason: string][] = [
  ["0 0 * * *", ["2026-01-01", "2026-02-28"], [], "any day"],
  ["0 0 13 * *", ["2026-11-13"], ["2026-11-12"], "a day of the month"],
  ["0 0 * * fri", ["2026-11-13", "2026-11-20"], ["2026-11-14"], "a day of the week"],
  ["0 0 13 * 5", ["2026-11-13", "2026-12-13", "2026-11-20"], ["2026-11-14"], "both restricted: either is enough"],
  ["0 0 */2 * 1", ["2026-11-01", "2026-11-02"], ["2026-11-04"], "a star with a step restricts, as for a CronJob"],
  ["0 0 */1 * 1", ["2026-11-02"], ["2026-11-01"], "a step of one does not"],
  ["0 0 1,* * 1", ["2026-11-02"], ["2026-11-01"], "nor does a list with a star in it"],
  ["0 0 * * 0", ["2026-11-15"], ["2026-11-14"], "Sunday is 0"],
  ["0 0 * * 7", ["2026-11-15"], ["2026-11-14"], "and 7"],
  ["0 0 * * 5-7", ["2026-11-13", "2026-11-14", "2026-11-15"], ["2026-11-12"], "a range up to 7"],
  ["0 0 * * fri-sun", ["2026-11-13", "2026-11-14", "2026-11-15"], ["2026-11-16"], "a range up to Sunday"],
  ["0 0 * * sun-tue", ["2026-11-15", "2026-11-17"], ["2026-11-18", "2026-11-14"], "a range from Sunday"],
  ["0 0 * * SUN", ["2026-11-15"], ["2026-11-16"], "names in capitals"],
  ["0 0 * * */2", ["2026-11-15", "2026-11-17"], ["2026-11-16", "2026-11-18"], "steps over the week begin on Sunday"],
  ["0 0 * * 7/1", ["2026-11-15"], ["2026-11-16"], "from 7 on there is but Sunday"],
  ["0 0 1 jan,JUL *", ["2026-01-01", "2026-07-01"], ["2026-02-01"], "names of months"],
  ["0 0 1 mar-may *", ["2026-03-01", "2026-05-01"], ["2026-06-01"], "a range of months"],
  ["0 0 29 2 *", ["2028-02-29"], ["2027-03-01", "2026-02-28"], "a leap day"],
  ["0 0 31 * *", ["2026-01-31"], ["2026-05-01", "2026-04-30"], "months without a 31st are left out"],
  ["@yearly", ["2026-01-01"], ["2026-02-01"], "every year"],
  ["@annually", ["2026-01-01"], ["2026-02-01"], "every year"],
  ["@monthly", ["2026-02-01"], ["2026-02-02"], "every month"],
  ["@weekly", ["2026-11-15"], ["2026-11-16"], "every week, on Sunday"],
  ["0 0 * * 4", ["1970-01-01", "1969-12-25"], ["1969-12-31"], "days before 1970"],
];

for (const [line, yes, no, reason] of days) {
  test(`days: ${reason} (${line})`, () => {
    for (const date of yes) assert.ok(fires(line, date), `${reason}: ${date}`);
    for (const date of no) assert.ok(!fires(line, date), `${reason}: not on ${date}`);
  });
}

const refused: readonly [line: string, says: RegExp, reason: string][] = [
  ["", /has 0 fields/, "empty"],
  ["* * * *", /has 4 fields/, "four fields"],
  ["* * * * * *", /has 6 fields/, "seconds or years"],
  ["60 * * * *", /^minute "60": expected numbers from 0 to 59/, "minute 60"],
  ["* 24 * * *", /^hour/, "hour 24"],
  ["* * 0 * *", /^day of the month/, "day 0"],
  ["* * 32 * *", /^day of the month/, "day 32"],
  ["* * * 13 *", /^month "13": .* or names from jan to dec/, "month 13"],
  ["* * * * 8", /^day of the week/, "day 8"],
  ["* * * * mo", /^day of the week/, "half a name"],
  ["jan * * * *", /^minute/, "a name where there are none"],
  ["-5 * * * *", /^minute/, "negative"],
  ["+5 * * * *", /^minute/, "a sign"],
  ["5- * * * *", /^minute/, "half a range"],
  ["30-10 * * * *", /ends before it begins/, "backwards"],
  ["* * * * 6-0", /ends before it begins/, "backwards over the week"],
  ["1-2-3 * * * *", /at most one - and one \//, "two hyphens"],
  ["*/2/3 * * * *", /at most one - and one \//, "two slashes"],
  ["*/0 * * * *", /the step must be/, "step 0"],
  ["*/61 * * * *", /the step must be a number from 1 to 60/, "a step beyond the field"],
  ["*/ * * * *", /has 4 fields|the step/, "no step"],
  ["*/x 1 * * *", /the step must be/, "a step that is no number"],
  ["1,,2 * * * *", /^minute ""/, "a hole in a list"],
  ["*-5 * * * *", /^minute/, "a star in a range"],
  ["1.5 * * * *", /^minute/, "a fraction"],
  ["\u0661 * * * *", /^minute/, "digits of another script"],
  ["0\n0 * * * *", /^minute/, "a line feed"],
  ["@every 5m", /is not one of @yearly/, "an interval has no place on the wall clock"],
  ["@reboot", /is not one of/, "there is nothing to boot"],
  ["@daily *", /is not one of/, "more after a macro"],
  ["CRON_TZ=UTC 0 0 * * *", /has 6 fields/, "a zone inside the line"],
  ["* ".repeat(200), /more than 256 characters/, "too long"],
];

for (const [line, says, reason] of refused) {
  test(`a line is refused: ${reason}`, () => {
    assert.throws(
      () => parseCron(line),
      (error) => error instanceof InvalidValue && says.test(error.message),
      reason,
    );
  });
}

test("hostile text is a line within its bounds or an InvalidValue, and never slow", () => {
  const pieces = fc.constantFrom(
    "*",
    "?",
    "/",
    "-",
    ",",
    "0",
    "7",
    "59",
    "1-5",
    " ",
    " ",
    "\t",
    "@",
    "sun",
    "dec",
    "99",
  );
  const nearly = fc.array(pieces, { maxLength: 120 }).map((parts) => parts.join(""));
  const field = fc.array(pieces, { minLength: 1, maxLength: 4 }).map((parts) => parts.join(""));
  const lines = fc.array(field, { minLength: 5, maxLength: 5 }).map((parts) => parts.join(" "));
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: "binary", maxLength: 300 }), nearly, lines), (text) => {
      try {
        const line = parseCron(text);
        assert.ok(line.minutesOfDay.length >= 1 && line.minutesOfDay.length <= 1440);
        assert.ok(line.minutesOfDay.every((minute, i) => i === 0 || minute > (line.minutesOfDay[i - 1] ?? 0)));
        assert.ok([...line.daysOfWeek].every((day) => day >= 0 && day <= 6) && line.daysOfWeek.size > 0);
        assert.ok([...line.daysOfMonth].every((day) => day >= 1 && day <= 31) && line.daysOfMonth.size > 0);
        assert.ok([...line.months].every((month) => month >= 1 && month <= 12) && line.months.size > 0);
      } catch (error) {
        assert.ok(error instanceof InvalidValue, String(error));
        assert.ok(error.message.length < 2000);
      }
    }),
    { numRuns: 3000 },
  );
  const startedAt = performance.now();
  for (const text of ["*".repeat(1e6), "-".repeat(256), " ".repeat(1e6), `${"1,".repeat(120)}1 * * * *`]) {
    try {
      parseCron(text);
    } catch (error) {
      assert.ok(error instanceof InvalidValue);
    }
  }
  assert.ok(performance.now() - startedAt < 100, "a million characters must not cost more than a hundred milliseconds");
});
