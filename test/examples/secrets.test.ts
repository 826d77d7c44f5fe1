import assert from "node:assert/strict";
import { test } from "node:test";
import { recordOf } from "../../src/kube/record.ts";
import { examples } from "./manifests.ts";

/** What is, or is kept in, the Secret of its own name. */
const NAMESAKES = ["Secret", "CFServiceInstance", "CFServiceBinding"];

test("no example gives out, or writes, the Secret of another one", () => {
  const places = new Map<string, string>();
  for (const { place, objects } of examples()) {
    for (const { kind, metadata, spec } of objects) {
      const { name, namespace } = recordOf(recordOf(spec).writeConnectionSecretToRef);
      const published = name === undefined ? [] : [`${String(namespace)}/${String(name)}`];
      const secrets = NAMESAKES.includes(kind) ? [`${metadata.namespace}/${metadata.name}`] : published;
      for (const secret of secrets) {
        assert.equal(places.get(secret) ?? place, place, `${secret} is in both`);
        places.set(secret, place);
      }
    }
  }
  assert.ok(places.size > 3, [...places.keys()].join());
});
