import { shortLength } from "../../../insight/words/when.ts";
import { type Finding, hint, ok, problem } from "../finding.ts";

/** A `Date` header tells seconds, and an answer takes its time. */
const NOTICEABLE_MS = 5_000;
const WRONG_MS = 30_000;

/** How much the clock of this machine is ahead of the API server's; undefined where no answer had a date. */
export function judgeClock(skewMs: number | undefined): readonly Finding[] {
  const about = "this machine";
  if (skewMs === undefined) return [];
  const offMs = Math.abs(skewMs);
  if (offMs <= NOTICEABLE_MS) return [ok(about, "its clock agrees with that of the API server")];
  const message = `its clock is ${shortLength(offMs)} ${skewMs > 0 ? "ahead of" : "behind"} that of the API server`;
  return offMs <= WRONG_MS
    ? [
        hint(
          about,
          message,
          "keep both by NTP; dates are acted on by the clock of the machine that the operator runs on",
        ),
      ]
    : [
        problem(
          about,
          message,
          "set both by NTP: an operator whose clock is off by more than a minute rotates nothing",
        ),
      ];
}
