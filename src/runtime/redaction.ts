import { KeyturnError } from "../base/errors.ts";
import { Redacted } from "../base/redacted.ts";

/**
 * Turns anything that is logged into plain, bounded JSON with secrets masked: `Redacted` values and bytes at any depth,
 * whatever stands under a key that smells of a secret, and what looks like a credential inside a text. Must not: throw,
 * call code of the value (`toJSON`, `toString`) where it can be avoided, or grow with the size of its input.
 *
 * This is a net under the rule that key material is never handed to a logger; it cannot recognise every secret.
 */
const MASK = "[redacted]";

export interface RedactionOptions {
  readonly stacks: boolean;
}

type Plain = null | boolean | number | string | Plain[] | { [key: string]: Plain };

interface Walk extends RedactionOptions {
  /** What is above the present value, to notice cycles. */
  readonly above: object[];
  /** Values and characters that may still be rendered in this line. */
  values: number;
  characters: number;
}

const MAX_DEPTH = 8;
const MAX_ITEMS = 50;
const MAX_VALUES = 1_000;
const MAX_TEXT = 4_096;
const MAX_CHARACTERS = 32_768;
const MAX_KEY = 128;

export function redact(value: unknown, options: RedactionOptions): Plain {
  return render(value, { ...options, above: [], values: MAX_VALUES, characters: MAX_CHARACTERS });
}

/** All fields of one log line, which share its bounds. */
export function redactFields(fields: Readonly<Record<string, unknown>>, options: RedactionOptions): Map<string, Plain> {
  const walk: Walk = { ...options, above: [fields], values: MAX_VALUES, characters: MAX_CHARACTERS };
  return members(fields, walk);
}

/** A text with what looks like a credential masked, cut to a bounded length. */
export function redactText(text: string, maxLength = MAX_TEXT): string {
  // Cut first, so that the patterns never run over more than this. A cut through a credential leaves a part of it, and
  // each pattern therefore also matches a beginning without its end.
  let bounded = text.length > maxLength ? text.slice(0, maxLength) : text;
  for (const [pattern, replacement] of TEXT_PATTERNS) bounded = bounded.replace(pattern, replacement);
  return text.length > maxLength ? `${bounded}… (${text.length} characters)` : bounded;
}

const TEXT_PATTERNS: readonly (readonly [RegExp, string])[] = [
  [/-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----[^-]*(?:-----END [A-Z0-9 ]{0,40}-----)?/g, MASK],
  [/\bLS0tLS1CRUdJTi[\w+/=]*/g, MASK],
  [/\b(bearer|basic)\s+[\w.~+/=-]{6,}/gi, `$1 ${MASK}`],
  [/\beyJ[\w-]{8,}(?:\.[\w-]*){0,2}/g, MASK],
  [/(\b[a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/?#@]{1,512}@/gi, `$1${MASK}@`],
  [
    /\b((?:access_|refresh_|id_)?token|client_secret|passw(?:or)?d|passphrase|api_?key)(["']?\s{0,3}[=:]\s{0,3}["']?)[^\s"'&,;]{1,1024}/gi,
    `$1$2${MASK}`,
  ],
];

/** Compared without case and separators. `data` is what Secrets keep their content in. */
const SECRET_KEY =
  /token|passw(?:or)?d|passphrase|pwd|authorization|cookie|credential|secret|private|clientkey|apikey|accesskey|signingkey|keydata|keymaterial|hmac|kubeconfig|^(?:data|stringdata|binarydata|keypem|keybytes|keyvalue|pem|jwt|bearer|auth)$/;
/** What only names, counts or dates a secret is needed to understand a log line, and is not one. */
const HARMLESS_ENDING =
  /(?:names?|namespaces?|refs?|references?|kinds?|counts?|uids?|path|file|version|seconds|index|type|digest|class|bindings?)$/;
const INSTANT_OR_LENGTH = /[a-z](?:At|Ms)$|_(?:at|ms)$/;

export function isSecretKey(key: string): boolean {
  const bounded = key.slice(0, MAX_KEY);
  const plain = bounded.toLowerCase().replace(/[^a-z0-9]/g, "");
  return SECRET_KEY.test(plain) && !HARMLESS_ENDING.test(plain) && !INSTANT_OR_LENGTH.test(bounded);
}

function render(value: unknown, walk: Walk): Plain {
  if (walk.values-- <= 0 || walk.characters <= 0) return "…";
  switch (typeof value) {
    case "string":
      return text(value, walk);
    case "number":
      return Number.isFinite(value) ? value : String(value);
    case "boolean":
      return value;
    case "bigint":
      return text(value.toString().slice(0, MAX_TEXT), walk);
    case "undefined":
      return null;
    case "symbol":
      return text(value.toString(), walk);
    case "function":
      return "[function]";
    case "object":
      return value === null ? null : renderObject(value, walk);
  }
}

function text(value: string, walk: Walk): string {
  const rendered = redactText(value, Math.min(MAX_TEXT, Math.max(1, walk.characters)));
  walk.characters -= rendered.length;
  return rendered;
}

function renderObject(value: object, walk: Walk): Plain {
  if (value instanceof Redacted) return MASK;
  if (walk.above.includes(value)) return "[circular]";
  if (walk.above.length >= MAX_DEPTH) return "[too deep]";
  walk.above.push(value);
  try {
    return renderMembers(value, walk);
  } catch {
    return "[unreadable]";
  } finally {
    walk.above.pop();
  }
}

function renderMembers(value: object, walk: Walk): Plain {
  if (value instanceof Error) return renderError(value, walk);
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (value instanceof ArrayBuffer || value instanceof SharedArrayBuffer) return `[${value.byteLength} bytes]`;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "[invalid date]" : value.toISOString();
  if (value instanceof URL) return text(value.href, walk);
  if (value instanceof RegExp) return text(String(value), walk);
  if (Array.isArray(value)) return renderList(value, value.length, walk);
  if (value instanceof Set) return renderList(value, value.size, walk);
  if (value instanceof Map) return Object.fromEntries(entriesOf(value, value.size, walk));
  if (value instanceof Promise || value instanceof WeakMap || value instanceof WeakSet) return "[opaque]";
  return Object.fromEntries(members(value, walk));
}

function renderList(items: Iterable<unknown>, length: number, walk: Walk): Plain[] {
  const rendered: Plain[] = [];
  for (const item of items) {
    if (rendered.length === MAX_ITEMS) {
      rendered.push(`… (${length} items)`);
      break;
    }
    rendered.push(render(item, walk));
  }
  return rendered;
}

function members(value: object, walk: Walk): Map<string, Plain> {
  const keys = Object.keys(value);
  const entries = keys.values().map((key): [string, unknown] => {
    try {
      return [key, Reflect.get(value, key)];
    } catch {
      return [key, "[unreadable]"];
    }
  });
  return entriesOf(entries, keys.length, walk);
}

function entriesOf(entries: Iterable<readonly [unknown, unknown]>, size: number, walk: Walk): Map<string, Plain> {
  const rendered = new Map<string, Plain>();
  for (const [key, value] of entries) {
    if (rendered.size === MAX_ITEMS) {
      rendered.set("…", `${size} members`);
      break;
    }
    const name = typeof key === "string" ? key : keyText(key);
    const shown = redactText(name, MAX_KEY);
    rendered.set(shown, isSecretKey(name) && !isBlank(value) ? MASK : render(value, walk));
    walk.characters -= shown.length;
  }
  return rendered;
}

const keyText = (key: unknown): string => {
  if (key instanceof Redacted) return MASK;
  return typeof key === "object" || typeof key === "function" ? "[object]" : String(key);
};

/** That a secret is missing is worth seeing, and gives nothing away. */
const isBlank = (value: unknown): boolean => value === undefined || value === null || value === "" || value === false;

/** Only what every error has, and a code and status: other members may hold requests and answers. */
function renderError(error: Error, walk: Walk): Plain {
  const rendered: { [key: string]: Plain } = {
    name: text(String(error.name), walk),
    message: text(String(error.message), walk),
  };
  const code: unknown = error instanceof KeyturnError ? error.code : Reflect.get(error, "code");
  if (typeof code === "string" || typeof code === "number") rendered.code = render(code, walk);
  const status: unknown = Reflect.get(error, "status");
  if (typeof status === "number") rendered.status = status;
  if (walk.stacks && typeof error.stack === "string") rendered.stack = text(error.stack, walk);
  if (error.cause !== undefined) rendered.cause = render(error.cause, walk);
  if (error instanceof AggregateError) rendered.errors = renderList(error.errors, error.errors.length, walk);
  return rendered;
}
