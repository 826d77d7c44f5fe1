import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../base/properties.fixture.ts";
import { StatusError } from "../status-error.ts";
import { bodyText, decodeObjectBody, MAX_BODY_BYTES } from "./request-body.ts";

const request = (body: string | Uint8Array, contentType?: string) => ({
  method: "POST",
  path: "/",
  query: new URLSearchParams(),
  headers: contentType === undefined ? {} : { "content-type": contentType },
  body,
  signal: new AbortController().signal,
});

function refusal(body: string | Uint8Array, contentType?: string): StatusError {
  try {
    decodeObjectBody(request(body, contentType), "Secret");
  } catch (error) {
    assert.ok(error instanceof StatusError, String(error));
    return error;
  }
  throw new assert.AssertionError({ message: "the body was accepted" });
}

const accepted = [
  { body: '{"a":1}', type: undefined, expected: { a: 1 }, reason: "no content type is JSON" },
  { body: '{"a":1}', type: "application/json; charset=utf-8", expected: { a: 1 }, reason: "parameters are ignored" },
  { body: "a: 1\nb: [x, w]\n", type: "application/yaml", expected: { a: 1, b: ["x", "w"] }, reason: "YAML" },
  {
    body: "a: yes\nb: off\ny: n",
    type: "application/yaml",
    expected: { a: true, b: false, true: false },
    reason: "YAML 1.1 booleans",
  },
  {
    body: "a: 2026-01-02T03:04:05Z\nb: 0777",
    type: "application/yaml",
    expected: { a: "2026-01-02T03:04:05Z", b: 511 },
    reason: "time stamps stay text, octal is octal",
  },
  {
    body: "{a: b, 1: c}",
    type: "application/yaml",
    expected: { a: "b", "1": "c" },
    reason: "flow style that is not JSON",
  },
  {
    body: "x: &x {k: v}\nw: {<<: *x, z: 1}",
    type: "application/yaml",
    expected: { x: { k: "v" }, w: { k: "v", z: 1 } },
    reason: "aliases and merge keys",
  },
  { body: "", type: "application/yaml", expected: null, reason: "an empty document" },
];

for (const { body, type, expected, reason } of accepted) {
  test(`body: ${reason}`, () => assert.deepEqual(decodeObjectBody(request(body, type), "Secret").value, expected));
}

const bomb = `a: &a [x,x,x,x,x,x,x,x,x]\n${"bcdefgh"
  .split("")
  .map((name, i) => `${name}: &${name} [${`*${"abcdefg"[i]},`.repeat(9)}]`)
  .join("\n")}`;

const refused = [
  {
    body: "nope",
    type: undefined,
    status: 400,
    message: /json parse error: invalid JSON/,
    reason: "not JSON",
  },
  { body: "", type: undefined, status: 400, message: /unexpected end of JSON input/, reason: "nothing" },
  { body: '{"a":', type: undefined, status: 400, message: /json parse error/, reason: "half an object" },
  { body: "a: [", type: "application/yaml", status: 400, message: /yaml: line 1/, reason: "half a list" },
  { body: bomb, type: "application/yaml", status: 400, message: /excessive aliasing/, reason: "aliases that multiply" },
  { body: "{}", type: "text/plain", status: 415, message: /unknown format/, reason: "plain text" },
  { body: "{}", type: "application/cbor", status: 415, message: /unknown format/, reason: "CBOR" },
  {
    body: "{}",
    type: "application/vnd.kubernetes.protobuf",
    status: 400,
    message: /protobuf/,
    reason: "no protobuf at all",
  },
  { body: "[".repeat(5000) + "]".repeat(5000), type: undefined, status: 400, message: /max depth/, reason: "too deep" },
  { body: '{"a":{"__proto__":1}}', type: undefined, status: 400, message: /__proto__/, reason: "a prototype's name" },
  {
    body: '{"\\u005f_proto__":1}',
    type: undefined,
    status: 400,
    message: /__proto__/,
    reason: "a prototype's name in disguise",
  },
];

for (const { body, type, status, message, reason } of refused) {
  test(`body refused: ${reason}`, () => {
    const error = refusal(body, type);
    assert.equal(error.status, status);
    assert.match(error.message, message);
  });
}

test("body: the limit counts bytes, not characters", () => {
  assert.equal(bodyText(request("x".repeat(MAX_BODY_BYTES))).length, MAX_BODY_BYTES);
  const tooLarge = (error: unknown): boolean => error instanceof StatusError && error.status === 413;
  assert.throws(() => bodyText(request("ü".repeat(MAX_BODY_BYTES / 2 + 1))), tooLarge);
  assert.throws(() => bodyText(request(new Uint8Array(MAX_BODY_BYTES + 1))), tooLarge);
});

test("body: duplicate YAML keys are told with their line", () => {
  const { value, warnings } = decodeObjectBody(request("a: 1\nb: {c: 1,\n c: 2}\na: 3", "application/yaml"), "Secret");
  assert.deepEqual(value, { a: 3, b: { c: 2 } });
  assert.deepEqual([...warnings].sort(), ['line 3: key "c" already set in map', 'line 4: key "a" already set in map']);
});

test("body: no error quotes what was in the body", () => {
  const canary = "c4n4ry-s3cret";
  const broken = fc.constantFrom(
    `{"a":"${canary}"`,
    `{"a":${canary}}`,
    `${canary}`,
    `"${canary}`,
    `a: "${canary}`,
    `a: [${canary}`,
    `a: b: ${canary}`,
    `- ${canary}\n a: {`,
    `*${canary}`,
    `!!${canary} x`,
    `a: !${canary} [`,
  );
  const type = fc.constantFrom("application/json", "application/yaml", "application/vnd.kubernetes.protobuf");
  fc.assert(
    fc.property(broken, type, (body, contentType) => {
      try {
        decodeObjectBody(request(body, contentType), "Secret");
      } catch (error) {
        assert.ok(error instanceof StatusError, String(error));
        assert.ok(!JSON.stringify(error.toStatus()).includes(canary), error.message);
      }
    }),
  );
});
