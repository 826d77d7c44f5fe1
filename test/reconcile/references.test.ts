import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { bind9Cluster } from "../../src/api/bind/bind9-cluster.ts";
import { bind9Instance } from "../../src/api/bind/bind9-instance.ts";
import { customResources } from "../../src/api/custom-resources.ts";
import { rndcKey } from "../../src/api/keyturn/rndc-key.ts";
import { rotatingResource } from "../../src/api/keyturn/rotating-resource.ts";
import { cfServiceBinding } from "../../src/api/korifi/cf-service-binding.ts";
import { cfServiceInstance } from "../../src/api/korifi/cf-service-instance.ts";
import { fc } from "../../src/base/properties.fixture.ts";
import { LONG_SECRET } from "../../src/bind/bind-objects.fixture.ts";
import { apiVersionOf, type ResourceType } from "../../src/kube/objects.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { serviceBindingType } from "../../src/reconcile/korifi/korifi-sources.ts";
import { configMapType, deploymentType } from "../../src/restart/workload-kinds.ts";
import { certificates } from "./foreign-kinds.ts";
import { OTHER, OWN, ReferenceWorld } from "./reference-world.ts";

type Fields = Readonly<Record<string, unknown>>;

/** One kind with a namespace whose objects name others, and what it says of `name`: of a Secret and whatever else is called so. */
interface Loader {
  readonly type: ResourceType;
  readonly values?: Readonly<Record<string, string>>;
  fields(name: string): Fields;
}

const pod = (name: string): Fields => ({
  metadata: { labels: { app: name }, annotations: { "keyturn.dev/restartOnChange": "true" } },
  spec: {
    containers: [{ name: "main", image: "example.org/main:1", envFrom: [{ secretRef: { name } }] }],
    volumes: [{ name: "v", secret: { secretName: name } }],
  },
});
const RNDC = { "key-name": "k", algorithm: "hmac-sha256", secret: LONG_SECRET };
const service = { apiVersion: apiVersionOf(cfServiceInstance), kind: cfServiceInstance.kind };

const loaders: readonly Loader[] = [
  {
    type: rndcKey,
    values: RNDC,
    fields: (name) => ({
      spec: {
        secret: { name: `${name}-new` },
        keyName: "k",
        algorithm: "hmac-sha256",
        strategy: "Overlap",
        instances: [name],
        initialKey: { name },
        rotation: { frequency: "720h", ttl: "722h" },
      },
    }),
  },
  {
    type: bind9Instance,
    values: RNDC,
    fields: (name) => ({
      spec: { clusterRef: name, role: "primary", replicas: 1, rndcKeys: { secretRef: { name } } },
    }),
  },
  {
    type: bind9Cluster,
    values: RNDC,
    fields: (name) => ({
      spec: { global: { rndcKeys: { secretRef: { name } } }, primary: { replicas: 1 }, secondary: { replicas: 0 } },
    }),
  },
  {
    type: cfServiceInstance,
    values: { credentials: '{"user":"me"}' },
    fields: (name) => ({ spec: { type: "user-provided", displayName: name, secretName: name } }),
  },
  {
    type: cfServiceBinding,
    values: { credentials: '{"user":"me"}' },
    fields: (name) => ({
      spec: { type: "app", service: { ...service, name: `${name}-service` }, appRef: { name } },
      status: { binding: { name }, credentials: { name }, mountSecretRef: { name }, envSecretRef: { name } },
    }),
  },
  {
    type: rotatingResource,
    fields: (name) => ({
      spec: {
        rotationClassName: "certificates",
        serviceAccountName: "rotator",
        template: {
          apiVersion: "cert-manager.io/v1",
          kind: "Certificate",
          metadata: { labels: { app: name } },
          spec: { secretName: "$(name)-tls", issuerRef: { name, kind: "Issuer" } },
        },
        childSecret: { name: "$(name)-tls" },
        rotation: { frequency: "720h", ttl: "1080h" },
        writeConnectionSecretToRef: { name: `${name}-stable` },
      },
    }),
  },
  {
    type: deploymentType,
    values: { password: "mine" },
    fields: (name) => ({
      annotations: { "keyturn.dev/restart-for": name, "keyturn.dev/restart-again-for": `${name}=2025-11-05T13:00:00Z` },
      spec: { selector: { matchLabels: { app: name } }, template: pod(name) },
    }),
  },
];

/** What is made from them. */
const PRODUCTS = [secretType, configMapType, certificates, serviceBindingType];

let world: ReferenceWorld;
before(async () => {
  world = await ReferenceWorld.begin();
});
after(() => world.stop());

test("every kind with a namespace is here", () => {
  const namespaced = customResources.filter((resource) => resource.namespaced).map(({ kind }) => kind);
  const tried = new Set(loaders.map(({ type }) => type.kind));
  assert.deepEqual(
    namespaced.filter((kind) => !tried.has(kind)),
    [],
  );
});

/** What people may write who mean something of another namespace, or something that is no name at all. */
const TEXTS: readonly ((name: string) => string)[] = [
  (name) => `${OTHER}/${name}`,
  (name) => `../${OTHER}/${name}`,
  (name) => `../../${OTHER}/secrets/${name}`,
  (name) => `${OTHER}%2F${name}`,
  () => OTHER,
  () => "..",
  () => ".",
];

type Change =
  | { readonly what: "namespace"; readonly at: number }
  | { readonly what: "text"; readonly at: number; readonly text: (name: string) => string };

const at = fc.nat({ max: 40 });
const change: fc.Arbitrary<Change> = fc.oneof(
  fc.record({ what: fc.constant("namespace" as const), at }),
  fc.record({ what: fc.constant("text" as const), at, text: fc.constantFrom(...TEXTS) }),
);

/** A namespace beside whatever is named, or other words in the place of a text: somewhere in the tree. */
function changed(
  fields: Fields,
  { changes, name }: { readonly changes: readonly Change[]; readonly name: string },
): Fields {
  const copy = structuredClone(fields) as Record<string, unknown>;
  for (const one of changes) {
    const places = placesIn(copy).filter(({ value }) => (one.what === "text") === (typeof value === "string"));
    const place = places[one.at % places.length];
    if (!place) continue;
    if (one.what === "text") place.holder[place.key] = one.text(name);
    else (place.value as Record<string, unknown>).namespace = OTHER;
  }
  return copy;
}

interface Place {
  readonly holder: Record<string, unknown>;
  readonly key: string;
  readonly value: unknown;
}

/** Texts, and objects that something could stand in. */
function placesIn(holder: Record<string, unknown>): readonly Place[] {
  return Object.entries(holder).flatMap(([key, value]) => {
    const place = { holder, key, value };
    if (typeof value !== "object" || value === null) return typeof value === "string" ? [place] : [];
    const inside = placesIn(value as Record<string, unknown>);
    return Array.isArray(value) ? inside : [place, ...inside];
  });
}

let made = 0;

/** Puts an object there, and lets whoever reads it do so; says what was asked for meanwhile. */
async function readBy(loader: Loader, changes: readonly Change[]): Promise<readonly (readonly string[])[]> {
  made++;
  const name = `victim-${made}`;
  await world.putSecrets(name, loader.values ?? { password: "mine" });
  if (loader.type === bind9Instance) await world.put(bind9Cluster, name, { spec: { primary: { replicas: 0 } } });
  if (loader.type === cfServiceBinding)
    await world.put(cfServiceInstance, `${name}-service`, { spec: { type: "user-provided", secretName: name } });
  await world.pass(1_000);
  world.asked();
  const { annotations, ...fields } = changed(loader.fields(name), { changes, name });
  const isThere = await world.tryToPut(loader.type, `user-${made}`, { ...fields, annotations });
  await world.pass(10_000);
  const asked = world.asked();
  if (isThere) await world.kube.delete(loader.type, { namespace: OWN, name: `user-${made}` });
  return asked;
}

const isElsewhere = (path: readonly string[]): boolean =>
  path[path.indexOf("namespaces") + 1] === OTHER || path.some((part) => part === "." || part === "..");

for (const loader of loaders) {
  const { kind } = loader.type;

  test(`${kind}: what it names is looked for in its own namespace`, async () => {
    const paths = await readBy(loader, []);
    const own = paths.filter((path) => path[path.indexOf("namespaces") + 1] === OWN).map((path) => path.at(-1) ?? "");
    assert.ok(
      own.some((name) => name.startsWith(`victim-${made}`)),
      own.join(),
    );
    assert.deepEqual(paths.filter(isElsewhere), []);
  });

  test(`${kind}: whatever it says, nothing of another namespace is read, written or shown`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 4 }), async (changes) => {
        const paths = await readBy(loader, changes);
        assert.deepEqual(paths.filter(isElsewhere), []);
        assert.deepEqual(await world.tainted([...loaders.map(({ type }) => type), ...PRODUCTS]), []);
      }),
      { numRuns: 30 },
    );
  });
}
