import { spend, strikes } from "../controls/settings.ts";
import type { AccountCredentials } from "../ground/account-store.ts";
import type { Problem } from "./exchange.ts";
import type { InstanceRecord } from "./records.ts";
import type { SandboxWorld } from "./world.ts";

/**
 * The broker of an instance: logins from bind to unbind, quotas, and failures. All that goes wrong here reaches clients
 * as 502 `BrokerError`, with a text that is different every time.
 */
export function bind(
  world: SandboxWorld,
  instance: InstanceRecord,
  bindingId: string,
): { readonly credentials: AccountCredentials } | { readonly problem: Problem } {
  if (fails(world, instance, "bind")) {
    return { problem: brokerProblem(world, "bind", instance.brokerFailureStatus) };
  }
  if (instance.bindingQuota !== null && world.accounts.holderCount(instance.id) >= instance.bindingQuota) {
    return { problem: brokerProblem(world, "bind", 400, `quota of ${instance.bindingQuota} bindings is used up`) };
  }
  return { credentials: world.accounts.open(world, instance.id, bindingId, instance.sameCredentials) };
}

/** Unbinding what was never bound is a success: brokers say 410, and the Service Manager takes that for done. */
export function unbind(world: SandboxWorld, instance: InstanceRecord, bindingId: string): Problem | undefined {
  if (fails(world, instance, "unbind")) return brokerProblem(world, "unbind", instance.brokerFailureStatus);
  world.accounts.release(bindingId);
  return undefined;
}

function fails(world: SandboxWorld, instance: InstanceRecord, request: "bind" | "unbind"): boolean {
  const isMeant = instance.brokerFailsOn === "both" || instance.brokerFailsOn === request;
  if (!isMeant || !strikes(instance.brokerFailures)) return false;
  world.instances.set(instance.id, { ...instance, brokerFailures: spend(instance.brokerFailures) });
  return true;
}

function brokerProblem(world: SandboxWorld, request: string, status: number, reason = "request refused"): Problem {
  const description = `${reason} (request ${world.uuid()}, attempt ${world.sequence()})`;
  const message = status < 500 ? "BadRequest" : "InternalServerError";
  return {
    status: 502,
    error: "BrokerError",
    description: `Failed ${request} request: Status: ${status}; ErrorMessage: ${message}; Description: ${description}`,
    brokerError: { StatusCode: status, ErrorMessage: message, Description: description },
  };
}
