import { KeyturnError, messageOf } from "../../base/errors.ts";

/** One error for several: the first one's code and rule, and how many there were. */
export function united(problems: readonly unknown[]): unknown {
  const [first] = problems;
  if (problems.length === 1 || !(first instanceof KeyturnError)) return first;
  const message = `${first.message} (and ${problems.length - 1} more: ${problems.slice(1, 4).map(messageOf).join("; ")})`;
  return new KeyturnError(first.code, message, { retry: first.retry, cause: first });
}
