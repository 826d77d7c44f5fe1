import { createHash } from "node:crypto";
import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/logger.ts";
import { OWN_GROUP } from "../base/own-names.ts";
import { AlreadyExists } from "../kube/errors.ts";
import type { KubeObject, ObjectMeta, ResourceType } from "../kube/objects.ts";
import type { Kube } from "../kube/port.ts";

const eventType: ResourceType = {
  group: "events.k8s.io",
  version: "v1",
  plural: "events",
  kind: "Event",
  namespaced: true,
};

/** Something that happened to a resource, for people to read. Never key material. */
export interface Happening {
  readonly type: "Normal" | "Warning";
  /** CamelCase, the same word as in conditions. */
  readonly reason: string;
  /** What was done, in one CamelCase verb. */
  readonly action: string;
  readonly note: string;
  /** Tells this happening from others with the same reason: told twice, it is still one event. */
  readonly id: string;
}

export interface EventRecorderOptions {
  readonly kube: Kube;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Who reports: the name of the controller, and of this process. */
  readonly reporter: { readonly controller: string; readonly instance: string };
}

/** In bytes, as the API counts. */
const MAX_NOTE = 1024;
const MAX_INSTANCE = 128;

/**
 * Writes events. The name of an event follows from what happened, so that whoever does a step again after a crash tells of
 * it once. An event that cannot be written is logged and no more: nothing of the protocol depends on it. Must not: be
 * told of anything that has not happened, or of the same state again and again.
 */
export class EventRecorder {
  readonly #options: EventRecorderOptions;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
  }

  async record(object: KubeObject, happening: Happening, signal: AbortSignal): Promise<void> {
    const { kube, logger } = this.#options;
    try {
      await kube.create<KubeObject>(eventType, this.#eventOf(object, happening), { signal });
    } catch (error) {
      if (error instanceof AlreadyExists || signal.aborted) return;
      logger.warn("an event could not be written", { event: happening.reason, object: object.metadata.name, error });
    }
  }

  #eventOf({ apiVersion, kind, metadata }: KubeObject, happening: Happening): KubeObject {
    const { clock, reporter } = this.#options;
    const { uid = "", name, namespace, resourceVersion } = metadata;
    const { type, reason, action, note, id } = happening;
    // Events about objects without a namespace live in "default", where kubectl describe looks for them.
    const home = namespace ?? "default";
    return {
      apiVersion: "events.k8s.io/v1",
      kind: "Event",
      metadata: { namespace: home, name: eventName(metadata, reason, id) },
      eventTime: new Date(clock.now()).toISOString().replace("Z", "000Z"),
      regarding: { apiVersion, kind, name, uid, ...(namespace !== undefined && { namespace }), resourceVersion },
      reportingController: `${OWN_GROUP}/${reporter.controller}`,
      reportingInstance: withinBytes(reporter.instance, MAX_INSTANCE),
      type,
      reason,
      action,
      note: withinBytes(note, MAX_NOTE),
    };
  }
}

function eventName({ uid = "", name }: ObjectMeta, reason: string, id: string): string {
  const digest = createHash("sha256").update(`${uid}/${reason}/${id}`).digest("hex").slice(0, 16);
  // What is cut off may leave an end that no part of a name may have.
  return `${name.slice(0, 230).replace(/[-.]+$/, "")}.${digest}`;
}

/** Whole characters only. */
function withinBytes(text: string, limit: number): string {
  if (Buffer.byteLength(text) <= limit) return text;
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(limit - Buffer.byteLength("…")));
  return `${text.slice(0, read)}…`;
}
