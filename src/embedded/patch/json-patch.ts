import { isObject, type Json, type JsonObject, jsonEquals } from "../json.ts";
import { badRequest, StatusError } from "../status-error.ts";
import { jsonTypeOf } from "./merge-patch.ts";
import { type Draft, ownField, setOwnField } from "./own-fields.ts";

/**
 * JSON patch (RFC 6902) with the API server's departures from the RFC, all seen on the real one: negative list indices
 * count from the end, `replace` may create a field of an object, a missing `value` is null, `copy` of an absent field
 * gives null, and what stands before a path's first slash is ignored. Must not: change its arguments.
 */
export function applyJsonPatch(document: Json, operations: Json): Json {
  if (operations === null) return document;
  const checked = decodeOperations(operations);
  const draft = new DocumentDraft(document);
  for (const operation of checked) applyOperation(draft, operation);
  return draft.root;
}

const MAX_OPERATIONS = 10_000;
/** What all `copy` operations of one patch may add together, so that copies of copies cannot explode. */
const MAX_COPIED_BYTES = 3 * 1024 * 1024;

type Container = JsonObject | readonly Json[];

const isContainer = (value: Json | undefined): value is Container => typeof value === "object" && value !== null;

/** 422 as the server words it: what exactly did not fit is not told. */
const doesNotApply = (): StatusError =>
  new StatusError(422, "Invalid", "the server rejected our request due to an error in our request", {});

function decodeOperations(operations: Json): readonly JsonObject[] {
  const cannot = (value: Json, target: string): StatusError =>
    badRequest(`error decoding patch: json: cannot unmarshal ${jsonTypeOf(value)} into Go ${target}`);
  if (!Array.isArray(operations)) throw cannot(operations, "value of type []handlers.jsonPatchOp");
  const checked = operations.map((operation: Json): JsonObject => {
    if (operation === null) return {};
    if (!isObject(operation)) throw cannot(operation, "value of type handlers.jsonPatchOp");
    for (const name of ["op", "path", "from"]) {
      const field = ownField(operation, name) ?? null;
      if (field !== null && typeof field !== "string") {
        throw cannot(field, `struct field jsonPatchOp.${name} of type string`);
      }
    }
    return operation;
  });
  if (checked.length > MAX_OPERATIONS) {
    const message = `The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${checked.length}`;
    throw new StatusError(413, "RequestEntityTooLarge", `Request entity too large: ${message}`);
  }
  return checked;
}

function applyOperation(draft: DocumentDraft, operation: JsonObject): void {
  const value = ownField(operation, "value");
  switch (operation.op) {
    case "add":
      draft.add(textField(operation, "path"), value ?? null);
      break;
    case "remove":
      draft.remove(textField(operation, "path"));
      break;
    case "replace":
      draft.replace(textField(operation, "path"), value ?? null);
      break;
    case "move":
      draft.move(textField(operation, "from"), textField(operation, "path"));
      break;
    case "copy":
      draft.copy(textField(operation, "from"), textField(operation, "path"));
      break;
    case "test":
      if (!matches(draft.get(textField(operation, "path"), true) ?? null, value)) throw doesNotApply();
      break;
    default:
      throw doesNotApply();
  }
}

/** An absent `value` matches only what is absent or null. */
const matches = (present: Json, expected: Json | undefined): boolean => jsonEquals(present, expected ?? null);

function textField(operation: JsonObject, name: string): string {
  const text = ownField(operation, name);
  if (typeof text !== "string") throw doesNotApply();
  return text;
}

/** The last step of a path and the steps to the container it is in; undefined for the whole document. */
function splitPointer(path: string): { readonly parents: readonly string[]; readonly last: string } | undefined {
  const [, ...steps] = path.split("/");
  const last = steps.pop();
  if (last === undefined) return undefined;
  return { parents: steps.map(unescapeStep), last: unescapeStep(last) };
}

const unescapeStep = (step: string): string => step.replace(/~[01]/g, (code) => (code === "~1" ? "/" : "~"));

/** A document that is changed by copying a container the first time it is written to, and in place from then on. */
class DocumentDraft {
  root: Json;
  #copiedBytes = 0;
  /** Containers made by this draft, in one place of it only. */
  #own = new WeakSet<Container>();

  constructor(document: Json) {
    this.root = document;
  }

  get(path: string, wholeAllowed = false): Json | undefined {
    const target = splitPointer(path);
    if (!target) {
      if (wholeAllowed && path === "") return this.root;
      throw doesNotApply();
    }
    let container = this.#containerFrom(this.root);
    for (const step of target.parents) container = this.#containerFrom(child(container, step));
    return child(container, target.last);
  }

  add(path: string, value: Json): void {
    this.#write(path, (container, step) => {
      if (!Array.isArray(container)) setOwnField(container, step, value);
      else if (step === "-") container.push(value);
      else container.splice(indexOf(step, container.length + 1), 0, value);
    });
  }

  remove(path: string): void {
    this.#write(path, (container, step) => {
      if (Array.isArray(container)) {
        container.splice(indexOf(step, container.length), 1);
      } else {
        if (!Object.hasOwn(container, step)) throw doesNotApply();
        delete container[step];
      }
    });
  }

  replace(path: string, value: Json): void {
    if (path === "") {
      if (!isContainer(value)) throw doesNotApply();
      this.root = value;
      return;
    }
    this.#write(path, (container, step) => {
      if (Array.isArray(container)) container[indexOf(step, container.length)] = value;
      else setOwnField(container, step, value);
    });
  }

  move(from: string, path: string): void {
    const value = this.get(from) ?? null;
    this.remove(from);
    this.add(path, value);
  }

  copy(from: string, path: string): void {
    const value = this.get(from) ?? null;
    this.#copiedBytes += JSON.stringify(value).length;
    if (this.#copiedBytes > MAX_COPIED_BYTES) throw doesNotApply();
    // From here on the value is in two places, so nothing made so far may be written to in place any more.
    this.#own = new WeakSet();
    this.add(path, value);
  }

  #containerFrom(value: Json | undefined): Container {
    if (!isContainer(value)) throw doesNotApply();
    return value;
  }

  #write(path: string, change: (container: Draft | Json[], step: string) => void): void {
    const target = splitPointer(path);
    if (!target) throw doesNotApply();
    let container = this.#writable(this.#containerFrom(this.root));
    this.root = container;
    for (const step of target.parents) {
      const inner: Draft | Json[] = this.#writable(this.#containerFrom(child(container, step)));
      if (Array.isArray(container)) container[indexOf(step, container.length)] = inner;
      else setOwnField(container, step, inner);
      container = inner;
    }
    change(container, target.last);
  }

  #writable(container: Container): Draft | Json[] {
    if (this.#own.has(container)) return container as Draft | Json[];
    const copy: Draft | Json[] = Array.isArray(container) ? [...container] : { ...(container as JsonObject) };
    this.#own.add(copy);
    return copy;
  }
}

function child(container: Container, step: string): Json | undefined {
  return Array.isArray(container)
    ? container[indexOf(step, container.length)]
    : ownField(container as JsonObject, step);
}

/** A place in a list of this length; negative ones count from its end. */
function indexOf(step: string, length: number): number {
  if (!/^[+-]?\d{1,15}$/.test(step)) throw doesNotApply();
  const index = Number(step);
  const fromStart = index < 0 ? index + length : index;
  if (fromStart < 0 || fromStart >= length) throw doesNotApply();
  return fromStart;
}
