import { Redacted } from "../base/redacted.ts";
import { decide } from "../engine/decide.ts";
import type { Decision, SeenKey, Situation } from "../engine/model.ts";
import { AlreadyExists } from "../kube/errors.ts";
import type { KubeObject } from "../kube/objects.ts";
import type { Kube } from "../kube/port.ts";
import type { HttpPort } from "../providers/http-port.ts";
import type { ManagedControllerOptions } from "../reconcile/managed/managed-controller.ts";
import type { Perturbation } from "./driver.ts";
import type { Call } from "./process.ts";
import { RESOURCE } from "./scene.ts";
import type { Tampering } from "./world.ts";

/** One rule of the protocol switched off, and where the difference shows. Every one of them must be caught. */
export interface Mutant {
  readonly name: string;
  readonly tampering: Tampering;
  /** The stories in which it is looked for. */
  readonly stories: readonly string[];
  readonly climates?: readonly string[];
  /** It takes several disturbances at once, so they are drawn. */
  readonly isRare?: true;
  /** What happens in every schedule first, where a single disturbance does not show it. */
  readonly prelude?: (call: Call) => Perturbation | undefined;
  /** What is tampered with only to see the mutant: without the mutation, nothing may be found with it either. */
  readonly baseline?: Tampering;
}

type Decide = NonNullable<ManagedControllerOptions["decide"]>;

const deciding = (mutate: (situation: Situation) => Decision): Tampering => ({
  options: (options) => ({ ...options, decide: mutate satisfies Decide }),
});

/** The decision on another view of the same situation. */
const seeing = (situation: Situation, observation: Partial<Situation["observation"]>): Decision =>
  decide({ ...situation, observation: { ...situation.observation, ...observation } });

const isOfPending = ({ state }: Situation, key: SeenKey): boolean =>
  state.pending !== undefined && key.sequence === state.pending.sequence;

/** Whatever compare-and-swap a write asks for is left out, for objects that the predicate picks. */
function withoutVersions(kube: Kube, isMeant: (kind: string, isStatus: boolean) => boolean): Kube {
  const stripped = <T extends KubeObject>(object: T): T => {
    const { resourceVersion: _, ...metadata } = object.metadata;
    return { ...object, metadata };
  };
  return {
    ...kube,
    replace: (type, object, options) => {
      const isStatus = options?.subresource === "status";
      return kube.replace(type, isMeant(type.kind, isStatus) ? stripped(object) : object, options);
    },
    create: async (type, object, options) => {
      try {
        return await kube.create(type, object, options);
      } catch (error) {
        if (!(error instanceof AlreadyExists) || !isMeant(type.kind, false)) throw error;
        return await kube.replace(type, object as never, options);
      }
    },
    patch: (type, ref, patch, options) => {
      const body = patch.type === "merge" ? (patch.body as { metadata?: Record<string, unknown> }) : {};
      if (!body.metadata || !isMeant(type.kind, false)) return kube.patch(type, ref, patch, options);
      const { resourceVersion: _, ...metadata } = body.metadata;
      return kube.patch(type, ref, { type: "merge", body: { metadata } }, options);
    },
  };
}

/** Reads of the resource beyond the first of a reconcile are answered from memory, when the predicate says so. */
function withoutLiveReads(kube: Kube, isMeant: (known: KubeObject) => boolean): Kube {
  let first: KubeObject | undefined;
  let last: KubeObject | undefined;
  const remember = <T>(object: T): T => {
    last = object as KubeObject;
    return object;
  };
  return {
    ...kube,
    get: async (type, ref, options) => {
      // Every reconcile reads the ProviderConfig right after the resource.
      if (type.kind === "ProviderConfig") first = last;
      const isResource = type.kind === "ServiceBinding" && ref.name === RESOURCE;
      if (isResource && first && last && isMeant(last)) return last as never;
      const object = await kube.get(type, ref, options);
      if (isResource) {
        first = undefined;
        last = object;
      }
      return object as never;
    },
    replace: async (type, object, options) => {
      const stored = await kube.replace(type, object, options);
      return type.kind === "ServiceBinding" ? remember(stored) : stored;
    },
    patch: async (type, ref, patch, options) => {
      const stored = await kube.patch(type, ref, patch, options);
      return (type.kind === "ServiceBinding" ? remember(stored) : stored) as never;
    },
  };
}

/** The first request that makes a key. */
const atFirstCreate =
  (what: Perturbation) =>
  ({ verb, target }: Call): Perturbation | undefined =>
    verb === "POST" && target === "/v1/service_bindings" ? what : undefined;

const isPending = ({ status }: KubeObject): boolean =>
  (status as { pending?: unknown } | undefined)?.pending !== undefined;

/** Takes a router's 404 for the service's own word. */
const believing = (http: HttpPort): HttpPort => ({
  send: async (request, signal) => {
    const answer = await http.send(request, signal);
    if (answer.headers["x-cf-routererror"] === undefined) return answer;
    const body = JSON.stringify({ error: "NotFound", description: "could not find it" });
    return { status: 404, headers: {}, body: new Redacted(body) };
  },
});

export const MUTANTS: readonly Mutant[] = [
  {
    name: "the Secret is written without compare-and-swap",
    tampering: { kube: (kube) => withoutVersions(kube, (kind) => kind === "Secret") },
    stories: ["rotate", "tamper", "compromise"],
  },
  {
    name: "the resource is not read live before publishing",
    tampering: { kube: (kube) => withoutLiveReads(kube, isPending) },
    stories: ["rotate", "compromise", "force"],
  },
  {
    name: "the resource is not read live before deleting",
    tampering: { kube: (kube) => withoutLiveReads(kube, (object) => !isPending(object)) },
    stories: ["expire", "compromise", "shorten"],
  },
  {
    name: "activation without compare-and-swap",
    tampering: { kube: (kube) => withoutVersions(kube, (kind, isStatus) => kind === "ServiceBinding" && !isStatus) },
    stories: ["rotate"],
  },
  {
    name: "intent and commit without compare-and-swap",
    tampering: { kube: (kube) => withoutVersions(kube, (kind, isStatus) => kind === "ServiceBinding" && isStatus) },
    stories: ["rotate", "force", "restore"],
  },
  {
    name: "no look before create",
    tampering: deciding((situation) => {
      const decision = decide(situation);
      const skips = decision.kind === "look" && situation.state.pending !== undefined;
      return skips ? seeing(situation, { outside: [] }) : decision;
    }),
    stories: ["rotate", "create"],
  },
  {
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
    name: "a key that must be abandoned is deleted at once",
    tampering: deciding((situation) => {
      const { unreadable, outside } = situation.observation;
      const isThere = unreadable !== undefined && outside?.some((key) => key.id === unreadable);
      return isThere ? { kind: "removeFailed", id: unreadable } : decide(situation);
    }),
    prelude: atFirstCreate({ kind: "fault", fault: "crashAfter" }),
    stories: ["rotate"],
  },
  {
    name: "keys are deleted before their time",
    tampering: deciding((situation) => {
      const { state } = situation;
      const retired = state.retired.map((key) => ({ ...key, cause: "duplicate" as const }));
      return decide({ ...situation, state: { ...state, retired } });
    }),
    stories: ["rotate", "tamper"],
  },
  {
    name: "retired keys go before a successor is published",
    tampering: deciding((situation) => {
      const { state, surroundings } = situation;
      if (!state.pending || !situation.observation.outside) return decide(situation);
      const retired = state.retired.filter((key) => key.replacedAt === undefined);
      const seen = retired.filter((key) => situation.observation.outside?.some((one) => one.id === key.id));
      return seen[0] && surroundings.now > 0 ? { kind: "removeFailed", id: seen[0].id } : decide(situation);
    }),
    stories: ["rotate", "outage"],
  },
  {
    name: "no settle time when the resource goes",
    tampering: {
      options: (options) => ({ ...options, kind: { ...options.kind, settleMs: 0 } }),
      sweeps: false,
    },
    baseline: { sweeps: false },
    prelude: atFirstCreate({ kind: "fault", fault: "late" }),
    stories: ["rotate", "create"],
  },
  {
    name: "no finalizer",
    tampering: {
      sweeps: false,
      ...deciding((situation) => decide({ ...situation, state: { ...situation.state, hasFinalizer: true } })),
    },
    baseline: { sweeps: false },
    stories: ["create"],
  },
  {
    name: "a router's word is taken for the service's",
    tampering: { http: believing, sweeps: false },
    baseline: { sweeps: false },
    stories: ["delete"],
  },
  {
    name: "no sweep",
    tampering: { sweeps: false },
    stories: ["delete", "rotate"],
  },
  {
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
    name: "a clock that has jumped is believed",
    tampering: { options: (options) => ({ ...options, isSkewed: () => false }) },
    stories: ["nearlyExpire"],
  },
  {
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
];
