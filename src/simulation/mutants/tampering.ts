import { decide } from "../../engine/decide.ts";
import type { Decision, SeenKey, Situation, State } from "../../engine/model.ts";
import { AlreadyExists } from "../../kube/errors.ts";
import type { KubeObject } from "../../kube/objects.ts";
import type { Kube } from "../../kube/port.ts";
import type { Connection } from "../../providers/contract.ts";
import type { SecretPublisher } from "../../publish/secret-publisher.ts";
import type { ManagedControllerOptions } from "../../reconcile/managed/managed-controller.ts";
import type { Tampering } from "../assembly.ts";
import type { Process } from "../process.ts";

/** The ways in which production code can be made to forget a rule, without a line in it that knows of them. */

type Decide = NonNullable<ManagedControllerOptions["decide"]>;

export const deciding = (mutate: (situation: Situation) => Decision): Tampering => ({
  options: (options) => ({ ...options, decide: mutate satisfies Decide }),
});

/** What the engine decides, turned into something else. */
export const instead = (mutate: (decision: Decision, situation: Situation) => Decision): Tampering =>
  deciding((situation) => mutate(decide(situation), situation));

/** The decision on another view of the same situation. */
export const seeing = (situation: Situation, observation: Partial<Situation["observation"]>): Decision =>
  decide({ ...situation, observation: { ...situation.observation, ...observation } });

/** The engine believes that what surrounds a resource is otherwise. */
export const surrounded = (surroundings: (situation: Situation) => Partial<Situation["surroundings"]>): Tampering =>
  deciding((situation) =>
    decide({ ...situation, surroundings: { ...situation.surroundings, ...surroundings(situation) } }),
  );

/** The resource says something else than it does, to everybody who asks. */
export const reading = (mutate: (state: State) => State): Tampering => ({
  options: (options) => {
    const { kind } = options;
    return { ...options, kind: { ...kind, readState: (object) => mutate(kind.readState(object)) } };
  },
});

export const isOfPending = ({ state }: Situation, key: SeenKey): boolean =>
  state.pending !== undefined && key.sequence === state.pending.sequence;

/** An object with some of its methods replaced; the others go on working on what only it can see. */
export function overriding<T extends object>(target: T, overrides: Partial<T>): T {
  return new Proxy(target, {
    get: (_, name) => {
      const own = Reflect.get(overrides, name) as unknown;
      if (own !== undefined) return own;
      const value = Reflect.get(target, name) as unknown;
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

export const publishing = (mutate: (publisher: SecretPublisher) => Partial<SecretPublisher>): Tampering => ({
  options: (options) => ({ ...options, publisher: overriding(options.publisher, mutate(options.publisher)) }),
});

/** The external system answers otherwise, to those who stay and to those who leave. */
export const connecting = (mutate: (connection: Connection) => Partial<Connection>): Tampering => {
  const wrap = <T extends { readonly connection: Connection }>(outside: T): T => ({
    ...outside,
    connection: overriding(outside.connection, mutate(outside.connection)),
  });
  return {
    options: (options) => ({
      ...options,
      resolve: async (...input) => wrap(await options.resolve(...input)),
      resolveDeparture: async (...input) => wrap(await options.resolveDeparture(...input)),
    }),
  };
};

/** A write, as far as it can be told from outside what it is for. */
export interface Write {
  readonly kind: string;
  readonly isStatus: boolean;
  readonly object: Readonly<Record<string, unknown>>;
}

/** Whatever compare-and-swap a write asks for is left out, for those that the predicate picks. */
export function withoutVersions(kube: Kube, isMeant: (write: Write) => boolean): Kube {
  const stripped = <T extends { readonly metadata: object }>(object: T): T => {
    const { resourceVersion: _, ...metadata } = object.metadata as { readonly resourceVersion?: string };
    return { ...object, metadata };
  };
  return {
    ...kube,
    replace: async (type, object, options) => {
      const isStatus = options?.subresource === "status";
      if (!isMeant({ kind: type.kind, isStatus, object })) return kube.replace(type, object, options);
      if (type.kind === "Secret") return kube.replace(type, stripped(object), options);
      // A custom object is never replaced without its version: that of now is as good as none.
      const { metadata } = await kube.get(type, object.metadata);
      const { resourceVersion } = metadata;
      const versioned = { ...object.metadata, ...(resourceVersion !== undefined && { resourceVersion }) };
      return kube.replace(type, { ...object, metadata: versioned }, options);
    },
    create: async (type, object, options) => {
      try {
        return await kube.create(type, object, options);
      } catch (error) {
        if (!(error instanceof AlreadyExists) || !isMeant({ kind: type.kind, isStatus: false, object })) throw error;
        return await kube.replace(type, object as never, options);
      }
    },
    patch: (type, ref, patch, options) => {
      const body = patch.type === "merge" ? (patch.body as { metadata?: Record<string, unknown> }) : {};
      const { metadata } = body;
      if (!metadata || !isMeant({ kind: type.kind, isStatus: false, object: { ...body } }))
        return kube.patch(type, ref, patch, options);
      return kube.patch(type, ref, { type: "merge", body: stripped({ metadata }) }, options);
    },
  };
}

/** Reads of such objects beyond the first of a reconcile are answered from memory, when the predicate says so. */
export function withoutLiveReads(
  kube: Kube,
  process: Process,
  isMeant: (kind: string, known: KubeObject) => boolean,
): Kube {
  const memory = new Map<string, { readonly object: KubeObject; readonly reconcile: number }>();
  const remember = <T>(kind: string, object: T): T => {
    const stored = object as KubeObject;
    memory.set(`${kind} ${stored.metadata.name}`, { object: stored, reconcile: process.begun });
    return object;
  };
  return {
    ...kube,
    get: async (type, ref, options) => {
      const known = memory.get(`${type.kind} ${ref.name}`);
      if (known?.reconcile === process.begun && isMeant(type.kind, known.object)) return known.object as never;
      return remember(type.kind, await kube.get(type, ref, options)) as never;
    },
    replace: async (type, object, options) => remember(type.kind, await kube.replace(type, object, options)),
    patch: async (type, ref, patch, options) =>
      remember(type.kind, await kube.patch(type, ref, patch, options)) as never,
  };
}

export const isPending = ({ status }: KubeObject): boolean =>
  (status as { pending?: unknown } | undefined)?.pending !== undefined;
