import { Redacted } from "../../base/redacted.ts";
import { decide } from "../../engine/decide.ts";
import type { KubeObject } from "../../kube/objects.ts";
import type { Kube } from "../../kube/port.ts";
import type { PublishedSecret } from "../../publish/secret-publisher.ts";
import type { Tampering } from "../assembly.ts";
import { actOf, kindOf, type Mutant, NO_SWEEP, publishedMeanwhile } from "./mutant.ts";
import {
  isPending,
  overriding,
  publishing,
  reading,
  type Write,
  withoutLiveReads,
  withoutVersions,
} from "./tampering.ts";

const isStatusOf = ({ kind, isStatus }: Write): boolean => kind === "ServiceBinding" && isStatus;

const isIntent = (write: Write): boolean => isStatusOf(write) && isPending(write.object as KubeObject);

const isMetadata = ({ kind, isStatus, object }: Write, field: string): boolean =>
  kind === "ServiceBinding" && !isStatus && field in (object.metadata as object);

/** The Secret is read once more just before it is written, after the resource was read live. */
const readingSecretLast = (kube: Kube): Kube => ({
  ...kube,
  replace: async (type, object, options) => {
    if (type.kind !== "Secret") return kube.replace(type, object, options);
    const { namespace, name } = object.metadata;
    const { metadata } = await kube.get(type, { name, ...(namespace !== undefined && { namespace }) });
    const { resourceVersion = "" } = metadata;
    return kube.replace(type, { ...object, metadata: { ...object.metadata, resourceVersion } }, options);
  },
});

/** Whoever deletes keys believes that the Secret holds the active one, where it holds something that is meant. */
function expiringWith(isMeant: (keyId: string | undefined) => boolean): Tampering {
  return {
    options: (options) => {
      let active: string | undefined;
      const read: typeof options.publisher.read = async (...input) => {
        const present = await options.publisher.read(...input);
        const isOther = active !== undefined && present?.keyId !== active && isMeant(present?.keyId);
        return isOther ? { ...(present ?? NO_SECRET), keyId: active } : present;
      };
      return {
        ...options,
        publisher: overriding(options.publisher, { read }),
        decide: (situation) => {
          const decision = decide(situation);
          active = decision.kind === "expire" ? situation.state.active?.id : undefined;
          return decision;
        },
      };
    },
  };
}

const NO_SECRET: PublishedSecret = {
  resourceVersion: "",
  keyId: undefined,
  sequence: undefined,
  publishedAt: undefined,
  layout: undefined,
  fingerprint: undefined,
  isSound: false,
  isComparable: true,
  others: { type: "Opaque", labels: {}, annotations: {}, finalizers: [], ownerReferences: [] },
};

/** Rules about how writes are made: versions, and what is read when before them. */
export const WRITING: readonly Mutant[] = [
  {
    rule: "publishCas",
    name: "the Secret is written without compare-and-swap",
    tampering: { kube: (kube) => withoutVersions(kube, ({ kind }) => kind === "Secret") },
    focus: kindOf("zombie"),
    stories: ["rotate", "tamper", "compromise"],
  },
  {
    rule: "publishOrder",
    name: "the Secret is read after the resource",
    tampering: { kube: readingSecretLast },
    focus: kindOf("zombie"),
    stories: ["rotate", "tamper", "compromise"],
  },
  {
    rule: "publishLive",
    name: "the resource is not read live before publishing",
    tampering: {
      kube: (kube, process) =>
        withoutLiveReads(kube, process, (kind, known) => kind === "ServiceBinding" && isPending(known)),
    },
    focus: kindOf("zombie"),
    stories: ["create", "loseSecret"],
  },
  {
    rule: "publishSpec",
    name: "a spec that was edited meanwhile is not noticed before publishing",
    tampering: {
      kube: (kube, process) => {
        let first: { readonly reconcile: number; readonly generation: number | undefined } | undefined;
        return {
          ...kube,
          get: async (type, ref, options) => {
            const object = await kube.get(type, ref, options);
            if (type.kind !== "ServiceBinding") return object as never;
            const { generation } = object.metadata;
            if (first?.reconcile !== process.begun) first = { reconcile: process.begun, generation };
            const seen = first.generation;
            return {
              ...object,
              metadata: { ...object.metadata, ...(seen !== undefined && { generation: seen }) },
            } as never;
          },
        };
      },
    },
    focus: actOf("moveSecret"),
    stories: ["rotate", "force"],
    climates: ["racing", "calm"],
  },
  {
    rule: "publishWhole",
    name: "a Secret is published in part",
    tampering: publishing((publisher) => ({
      write: (publication, signal) => {
        const { password: _, ...values } = publication.data.reveal().values;
        return publisher.write({ ...publication, data: new Redacted({ values }) }, signal);
      },
    })),
    stories: ["rotate"],
  },
  {
    rule: "publishOver",
    name: "a key that came into the Secret after the decision is overwritten",
    tampering: {
      options: (options) => {
        let known: string | undefined;
        let sequence = 0;
        // A key of the same intent is another matter: it has won.
        const read: typeof options.publisher.read = async (...input) => {
          const present = await options.publisher.read(...input);
          return present && (present.sequence ?? 0) < sequence ? { ...present, keyId: known } : present;
        };
        return {
          ...options,
          publisher: overriding(options.publisher, { read }),
          decide: (situation) => {
            const decision = decide(situation);
            sequence = decision.kind === "publish" ? (situation.state.pending?.sequence ?? 0) : 0;
            known = situation.observation.secret?.keyId;
            return decision;
          },
        };
      },
    },
    stories: ["rotate"],
    schedule: publishedMeanwhile("crashAfter", { at: 8, pattern: 1_417_745_003 }),
  },
  {
    rule: "winner",
    name: "a key of the same intent in the Secret is overwritten",
    tampering: publishing((publisher) => ({
      read: async (...input) => {
        const present = await publisher.read(...input);
        return present && { ...present, sequence: undefined };
      },
    })),
    isRare: true,
    stories: ["rotate", "force", "compromise"],
    climates: ["racing"],
  },
  {
    rule: "activateCas",
    name: "activation without compare-and-swap",
    tampering: { kube: (kube) => withoutVersions(kube, (write) => isMetadata(write, "annotations")) },
    focus: actOf("compromise"),
    stories: ["rotate"],
  },
  {
    rule: "forceLeaves",
    name: "the request stays when its key is activated",
    tampering: {
      kube: (kube) => ({
        ...kube,
        patch: (type, ref, patch, options) => {
          const { metadata } = patch.body as { metadata?: { annotations?: Record<string, unknown> } };
          if (!metadata?.annotations) return kube.patch(type, ref, patch, options);
          const kept = Object.entries(metadata.annotations).filter(([, value]) => value !== null);
          const body = { metadata: { ...metadata, annotations: Object.fromEntries(kept) } };
          return kube.patch(type, ref, { type: "merge", body }, options);
        },
      }),
    },
    stories: ["force"],
  },
  {
    rule: "intentCas",
    name: "the intent is written without compare-and-swap",
    tampering: { kube: (kube) => withoutVersions(kube, isIntent) },
    isRare: true,
    stories: ["compromise", "forceOften", "rotate"],
    climates: ["calm", "racing", "asynchronous"],
  },
  {
    rule: "commitCas",
    name: "the commit is written without compare-and-swap",
    tampering: { kube: (kube) => withoutVersions(kube, (write) => isStatusOf(write) && !isIntent(write)) },
    focus: actOf("compromise"),
    stories: ["rotate", "force", "restore"],
  },
  {
    rule: "expireLive",
    name: "the resource is not read live before deleting",
    tampering: {
      kube: (kube, process) =>
        withoutLiveReads(kube, process, (kind, known) => kind === "ServiceBinding" && !isPending(known)),
    },
    focus: kindOf("person"),
    stories: ["expire", "compromise", "shorten"],
  },
  {
    rule: "expireSecret",
    name: "a key that the Secret holds is deleted all the same",
    tampering: expiringWith((keyId) => keyId !== undefined),
    focus: actOf("restoreSecret"),
    stories: ["expire"],
  },
  {
    rule: "expirePublished",
    name: "a key is deleted although no Secret holds its successor",
    tampering: expiringWith((keyId) => keyId === undefined),
    focus: actOf("deleteSecret"),
    stories: ["expire", "compromise"],
  },
  {
    rule: "formerSecret",
    name: "Secrets that were left are forgotten",
    tampering: publishing(() => ({ findFormer: async () => [] })),
    focus: actOf("moveSecret"),
    stories: ["compromise", "moveSecret", "loseKey"],
  },
  {
    rule: "secretEdited",
    name: "an edited Secret is taken for sound",
    tampering: publishing((publisher) => ({
      read: async (...input) => {
        const present = await publisher.read(...input);
        return present && { ...present, isSound: true };
      },
    })),
    stories: ["editSecret"],
  },
  {
    rule: "finalizer",
    name: "no finalizer",
    tampering: { ...NO_SWEEP, ...reading((state) => ({ ...state, hasFinalizer: true })) },
    baseline: NO_SWEEP,
    stories: ["create"],
  },
];
