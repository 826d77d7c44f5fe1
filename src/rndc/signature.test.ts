import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { test } from "node:test";
import { fc } from "../base/properties.fixture.ts";
import { Redacted } from "../base/redacted.ts";
import { ALGORITHMS, type RndcAlgorithm } from "./algorithms.ts";
import { messageFrom } from "./control-message.ts";
import { framed } from "./frames.ts";
import type { RndcKey } from "./key.ts";
import { signedMessage, verifiedContent } from "./signature.ts";

/** The secret is the bytes 0, 1, 2 and so on, as many as the HMAC has. */
const keyOf = (algorithm: RndcAlgorithm): RndcKey => ({
  name: "vector",
  algorithm,
  secret: new Redacted(Uint8Array.from({ length: ALGORITHMS[algorithm].bytes }, (_, index) => index)),
});

/** The first message of `rndc status`, as BIND 9.18.49 sends it: a serial, the time, and no command yet. */
const recorded: readonly { readonly algorithm: RndcAlgorithm; readonly frame: string }[] = [
  {
    algorithm: "hmac-sha224",
    frame:
      "AAAA0gAAAAEFX2F1dGgCAAAAYwRoc2hhAQAAAFmiVTUxYkNLNnNRekZvdFYwbU1HYnl1RmY4T200MnBXYVE1SEkzcnc9PQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAVfY3RybAIAAAA8BF9zZXIBAAAACjI4ODQ5MTU5NzcEX3RpbQEAAAAKMTc5NDc4NTQzNwRfZXhwAQAAAAoxNzk0Nzg1NDk3BV9kYXRhAgAAAA4EdHlwZQEAAAAEbnVsbA==",
  },
  {
    algorithm: "hmac-sha256",
    frame:
      "AAAA0QAAAAEFX2F1dGgCAAAAYwRoc2hhAQAAAFmjdXQ5d0dZWCt3a2ZUdEU2UEpwQmRZK1Z5Y3NHSHZkNXJWRGVobnVUaFR3RT0AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAVfY3RybAIAAAA7BF9zZXIBAAAACTUyNzYwMjI3NgRfdGltAQAAAAoxNzk0Nzg1NDM3BF9leHABAAAACjE3OTQ3ODU0OTcFX2RhdGECAAAADgR0eXBlAQAAAARudWxs",
  },
  {
    algorithm: "hmac-sha384",
    frame:
      "AAAA0QAAAAEFX2F1dGgCAAAAYwRoc2hhAQAAAFmkMUluMjFkeWxXcFphTkJqbmpmdEc2K0JGR3RTUm1CKzdzdlRyTVp4UkF5dGxONEVJQXphOFg3VDJRZXNJZTFoYwAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAVfY3RybAIAAAA7BF9zZXIBAAAACTQ1MjQ2NjQ5OQRfdGltAQAAAAoxNzk0Nzg1NDM3BF9leHABAAAACjE3OTQ3ODU0OTcFX2RhdGECAAAADgR0eXBlAQAAAARudWxs",
  },
  {
    algorithm: "hmac-sha512",
    frame:
      "AAAA0gAAAAEFX2F1dGgCAAAAYwRoc2hhAQAAAFmlOG1yZFpKTnFzdnpjZkNVNWZkQmc4T3o3dWtTeklNR0FjWEllQXdvYmFIR3FnZjJOOTdzY1BOWTB6ZDlFQ3RlRGUzL3JYd3JLRTlybXdOZXV3MUJJWWc9PQVfY3RybAIAAAA8BF9zZXIBAAAACjExNzM3ODMyMjIEX3RpbQEAAAAKMTc5NDc4NTQzNwRfZXhwAQAAAAoxNzk0Nzg1NDk3BV9kYXRhAgAAAA4EdHlwZQEAAAAEbnVsbA==",
  },
];

/** The same with the algorithms that are not accepted. */
const weak = [
  {
    algorithm: "hmac-sha1",
    frame:
      "AAAA0gAAAAEFX2F1dGgCAAAAYwRoc2hhAQAAAFmhajNUaDhzSHZXaUdJM3hGM1dsOHBadndJTkFvPQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAVfY3RybAIAAAA8BF9zZXIBAAAACjEwNTkwNTg0MTQEX3RpbQEAAAAKMTc5NDc4NTQzNwRfZXhwAQAAAAoxNzk0Nzg1NDk3BV9kYXRhAgAAAA4EdHlwZQEAAAAEbnVsbA==",
  },
  {
    algorithm: "hmac-md5",
    frame:
      "AAAAjwAAAAEFX2F1dGgCAAAAIARobWQ1AQAAABYyRFpacWgzWDRjWnpVSHBWd3RYc1VBBV9jdHJsAgAAADwEX3NlcgEAAAAKMTA2NDU5MzAwNQRfdGltAQAAAAoxNzk0Nzg1NDM3BF9leHABAAAACjE3OTQ3ODU0OTcFX2RhdGECAAAADgR0eXBlAQAAAARudWxs",
  },
];

for (const { algorithm, frame } of recorded) {
  test(`reads and writes ${algorithm} byte for byte as rndc does`, () => {
    const bytes = Buffer.from(frame, "base64");
    const content = verifiedContent(bytes.subarray(4), keyOf(algorithm));
    assert.ok(content);
    assert.equal(messageFrom(content).data.type, "null");
    assert.deepEqual(framed(signedMessage(content, keyOf(algorithm))), bytes);
  });

  test(`any other bit and ${algorithm} does not accept it`, () => {
    const bytes = Buffer.from(frame, "base64").subarray(4);
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const changed = Buffer.from(bytes);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      assert.equal(verifiedContent(changed, keyOf(algorithm)), undefined, `bit ${bit}`);
    }
    for (let end = 0; end < bytes.length; end++) {
      assert.equal(verifiedContent(bytes.subarray(0, end), keyOf(algorithm)), undefined, `cut off at ${end}`);
    }
  });
}

for (const { algorithm, frame } of weak) {
  test(`does not accept ${algorithm}, whatever the key`, () => {
    const bytes = Buffer.from(frame, "base64").subarray(4);
    for (const strong of recorded) assert.equal(verifiedContent(bytes, keyOf(strong.algorithm)), undefined);
  });
}

test("the same secret under another algorithm is another key", () => {
  const secret = new Redacted(new Uint8Array(64));
  const message = signedMessage(new Map(), { name: "k", algorithm: "hmac-sha512", secret });
  assert.deepEqual(verifiedContent(message, { name: "k", algorithm: "hmac-sha512", secret }), new Map());
  assert.equal(verifiedContent(message, { name: "k", algorithm: "hmac-sha384", secret }), undefined);
});

test("no bytes that were not signed are accepted", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => {
      assert.equal(verifiedContent(bytes, keyOf("hmac-sha256")), undefined);
    }),
  );
});
