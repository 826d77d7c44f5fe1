import { createHash } from "node:crypto";
import { jsonAnswer, type SandboxResponse } from "../http/exchange.ts";
import { notFound } from "./attempts.ts";
import { errorAnswer } from "./exchange.ts";
import type { InstanceRecord } from "./records.ts";
import type { SandboxWorld } from "./world.ts";

/**
 * The plans and offerings of the sandbox: there are those that its instances are of. As in the real catalog, `name` is
 * what the Service Manager made of the broker's name, which is `catalog_name`.
 */
type Kind = Pick<InstanceRecord, "offering" | "plan">;

export const planIdOf = ({ offering, plan }: Kind): string => idOf("plan", offering, plan);
const offeringIdOf = ({ offering }: Kind): string => idOf("offering", offering);

/** The same for the same names, and nothing that a path could not hold. */
const idOf = (...names: readonly string[]): string =>
  createHash("sha256").update(JSON.stringify(names)).digest("hex").slice(0, 32);

export function getPlan(world: SandboxWorld, id: string): SandboxResponse {
  const kind = kindWith(world, id, planIdOf);
  if (!kind) return errorAnswer(notFound("service plan"));
  const { plan: name } = kind;
  return jsonAnswer(200, { id, ready: true, name, catalog_name: name, service_offering_id: offeringIdOf(kind) });
}

export function getOffering(world: SandboxWorld, id: string): SandboxResponse {
  const kind = kindWith(world, id, offeringIdOf);
  if (!kind) return errorAnswer(notFound("service offering"));
  const { offering: name } = kind;
  return jsonAnswer(200, { id, ready: true, name, catalog_name: name, tags: [name, "sandbox"] });
}

const kindWith = (world: SandboxWorld, id: string, idOfKind: (kind: Kind) => string): Kind | undefined =>
  [...world.instances.values()].find((instance) => idOfKind(instance) === id);
