import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { fc } from "../../base/properties.fixture.ts";
import { ProviderError } from "../provider-error.ts";
import { isRecord, parseRecord } from "../rest/wire.ts";
import { connect, instance, page, shown, verbs } from "./scripted.fixture.ts";

const bodies: readonly unknown[] = [
  shown,
  instance,
  page([shown]).body,
  page([]).body,
  { guid: "j1", state: "COMPLETE", links: {} },
  { credentials: { password: "canary" } },
];

const problemBody = fc
  .record({ code: fc.constantFrom(1000, 10000, 10003, 10008, 10010, 90004), detail: fc.constant("metadata canary") })
  .map((error) => JSON.stringify({ errors: [error] }));
/** Valid bodies with something replaced or taken out, and anything at all. */
const hostileBody: fc.Arbitrary<string> = fc.oneof(
  fc.json(),
  fc.string(),
  problemBody,
  fc.tuple(fc.constantFrom(...bodies), fc.nat(), fc.jsonValue()).map(([body, index, value]) => {
    const keys = isRecord(body) ? Object.keys(body) : [];
    return JSON.stringify({ ...(isRecord(body) ? body : {}), [keys[index % keys.length] ?? ""]: value });
  }),
);
const hostileStep = fc.record({
  status: fc.oneof(
    fc.constantFrom(200, 200, 200, 201, 202, 204, 302, 400, 401, 403, 404, 404, 422, 429, 500, 503),
    fc.integer({ min: 100, max: 999 }),
  ),
  headers: fc.dictionary(
    fc.constantFrom("retry-after", "location", "x-cf-routererror", "x-ratelimit-reset"),
    fc.oneof(fc.string(), fc.constantFrom("canary", "https://elsewhere/v3/jobs/j1")),
    { noNullPrototype: true },
  ),
  body: hostileBody,
});

for (const [name, call] of Object.entries(verbs)) {
  test(`${name}: whatever is answered, there is an answer or one of our errors, and nothing is gone that was not said to be`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(hostileStep, { minLength: 1, maxLength: 8 }), async (steps) => {
        const { connection, http } = connect(steps, { deleteWaitMs: 0 });
        let value: unknown;
        try {
          value = await call(connection);
        } catch (error) {
          assert.ok(error instanceof ProviderError, inspect(error));
          assert.ok(!inspect(error, { depth: 9 }).includes("canary"), inspect(error, { depth: 9 }));
          assert.ok(!error.message.includes("\n") && error.message.length < 300, error.message);
          return;
        }
        assert.ok(
          http.requests.every(({ url }) => url.host === "api.example"),
          "tokens go to the API alone",
        );
        const used = steps.slice(0, steps.length - http.stepsLeft);
        const isGone = value === "gone" || (value === undefined && (name === "observe" || name === "describeInstance"));
        if (isGone)
          assert.ok(
            used.some(({ status, body }) => saysGone(status, body)),
            inspect(used),
          );
      }),
      { numRuns: 300 },
    );
  });
}

function saysGone(status: number, body: string): boolean {
  const errors = parseRecord(body)?.errors;
  const [first] = Array.isArray(errors) ? errors : [];
  const code = isRecord(first) ? first.code : undefined;
  const isDone = status === 204 || (status === 200 && parseRecord(body)?.state === "COMPLETE");
  return isDone || (status === 404 && (code === 10010 || code === 90004));
}
