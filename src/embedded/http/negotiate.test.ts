import assert from "node:assert/strict";
import { test } from "node:test";
import { StatusError } from "../status-error.ts";
import { discoveryOffer, negotiate, objectOffer, plainOffer, streamOffer } from "./negotiate.ts";

const asking = (accept: string | undefined, query = "", userAgent = "test/1") => ({
  method: "GET",
  path: "/",
  query: new URLSearchParams(query),
  headers: { "user-agent": userAgent, ...(accept !== undefined && { accept }) },
  signal: new AbortController().signal,
});

const TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io";
const cases = [
  { accept: undefined, offer: objectOffer, expected: "json", reason: "no Accept means JSON" },
  { accept: "*/*", offer: objectOffer, expected: "json", reason: "anything means JSON" },
  { accept: "application/yaml", offer: objectOffer, expected: "yaml", reason: "YAML where it is asked for" },
  {
    accept: "application/vnd.kubernetes.protobuf,application/json",
    offer: objectOffer,
    expected: "json",
    reason: "typed Go clients prefer protobuf and take JSON",
  },
  {
    accept: `${TABLE},application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json`,
    offer: objectOffer,
    expected: "json Table v1",
    reason: "what kubectl get sends",
  },
  {
    accept: "application/json;as=Table;v=v1beta1;g=meta.k8s.io",
    offer: objectOffer,
    expected: "json Table v1beta1",
    reason: "old kubectl",
  },
  {
    accept: "application/json;as=Table;v=v7;g=meta.k8s.io, application/json;q=0.5",
    offer: objectOffer,
    expected: "json",
    reason: "a version that is not known falls through to the next clause",
  },
  {
    accept: 'application/json;q=0.1, application/yaml;q=0.9;as="PartialObjectMetadata";g=meta.k8s.io;v=v1',
    offer: objectOffer,
    expected: "yaml PartialObjectMetadata v1",
    reason: "quality decides, quotes are taken off",
  },
  { accept: TABLE, offer: plainOffer, expected: 406, reason: "not every answer can be a table" },
  { accept: "application/yaml", offer: streamOffer, expected: 406, reason: "streams are JSON only" },
  { accept: "application/cbor", offer: objectOffer, expected: 406, reason: "CBOR is never offered" },
  { accept: "application/json;q=0", offer: objectOffer, expected: 406, reason: "a quality of 0 refuses" },
  {
    accept: "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
    offer: discoveryOffer,
    expected: "json APIGroupDiscoveryList v2",
    reason: "aggregated discovery",
  },
] as const;

for (const { accept, offer, expected, reason } of cases) {
  test(`negotiate ${accept}: ${reason}`, () => {
    if (expected === 406) {
      assert.throws(
        () => negotiate(asking(accept), offer),
        (error) => error instanceof StatusError && error.status === 406 && error.reason === "NotAcceptable",
      );
      return;
    }
    const { format, as, version } = negotiate(asking(accept), offer);
    assert.equal(as === undefined ? format : `${format} ${as} ${version}`, expected, reason);
  });
}

test("negotiate: people get indented JSON, programs do not", () => {
  assert.equal(negotiate(asking(undefined, "", "curl/8"), objectOffer).pretty, true);
  assert.equal(negotiate(asking(undefined, "pretty=false", "curl/8"), objectOffer).pretty, false);
  assert.equal(negotiate(asking(undefined, "pretty=true"), objectOffer).pretty, true);
  assert.equal(negotiate(asking(undefined), objectOffer).pretty, false);
});
