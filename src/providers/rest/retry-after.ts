const MIN_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 3_600_000;

/** How Go prints a time, which is what production sends: `2024-11-11 14:59:33 +0000 UTC`. */
const GO_TIME = /^(\d{4}-\d{2}-\d{2}) (\d{2}:\d{2}:\d{2})(?:\.\d{1,9})? ([+-]\d{2}):?(\d{2})(?: [A-Za-z]{1,5})?$/;
const HTTP_DATE = /^[A-Za-z]{3,9},? [A-Za-z0-9 :-]{12,40}$/;

/**
 * The pause that a service asks for, in all the forms it is seen in: seconds, an HTTP date, a printed Go time. Bounded
 * both ways, so that neither a date in the past makes a busy loop nor a wrong one a standstill. Undefined when the
 * header is missing or says nothing that can be understood.
 */
export function parseRetryAfter(headers: Readonly<Record<string, string>>, now: number): number | undefined {
  const value = headers["retry-after"]?.trim() ?? "";
  if (/^\d{1,12}(\.\d{1,9})?$/.test(value)) return bounded(Number(value) * 1000);
  const until = parseDate(value);
  if (until === undefined) return undefined;
  // The service's own idea of now, where it tells, takes the skew between the two clocks out.
  const servedAt = parseDate(headers.date?.trim() ?? "") ?? now;
  return bounded(until - servedAt);
}

function parseDate(value: string): number | undefined {
  const [, day, time, hours, minutes] = GO_TIME.exec(value) ?? [];
  const iso = day === undefined ? httpDate(value) : `${day}T${time}${hours}:${minutes}`;
  const at = iso === undefined ? Number.NaN : Date.parse(iso);
  return Number.isFinite(at) ? at : undefined;
}

/** HTTP dates are UTC, also in the old form that does not say so. */
function httpDate(value: string): string | undefined {
  if (!HTTP_DATE.test(value)) return undefined;
  return / (GMT|UTC)$/.test(value) ? value : `${value} GMT`;
}

const bounded = (pauseMs: number): number => Math.min(MAX_PAUSE_MS, Math.max(MIN_PAUSE_MS, Math.ceil(pauseMs)));
