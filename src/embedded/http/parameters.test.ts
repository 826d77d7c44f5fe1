import assert from "node:assert/strict";
import { test } from "node:test";
import { StatusError } from "../status-error.ts";
import {
  deleteRequest,
  listParameters,
  managerFromUserAgent,
  type WriteParameters,
  writeContext,
} from "./parameters.ts";

const query = (text: string): URLSearchParams => new URLSearchParams(text);
const request = (text: string, userAgent = "kubectl/v1.36 (linux)") => ({
  method: "POST",
  path: "/",
  query: query(text),
  headers: { "user-agent": userAgent },
  signal: new AbortController().signal,
});

function messageOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    assert.ok(error instanceof StatusError, String(error));
    return `${error.status} ${error.message}`;
  }
  return "accepted";
}

// Every expected text was taken from a real API server v1.36.3.
const refusedLists = [
  {
    text: "watch=true&sendInitialEvents=true",
    expected:
      '422 ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
    reason: "WatchList needs to say how old the state may be",
  },
  {
    text: "resourceVersionMatch=Exact",
    expected:
      '422 ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided',
    reason: "a match needs something to match",
  },
  {
    text: "sendInitialEvents=true",
    expected:
      '422 ListOptions.meta.k8s.io "" is invalid: sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list',
    reason: "only a watch has initial events",
  },
  {
    text: "watch=1&resourceVersionMatch=NotOlderThan",
    expected:
      '422 ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
    reason: "a match means nothing to a plain watch",
  },
  { text: "limit=x", expected: '400 strconv.ParseInt: parsing "x": invalid syntax', reason: "numbers are numbers" },
  { text: "limit=-1", expected: "accepted", reason: "a negative limit is no limit" },
];

for (const { text, expected, reason } of refusedLists) {
  test(`list parameters ${text}: ${reason}`, () => {
    assert.equal(
      messageOf(() => listParameters(query(text), undefined)),
      expected,
    );
  });
}

const watches = [
  { text: "watch=1", marks: false, reason: "bookmarks were not allowed" },
  { text: "watch=1&allowWatchBookmarks=true", marks: true, reason: "a watch from nowhere starts with the state" },
  { text: "watch=1&allowWatchBookmarks=true&resourceVersion=0", marks: true, reason: "0 is nowhere too" },
  { text: "watch=1&allowWatchBookmarks=true&resourceVersion=5", marks: false, reason: "there is no initial state" },
  {
    text: "watch=1&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=5",
    marks: true,
    reason: "WatchList",
  },
  {
    text: "watch=1&allowWatchBookmarks=true&sendInitialEvents=false&resourceVersionMatch=NotOlderThan",
    marks: false,
    reason: "the state was not wanted",
  },
];

for (const { text, marks, reason } of watches) {
  test(`watch parameters ${text}: the end of the state is ${marks ? "" : "not "}marked, because ${reason}`, () => {
    assert.equal(listParameters(query(text), "a").watch?.markInitialEventsEnd, marks);
  });
}

test("list parameters: what is empty is absent, and watch takes any word but false and 0", () => {
  assert.deepEqual(listParameters(query("labelSelector=&fieldSelector=a%3Db&limit=5&continue=t"), "ns").list, {
    namespace: "ns",
    fieldSelector: "a=b",
    limit: 5,
    continue: "t",
  });
  for (const [text, expected] of [
    ["watch", true],
    ["watch=zz", true],
    ["watch=False", false],
    ["watch=0", false],
  ] as const) {
    assert.equal(listParameters(query(text), undefined).watch !== undefined, expected, text);
  }
});

const create: WriteParameters = { kind: "CreateOptions" };
const apply: WriteParameters = { kind: "PatchOptions", isApply: true };
const merge: WriteParameters = { kind: "PatchOptions", isApply: false };
const writes: readonly { text: string; write: WriteParameters; expected: string; reason: string }[] = [
  {
    text: "dryRun=x",
    write: create,
    expected: '422 CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["x"]: supported values: "All"',
    reason: "All is the only dry run",
  },
  {
    text: "fieldValidation=x",
    write: create,
    expected:
      '422 CreateOptions.meta.k8s.io "" is invalid: fieldValidation: Unsupported value: "x": supported values: "", "Ignore", "Strict", "Warn"',
    reason: "three ways to treat unknown fields",
  },
  {
    text: "",
    write: apply,
    expected: '422 PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
    reason: "apply is always in somebody's name",
  },
  {
    text: "force=true",
    write: merge,
    expected: '422 PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: may not be specified for non-apply patch',
    reason: "only apply can be forced",
  },
  {
    text: `fieldManager=${"x".repeat(129)}`,
    write: create,
    expected: '422 CreateOptions.meta.k8s.io "" is invalid: fieldManager: Too long: may not be more than 128 bytes',
    reason: "names of managers are bounded",
  },
  {
    text: "fieldManager=me&dryRun=All&fieldValidation=Strict",
    write: create,
    expected: "accepted",
    reason: "all is well",
  },
];

for (const { text, write, expected, reason } of writes) {
  test(`write parameters ${text.slice(0, 40)} (${write.kind}): ${reason}`, () => {
    assert.equal(
      messageOf(() => writeContext(request(text), write)),
      expected,
    );
  });
}

test("write parameters: a control character in the manager's name is named", () => {
  assert.match(
    messageOf(() => writeContext(request("fieldManager=%00a"), create)),
    /invalid character U\+0000 \(at position 0\)/,
  );
});

const managers = [
  { userAgent: "kubectl/v1.36.3 (linux/amd64)", expected: "kubectl", reason: "what stands before the first slash" },
  { userAgent: "node", expected: "node", reason: "no slash" },
  { userAgent: "a\u0007b/1", expected: "ab", reason: "what cannot be printed is left out" },
  { userAgent: "", expected: "unknown", reason: "nothing was said" },
  { userAgent: "ü".repeat(100), expected: "ü".repeat(64), reason: "128 bytes at most, never half a character" },
];

for (const { userAgent, expected, reason } of managers) {
  test(`field manager from ${userAgent.slice(0, 20)}: ${reason}`, () =>
    assert.equal(managerFromUserAgent(userAgent), expected));
}

const deletions: readonly {
  text: string;
  body: Parameters<typeof deleteRequest>[1];
  expected: object;
  reason: string;
}[] = [
  { text: "", body: undefined, expected: {}, reason: "nothing asked for" },
  {
    text: "propagationPolicy=Foreground&gracePeriodSeconds=0&dryRun=All",
    body: undefined,
    expected: { propagationPolicy: "Foreground", gracePeriodSeconds: 0, dryRun: true },
    reason: "options in the query",
  },
  {
    text: "propagationPolicy=Foreground",
    body: { kind: "DeleteOptions", preconditions: { uid: "u", resourceVersion: "7" }, propagationPolicy: "Orphan" },
    expected: { uid: "u", resourceVersion: "7", propagationPolicy: "Orphan" },
    reason: "a body is all that counts",
  },
  { text: "", body: { orphanDependents: true }, expected: { propagationPolicy: "Orphan" }, reason: "the old word" },
  {
    text: "orphanDependents=false",
    body: undefined,
    expected: { propagationPolicy: "Background" },
    reason: "its opposite",
  },
  { text: "", body: { preconditions: null, dryRun: null }, expected: {}, reason: "null is absent" },
];

for (const { text, body, expected, reason } of deletions) {
  test(`delete options ${text}: ${reason}`, () => assert.deepEqual(deleteRequest(query(text), body), expected));
}

const refusedDeletions: readonly { body: Parameters<typeof deleteRequest>[1]; expected: RegExp; reason: string }[] = [
  { body: [], expected: /^400 /, reason: "not an object" },
  { body: { kind: "Foo" }, expected: /^400 /, reason: "another kind" },
  { body: { gracePeriodSeconds: "x" }, expected: /^400 .*gracePeriodSeconds/, reason: "a wrong type" },
  { body: { dryRun: [1] }, expected: /^400 .*dryRun/, reason: "a wrong type in a list" },
  {
    body: { propagationPolicy: "x" },
    expected:
      /^422 DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: "x": supported values: "Foreground", "Background", "Orphan", "nil"$/,
    reason: "no such policy",
  },
  {
    body: { propagationPolicy: "Orphan", orphanDependents: true },
    expected: /^422 .*cannot be both set$/,
    reason: "two ways to say one thing",
  },
];

for (const { body, expected, reason } of refusedDeletions) {
  test(`delete options are refused: ${reason}`, () => {
    assert.match(
      messageOf(() => deleteRequest(query(""), body)),
      expected,
    );
  });
}
