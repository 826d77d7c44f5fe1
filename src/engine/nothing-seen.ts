import type { Observation } from "./model.ts";

/** How every pass begins. */
export const NOTHING_SEEN: Observation = {
  outside: undefined,
  observed: new Map(),
  secret: undefined,
  formerKeyIds: [],
  wroteIntent: false,
  hasCommitted: false,
  isContinued: false,
  published: undefined,
  unreadable: undefined,
  ineffective: undefined,
  adoption: undefined,
  consumers: undefined,
};
