import { unprocessable } from "./problems.ts";
import type { BindingRecord, InstanceRecord } from "./records.ts";
import type { CloudFoundryWorld } from "./world.ts";

/** One key more, or one in the place of another, must fit the space and its organization. Keys count from their request until they are gone. */
export function demandQuota(world: CloudFoundryWorld, instance: InstanceRecord, replaced?: BindingRecord): void {
  const space = world.spaces.get(instance.space);
  const organization = world.organizations.get(space?.organization ?? "");
  const spaceQuota = space?.keyQuota ?? null;
  const organizationQuota = organization?.keyQuota ?? null;
  if (spaceQuota === null && organizationQuota === null) return;
  let inSpace = 0;
  let inOrganization = 0;
  for (const other of world.bindings.all()) {
    if (other.type !== "key" || other === replaced) continue;
    const itsSpace = world.instances.get(other.instanceId)?.space ?? "";
    if (itsSpace === instance.space) inSpace += 1;
    if (world.spaces.get(itsSpace)?.organization === space?.organization) inOrganization += 1;
  }
  if (spaceQuota !== null && inSpace >= spaceQuota) throw exceeded("space");
  if (organizationQuota !== null && inOrganization >= organizationQuota) throw exceeded("organization");
}

const exceeded = (of: "space" | "organization") =>
  unprocessable(`You have exceeded your ${of}'s limit for service binding of type key.`);
