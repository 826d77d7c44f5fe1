import { isNoLonger } from "./duration-rules.ts";
import { duration, list, object, oneOf, text } from "./schema.ts";

/**
 * `spec.rotation`, the same for every kind that rotates. What the API server can judge it refuses with a remedy; how
 * short a frequency may be is up to the operator, so that is not said here.
 */
const MINUTE_MS = 60_000;
const YEAR_MS = 366 * 86_400_000;
const MAX_WINDOWS = 16;

const MACROS = "@(yearly|annually|monthly|weekly|daily|midnight|hourly)";
const FIVE_FIELDS = "[^ \\t]+([ \\t]+[^ \\t]+){4}";

/** Days that no month has, where the day of the month alone decides. */
const NO_SUCH_DAY =
  "(3[01](,3[01])*[ \\t]+(0?2|[fF][eE][bB])|31[ \\t]+(0?[469]|11|[aA][pP][rR]|[jJ][uU][nN]|[sS][eE][pP]|[nN][oO][vV]))";

const window = object(
  {
    schedule: text("When it opens: a cron line of five fields, on the wall clock of the time zone.", {
      maxLength: 256,
      "x-kubernetes-validations": [
        {
          rule: `self.matches('^[ \\t]*(${MACROS}|${FIVE_FIELDS})[ \\t]*$')`,
          message:
            "must be a cron line of five fields (minute, hour, day of the month, month, day of the week), such as 0 2 * * sat,sun",
        },
        {
          rule: `!self.matches('^[ \\t]*([^ \\t]+[ \\t]+){2}${NO_SUCH_DAY}[ \\t]+[*][ \\t]*$')`,
          message: "never opens: that month has no such day",
        },
      ],
    }),
    duration: duration("For how long it stays open.", {
      minMs: MINUTE_MS,
      maxMs: YEAR_MS,
      message: "must be from 1m to 366d",
    }),
    timeZone: text("IANA name of the time zone, such as Europe/Berlin; UTC when absent.", {
      maxLength: 64,
      "x-kubernetes-validations": [
        {
          rule: "self.matches('^[A-Za-z][A-Za-z0-9_+/-]*$')",
          message: "must be the IANA name of a time zone, such as Europe/Berlin or UTC",
        },
      ],
    }),
  },
  { required: ["schedule", "duration"] },
);

const isRequired = (field: string, message: string) => ({
  rule: `has(self.${field})`,
  message,
  reason: "FieldValueRequired",
  fieldPath: `.${field}`,
});

const ttl = duration("How long one key lives, from its creation.");
const frequency = duration("The age at which the active key is replaced by a new one.");
export const windows = list(
  window,
  "Rotations that are due start only while one of these is open; none means always.",
  {
    maxItems: MAX_WINDOWS,
  },
);
const revoke = oneOf(
  "When a retired key is deleted: at its deletionDate, which is what happens when nothing is said, or not before every workload that has opted in to restarts has moved on from it as well.",
  ["AtDeletionDate", "AfterConsumers"],
);
const maxHold = duration(
  "With revoke: AfterConsumers, how long after its deletionDate a key is kept at most; 168h when nothing is said.",
);
const description = "When keys are replaced and removed. Without it there is one key, for ever.";

const ttlIsRequired = isRequired(
  "ttl",
  "say how long a key lives; frequency plus the time that consumers need to move over",
);
const FREQUENCY_IS_REQUIRED = "say at which age a key is replaced; ttl less the time that consumers need to move over";

/** Of a ttl and what stands for the frequency, as long as both are there. */
const ttlIsNoShorter = (frequency: string) => ({
  rule: `!has(self.ttl) || !has(${frequency}) || ${isNoLonger(frequency, "self.ttl")}`,
  message: "must be at least the frequency, else a key would end before its successor begins",
  fieldPath: ".ttl",
});

export const rotation = object(
  { ttl, frequency, windows, revoke, maxHold },
  {
    description,
    rules: [ttlIsRequired, isRequired("frequency", FREQUENCY_IS_REQUIRED), ttlIsNoShorter("self.frequency")],
  },
);

/** The same, for kinds whose document calls the frequency an interval as well. */
export const rotationOrInterval = object(
  {
    ttl,
    frequency,
    interval: duration("Another word for frequency; only one of them may be there."),
    windows,
    revoke,
    maxHold,
  },
  {
    description,
    rules: [
      ttlIsRequired,
      {
        ...isRequired("frequency", FREQUENCY_IS_REQUIRED),
        rule: "has(self.frequency) || has(self.interval)",
      },
      {
        rule: "!has(self.frequency) || !has(self.interval)",
        message: "says the same as frequency: keep one of them",
        fieldPath: ".interval",
      },
      ttlIsNoShorter("self.frequency"),
      ttlIsNoShorter("self.interval"),
    ],
  },
);
