import { type Call, describeCall, type Process } from "./process.ts";

/** How schedules are told, line by line; no line holds key material. */
export function callLine({ name }: Process, call: Call, fault: string): string {
  const whose = call.as === undefined ? "" : ` (as ${call.as})`;
  const what = `${call.isWrite ? "*" : " "}  ${describeCall(call)}${whose}`;
  return `${name} ${what}${fault === "none" ? "" : `   <<< ${fault}`}`;
}

export function failureLine({ name }: Process, error: unknown): string {
  const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return `${name}    reconcile failed: ${message.slice(0, 160)}`;
}
