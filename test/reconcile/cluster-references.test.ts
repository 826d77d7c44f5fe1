import assert from "node:assert/strict";
import { test } from "node:test";
import { ManualClock } from "../../src/base/manual-clock.ts";
import { fc } from "../../src/base/properties.fixture.ts";
import { NotFound } from "../../src/kube/errors.ts";
import { apiVersionOf, type KubeObject, type ObjectRef, type ResourceType } from "../../src/kube/objects.ts";
import type { Kube } from "../../src/kube/port.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { createBtpFamily } from "../../src/reconcile/btp/btp-family.ts";
import { createCloudFoundryFamily } from "../../src/reconcile/cloudfoundry/cloud-foundry-family.ts";
import type { ManagedFamily } from "../../src/reconcile/managed/family.ts";
import { FamilySource } from "../../src/reconcile/managed/family-source.ts";
import { MemoryConnection } from "../../src/reconcile/managed/memory-connection.fixture.ts";
import { ReferenceProblem, SpecProblem } from "../../src/reconcile/managed/spec-problem.ts";
import { FINGERPRINTER } from "./managed-world.ts";

type Fields = Readonly<Record<string, unknown>>;

/** A Secret, as a reference names it; what is missing is not made up. */
type Named = { readonly namespace?: string; readonly name?: string };

interface Asked {
  readonly family: ManagedFamily;
  /** The spec of a ProviderConfig with these Secrets, and `forProvider` of a resource with those. */
  config(secrets: readonly [Named, Named]): Fields;
  forProvider(secrets: readonly [Named, Named]): Fields;
  /** Which of them are asked for: where one goes before the other, it alone. */
  readonly counted: { readonly config: 1 | 2; readonly forProvider: 1 | 2 };
}

const families: readonly Asked[] = [
  {
    family: createBtpFamily(),
    config: ([first]) => ({ serviceManagerSecret: { secretRef: first } }),
    forProvider: (secrets) => ({ parameterSecretRefs: secrets.map((one) => ({ ...one, key: "all" })) }),
    counted: { config: 1, forProvider: 2 },
  },
  {
    family: createCloudFoundryFamily(),
    config: ([first, second]) => ({ credentials: { secretRef: first }, endpoint: { secretRef: second } }),
    forProvider: ([first]) => ({ paramsSecretRef: first }),
    counted: { config: 2, forProvider: 1 },
  },
];

const word = fc.constantFrom("shop", "other", "kube-system", "keys", "a/b", "..", "default");
const named: fc.Arbitrary<Named> = fc.record({ namespace: word, name: word }, { requiredKeys: [] });
const pair = fc.tuple(named, named);

/** Has every Secret there is, and writes down which were asked for. */
function recording(config: KubeObject): { readonly kube: Kube; readonly asked: ObjectRef[] } {
  const asked: ObjectRef[] = [];
  const read = async (type: ResourceType, ref: ObjectRef): Promise<KubeObject> => {
    if (type.kind === config.kind) return config;
    if (type !== secretType) throw new NotFound(`there is no ${type.kind}`);
    asked.push({ namespace: ref.namespace ?? "(none)", name: ref.name });
    const data = { all: Buffer.from("{}").toString("base64") };
    return { apiVersion: "v1", kind: "Secret", metadata: { ...ref, resourceVersion: "1" }, data };
  };
  // All that is asked of it.
  const kube = { get: read, patch: async (type: ResourceType, ref: ObjectRef) => read(type, ref) } as unknown as Kube;
  return { kube, asked };
}

const addressesOf = (secrets: readonly Named[]): ReadonlySet<string> =>
  new Set(secrets.map(({ namespace, name }) => `${namespace}|${name}`));

const isWhole = ({ namespace, name }: Named): boolean => namespace !== undefined && name !== undefined;

for (const { family, config, forProvider, counted } of families) {
  const { type } = family.kind;

  test(`${type.kind}: of Secrets, exactly those are read that are named, with their namespaces`, async () => {
    await fc.assert(
      fc.asyncProperty(pair, pair, async (configured, given) => {
        const { configType } = family;
        const metadata = { name: "default", resourceVersion: "1" };
        const object = {
          apiVersion: apiVersionOf(configType),
          kind: configType.kind,
          metadata,
          spec: config(configured),
        };
        const { kube, asked } = recording(object);
        const opened = { ...family, open: () => new MemoryConnection() };
        const clock = new ManualClock();
        const http = { send: () => Promise.reject(new Error("nobody is asked")) };
        const source = new FamilySource(opened, { kube, clock, http, fingerprinter: FINGERPRINTER });
        const spec = { forProvider: { [family.instances.id]: "i-1", name: "k", ...forProvider(given) } };
        const resource = { apiVersion: apiVersionOf(type), kind: type.kind, metadata: { name: "r" }, spec };
        const wanted = [...configured.slice(0, counted.config), ...given.slice(0, counted.forProvider)];
        const signal = new AbortController().signal;
        const managed = { providerConfig: "default", baseName: "k" } as Parameters<FamilySource["resolve"]>[1];
        const refusal = await source.resolve(resource, managed, signal).then(
          () => undefined,
          (error: unknown) => error,
        );
        const read = addressesOf(asked);
        const allowed = addressesOf(wanted.filter(isWhole));
        assert.deepEqual(
          [...read].filter((address) => !allowed.has(address)),
          [],
          "nothing is read that is not named in full",
        );
        if (wanted.every(isWhole)) {
          assert.equal(refusal, undefined);
          assert.deepEqual([...read].sort(), [...allowed].sort());
        } else {
          assert.ok(refusal instanceof SpecProblem || refusal instanceof ReferenceProblem, String(refusal));
        }
      }),
    );
  });
}
