import { Redacted } from "../base/redacted.ts";
import type { KubeObject, ObjectMeta } from "../kube/objects.ts";
import { Fingerprinter } from "../publish/fingerprint.ts";
import type { RestartSituation, RestartState, SourceId } from "./model.ts";
import { digestOf } from "./source-digests.ts";

export const NOW = Date.parse("2026-03-01T12:00:00Z");

export const fingerprinterOf = (seed: number): Fingerprinter =>
  new Fingerprinter(new Redacted(new Uint8Array(32).fill(seed)));

export const fingerprinter = fingerprinterOf(1);

export const bytes = (data: Readonly<Record<string, string>>): ReadonlyMap<string, Uint8Array> =>
  new Map(Object.entries(data).map(([key, value]) => [key, Buffer.from(value)]));

/** The digest of a source with one key of that value, all of it used. */
export const digestOfValue = (source: SourceId, value: string, by = fingerprinter): string =>
  digestOf({ fingerprinter: by, namespace: "shop", source, data: bytes({ password: value }), keys: undefined });

export const stateOf = (
  digests: Readonly<Record<SourceId, string>>,
  rest: Partial<Omit<RestartState, "sources">> = {},
): RestartState => ({
  sources: new Map(Object.entries(digests).map(([source, digest]) => [source as SourceId, { digest, since: NOW }])),
  restartedAt: [],
  isStopped: false,
  replacing: undefined,
  ...rest,
});

/** An object of which only the metadata matters. */
export const objectWith = (
  metadata: Partial<ObjectMeta>,
  fields: Readonly<Record<string, unknown>> = {},
): KubeObject => ({
  apiVersion: "v1",
  kind: "Thing",
  ...fields,
  metadata: { name: "web", namespace: "shop", uid: "uid-1", ...metadata },
});

/** Nothing is known, nothing is used, and nothing speaks against a restart. */
export const UNHINDERED: RestartSituation = {
  state: undefined,
  sources: new Map(),
  templateDigests: undefined,
  templateRestartedAt: undefined,
  pace: { quietMs: 0, longestWaitMs: 0, leastIntervalMs: 0, perHour: 0 },
  now: NOW,
  changeSeenAt: undefined,
  ownRestartedAt: [],
  window: { isOpen: true, opensAt: NOW },
  isStopped: false,
  hasSlot: true,
};
