import type { SandboxRequest, SandboxResponse } from "../http/exchange.ts";
import { Refusal } from "./problems.ts";
import type { LoginRecord } from "./records.ts";
import type { CloudFoundryWorld } from "./world.ts";

/** A request on its way through a handler. */
export interface Call {
  readonly world: CloudFoundryWorld;
  readonly request: SandboxRequest;
  readonly caller: LoginRecord;
  /** What stands in the path for `{…}`, in order. */
  readonly ids: readonly string[];
}

export type Handler = (call: Call) => SandboxResponse;

/** Somebody without a role is not told so: there is nothing to be seen. */
export const mayRead = ({ caller }: Call): boolean => caller.role !== "none";
export const maySeeSecrets = ({ caller }: Call): boolean => caller.role === "space-developer";

export function demandWrite({ caller }: Call): void {
  if (caller.role === "space-developer") return;
  throw new Refusal("NotAuthorized", "You are not authorized to perform the requested action");
}

/** Links are absolute: they name the address that the request was sent to. */
export function baseOf(world: CloudFoundryWorld, { headers, isSecure }: SandboxRequest): string {
  return headers.host === undefined ? world.url : `${isSecure ? "https" : "http"}://${headers.host}`;
}

export const linker =
  ({ world, request }: Pick<Call, "world" | "request">) =>
  (path: string): { readonly href: string } => ({ href: `${baseOf(world, request)}${path}` });
