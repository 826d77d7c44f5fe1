import { formatInstant } from "../../base/instant.ts";
import { judgeBound, judgeTiming } from "../judge-rest.ts";
import type { Finish } from "../process.ts";
import type { Subject } from "../truth.ts";
import { acceptable, configIn, createdAtOn, isSame, PUBLISHED, publishedIn, RING, ringIn } from "./objects.ts";
import type { Server } from "./played-servers.ts";
import type { RingWorld } from "./world.ts";

/** What must hold once everything has come to rest. */
export function judgeRing(world: RingWorld, finish: Finish | undefined): void {
  const { judge } = world;
  const subject = world.subject();
  if (!subject) {
    for (const address of [PUBLISHED, RING])
      if (world.secret(address)) judge.accuse(`S4 the Secret ${address} is left of nobody`);
    return;
  }
  if (subject.state.isDeleting) {
    judge.accuse("L1 the resource is being deleted and does not go");
    return;
  }
  judgeKeys(world, subject);
  judgeFiles(world);
  for (const server of world.servers()) judgeServer(world, server);
  const rest = { judge, now: world.clock.now(), finishOf: () => finish };
  judgeBound(rest, subject);
  judgeTiming(rest, subject);
}

/** One key is in use, and the ring has nothing that the status does not know. */
function judgeKeys(world: RingWorld, { state }: Subject): void {
  const { judge } = world;
  const ring = ringIn(world.secret(RING)) ?? [];
  const published = world.secret(PUBLISHED);
  const { active } = state;
  if (state.pending) judge.accuse("L1 an intent is still pending");
  if (!active) {
    judge.accuse("L1 there is no active key");
    return;
  }
  if (state.externalName !== active.id) judge.accuse("L1 external-name is not the active key");
  const known = new Set([active.id, ...state.retired.map(({ id }) => id)]);
  for (const { id, phase } of ring) {
    if (!known.has(id)) judge.accuse(`S4 there is a key in the ring that nobody knows: ${id}`);
    else if (phase !== "accepted") judge.accuse(`L1 a key of the ring is still ${phase}: ${id}`);
  }
  const there = new Set(ring.map(({ id }) => id));
  for (const id of known) if (!there.has(id)) judge.accuse(`L1 a key of the status is not in the ring: ${id}`);
  if (publishedIn(published)?.id !== active.id) judge.accuse("L1 the Secret does not hold the active key");
  if (createdAtOn(published) !== formatInstant(active.createdAt))
    judge.accuse("L1 the Secret does not say when its key was made");
}

/** What named includes is what the ring says. */
function judgeFiles(world: RingWorld): void {
  const secret = world.secret(RING);
  const [config = [], keys] = [secret && configIn(secret), acceptable(ringIn(secret))];
  const isWhole = config.length === keys.length && keys.every((key) => config.some((one) => isSame(one, key)));
  if (!isWhole) world.judge.accuse("S9 what named includes is not what the ring says");
}

/** No two replicas are apart: each accepts what the ring says, and nothing else. */
function judgeServer(world: RingWorld, server: Server): void {
  const { judge } = world;
  const published = publishedIn(world.secret(PUBLISHED));
  const ring = world.overlaps ? acceptable(ringIn(world.secret(RING))) : published ? [published] : [];
  const { name, accepted } = server;
  // What was published for a while by somebody else, and taken back, restarts nobody; nor does a key that nothing tells of.
  const isLeft = server.read.author === "person" || accepted.every((key) => judge.isUntold(server, key));
  if (!world.overlaps && isLeft) return;
  for (const { id, ...key } of ring) {
    const isAccepted = accepted.some((one) => isSame(one, key)) || (id !== published?.id && judge.isPutBack(id));
    if (!isAccepted) judge.accuse(`S9 ${name} does not accept a key of the ring: ${id}`);
  }
  const strange = accepted.filter((one) => !ring.some((key) => isSame(one, key)));
  if (strange.some((key) => !judge.isUntold(server, key)))
    judge.accuse(`S9 ${name} accepts a key that is not in the ring`);
}
