import type { ResourceType } from "../../src/kube/objects.ts";
import { foreignDefinition } from "../../src/simulation/foreign-kind.ts";
import { type ChildKind, statusReader } from "./family.ts";

const type: ResourceType = {
  group: "keys.example.org",
  version: "v1",
  plural: "servicekeys",
  kind: "ServiceKey",
  namespaced: true,
};

/** Service keys of Cloud Foundry as somebody else's controller has them: a kind with a namespace that is not ours. */
export const serviceKeys: ChildKind = {
  type,
  readStatus: statusReader({ id: "guid", createdAt: "createdAt", retiredKeysIn: "atProvider" }),
};

export const serviceKeyDefinition = foreignDefinition(type);
