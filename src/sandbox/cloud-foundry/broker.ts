import { spend, strikes } from "../controls/settings.ts";
import type { BindingRecord, InstanceRecord } from "./records.ts";
import type { CloudFoundryWorld } from "./world.ts";

/**
 * The broker of an instance: logins from bind to unbind, and failures. What goes wrong here shows in jobs and last
 * operations, with a text that is different every time.
 */
export function bind(world: CloudFoundryWorld, instance: InstanceRecord, bindingId: string): string | undefined {
  if (fails(world, instance, "bind")) return `Service broker error: ${refusal(world)}`;
  world.accounts.open(world, instance.id, bindingId, instance.sameCredentials);
  return undefined;
}

/**
 * Whether it lets a binding go, whose login then ends with it. Unbinding what was never bound is a success: brokers say
 * 410, and the platform takes that for done.
 */
export function unbind(world: CloudFoundryWorld, instance: InstanceRecord): string | undefined {
  if (!fails(world, instance, "unbind")) return undefined;
  const text = `Service broker failed to delete service binding for instance ${instance.name}`;
  return `${text}: Service broker error: ${refusal(world)}`;
}

/** What `details` shows of a binding whose create has succeeded. */
export function credentialsOf(world: CloudFoundryWorld, { id, instanceId }: BindingRecord): object {
  const credentials = world.accounts.heldBy(id)?.credentials;
  if (!credentials) return {};
  const { hostname, port } = credentials;
  if (world.instances.get(instanceId)?.credentials !== "nested") return credentials;
  return { ...credentials, endpoints: { primary: { hostname, port: Number(port) }, readOnly: [hostname] }, tls: true };
}

const refusal = (world: CloudFoundryWorld): string => `request refused (request ${world.uuid()})`;

function fails(world: CloudFoundryWorld, instance: InstanceRecord, request: "bind" | "unbind"): boolean {
  const isMeant = instance.brokerFailsOn === "both" || instance.brokerFailsOn === request;
  if (!isMeant || !strikes(instance.brokerFailures)) return false;
  world.instances.set(instance.id, { ...instance, brokerFailures: spend(instance.brokerFailures) });
  return true;
}
