import { formatInstant } from "../../src/base/instant.ts";
import type { KubeObject } from "../../src/kube/objects.ts";
import type { Rotation } from "../families/family.ts";
import { rate } from "./load.ts";
import { indexOf, listBindings, type Place } from "./many-bindings.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const [FREQUENCY_MS, TTL_MS] = [30 * DAY_MS, 80 * DAY_MS];
/** As many as a status tells of. */
const ROTATIONS = 10;
const WRITERS = 16;

/** The policy of service bindings that have had three keys, of which the two before are still there. */
export const MONTHLY: Rotation = { frequency: "720h", ttl: "1920h" };

/**
 * Gives each binding a past, as operators would have left it: the key in use is some days old, the two before it are
 * retired, and seven before those were deleted; nothing is due soon. Returns how many were written in a second. Must be: while no operator runs.
 */
export async function givePasts(place: Place, now: number): Promise<number> {
  const bindings = await listBindings(place);
  return rate(bindings.length, WRITERS, async (index) => {
    const binding = bindings[index];
    if (binding) await writeStatus(place, binding, pastOf(place, binding, now));
  });
}

export async function writeStatus({ kube, family }: Place, { metadata }: KubeObject, status: object): Promise<void> {
  const patch = { type: "merge", body: { status } } as const;
  await kube.patch(family.type, { name: metadata.name }, patch, { subresource: "status" });
}

function pastOf({ family }: Place, binding: KubeObject, now: number): object {
  const { activeId = "", activeName = "" } = family.readStatus(binding);
  const createdAt = now - HOUR_MS - (indexOf(binding) % 1000) * 0.018 * DAY_MS;
  const keys = Array.from({ length: ROTATIONS }, (_, back) => ({
    id: back === 0 ? activeId : `${activeId}-${back}`,
    name: `${activeName}-${back}`,
    createdAt: createdAt - back * FREQUENCY_MS,
  }));
  return {
    atProvider: { createdDate: formatInstant(createdAt) },
    retiredKeys: keys.slice(1, 3).toReversed().map(retiredKey),
    history: keys.map(({ id, createdAt: madeAt }) => ({
      keyId: id,
      reason: "RotationDue",
      startedAt: formatInstant(madeAt),
      endedAt: formatInstant(madeAt + 5000),
      outcome: "Succeeded",
    })),
  };
}

export interface PastKey {
  readonly id: string;
  readonly name: string;
  readonly createdAt: number;
}

/** Of a service binding that was replaced when it was due. */
export const retiredKey = ({ id, name, createdAt }: PastKey): object => ({
  id,
  name,
  createdDate: formatInstant(createdAt),
  retiredDate: formatInstant(createdAt + FREQUENCY_MS),
  replacedDate: formatInstant(createdAt + FREQUENCY_MS),
  deletionDate: formatInstant(createdAt + TTL_MS),
  overlap: "1200h",
  cause: "rotated",
});
