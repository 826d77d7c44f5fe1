import { isNoLonger, type Rule } from "../duration-rules.ts";
import { windows } from "../rotation.ts";
import { duration, object, objectName, oneOf, type SchemaNode, text } from "../schema.ts";
import { INLINE_SECRET_TYPES, MANAGED_BY, RESERVED_PREFIXES, RNDC_ALGORITHMS, STRATEGIES } from "./names.ts";
import { keyFilePattern, LONG_ENOUGH, STRONG_ALGORITHM } from "./rndc-key-text.ts";

/**
 * How an RNDC key is got and rotated: `rndcKeys`, its shipped spelling `rndcKey` and the deprecated `rndcSecretRef`, the
 * same at every level. How short `rotateAfter` may be is up to the operator, so that is not said here. There are no
 * defaults in the schema: a level that says nothing must stay one that says nothing.
 */
const MAX_ROTATE_AFTER_MS = 8760 * 3_600_000;
const WEEK_MS = 7 * 86_400_000;
const DAY_MS = 86_400_000;
const MAX_ENTRIES = 32;
const MAX_TEXT = 4096;

const algorithm = (description: string): SchemaNode => oneOf(description, RNDC_ALGORITHMS);
const fieldName = (description: string): SchemaNode =>
  text(description, { minLength: 1, maxLength: 253, pattern: "^[-._a-zA-Z0-9]+$" });

const secretRefFields = {
  name: objectName("Name of a Secret of the same namespace. It is read and never written."),
  algorithm: algorithm("The HMAC of its key, where the Secret itself does not say; hmac-sha256 when nothing is said."),
  keyNameKey: fieldName("Where it has the name of the key; key-name when nothing is said."),
  secretKey: fieldName("Where it has the key, in base64; secret when nothing is said."),
};

const secretRef = object(secretRefFields, {
  required: ["name"],
  description: "A Secret that somebody else looks after: it is used and not rotated. Goes before secret.",
});

const isReserved = RESERVED_PREFIXES.map((prefix) => `name.startsWith('${prefix}')`).join(" || ");

const ownWords = (what: string, more = ""): Rule => ({
  rule: `self.all(name, !(${isReserved}${more}))`,
  message: `the operator writes ${what} under bindy.firestoned.io and keyturn.dev itself: leave them out`,
});

const mapOf = (description: string, maxLength: number, rules?: readonly Rule[]): SchemaNode => ({
  type: "object",
  description,
  maxProperties: MAX_ENTRIES,
  additionalProperties: { type: "string", maxLength },
  ...(rules && { "x-kubernetes-validations": rules }),
});

const metadata = object(
  {
    name: objectName("Name of the Secret."),
    labels: mapOf("Labels of the Secret, kept by every rotation.", 63, [
      ownWords("labels", ` || name == '${MANAGED_BY}'`),
    ]),
    annotations: mapOf("Annotations of the Secret, kept by every rotation.", MAX_TEXT, [ownWords("annotations")]),
  },
  { required: ["name"], description: "What stands on the Secret." },
);

const KEY_FILE = "self.stringData['rndc.key']";
const hasNoFile = "!has(self.stringData) || !('rndc.key' in self.stringData)";
const matches = (pattern: string): string => `${KEY_FILE}.matches('${pattern}')`;
const isFile = matches(keyFilePattern());

/** They stand at the Secret and not at its text: what the API server says of a text that it refuses would repeat it. */
const keyFileRules: readonly Rule[] = [
  {
    rule: `${hasNoFile} || ${isFile}`,
    message: 'rndc.key must be exactly one key: key "name" { algorithm hmac-sha256; secret "…"; };',
    fieldPath: ".stringData",
  },
  {
    rule: `${hasNoFile} || !${isFile} || ${matches(keyFilePattern({ algorithm: STRONG_ALGORITHM }))}`,
    message: `the algorithm in rndc.key must be one of ${RNDC_ALGORITHMS.join(", ")}`,
    fieldPath: ".stringData",
  },
  {
    rule: `${hasNoFile} || !${isFile} || ${matches(keyFilePattern({ secret: LONG_ENOUGH }))}`,
    message: "the secret in rndc.key must be base64 of at least 112 bits",
    fieldPath: ".stringData",
  },
];

const secret = object(
  {
    metadata,
    type: oneOf("Type of the Secret; Opaque when nothing is said.", INLINE_SECRET_TYPES),
    stringData: mapOf(
      "Its values as text. rndc.key is the first key; without one it is generated. Others are kept beside it.",
      MAX_TEXT,
    ),
    data: mapOf("The same, in base64; stringData goes before it.", 2 * MAX_TEXT),
  },
  {
    required: ["metadata"],
    description:
      "A Secret that the operator makes, keeps and rotates under this name: one for all instances that the level is for.",
    rules: keyFileRules,
  },
);

const keyConfig = (description: string): SchemaNode =>
  object(
    {
      autoRotate: { type: "boolean", description: "Replace the key by itself. Off unless it is asked for." },
      rotateAfter: duration("The age at which a key is replaced: from 1h to 8760h; 2160h when nothing is said.", {
        minMs: 1,
        maxMs: MAX_ROTATE_AFTER_MS,
        message: "must be longer than nothing and at most 8760h (365d)",
      }),
      secretRef,
      secret,
      algorithm: algorithm(
        "The HMAC of keys that are generated; when nothing is said, that of the inline key, or hmac-sha256.",
      ),
      strategy: oneOf(
        "Overlap: both keys are accepted until everybody has moved over. Restart: one key, and the pods are restarted. Overlap where the instance is the operator's own, Restart where it uses an existing Deployment.",
        STRATEGIES,
      ),
      overlap: duration(
        "How long the old key is accepted after the new one was published; 1h when nothing is said, and never longer than rotateAfter.",
        { minMs: 1, maxMs: MAX_ROTATE_AFTER_MS, message: "must be longer than nothing and at most 8760h (365d)" },
      ),
      windows,
      delay: duration(
        "How much later than the one before it each instance of a cluster is rotated, when they are due at once.",
        { minMs: 1, maxMs: WEEK_MS, message: "must be longer than nothing and at most 168h (7d)" },
      ),
    },
    {
      description,
      rules: [
        {
          rule: `!has(self.overlap) || !has(self.rotateAfter) || ${isNoLonger("self.overlap", "self.rotateAfter")}`,
          message: "must be at most rotateAfter, else more than two keys would be accepted at a time",
          fieldPath: ".overlap",
        },
      ],
    },
  );

/** The three words for it, in the order in which they count. */
export const rndcKeyFields: Readonly<Record<string, SchemaNode>> = {
  rndcKeys: keyConfig("The RNDC key: got from where, and rotated when. Goes before rndcKey."),
  rndcKey: keyConfig("Another word for rndcKeys. Goes before rndcSecretRef."),
  rndcSecretRef: object(secretRefFields, {
    required: ["name"],
    description: "Deprecated: say rndcKeys.secretRef.",
  }),
};

/** Beyond this, a warning: what most rules for the lives of such keys allow at most. */
export const LONG_ROTATE_AFTER_MS = 90 * DAY_MS;
