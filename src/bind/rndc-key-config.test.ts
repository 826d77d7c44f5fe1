import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { inlineSecret, keyFile, LONG_SECRET, SHORT_SECRET } from "./bind-objects.fixture.ts";
import { Findings } from "./problems.ts";
import { type ConfigLimits, readKeyConfig } from "./rndc-key-config.ts";

const FIELD = "spec.global.rndcKeys";

function read(value: unknown, limits: ConfigLimits = {}) {
  const findings = new Findings();
  const config = readKeyConfig(value, { field: FIELD, findings, limits });
  return { config, problems: findings.problems, warnings: findings.warnings };
}

const inline = (more: object): object => ({ secret: { ...inlineSecret(), ...more } });
const file = (text: string): object => ({ secret: inlineSecret("k", text) });
const encoded = (text: string): string => Buffer.from(text).toString("base64");

const refusals: readonly (readonly [why: string, value: unknown, field: string, message: RegExp])[] = [
  ["not an object", "yes", "", /must be an object/],
  ["a rotateAfter that is none", { rotateAfter: "soon" }, ".rotateAfter", /"soon" is not a duration: .* such as 14d/],
  ["a rotateAfter without a unit", { rotateAfter: "720" }, ".rotateAfter", /is not a duration/],
  ["a number for a rotateAfter", { rotateAfter: 720 }, ".rotateAfter", /must be a text, such as 720h or 30d/],
  ["a rotateAfter below the minimum", { rotateAfter: "59m59s" }, ".rotateAfter", /at least 1h \(--min-rotate-after/],
  ["a rotateAfter above the maximum", { rotateAfter: "8760h1s" }, ".rotateAfter", /at most 8760h/],
  ["an overlap above rotateAfter", { rotateAfter: "2h", overlap: "3h" }, ".overlap", /at most rotateAfter \(2h\)/],
  ["an overlap that is none", { overlap: "-1h" }, ".overlap", /is not a duration/],
  ["a delay that is none", { delay: "0s" }, ".delay", /is zero/],
  ["words for autoRotate", { autoRotate: "yes" }, ".autoRotate", /true or false/],
  ["a weak algorithm", { algorithm: "hmac-md5" }, ".algorithm", /must be hmac-sha224, hmac-sha256/],
  ["a strategy that there is not", { strategy: "BlueGreen" }, ".strategy", /Overlap or Restart/],
  ["a secretRef without a name", { secretRef: {} }, ".secretRef.name", /name of a Secret of the same namespace/],
  ["a secretRef into another namespace", { secretRef: { name: "a/b" } }, ".secretRef.name", /same namespace/],
  [
    "a secretRef of a weak algorithm",
    { secretRef: { name: "a", algorithm: "hmac-sha1" } },
    ".secretRef.algorithm",
    /must be/,
  ],
  ["an inline Secret without a name", { secret: {} }, ".secret.metadata.name", /must be the name/],
  [
    "a token as an inline Secret",
    inline({ type: "kubernetes.io/service-account-token" }),
    ".secret.type",
    /must be Opaque: no other type is written/,
  ],
  [
    "a reserved annotation",
    inline({ metadata: { name: "k", annotations: { "bindy.firestoned.io/created-at": "2020-01-01T00:00:00Z" } } }),
    ".secret.metadata.annotations",
    /the operator writes bindy\.firestoned\.io\/created-at itself: leave it out/,
  ],
  [
    "an annotation of ours",
    inline({ metadata: { name: "k", annotations: { "keyturn.dev/key-id": "1" } } }),
    ".secret.metadata.annotations",
    /keyturn\.dev\/key-id/,
  ],
  [
    "reserved labels",
    inline({
      metadata: { name: "k", labels: { "app.kubernetes.io/managed-by": "me", "keyturn.dev/owner-uid": "1" } },
    }),
    ".secret.metadata.labels",
    /writes app\.kubernetes\.io\/managed-by, keyturn\.dev\/owner-uid itself/,
  ],
  ["labels that are none", inline({ metadata: { name: "k", labels: { a: 1 } } }), ".secret.metadata.labels", /texts/],
  ["a file that is none", file("rndc!"), ".secret", /line 1: /],
  ["a file of two keys", file(`${keyFile()}${keyFile()}`), ".secret", /line 5: there is more than the one key/],
  ["a file with a weak algorithm", file(keyFile(LONG_SECRET, "hmac-md5")), ".secret", /hmac-md5 is too weak/],
  ["a key that is too short", file(keyFile(encoded("0123456789abc"))), ".secret", /has 104 bits; at least 112/],
  ["a key that is not base64", file(keyFile("!!!")), ".secret", /not base64/],
  [
    "fields that say something else than the file",
    inline({ data: { "key-name": encoded("other") } }),
    ".secret",
    /rndc\.key has another key than key-name/,
  ],
  [
    "a name without a key",
    { secret: { metadata: { name: "k" }, stringData: { "key-name": "a" } } },
    ".secret",
    /there is neither rndc\.key nor secret/,
  ],
  ["data that is not base64", inline({ data: { other: "%" } }), ".secret.data", /"other" is not base64/],
  ["a key that a Secret cannot have", inline({ stringData: { "a b": "x" } }), ".secret", /"a b" cannot be a key/],
  ["a key that begins with two dots", inline({ stringData: { "..x": "x" } }), ".secret", /"\.\.x" cannot be a key/],
];

for (const [why, value, field, message] of refusals) {
  test(`refused: ${why}`, () => {
    const { config, problems } = read(value);
    assert.equal(config, undefined);
    assert.deepEqual(
      problems.map((problem) => problem.field),
      [FIELD + field],
      inspect(problems),
    );
    assert.match(problems[0]?.message ?? "", message);
  });
}

const accepted: readonly (readonly [why: string, value: unknown, warnings: readonly RegExp[]])[] = [
  ["nothing at all", {}, []],
  ["the document's first example", { autoRotate: true, rotateAfter: "720h", algorithm: "hmac-sha256" }, []],
  ["days and weeks", { autoRotate: true, rotateAfter: "1w2d" }, []],
  ["exactly 90 days", { autoRotate: true, rotateAfter: "90d" }, []],
  [
    "a year, with a warning",
    { autoRotate: true, rotateAfter: "8760h" },
    [/rotateAfter is longer than 90 days \(2160h\)/],
  ],
  [
    "a rotateAfter that nothing comes of",
    { rotateAfter: "720h" },
    [/rotateAfter says nothing without autoRotate: true/],
  ],
  ["an overlap that nothing comes of", { strategy: "Restart", overlap: "1h" }, [/overlap says nothing with strategy/]],
  ["a short key, with a warning", file(keyFile(SHORT_SECRET)), [/secret has a key that is shorter than its HMAC/]],
  ["an inline key of full length", file(keyFile()), []],
  ["a file with comments", file(`// a\n# b\n/* c */ ${keyFile()}`), []],
  ["a name alone: the key is generated under it", { secret: { metadata: { name: "k" } } }, []],
];

for (const [why, value, warnings] of accepted) {
  test(`accepted: ${why}`, () => {
    const found = read(value);
    assert.deepEqual(found.problems, []);
    assert.ok(found.config);
    assert.equal(found.warnings.length, warnings.length, found.warnings.join("\n"));
    for (const [index, warning] of warnings.entries()) assert.match(found.warnings[index] ?? "", warning);
  });
}

test("where nothing is said: not rotated, 2160h, hmac-sha256, an hour of overlap", () => {
  assert.deepEqual(read({}).config, {
    mode: "generated",
    autoRotate: false,
    rotateAfter: { text: "2160h", ms: 90 * 86_400_000 },
    algorithm: "hmac-sha256",
    strategy: undefined,
    overlapMs: 3_600_000,
    windows: [],
    delayMs: 0,
  });
});

test("keys that follow an inline one have its algorithm, unless another one is said", () => {
  const secret = inlineSecret("k", keyFile(LONG_SECRET, "hmac-sha224"));
  const algorithmOf = (value: object) => {
    const { config } = read(value);
    assert.ok(config && config.mode === "inline");
    return config.algorithm;
  };
  assert.equal(algorithmOf({ secret }), "hmac-sha224");
  assert.equal(algorithmOf({ secret, algorithm: "hmac-sha512" }), "hmac-sha512");
});

test("an inline Secret in full: texts go before bytes, and what is no key is kept", () => {
  const { config } = read({
    secret: {
      metadata: { name: "k", labels: { app: "bindy" }, annotations: { note: "mine" } },
      type: "Opaque",
      stringData: { "rndc.key": keyFile() },
      data: { "rndc.key": encoded("ignored"), "ca.crt": encoded("x") },
    },
  });
  assert.ok(config && config.mode === "inline" && config.secret);
  const { data, key, ...rest } = config.secret;
  assert.deepEqual(rest, {
    name: "k",
    type: "Opaque",
    labels: { app: "bindy" },
    annotations: { note: "mine" },
    isShort: false,
  });
  assert.equal(key?.name, "bindy-operator");
  assert.deepEqual(data.reveal(), { "rndc.key": encoded(keyFile()), "ca.crt": encoded("x") });
});

test("the operator may take less than an hour; the overlap is never longer than that", () => {
  const { config, problems } = read({ autoRotate: true, rotateAfter: "30s" }, { minRotateAfterMs: 1000 });
  assert.deepEqual(problems, []);
  assert.ok(config && config.mode !== "referenced");
  assert.equal(config.overlapMs, 30_000);
});

test("nothing that is found shows a key", () => {
  const canary = encoded("canary-canary-canary-canary-cana");
  const values = [
    file(keyFile(canary)),
    file(keyFile(canary, "hmac-md5")),
    file(`${keyFile(canary)} key`),
    file(keyFile(`${canary}%`)),
    { secret: { metadata: { name: "k" }, stringData: { "rndc.key": keyFile(), secret: canary } } },
    { secret: { metadata: { name: "k" }, data: { "rndc.key": `${canary}%` } } },
  ];
  for (const value of values) assert.doesNotMatch(inspect(read(value), { depth: 9 }), /canary|Y2FuYXJ5/);
});
