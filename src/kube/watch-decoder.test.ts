import assert from "node:assert/strict";
import { test } from "node:test";
import { Gone, type KubeError, Unavailable, Unreachable } from "./errors.ts";
import { WatchDecoder } from "./watch-decoder.ts";

const decoder = (): WatchDecoder => new WatchDecoder({ maxLineBytes: 4096, shape: (object) => object });
const decode = (text: string): unknown[] => [...decoder().push(Buffer.from(text))];
const object = (extra = ""): string => `{"metadata":{"name":"x","uid":"u","resourceVersion":"7"${extra}}}`;

test("events come out in order, empty lines do not", () => {
  const events = decode(`\n{"type":"ADDED","object":${object()}}\n\n\r\n{"type":"DELETED","object":${object()}}\n`);
  assert.deepEqual(
    events.map((event) => (event as { type: string }).type),
    ["ADDED", "DELETED"],
  );
});

test("a bookmark says how far it goes, and whether the initial state is complete", () => {
  const plain = `{"type":"BOOKMARK","object":{"kind":"Secret","metadata":{"resourceVersion":"9"}}}\n`;
  assert.deepEqual(decode(plain), [{ type: "BOOKMARK", resourceVersion: "9", initialEventsEnd: false }]);
  const annotations = `"annotations":{"k8s.io/initial-events-end":"true"}`;
  const last = `{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"9",${annotations}}}}\n`;
  assert.deepEqual(decode(last), [{ type: "BOOKMARK", resourceVersion: "9", initialEventsEnd: true }]);
});

const broken: readonly {
  readonly reason: string;
  readonly line: string;
  readonly error: new (message: string) => KubeError;
}[] = [
  { reason: "not JSON", line: "geheim{", error: Unreachable },
  { reason: "not an object", line: `["geheim"]`, error: Unreachable },
  { reason: "no object in it", line: `{"type":"ADDED"}`, error: Unreachable },
  { reason: "an unknown type", line: `{"type":"RENAMED","object":${object()}}`, error: Unreachable },
  {
    reason: "no UID",
    line: `{"type":"ADDED","object":{"metadata":{"name":"x","resourceVersion":"1"}}}`,
    error: Unreachable,
  },
  { reason: "no version", line: `{"type":"ADDED","object":{"metadata":{"name":"x","uid":"u"}}}`, error: Unreachable },
  {
    reason: "an expired position",
    line: `{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired","message":"too old"}}`,
    error: Gone,
  },
  {
    reason: "an error of the server's",
    line: `{"type":"ERROR","object":{"kind":"Status","code":500}}`,
    error: Unavailable,
  },
  { reason: "an error without a word", line: `{"type":"ERROR"}`, error: Unavailable },
];

for (const { reason, line, error } of broken) {
  test(`a broken line ends the watch: ${reason}`, () => {
    const events = decoder().push(Buffer.from(`{"type":"ADDED","object":${object()}}\n${line}\n`));
    assert.equal(events.next().done, false, "what came before the broken line is sound");
    assert.throws(
      () => events.next(),
      (thrown) => thrown instanceof error && !thrown.message.includes("geheim") && thrown.cause === undefined,
      reason,
    );
  });
}

test("a stream that ends within a line was cut off; half a line is never an event", () => {
  const cut = decoder();
  assert.deepEqual([...cut.push(Buffer.from(`{"type":"ADDED","object":${object()}}`))], []);
  assert.throws(() => cut.end(), Unreachable);
  const whole = decoder();
  assert.equal([...whole.push(Buffer.from(`{"type":"ADDED","object":${object()}}\n`))].length, 1);
  whole.end();
});

test("a line without end is refused before it fills the memory", () => {
  assert.throws(() => [...decoder().push(Buffer.alloc(5000, "x"))], Unreachable);
});
