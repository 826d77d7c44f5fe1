import assert from "node:assert/strict";
import { test } from "node:test";
import { serviceBinding } from "../../../api/btp/service-binding.ts";
import { type CustomResource, definitionOf } from "../../../api/custom-resource.ts";
import { rndcKey } from "../../../api/keyturn/rndc-key.ts";
import { cfServiceInstance } from "../../../api/korifi/cf-service-instance.ts";
import type { KubeObject } from "../../../kube/objects.ts";
import { type Finding, seen, unseen } from "../finding.ts";
import { judgeDefinitions } from "./definitions.ts";

const ACCEPTED = [
  { type: "NamesAccepted", status: "True" },
  { type: "Established", status: "True" },
];

interface Change {
  readonly metadata?: object;
  readonly spec?: object;
  readonly status?: object;
}

/** As a server has it, once it serves the kind. */
function installed(resource: CustomResource = serviceBinding, change: Change = {}): KubeObject {
  const definition = definitionOf(resource);
  return {
    ...definition,
    metadata: { ...definition.metadata, uid: "1", ...change.metadata },
    spec: { ...definition.spec, conversion: { strategy: "None" }, ...change.spec },
    status: { conditions: ACCEPTED, storedVersions: [resource.version], ...change.status },
  };
}

/** With one field of the status more, or less. */
function reshaped(change: (status: Record<string, unknown>) => void): KubeObject {
  const definition = JSON.parse(JSON.stringify(installed())) as KubeObject & {
    readonly spec: { readonly versions: readonly [{ readonly schema: { readonly openAPIV3Schema: Schema } }] };
  };
  change(definition.spec.versions[0].schema.openAPIV3Schema.properties.status.properties);
  return definition;
}

interface Schema {
  readonly properties: { readonly status: { readonly properties: Record<string, unknown> } };
}

const FOREIGN = { labels: { "app.kubernetes.io/managed-by": "crossplane" } };

interface Case {
  readonly reason: string;
  readonly resource?: CustomResource;
  readonly definition: KubeObject | undefined;
  readonly level: Finding["level"];
  readonly message: RegExp;
}

const CASES: readonly Case[] = [
  { reason: "as this version has it", definition: installed(), level: "ok", message: /^2 definitions installed/ },
  { reason: "not there, though others are", definition: undefined, level: "problem", message: /^is not installed/ },
  {
    reason: "on its way out",
    definition: installed(serviceBinding, { metadata: { deletionTimestamp: "2026-11-15T12:00:00Z" } }),
    level: "problem",
    message: /being deleted/,
  },
  {
    reason: "names that are taken",
    definition: installed(serviceBinding, {
      status: { conditions: [{ type: "NamesAccepted", status: "False", message: '"sb" is already in use' }] },
    }),
    level: "problem",
    message: /another definition has its names: "sb" is already in use/,
  },
  {
    reason: "not established",
    definition: installed(serviceBinding, { status: { conditions: [] } }),
    level: "problem",
    message: /not served yet/,
  },
  {
    reason: "another version alone",
    definition: installed(serviceBinding, { spec: { versions: [{ name: "v1", served: true, storage: true }] } }),
    level: "problem",
    message: /does not serve v1alpha1/,
  },
  {
    reason: "another scope",
    definition: installed(serviceBinding, { spec: { scope: "Namespaced" } }),
    level: "problem",
    message: /is not cluster-scoped/,
  },
  {
    reason: "of a Crossplane package",
    definition: installed(serviceBinding, {
      metadata: {
        labels: {},
        ownerReferences: [{ apiVersion: "pkg.crossplane.io/v1", kind: "ProviderRevision", name: "btp-1", uid: "2" }],
      },
    }),
    level: "problem",
    message: /^belongs to the Crossplane package btp-1, not to Keyturn$/,
  },
  {
    reason: "of a Helm release",
    definition: installed(serviceBinding, {
      metadata: {
        labels: {},
        annotations: { "meta.helm.sh/release-name": "btp", "meta.helm.sh/release-namespace": "crossplane" },
      },
    }),
    level: "problem",
    message: /^belongs to the Helm release crossplane\/btp/,
  },
  {
    reason: "of nobody who says so",
    definition: installed(serviceBinding, { metadata: { labels: {} } }),
    level: "problem",
    message: /^belongs to somebody else/,
  },
  {
    reason: "of somebody else, with a schema that drops what we write",
    definition: { ...reshaped((status) => delete status.pending), metadata: { name: "x", ...FOREIGN } },
    level: "problem",
    message: /^belongs to crossplane, not to Keyturn; its schema has no status\.pending, so that/,
  },
  {
    reason: "Korifi's own kinds are left to Korifi",
    resource: cfServiceInstance,
    definition: installed(cfServiceInstance, { metadata: { labels: {} } }),
    level: "hint",
    message: /left to Korifi's own controllers/,
  },
  {
    reason: "a field of ours is not there",
    definition: reshaped((status) => delete status.history),
    level: "problem",
    message: /older version: it has no status\.history, and/,
  },
  {
    reason: "a field that we do not know",
    definition: reshaped((status) => {
      status.mood = { type: "string" };
    }),
    level: "hint",
    message: /newer version: it has status\.mood$/,
  },
  {
    reason: "the same fields in other words",
    definition: reshaped((status) => {
      status.sequence = { type: "integer", description: "How many." };
    }),
    level: "hint",
    message: /other rules or words/,
  },
  {
    reason: "objects of a former version",
    definition: installed(serviceBinding, {
      status: { conditions: ACCEPTED, storedVersions: ["v1alpha0", "v1alpha1"] },
    }),
    level: "hint",
    message: /still be stored as v1alpha0/,
  },
];

for (const { reason, resource = serviceBinding, definition, level, message } of CASES) {
  test(`a definition: ${reason}`, () => {
    const findings = judgeDefinitions([
      { resource, installed: seen(definition) },
      { resource: rndcKey, installed: seen(installed(rndcKey)) },
    ]);
    assert.equal(findings.length, 1, JSON.stringify(findings, null, 2));
    assert.equal(findings[0]?.level, level);
    assert.match(findings[0]?.message ?? "", message);
  });
}

test("where nothing is installed, that is said once, and so is what could not be looked at", () => {
  const all = [serviceBinding, rndcKey];
  const absent = judgeDefinitions(all.map((resource) => ({ resource, installed: seen(undefined) })));
  assert.deepEqual(
    absent.map(({ message }) => message),
    ["none of the 2 definitions is installed"],
  );
  const hidden = judgeDefinitions(all.map((resource) => ({ resource, installed: unseen("forbidden") })));
  assert.deepEqual(
    hidden.map(({ level, message }) => `${level} ${message}`),
    ["hint could not be looked at: forbidden"],
  );
});

test("controllers without kinds of their own need no definition", () => {
  assert.deepEqual(judgeDefinitions([]), []);
});
