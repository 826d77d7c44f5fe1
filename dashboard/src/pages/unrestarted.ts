import type { Action, ConsumerView } from "../../../src/dashboard/wire.ts";

const MOST = 5;

/** Who uses the Secret and is not restarted for another key; undefined where that is nobody, or there is none. */
export function unrestartedWords(
  consumers: readonly Pick<ConsumerView, "kind" | "name" | "hasOptedIn">[],
  action: Action,
): string | undefined {
  if (action !== "rotate" && action !== "compromised") return undefined;
  const staying = consumers.filter(({ hasOptedIn }) => hasOptedIn === false).map(({ kind, name }) => `${kind} ${name}`);
  if (staying.length === 0) return undefined;
  const more = staying.length > MOST ? ` and ${staying.length - MOST} more` : "";
  const fate =
    "each is locked out when the key that it was started with goes, unless it reads the Secret again by itself";
  return `Not restarted, since they have not opted in: ${staying.slice(0, MOST).join(", ")}${more}; ${fate}.`;
}
