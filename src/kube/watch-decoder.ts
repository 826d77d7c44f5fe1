import { Unreachable } from "./errors.ts";
import { LineSplitter } from "./line-splitter.ts";
import type { KubeObject } from "./objects.ts";
import type { WatchEvent } from "./port.ts";
import { isRecord, type UnknownRecord } from "./record.ts";
import { errorEventToError } from "./status-to-error.ts";

const INITIAL_EVENTS_END = "k8s.io/initial-events-end";

/**
 * Bytes of a watch answer → events. An event is handed out only when its line came whole and makes sense; anything else
 * throws, because behind a broken line nothing can be trusted. Must not: quote a line, since objects hold key material.
 */
export class WatchDecoder {
  readonly #lines: LineSplitter;
  readonly #shape: (object: KubeObject) => KubeObject;

  constructor(options: { readonly maxLineBytes: number; readonly shape: (object: KubeObject) => KubeObject }) {
    this.#lines = new LineSplitter(options.maxLineBytes);
    this.#shape = options.shape;
  }

  /** The events that `chunk` completes; the ones before a broken line are still handed out, then the error comes. */
  *push(chunk: Uint8Array): Generator<WatchEvent> {
    let lines: string[];
    try {
      lines = this.#lines.push(chunk);
    } catch (error) {
      throw new Unreachable("the watch sent a line that is too long", { cause: error });
    }
    for (const line of lines) yield this.#decode(line);
  }

  /** To be called when the stream ended. */
  end(): void {
    if (this.#lines.midLine) throw new Unreachable("the watch broke off within a line");
  }

  #decode(line: string): WatchEvent {
    const event = parseLine(line);
    const { type, object } = event;
    if (type === "ERROR") throw errorEventToError(object);
    if (!isRecord(object) || !isRecord(object.metadata)) throw malformed("an event without an object");
    const { resourceVersion, annotations } = object.metadata;
    if (typeof resourceVersion !== "string" || resourceVersion === "") throw malformed("an event without a version");
    if (type === "BOOKMARK") {
      const marks = isRecord(annotations) ? annotations : {};
      return { type, resourceVersion, initialEventsEnd: marks[INITIAL_EVENTS_END] === "true" };
    }
    if (type !== "ADDED" && type !== "MODIFIED" && type !== "DELETED") throw malformed("an event of an unknown type");
    if (!isIdentified(object)) throw malformed("an object without a name or a UID");
    return { type, object: this.#shape(object) };
  }
}

function parseLine(line: string): UnknownRecord {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    // The parser's own message quotes the line, so it is not kept as the cause.
    throw malformed("a line that is not JSON");
  }
  if (!isRecord(value)) throw malformed("a line that is not an event");
  return value;
}

const malformed = (what: string): Unreachable => new Unreachable(`the watch sent ${what}`);

function isIdentified(object: UnknownRecord): object is KubeObject {
  const { metadata } = object;
  return isRecord(metadata) && isFilled(metadata.name) && isFilled(metadata.uid);
}

const isFilled = (value: unknown): boolean => typeof value === "string" && value !== "";
