import { decide } from "../../engine/decide.ts";
import { seenKeys } from "../../engine/seen-keys.ts";
import { faultOf, type Mutant } from "./mutant.ts";
import { connecting, deciding, instead, seeing } from "./tampering.ts";

/** Rules about what comes back: a status from the past, former lives, keys of others. */
export const RETURNING: readonly Mutant[] = [
  {
    rule: "pastMarks",
    name: "marks outside are not compared with the status",
    tampering: deciding((situation) => {
      const { state, observation } = situation;
      const outside = observation.outside?.filter((key) => (key.sequence ?? 0) <= state.sequence);
      const secret = observation.secret && { keyId: observation.secret.keyId, sequence: undefined };
      return seeing(situation, { outside, secret });
    }),
    stories: ["restoreBoth"],
  },
  {
    rule: "pastNewest",
    name: "any key that is newer than the status will do",
    tampering: deciding((situation) => {
      const { state, observation } = situation;
      const sequences = (observation.outside ?? []).map((key) => key.sequence ?? 0);
      const newer = sequences.filter((sequence) => sequence > state.sequence);
      const last = state.pending?.sequence ?? Math.min(...newer);
      return seeing(situation, { outside: observation.outside?.filter((key) => (key.sequence ?? 0) <= last) });
    }),
    stories: ["restoreLong"],
  },
  {
    rule: "outdatedActive",
    name: "where the Secret is lost, the active key is given out, whatever is later",
    tampering: instead((decision, { state, observation }) => {
      const { active } = state;
      const isLost = observation.secret !== undefined && observation.secret.keyId === undefined;
      const isThere = seenKeys(observation).some(({ id, state: seen }) => id === active?.id && seen === "ready");
      if (!active || !state.pending || !isLost || !observation.outside || !isThere) return decision;
      const isInstead = decision.kind === "create" || decision.kind === "wait" || decision.kind === "intend";
      return isInstead ? { kind: "republish", id: active.id } : decision;
    }),
    stories: ["restoreWithout", "recreate"],
    focus: faultOf("withheld"),
  },
  {
    rule: "pastUid",
    name: "keys under a former UID are somebody else's",
    tampering: connecting((connection) => ({
      listMarked: async (filter, signal) => {
        const keys = await connection.listMarked(filter, signal);
        return keys.filter(({ marks }) => !filter.owner || marks?.ownerUid === filter.owner.uid);
      },
    })),
    stories: ["recreate", "reapply"],
  },
  {
    rule: "importMarks",
    name: "a key that is taken over is not marked",
    tampering: connecting(() => ({ mark: async () => {} })),
    stories: ["import"],
  },
  {
    rule: "importForeign",
    name: "a key of another living owner is taken over",
    tampering: connecting((connection) => ({
      observe: async (id, signal) => {
        const { marks: _, ...key } = (await connection.observe(id, signal)) ?? {};
        return "id" in key ? key : undefined;
      },
    })),
    stories: ["covet"],
  },
  {
    rule: "unknownKeys",
    name: "keys outside that nobody knows are left alone",
    tampering: deciding((situation) => {
      const { state, observation } = situation;
      const known = new Set([state.active?.id, ...state.retired.map((key) => key.id)]);
      if (state.pending) return decide(situation);
      return seeing(situation, { outside: observation.outside?.filter((key) => known.has(key.id)) });
    }),
    stories: ["rotate", "create", "force"],
    climates: ["racing"],
  },
  {
    rule: "goneAsked",
    name: "a key that a list does not show is gone",
    tampering: deciding((situation) => {
      const decision = decide(situation);
      if (decision.kind !== "observe" || situation.state.pending) return decision;
      return seeing(situation, { observed: new Map(situation.observation.observed).set(decision.id, "gone") });
    }),
    stories: ["editSecret", "loseSecret"],
    climates: ["lagging"],
  },
  {
    rule: "askById",
    name: "a pending key that a list does not show was never made",
    tampering: deciding((situation) => {
      const decision = decide(situation);
      if (decision.kind !== "observe" || !situation.state.pending) return decision;
      return seeing(situation, { observed: new Map(situation.observation.observed).set(decision.id, "gone") });
    }),
    isRare: true,
    stories: ["rotate", "create", "import"],
    climates: ["racing", "lagging"],
  },
];
