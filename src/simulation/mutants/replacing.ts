import { isUnused } from "../../engine/dates.ts";
import { decide } from "../../engine/decide.ts";
import type { SeenKey, Situation } from "../../engine/model.ts";
import { DAY_MS } from "../scene.ts";
import { actOf, atFirstCreate, faultOf, kindOf, type Mutant, publishedMeanwhile } from "./mutant.ts";
import { deciding, instead, isOfPending, publishing, reading, seeing, surrounded } from "./tampering.ts";

/** The engine on keys that seem to be otherwise than they are. */
const seeingKeys = (mutate: (key: SeenKey, situation: Situation) => readonly SeenKey[]): Mutant["tampering"] =>
  deciding((situation) => {
    const outside = situation.observation.outside?.flatMap((key) => mutate(key, situation));
    return seeing(situation, { outside });
  });

/** Rules about making a key and replacing another one by it. */
export const REPLACING: readonly Mutant[] = [
  {
    rule: "lookFirst",
    name: "no look before create",
    tampering: instead((decision, situation) => {
      const skips = decision.kind === "look" && situation.state.pending !== undefined;
      return skips ? seeing(situation, { outside: [] }) : decision;
    }),
    focus: faultOf("crashAfter", "lost"),
    stories: ["rotate", "create"],
  },
  {
    rule: "adoptOwn",
    name: "a key of the pending intent that is found is overlooked",
    tampering: seeingKeys((key, situation) => (isOfPending(situation, key) && key.state === "ready" ? [] : [key])),
    stories: ["rotate", "create"],
  },
  {
    rule: "foreignName",
    name: "whatever bears the pending name is taken over",
    tampering: seeingKeys((key, { state }) => {
      const isNamed = key.name === state.pending?.name && key.sequence === undefined;
      return isNamed ? [{ ...key, sequence: state.pending?.sequence }] : [key];
    }),
    stories: ["nameTaken"],
  },
  {
    rule: "adoptSound",
    name: "a key whose creation failed, or that is being deleted, is taken",
    tampering: seeingKeys((key, situation) => [isOfPending(situation, key) ? { ...key, state: "ready" } : key]),
    stories: ["brokerFails"],
  },
  {
    rule: "failedCreate",
    name: "what a failed create leaves behind is overlooked",
    tampering: seeingKeys((key) => (key.state === "failed" ? [] : [key])),
    stories: ["brokerFails"],
  },
  {
    rule: "lateDuplicates",
    name: "duplicates are deleted before the winner's commit",
    tampering: deciding((situation) => {
      const own = (situation.observation.outside ?? []).filter((key) => isOfPending(situation, key));
      const [, second] = [...own].sort((a, b) => (a.id < b.id ? -1 : 1));
      return second ? { kind: "removeFailed", id: second.id } : decide(situation);
    }),
    isRare: true,
    stories: ["rotate", "create", "force"],
    climates: ["racing"],
  },
  {
    rule: "publishedSecond",
    name: "a second key of an intent counts as one that nobody had, though the Secret holds it",
    tampering: deciding((situation) => {
      const { state, observation } = situation;
      const isOther = !state.pending && observation.secret?.keyId !== state.active?.id;
      return isOther ? seeing(situation, { secret: { keyId: undefined, sequence: undefined } }) : decide(situation);
    }),
    // Two make the key of one intent, and publish it one after the other.
    prelude: atFirstCreate({ kind: "rival", pattern: 1_025_555_898 }),
    focus: actOf("stripSecret"),
    stories: ["create"],
    climates: ["racing"],
  },
  {
    rule: "publishedAfterAll",
    name: "a key that was given up counts as one that nobody had, though the Secret holds it",
    tampering: deciding((situation) => {
      const { state, observation } = situation;
      const isHeld = state.retired.some((key) => key.id === observation.secret?.keyId && isUnused(key));
      return isHeld ? seeing(situation, { secret: { keyId: undefined, sequence: undefined } }) : decide(situation);
    }),
    stories: ["rotate"],
    schedule: publishedMeanwhile("lost", { at: 8, pattern: 1_417_745_003 }),
  },
  {
    rule: "abandoned",
    name: "a key that must be abandoned is deleted at once",
    tampering: deciding((situation) => {
      const { unreadable, outside } = situation.observation;
      const isThere = unreadable !== undefined && outside?.some((key) => key.id === unreadable);
      return isThere ? { kind: "removeFailed", id: unreadable } : decide(situation);
    }),
    prelude: atFirstCreate({ kind: "fault", fault: "crashAfter" }),
    focus: faultOf("withheld"),
    stories: ["rotate"],
  },
  {
    rule: "recordedWinner",
    name: "without a Secret, everybody decides who has won",
    tampering: deciding((situation) => {
      const { state, policy } = situation;
      if (!state.pending || policy.publishes) return decide(situation);
      // Neither what was recorded nor what was activated counts.
      const blind = { ...state, externalName: state.active?.id, pending: { ...state.pending, id: undefined } };
      const decision = decide({ ...situation, state: blind });
      if (decision.kind !== "recordId") return decision;
      return { kind: state.externalName === decision.id ? "commit" : "activate", id: decision.id };
    }),
    isRare: true,
    stories: ["noSecret"],
    climates: ["racing"],
  },
  {
    rule: "replacedDate",
    name: "a key counts as replaced from when its successor was intended",
    tampering: reading((state) => ({
      ...state,
      retired: state.retired.map((key) => ({ ...key, replacedAt: key.replacedAt && key.retiredAt })),
    })),
    focus: kindOf("pause", "zombie"),
    stories: ["outage", "rotate"],
  },
  {
    rule: "expireSuccessor",
    name: "retired keys go before a successor is published",
    tampering: deciding((situation) => {
      const { state, observation } = situation;
      if (!state.pending || !observation.outside) return decide(situation);
      const waiting = state.retired.find(
        (key) => key.replacedAt === undefined && observation.outside?.some((one) => one.id === key.id),
      );
      return waiting ? { kind: "removeFailed", id: waiting.id } : decide(situation);
    }),
    focus: faultOf("crashAfter", "lost"),
    stories: ["rotate", "outage"],
  },
  {
    rule: "expireDate",
    name: "keys are deleted before their time",
    tampering: reading((state) => ({
      ...state,
      retired: state.retired.map((key) => ({ ...key, cause: "duplicate" })),
    })),
    stories: ["rotate", "tamper"],
  },
  {
    rule: "expireOverlap",
    name: "the overlap that was promised does not count",
    tampering: reading((state) => ({ ...state, retired: state.retired.map((key) => ({ ...key, overlapMs: 0 })) })),
    stories: ["rotatedLate"],
  },
  {
    rule: "forgetGone",
    name: "a key is forgotten before it is gone",
    tampering: instead((decision) => (decision.kind === "expire" ? { kind: "forget", ids: decision.ids } : decision)),
    focus: kindOf("fault", "person"),
    stories: ["expire"],
  },
  {
    rule: "compromised",
    name: "a compromised key is kept like any other",
    tampering: reading((state) => ({
      ...state,
      retired: state.retired.map((key) => ({ ...key, cause: "rotated", overlapMs: 3_600_000 })),
    })),
    stories: ["compromise"],
  },
  {
    rule: "requestMeanwhile",
    name: "a request that comes while a key is pending is dropped",
    tampering: instead((decision, { state, observation }) =>
      decision.kind === "recordRequest"
        ? { kind: "activate", id: observation.published ?? state.pending?.id ?? "" }
        : decision,
    ),
    focus: actOf("compromise"),
    stories: ["rotate"],
  },
  {
    rule: "forceOnce",
    name: "the same request forces again",
    tampering: reading((state) => ({ ...state, fulfilled: undefined })),
    stories: ["forceAgain"],
  },
  {
    rule: "forceBound",
    name: "keys are retired by force without end",
    tampering: deciding((situation) => decide({ ...situation, policy: { ...situation.policy, maxForced: Infinity } })),
    stories: ["forceOften"],
  },
  {
    rule: "specChange",
    name: "a changed spec changes nothing",
    tampering: surrounded(({ state }) => (state.active ? { madeFrom: state.active.madeFrom } : {})),
    stories: ["change", "changeName", "changeInstance"],
  },
  {
    rule: "lookBefore",
    name: "a resource that somebody has touched is rotated without a look",
    tampering: deciding((situation) =>
      situation.state.pending ? decide(situation) : seeing(situation, { isContinued: true }),
    ),
    family: "btp-consumers",
    focus: actOf("restoreBoth"),
    stories: ["heldCompromise"],
  },
  {
    rule: "ineffective",
    name: "a key with the same credentials replaces the old one",
    tampering: publishing(() => ({ fingerprintOf: () => "" })),
    stories: ["sameCredentials"],
  },
  {
    rule: "paused",
    name: "a paused resource is worked on",
    tampering: surrounded(() => ({ isPaused: false })),
    stories: ["pause"],
  },
  {
    rule: "frozen",
    name: "a frozen resource is rotated",
    tampering: surrounded(() => ({ isFrozen: false })),
    stories: ["freeze"],
  },
  {
    rule: "externalName",
    name: "an external-name that was tampered with is ignored",
    tampering: deciding((situation) => {
      const { state } = situation;
      if (!state.active || state.pending) return decide(situation);
      return decide({ ...situation, state: { ...state, externalName: state.active.id } });
    }),
    stories: ["tamper"],
  },
  {
    rule: "activeGone",
    name: "an active key that is gone is not missed",
    tampering: deciding((situation) => {
      const { state, observation } = situation;
      const { outside } = observation;
      if (!state.active || state.pending || outside?.some((key) => key.id === state.active?.id))
        return decide(situation);
      const active: SeenKey = { ...state.active, state: "ready" };
      return seeing(situation, { outside: outside && [...outside, active] });
    }),
    stories: ["loseKey"],
  },
  {
    rule: "wrongDate",
    name: "what the status says of the active key's age is believed",
    tampering: seeingKeys((key, { state }) => [
      key.id === state.active?.id ? { ...key, createdAt: state.active.createdAt } : key,
    ]),
    stories: ["misdate"],
  },
  {
    rule: "uniqueNames",
    name: "the names of keys do not tell whose they are",
    tampering: surrounded(() => ({ nameOf: (sequence) => `my-sample-${sequence}` })),
    stories: ["neighbours"],
  },
  {
    rule: "ttlMoves",
    name: "a longer ttl does not reach keys that are retired already",
    tampering: {
      options: (options) => {
        const { kind } = options;
        const readSpec: typeof kind.readSpec = (object) => {
          const spec = kind.readSpec(object);
          return { ...spec, policy: { ...spec.policy, ttlMs: 14 * DAY_MS } };
        };
        return { ...options, kind: { ...kind, readSpec } };
      },
    },
    focus: kindOf("pause", "zombie"),
    stories: ["lengthen"],
  },
  {
    rule: "vanished",
    name: "a retired key that is gone stays in the status",
    tampering: instead((decision, { surroundings }) =>
      decision.kind === "forget"
        ? { kind: "wait", until: Math.max(surroundings.driftCheckAt, surroundings.now + 600_000), reason: "Settled" }
        : decision,
    ),
    stories: ["loseRetired"],
  },
  {
    rule: "formerDead",
    name: "a dead key in a Secret that was left is nobody's business",
    tampering: deciding((situation) => seeing(situation, { formerKeyIds: [] })),
    prelude: ({ target }) =>
      target === "Secret default/service-manager" ? { kind: "stale", unseen: "restoreSecret" } : undefined,
    focus: kindOf("pause"),
    stories: ["moveSecret"],
  },
  {
    rule: "republishLook",
    name: "the active key is published again without a look",
    tampering: instead((decision, { state, observation }) => {
      const isDamaged = observation.secret !== undefined && observation.secret.keyId !== state.active?.id;
      if (decision.kind !== "look" || !state.active || state.pending || !isDamaged) return decision;
      return { kind: "republish", id: state.active.id };
    }),
    stories: ["restoreWithout"],
  },
  {
    rule: "windows",
    name: "a closed window is open",
    tampering: surrounded(() => ({ windows: { isOpen: true, opensAt: undefined } })),
    stories: ["window"],
  },
];
