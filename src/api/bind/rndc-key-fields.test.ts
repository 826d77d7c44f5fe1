import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../base/properties.fixture.ts";
import { Redacted } from "../../base/redacted.ts";
import { keyFile, LONG_SECRET, SHORT_SECRET } from "../../bind/bind-objects.fixture.ts";
import { Findings } from "../../bind/problems.ts";
import { readKeyConfig } from "../../bind/rndc-key-config.ts";
import type { Json } from "../../embedded/json.ts";
import { validateRules } from "../../embedded/schema/cel/validate-rules.ts";
import { compilePattern } from "../../embedded/schema/pattern.ts";
import type { Schema } from "../../embedded/schema/schema.ts";
import { validateValue } from "../../embedded/schema/validate.ts";
import { ALGORITHMS } from "../../rndc/algorithms.ts";
import { RndcKeyInvalid } from "../../rndc/errors.ts";
import { parseRndcKey } from "../../rndc/key-file.ts";
import { RNDC_ALGORITHMS } from "./names.ts";
import { rndcKeyFields } from "./rndc-key-fields.ts";
import { keyFilePattern, LONG_ENOUGH, SHORT_KEY_PATTERNS, STRONG_ALGORITHM } from "./rndc-key-text.ts";

test("the algorithms are those that keys can be of", () => {
  assert.deepEqual(RNDC_ALGORITHMS, Object.keys(ALGORITHMS));
});

function isAdmitted(value: Json): boolean {
  const schema = rndcKeyFields.rndcKeys as Schema;
  return validateValue(value, schema).length === 0 && validateRules(value, undefined, schema, false).length === 0;
}

function isFollowed(value: Json): boolean {
  const findings = new Findings();
  readKeyConfig(value, { field: "spec.rndcKeys", findings, limits: { minRotateAfterMs: 1 } });
  return findings.problems.length === 0;
}

/** Mostly what is allowed, so that a mistake stands alone often enough. */
const mostly = <T>(good: readonly T[], bad: readonly T[]): fc.Arbitrary<T> =>
  fc.oneof({ weight: 8, arbitrary: fc.constantFrom(...good) }, { weight: 1, arbitrary: fc.constantFrom(...bad) });

const rotateAfter = mostly(["720h", "30d", "8760h"], ["366d", "0s", "soon", ""]);
const overlap = mostly(["1h", "90m", "30d"], ["31d", "366d", "-1h"]);
const words = mostly<Readonly<Record<string, string>>>(
  [{ app: "x" }],
  [{ "keyturn.dev/a": "x" }, { "bindy.firestoned.io/rotate-after": "1h" }],
);
const secret = fc.record(
  {
    metadata: fc.record(
      { name: mostly(["k"], ["UPPER_x"]), labels: words, annotations: words },
      { requiredKeys: ["name"] },
    ),
    type: mostly(["Opaque"], ["kubernetes.io/tls"]),
    stringData: mostly<Readonly<Record<string, string>>>(
      [{}, { note: "x" }, { "rndc.key": keyFile() }, { "rndc.key": keyFile(SHORT_SECRET) }],
      [keyFile(LONG_SECRET, "hmac-md5"), keyFile("YWJj"), "no key"].map((text) => ({ "rndc.key": text })),
    ),
  },
  { requiredKeys: ["metadata"] },
);
const config = fc.record(
  {
    autoRotate: mostly<unknown>([true, false], ["yes"]),
    rotateAfter,
    overlap,
    algorithm: mostly(["hmac-sha256"], ["hmac-sha1"]),
    strategy: mostly(["Overlap", "Restart"], ["Both"]),
    secret,
  },
  { requiredKeys: [] },
);

test("the API server admits the settings that the operator follows, and no others", () => {
  let admitted = 0;
  fc.assert(
    fc.property(config, (value) => {
      const json = JSON.parse(JSON.stringify(value)) as Json;
      // What holds where nothing is said is the operator's to know.
      fc.pre(value.rotateAfter !== undefined || value.overlap === undefined);
      assert.equal(isAdmitted(json), isFollowed(json), JSON.stringify(value));
      if (isAdmitted(json)) admitted++;
    }),
    { numRuns: 600 },
  );
  assert.ok(admitted > 100, `only ${admitted} were admitted: is anything tried?`);
});

const matches = (pattern: string, text: string): boolean => {
  const compiled = compilePattern(pattern);
  assert.ok(compiled.ok, compiled.ok ? "" : compiled.reason);
  return compiled.matches(text);
};

function warningsOf(text: string): number | undefined {
  try {
    return parseRndcKey(new Redacted(text)).warnings.length;
  } catch (error) {
    assert.ok(error instanceof RndcKeyInvalid);
    return undefined;
  }
}

const gap = fc.constantFrom(" ", "\n", "\t", " // a\n", "# b }\n", "/* c; */", "/***/ ", "\r\n");
const quote = fc.boolean();
const algorithm = fc.constantFrom("hmac-sha224", "HMAC-SHA256", "hmac-sha384", "hmac-sha512", "hmac-md5", "sha256");
const bytes = fc.integer({ min: 10, max: 70 });
const keyText = fc
  .record({
    gap,
    quote,
    algorithm,
    bytes,
    isReversed: fc.boolean(),
    name: fc.constantFrom("a", "a-b.c_d", "9"),
    end: gap,
  })
  .map(({ gap: space, quote: isQuoted, algorithm: hmac, bytes: count, isReversed, name, end }) => {
    const word = (text: string): string => (isQuoted ? `"${text}"` : text);
    const fields = [
      `algorithm${space}${word(hmac)};`,
      `secret${space}${word(Buffer.alloc(count, 9).toString("base64"))}${space};`,
    ];
    const [first, second] = isReversed ? fields.reverse() : fields;
    return `${space}key${space}${word(name)}${space}{${space}${first}${space}${second}${space}}${space};${end}`;
  });
const scraps = fc
  .array(
    fc.constantFrom(
      "key",
      ' "a"',
      " {",
      "algorithm hmac-sha256;",
      ` secret "${SHORT_SECRET}";`,
      "};",
      "}",
      ";",
      "//",
      "\n",
    ),
    {
      maxLength: 8,
    },
  )
  .map((parts) => parts.join(""));

test("the expressions take for a key what the operator reads as one, and know when it is short", () => {
  const counts = { read: 0, short: 0 };
  fc.assert(
    fc.property(fc.oneof(keyText, scraps), (text) => {
      const warnings = warningsOf(text);
      const isKey =
        matches(keyFilePattern(), text) &&
        matches(keyFilePattern({ algorithm: STRONG_ALGORITHM }), text) &&
        matches(keyFilePattern({ secret: LONG_ENOUGH }), text);
      assert.equal(isKey, warnings !== undefined, JSON.stringify(text));
      if (warnings === undefined) return;
      const isShort = SHORT_KEY_PATTERNS.some((pattern) => matches(pattern, text));
      assert.equal(isShort, warnings > 0, JSON.stringify(text));
      counts.read++;
      if (isShort) counts.short++;
    }),
    { numRuns: 600 },
  );
  assert.ok(counts.read > 50 && counts.short > 10, JSON.stringify(counts));
});
