import { decide } from "../../engine/decide.ts";
import type { Mutant } from "./mutant.ts";
import { deciding, overriding, reading } from "./tampering.ts";

/** Promises about what is said, and about silence. */
export const TELLING: readonly Mutant[] = [
  {
    rule: "silence",
    name: "credentials in a log line",
    tampering: {
      options: (options) => ({
        ...options,
        publisher: overriding(options.publisher, {
          write: (publication, signal) => {
            options.logger.info("published", { data: publication.data.reveal() });
            return options.publisher.write(publication, signal);
          },
        }),
      }),
    },
    stories: ["rotate"],
  },
  {
    rule: "silence",
    name: "credentials in an event",
    tampering: {
      kube: (kube) => {
        let last = "";
        return {
          ...kube,
          create: (type, object, options) => {
            if (type.kind === "Secret") last = JSON.stringify(object);
            const told = type.kind === "Event" ? { ...object, note: last } : object;
            return kube.create(type, told, options);
          },
        };
      },
    },
    stories: ["create"],
  },
  {
    rule: "silence",
    name: "credentials in the status",
    tampering: {
      kube: (kube) => {
        let last = "";
        return {
          ...kube,
          create: (type, object, options) => {
            if (type.kind === "Secret") last = JSON.stringify(object);
            return kube.create(type, object, options);
          },
          replace: (type, object, options) => {
            const isStatus = options?.subresource === "status";
            const status = { ...(object.status as object), lastForced: last };
            return kube.replace(type, isStatus ? { ...object, status } : object, options);
          },
        };
      },
    },
    stories: ["create"],
  },
  {
    rule: "silence",
    name: "credentials in a metric",
    tampering: {
      options: (options) => {
        const { publisher, observer } = options;
        let last = "";
        return {
          ...options,
          publisher: overriding(publisher, {
            write: (publication, signal) => {
              last = JSON.stringify(publication.data.reveal());
              return publisher.write(publication, signal);
            },
          }),
          observer: observer && {
            ...observer,
            activated: (_cause, latenessMs, resource) => observer.activated(last as "first", latenessMs, resource),
          },
        };
      },
    },
    stories: ["create"],
  },
  {
    rule: "history",
    name: "the history is forgotten with every write",
    tampering: reading((state) => ({ ...state, history: [] })),
    stories: ["rotate"],
  },
  {
    rule: "history",
    name: "a rotation is told of twice",
    tampering: {
      options: (options) => {
        const { kind } = options;
        const statusOf: typeof kind.statusOf = (state, policy) => {
          const history = state.history.flatMap((entry, index) => (index === 0 ? [entry, entry] : [entry]));
          return kind.statusOf({ ...state, history }, policy);
        };
        return { ...options, kind: { ...kind, statusOf } };
      },
    },
    stories: ["rotate"],
  },
  {
    rule: "rest",
    name: "the status is written each time",
    tampering: {
      options: (options) => {
        const { kind, clock } = options;
        const statusOf: typeof kind.statusOf = (state, policy) => ({
          ...kind.statusOf(state, policy),
          postponedUntil: new Date(clock.now() + 1000).toISOString(),
        });
        return { ...options, kind: { ...kind, statusOf }, known: undefined };
      },
    },
    stories: ["rotate"],
  },
  {
    rule: "wakes",
    name: "what is due is slept through",
    tampering: deciding((situation) => {
      const decision = decide(situation);
      return decision.kind === "wait" ? { ...decision, until: Infinity } : decision;
    }),
    stories: ["rotate"],
  },
  {
    rule: "wakes",
    name: "the resource is polled",
    tampering: deciding((situation) => {
      const decision = decide(situation);
      const until = situation.surroundings.now + 1000;
      return decision.kind === "wait" ? { ...decision, until } : decision;
    }),
    stories: ["rotate"],
  },
];
