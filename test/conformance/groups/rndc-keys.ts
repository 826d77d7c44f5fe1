import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { rndcKey } from "../../../src/api/keyturn/rndc-key.ts";
import { instanceObjects } from "../../../src/bind/instance-objects.ts";
import type { KeyMount } from "../../../src/bind/named-conf.ts";
import { bindAdviceFor, bindAdvised } from "../../../src/install/bind-advice.ts";
import { type BehaviourGroup, behaviour } from "../behaviour.ts";
import { at } from "../expectations.ts";
import { configMaps, deployments, services } from "../kinds.ts";
import { OwnKind, type RefusedSpec, warningOf } from "../own-kind.ts";

/** What the schemas of the kinds for RNDC keys refuse, and what they only warn of; the operator says all of it again. */
const ownKind = (advised: (typeof bindAdvised)[keyof typeof bindAdvised], usual: object): OwnKind =>
  new OwnKind({ resource: advised.resource, rotation: "" }, usual, (resource) =>
    bindAdviceFor({ ...advised, resource }),
  );

const providers = ownKind(bindAdvised.providers, {});
const clusters = ownKind(bindAdvised.clusters, {});
const instances = ownKind(bindAdvised.instances, { clusterRef: "dns", role: "primary" });
const keys = new OwnKind(
  { resource: rndcKey, rotation: "" },
  { secret: { name: "k" }, keyName: "op", strategy: "Overlap", instances: ["dns-primary-0"] },
);

const SHORT = "dGhpc2lzYXNlY3JldGtleQ==";
const LONG = Buffer.alloc(32, "k").toString("base64");
const keyFile = (secret: string, algorithm = "hmac-sha256"): string =>
  `// ours\nkey "op" {\n  algorithm ${algorithm};\n  secret "${secret}";\n};\n`;
const global = (rndcKeys: object): object => ({ global: { rndcKeys } });
const inline = (secret: object): object => global({ secret: { metadata: { name: "k" }, ...secret } });
const file = (text: string): object => inline({ stringData: { "rndc.key": text } });
const metadata = (fields: object): object => inline({ metadata: { name: "k", ...fields } });

const DURATION = /must be a duration: numbers with units .* such as 14d, 336h or 1h30m/;
const AT = "global.rndcKeys";

const ofCluster: readonly RefusedSpec[] = [
  ["a rotateAfter that is none", global({ rotateAfter: "soon" }), `${AT}.rotateAfter`, DURATION],
  ["a rotateAfter above a year", global({ rotateAfter: "366d" }), `${AT}.rotateAfter`, /at most 8760h/],
  ["a rotateAfter of nothing", global({ rotateAfter: "0s" }), `${AT}.rotateAfter`, /must be longer than nothing/],
  ["the port of commands", { port: 9953 }, "port", /another one than that of commands/],
  [
    "an overlap above rotateAfter",
    global({ rotateAfter: "1d", overlap: "25h" }),
    `${AT}.overlap`,
    /at most rotateAfter/,
  ],
  ["a delay of a month", global({ delay: "30d" }), `${AT}.delay`, /at most 168h/],
  ["a Secret that none can be called", global({ secretRef: { name: "a/b" } }), `${AT}.secretRef.name`, /should match/],
  [
    "a reserved annotation",
    metadata({ annotations: { "bindy.firestoned.io/created-at": "2020-01-01T00:00:00Z" } }),
    `${AT}.secret.metadata.annotations`,
    /the operator writes annotations under bindy\.firestoned\.io and keyturn\.dev itself: leave them out/,
  ],
  [
    "an annotation of ours",
    metadata({ annotations: { "keyturn.dev/key-id": "1" } }),
    `${AT}.secret.metadata.annotations`,
    /leave them out/,
  ],
  [
    "a label that says who looks after it",
    metadata({ labels: { "app.kubernetes.io/managed-by": "me" } }),
    `${AT}.secret.metadata.labels`,
    /the operator writes labels/,
  ],
  ["a file that is none", file("no key"), `${AT}.secret.stringData`, /rndc\.key must be exactly one key/],
  ["a file of two keys", file(keyFile(LONG) + keyFile(LONG)), `${AT}.secret.stringData`, /exactly one key/],
  ["a weak algorithm", file(keyFile(LONG, "hmac-md5")), `${AT}.secret.stringData`, /must be one of hmac-sha224/],
  [
    "a key of 104 bits",
    file(keyFile(Buffer.alloc(13).toString("base64"))),
    `${AT}.secret.stringData`,
    /base64 of at least 112 bits/,
  ],
].map(([why, spec, field, message]) => ({ why, spec, field: `spec.${field}`, message }) as RefusedSpec);

/** After a plain mistake of the schema the rules are not run, and the server says so under no field. */
const UNCHECKED = "<nil>";

interface Mistake {
  readonly why: string;
  readonly kind: OwnKind;
  readonly spec: object;
  readonly field: string;
  readonly message: RegExp;
}

const mistakes: readonly Mistake[] = [
  {
    why: "a weak algorithm for what is generated",
    kind: clusters,
    spec: global({ algorithm: "hmac-sha1" }),
    field: `spec.${AT}.algorithm`,
    message: /Unsupported value: "hmac-sha1": supported values: "hmac-sha224"/,
  },
  {
    why: "a token as an inline Secret",
    kind: clusters,
    spec: inline({ type: "kubernetes.io/service-account-token" }),
    field: `spec.${AT}.secret.type`,
    message: /supported values: "Opaque"/,
  },
  {
    why: "an inline Secret without a name",
    kind: clusters,
    spec: global({ secret: { metadata: {} } }),
    field: `spec.${AT}.secret.metadata.name`,
    message: /Required value/,
  },
  {
    why: "an instance of no role",
    kind: instances,
    spec: { role: "tertiary" },
    field: "spec.role",
    message: /supported values: "primary", "secondary"/,
  },
  {
    why: "a key of no strategy",
    kind: keys,
    spec: { strategy: "Both" },
    field: "spec.strategy",
    message: /supported values: "Overlap", "Restart"/,
  },
];

const manifestOf = (name: string): { readonly kind: string; readonly spec: object } =>
  parse(readFileSync(new URL(`../../bind/manifests/${name}.yaml`, import.meta.url), "utf8"));

const manifests = [
  "1-auto-rotation-with-defaults",
  "2-user-managed-secret",
  "3-inline-secret-with-rotation",
  "4-different-keys-for-primary-and-secondary",
];

const SHARED = { secretRef: { name: "theirs" } };
const advice: readonly {
  readonly why: string;
  readonly kind: OwnKind;
  readonly spec: object;
  readonly warning: RegExp;
}[] = [
  { why: "nothing to say about nothing", kind: clusters, spec: {}, warning: /^$/ },
  {
    why: "nothing to say about 90 days",
    kind: providers,
    spec: global({ autoRotate: true, rotateAfter: "90d" }),
    warning: /^$/,
  },
  {
    why: "more than 90 days",
    kind: providers,
    spec: global({ autoRotate: true, rotateAfter: "91d" }),
    warning: /: spec\.global\.rndcKeys\.rotateAfter is longer than 90 days \(2160h\)/,
  },
  {
    why: "the document's migration: autoRotate beside secretRef",
    kind: providers,
    spec: global({ autoRotate: true, rotateAfter: "720h", ...SHARED }),
    warning: /^299 - "[^"]*: spec\.global\.rndcKeys\.autoRotate says nothing beside secretRef: [^"]+"$/,
  },
  {
    why: "the deprecated word, at a role",
    kind: clusters,
    spec: { primary: { rndcSecretRef: { name: "old" } } },
    warning: /: spec\.primary\.rndcSecretRef is deprecated: say rndcKeys\.secretRef"$/,
  },
  {
    why: "two words for one thing",
    kind: instances,
    spec: { rndcKeys: {}, rndcKey: SHARED },
    warning: /^299 - "[^"]*: spec\.rndcKey is ignored: rndcKeys goes before it"$/,
  },
  {
    why: "the other word, in a role",
    kind: clusters,
    spec: { secondary: { rndcKey: { rotateAfter: "720h" } } },
    warning: /: spec\.secondary\.rndcKey\.rotateAfter says nothing without autoRotate: true/,
  },
  {
    why: "a key that is shorter than its HMAC",
    kind: clusters,
    spec: file(keyFile(SHORT)),
    warning: /: spec\.global\.rndcKeys\.secret has a key that is shorter than its HMAC/,
  },
  { why: "nothing to say about a key of full length", kind: clusters, spec: file(keyFile(LONG)), warning: /^$/ },
];

const surprising = global({ autoRotate: true, ...SHARED });
const surprisingInstance = { rndcSecretRef: { name: "old" } };

export const rndcKeys: BehaviourGroup = {
  name: "rndc keys",
  behaviours: [
    ...clusters.refusals(ofCluster),
    ...mistakes.map(({ why, kind, spec, field, message }) =>
      behaviour(`refused: ${why}`, async (world) => {
        await kind.refuses(world, { spec, fields: [field, UNCHECKED], message });
      }),
    ),
    ...manifests.map((name) =>
      behaviour(`accepted as it is written: the document's manifest ${name}`, async (world) => {
        const { kind, spec } = manifestOf(name);
        const made = await (kind === "Bind9Cluster" ? clusters : providers).attempt(world, spec);
        assert.deepEqual(at(made, "spec"), spec);
      }),
    ),
    behaviour("accepted: a key of the document's own length, in any order and with comments", async (world) => {
      await clusters.attempt(world, file(`/* a **/ KEY op { secret "${SHORT}"; # b\n algorithm HMAC-SHA256; }; // c`));
      await clusters.attempt(world, inline({ data: { "rndc.key": Buffer.from("x").toString("base64") } }));
    }),
    behaviour("accepted: all settings at every level, and what is said is kept", async (world) => {
      const setting = {
        autoRotate: true,
        rotateAfter: "30d",
        algorithm: "hmac-sha512",
        strategy: "Overlap",
        overlap: "2d",
        windows: [{ schedule: "0 2 * * sat", duration: "4h", timeZone: "Europe/Berlin" }],
        delay: "1h",
      };
      const words = {
        rndcKeys: setting,
        rndcKey: setting,
        rndcSecretRef: { name: "s", keyNameKey: "n", secretKey: "k" },
      };
      const image = { image: "bind9:9.18", imagePullPolicy: "Always", imagePullSecrets: ["pull"] };
      const whole = { image, port: 5353, global: words, primary: { replicas: 1, ...words }, secondary: words };
      assert.deepEqual(at(await clusters.attempt(world, whole), "spec"), whole);
      const provider = { namespace: "dns", ...whole };
      assert.deepEqual(at(await providers.attempt(world, provider), "spec"), provider);
      const instance = {
        clusterRef: "dns",
        role: "secondary",
        replicas: 2,
        recursion: true,
        image,
        port: 53,
        ...words,
      };
      assert.deepEqual(at(await instances.attempt(world, instance), "spec"), instance);
    }),
    behaviour(
      "accepted: what becomes of an instance, with nothing in it that the server does not know",
      async (world) => {
        const namespace = await world.namespace();
        const metadata = { name: "dns-primary-0", namespace, uid: "7c9f1c1e-5d7c-4a54-9d39-1f6f2f0c9f6e" };
        const instance = { apiVersion: "example.org/v1", kind: "Bind9Instance", metadata, spec: { role: "primary" } };
        const types = new Map([configMaps, deployments, services].map((type) => [type.kind, type]));
        const mounts: readonly KeyMount[] = [
          { kind: "ring", secretName: "k", ringName: "k-ring" },
          { kind: "file", secretName: "k", keyName: "op" },
        ];
        for (const object of mounts.flatMap((mount) =>
          instanceObjects({ instance, cluster: undefined, keys: mount }),
        )) {
          const type = types.get(object.kind);
          assert.ok(type);
          const { group, version, plural } = type;
          const root = group === "" ? "/api/v1" : `/apis/${group}/${version}`;
          const path = `${root}/namespaces/${namespace}/${plural}?dryRun=All&fieldValidation=Strict`;
          const answer = await world.wire.post(path, object);
          assert.equal(answer.status, 201, answer.text);
        }
      },
    ),
    behaviour("a refusal says nothing of the key that it is about", async (world) => {
      const canary = Buffer.from("canary-canary").toString("base64");
      for (const text of [keyFile(canary), keyFile(LONG.replace(/^..../, "Y2Fu"), "hmac-md5"), `${keyFile(canary)}x`]) {
        const error = await clusters.attempt(world, file(text)).catch((reason: unknown) => reason);
        assert.ok(error instanceof Error);
        assert.doesNotMatch(error.message, /Y2Fu/);
      }
    }),
    behaviour("warned of: what is allowed about a key and will surprise", async (world) => {
      const types = new Map([
        [providers, await providers.installAdvice(world, surprising)],
        [clusters, await clusters.installAdvice(world, surprising)],
        [instances, await instances.installAdvice(world, surprisingInstance)],
      ]);
      for (const { why, kind, spec, warning } of advice) {
        const type = types.get(kind);
        assert.ok(type);
        assert.match(warningOf(await kind.post(world, type, spec)), warning, why);
      }
    }),
  ],
};
