import assert from "node:assert/strict";
import { test } from "node:test";
import { bindResources } from "../api/bind/bind-resources.ts";
import { bind9Cluster } from "../api/bind/bind9-cluster.ts";
import { definitionOf } from "../api/custom-resource.ts";
import { silentLogger } from "../base/logger.ts";
import { ManualClock } from "../base/manual-clock.ts";
import { fc } from "../base/properties.fixture.ts";
import { seededRandom } from "../base/random.ts";
import { inlineSecret, instance, keyFile, SHORT_SECRET } from "../bind/bind-objects.fixture.ts";
import { resolveKey } from "../bind/precedence.ts";
import { EmbeddedServer } from "../embedded/embedded-server.ts";
import type { Json } from "../embedded/json.ts";
import { bindAdvicePolicies } from "./bind-advice.ts";

const CONTEXT = { fieldManager: "test" };

class Cluster {
  readonly server = new EmbeddedServer({ clock: new ManualClock(), random: seededRandom(1), logger: silentLogger });

  constructor() {
    for (const resource of bindResources) {
      this.create("apiextensions.k8s.io", "v1", "customresourcedefinitions", definitionOf(resource));
    }
    for (const object of bindAdvicePolicies()) {
      const plural =
        object.kind === "ValidatingAdmissionPolicy"
          ? "validatingadmissionpolicies"
          : "validatingadmissionpolicybindings";
      this.create("admissionregistration.k8s.io", "v1", plural, object);
    }
  }

  /** What is warned of. */
  create(group: string, version: string, plural: string, object: object, namespace?: string): readonly string[] {
    const kind = this.server.registry.find(group, version, plural);
    assert.ok(kind, plural);
    const body = JSON.parse(JSON.stringify(object)) as Json;
    const written = this.server.objects.create(kind, namespace, body, CONTEXT);
    return written.warnings ?? [];
  }
}

const cluster = new Cluster();

function advised(spec: object): readonly string[] {
  const { uid: _, ...metadata } = instance(spec).metadata;
  const object = { ...instance(spec), metadata: { ...metadata, namespace: "default", name: `i-${count++}` } };
  const warnings = cluster.create("bindy.firestoned.io", "v1beta1", "bind9instances", object, "default");
  return warnings.map((text) => text.replace(/^.*?with binding '[^']*': /, ""));
}
let count = 0;

const config = fc.record(
  {
    autoRotate: fc.boolean(),
    rotateAfter: fc.constantFrom("720h", "90d", "91d", "8760h"),
    overlap: fc.constantFrom("1h", "2h"),
    strategy: fc.constantFrom("Overlap", "Restart"),
    secretRef: fc.constant({ name: "theirs" }),
    secret: fc.constantFrom(inlineSecret(), inlineSecret("k", keyFile(SHORT_SECRET)), { metadata: { name: "k" } }),
  },
  { requiredKeys: [] },
);
const spec = fc.record(
  { rndcKeys: config, rndcKey: config, rndcSecretRef: fc.constant({ name: "old" }) },
  { requiredKeys: [] },
);

test("the API server warns of what the operator warns of, in the same words", () => {
  let warned = 0;
  fc.assert(
    fc.property(spec, (value) => {
      const { warnings, problems } = resolveKey({ instance: instance(value) });
      assert.deepEqual(problems, []);
      const said = advised(value);
      assert.deepEqual([...said].sort(), [...warnings].sort(), JSON.stringify(value));
      warned += said.length;
    }),
    { numRuns: 300 },
  );
  assert.ok(warned > 100, `only ${warned} warnings were given: is anything tried?`);
});

test("advice is given for the kinds that are installed", () => {
  assert.deepEqual(
    bindAdvicePolicies([bind9Cluster]).map(({ kind, metadata }) => `${kind} ${metadata.name}`),
    [
      "ValidatingAdmissionPolicy advice.bind9clusters.bindy.firestoned.io",
      "ValidatingAdmissionPolicyBinding advice.bind9clusters.bindy.firestoned.io",
    ],
  );
});
