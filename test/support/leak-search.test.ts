import assert from "node:assert/strict";
import { test } from "node:test";
import { LeakSearch } from "./leak-search.ts";

const CANARY = "canary-5d2e";
const QUIET = { text: '{"level":"info","msg":"starting"}\n', renderedMetrics: async () => "keyturn_leader 1\n" };

async function seen(operator: Partial<typeof QUIET>, what: unknown = {}): Promise<readonly string[]> {
  const search = new LeakSearch(() => [CANARY]);
  search.look("an event", what);
  await search.lookAt({ ...QUIET, ...operator });
  return search.places;
}

test("where no key material is, none is seen", async () => {
  assert.deepEqual(await seen({}, { note: "Key orders is to be the next one." }), []);
});

const metric = (label: string) => async (): Promise<string> => `# HELP\nkeyturn_x{reason="${label}"} 1\n`;
const base64 = Buffer.from(`${CANARY}-of-orders`).toString("base64");
const leaks: readonly { readonly operator?: Partial<typeof QUIET>; readonly what?: unknown; readonly place: string }[] =
  [
    { what: { note: `the password ${CANARY} is wrong` }, place: "an event" },
    { operator: { text: `{"msg":"log in","password":"${CANARY}"}` }, place: "the log" },
    { operator: { renderedMetrics: metric(CANARY) }, place: "the metrics" },
    { operator: { renderedMetrics: metric(base64) }, place: "the metrics" },
    { what: { data: { password: base64 } }, place: "an event" },
  ];

for (const { operator = {}, what, place } of leaks) {
  test(`key material in ${place} is seen: ${JSON.stringify(what ?? operator.text ?? "as a label")}`, async () => {
    assert.deepEqual(await seen(operator, what), [place]);
  });
}

test("of an operator that has ended there are no metrics to look at", async () => {
  assert.deepEqual(await seen({ renderedMetrics: async () => undefined as never }), []);
});
