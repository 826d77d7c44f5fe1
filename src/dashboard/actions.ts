import { annotate } from "../insight/resources/annotate.ts";
import { type ManagedResource, managedResource } from "../insight/resources/managed-resource.ts";
import { delayOf } from "../insight/rotate/request-rotation.ts";
import { Conflict } from "../kube/errors.ts";
import { askingFor, obstacleOf } from "./action-rules.ts";
import { readCredential } from "./credential-id.ts";
import { readResource } from "./credential-view.ts";
import { BadQuestion, NotPermitted, StateMovedOn } from "./refusals.ts";
import type { Looker, ViewSource } from "./view-source.ts";
import { ACTIONS, type Action, type ActionAnswer, type ActionRequest, type SeenState } from "./wire.ts";

/** Whose fields those are that somebody writes with a button. */
const FIELD_MANAGER = "keyturn-dashboard";

/** Somebody else writes now and then; nobody writes all the time. */
const MOST_TRIES = 5;

/** What a request should be, before anything about it is known. */
type Unchecked = Readonly<Partial<Record<keyof ActionRequest, unknown>>>;

interface Wish {
  readonly action: Action;
  readonly seen: SeenState;
}

/**
 * Does what a button says, for the very state that the page had shown when it was pressed, and at most once: the resource is
 * read, judged and written at the version that was judged. Whoever comes second finds what the first one has asked for, and
 * is told so. With the viewer's own rights. Must not: write anything but the one annotation.
 */
export async function act(source: ViewSource, looker: Looker, body: unknown): Promise<ActionAnswer> {
  if (!source.mayChange) throw new NotPermitted("this dashboard only shows: it was started without changes");
  const { id, ...wish } = (body ?? {}) as Unchecked;
  const credential = readCredential(id);
  const { action, seen } = readWish(wish);
  const { kube } = looker.guest;
  for (let attempt = 1; attempt <= MOST_TRIES; attempt++) {
    const resource = await readResource(kube, credential);
    judge(resource, { action, seen }, source.clock.now());
    try {
      const options = { fieldManager: FIELD_MANAGER, isExact: true };
      const written = await annotate(kube, resource, askingFor(resource, action), options);
      source.logger.info("asked for by the dashboard", { id, action, by: looker.guest.name });
      return { words: wordsFor(action, managedResource(resource.kind, written), source.clock.now()) };
    } catch (error) {
      if (!(error instanceof Conflict)) throw error;
    }
  }
  throw new StateMovedOn("it is being written all the time: nothing was changed, try again");
}

function readWish({ action, seen }: Omit<Unchecked, "id">): Wish {
  const known = ACTIONS.find((one) => one === action);
  const { uid, sequence } = (seen ?? {}) as Readonly<Record<string, unknown>>;
  if (!known) throw new BadQuestion(400, `action must be one of ${ACTIONS.join(", ")}`);
  if (typeof uid !== "string" || typeof sequence !== "number") {
    throw new BadQuestion(400, "seen must say which state was shown: uid and sequence");
  }
  return { action: known, seen: { uid, sequence } };
}

/** Throws where the state that was seen is over, or where there is nothing left to ask for. */
function judge(resource: ManagedResource, { action, seen }: Wish, now: number): void {
  const { object, state } = resource;
  if (object.metadata.uid !== seen.uid) {
    throw new StateMovedOn("it was deleted, and another one has its name now: nothing was changed");
  }
  const isOfKey = action === "rotate" || action === "compromised";
  if (isOfKey && state.sequence !== seen.sequence) {
    throw new StateMovedOn("another rotation has begun since this page was shown: nothing was changed, look again");
  }
  const obstacle = obstacleOf(resource, action, now);
  if (obstacle !== undefined) throw new StateMovedOn(`${obstacle}: nothing was changed`);
}

function wordsFor(action: Action, resource: ManagedResource, now: number): string {
  if (action === "freeze") return "Frozen: no new rotation begins.";
  if (action === "unfreeze") return "Unfrozen: rotations begin again.";
  const delay = delayOf(resource, now);
  if (delay !== undefined) return `Asked for, and held back: ${delay}.`;
  return action === "rotate"
    ? "Asked for: the next key is made now."
    : "Asked for: the next key is made now, and the one in use goes as soon as that is published.";
}
