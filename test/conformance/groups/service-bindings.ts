import assert from "node:assert/strict";
import { rotatedKinds } from "../../../src/install/admission-policies.ts";
import { type BehaviourGroup, behaviour } from "../behaviour.ts";
import { at, refused } from "../expectations.ts";
import { OwnKind, warningOf } from "../own-kind.ts";
import type { Answer } from "../wire.ts";

const kind = new OwnKind(rotatedKinds.serviceBindings, {
  forProvider: { name: "my-sample", serviceInstanceId: "i-1" },
  writeConnectionSecretToRef: { namespace: "default", name: "my-sample" },
});

interface Refused {
  readonly why: string;
  readonly spec: object;
  readonly fields: readonly string[];
  readonly message: RegExp;
}

/** After a plain mistake of the schema the rules are not run, and the server says so under no field. */
const UNCHECKED = "<nil>";

const both = (ttl: string, frequency: string): object => ({ rotation: { ttl, frequency } });
const withWindow = (window: object): object => ({
  rotation: { ttl: "14d", frequency: "12d", windows: [{ schedule: "@daily", duration: "1h", ...window }] },
});
const withRevoke = (revocation: object): object => ({ rotation: { ttl: "14d", frequency: "12d", ...revocation } });
const noDuration = /must be a duration: numbers with units .* such as 14d, 336h or 1h30m/;
const outOfRange = /must be at least a microsecond \(1us\) and at most 100 years/;

const refusals: readonly Refused[] = [
  {
    why: "only a frequency: the remedy names ttl",
    spec: { rotation: { frequency: "12d" } },
    fields: ["spec.rotation.ttl"],
    message: /spec\.rotation\.ttl: Required value: say how long a key lives/,
  },
  {
    why: "only a ttl: the remedy names frequency",
    spec: { rotation: { ttl: "14d" } },
    fields: ["spec.rotation.frequency"],
    message: /spec\.rotation\.frequency: Required value: say at which age a key is replaced/,
  },
  {
    why: "neither of the two",
    spec: { rotation: {} },
    fields: ["spec.rotation.ttl", "spec.rotation.frequency"],
    message: /Required value/,
  },
  {
    why: "a ttl below the frequency, counted across units",
    spec: both("1w", "169h"),
    fields: ["spec.rotation.ttl"],
    message: /spec\.rotation\.ttl: Invalid value: must be at least the frequency/,
  },
  {
    why: "a ttl a millisecond below the frequency",
    spec: both("13d23h59m59s999ms", "2w"),
    fields: ["spec.rotation.ttl"],
    message: /must be at least the frequency/,
  },
  { why: "zero", spec: both("14d", "0s"), fields: ["spec.rotation.frequency"], message: outOfRange },
  {
    why: "zero in many words",
    spec: both("14d", "0h0m0.0s"),
    fields: ["spec.rotation.frequency"],
    message: outOfRange,
  },
  { why: "negative", spec: both("14d", "-12d"), fields: ["spec.rotation.frequency"], message: noDuration },
  { why: "words", spec: both("two weeks", "12d"), fields: ["spec.rotation.ttl"], message: noDuration },
  { why: "no unit", spec: both("14", "12d"), fields: ["spec.rotation.ttl"], message: noDuration },
  { why: "a unit that there is not", spec: both("1y", "12d"), fields: ["spec.rotation.ttl"], message: noDuration },
  { why: "a space", spec: both("14 d", "12d"), fields: ["spec.rotation.ttl"], message: noDuration },
  { why: "nothing", spec: both("", "12d"), fields: ["spec.rotation.ttl"], message: noDuration },
  { why: "101 years", spec: both("36890d", "12d"), fields: ["spec.rotation.ttl"], message: outOfRange },
  {
    why: "more than any number holds",
    spec: both(`${"9".repeat(60)}w`, "12d"),
    fields: ["spec.rotation.ttl"],
    message: outOfRange,
  },
  {
    why: "a text that goes on and on",
    spec: both(`${"1h".repeat(40)}`, "12d"),
    fields: ["spec.rotation.ttl", UNCHECKED],
    message: /Too long: may not be more than 64 bytes/,
  },
  {
    why: "a window without a time to open",
    spec: { rotation: { ttl: "14d", frequency: "12d", windows: [{ duration: "1h" }] } },
    fields: ["spec.rotation.windows[0].schedule", UNCHECKED],
    message: /schedule: Required value/,
  },
  {
    why: "a cron line of four fields",
    spec: withWindow({ schedule: "0 2 * *" }),
    fields: ["spec.rotation.windows[0].schedule"],
    message: /must be a cron line of five fields/,
  },
  ...["0 2 30 2 *", "0 2 31,30 FEB *", "*/5 0 31 11 *"].map((schedule) => ({
    why: `a day that the month does not have: ${schedule}`,
    spec: withWindow({ schedule }),
    fields: ["spec.rotation.windows[0].schedule"],
    message: /never opens: that month has no such day/,
  })),
  {
    why: "a window of seconds",
    spec: withWindow({ duration: "59s" }),
    fields: ["spec.rotation.windows[0].duration"],
    message: /must be from 1m to 366d/,
  },
  {
    why: "an offset for a time zone",
    spec: withWindow({ timeZone: "+01:00" }),
    fields: ["spec.rotation.windows[0].timeZone"],
    message: /must be the IANA name of a time zone/,
  },
  {
    why: "more windows than anybody reads",
    spec: {
      rotation: { ttl: "14d", frequency: "12d", windows: Array(17).fill({ schedule: "@daily", duration: "1h" }) },
    },
    fields: ["spec.rotation.windows", UNCHECKED],
    message: /Too many: 17: must have at most 16 items/,
  },
  {
    why: "another word for when a retired key goes",
    spec: withRevoke({ revoke: "Never" }),
    fields: ["spec.rotation.revoke", UNCHECKED],
    message: /Unsupported value: "Never": supported values: "AtDeletionDate", "AfterConsumers"/,
  },
  {
    why: "a hold of no length",
    spec: withRevoke({ revoke: "AfterConsumers", maxHold: "0s" }),
    fields: ["spec.rotation.maxHold"],
    message: outOfRange,
  },
  {
    why: "a Secret without a namespace",
    spec: { writeConnectionSecretToRef: { name: "s" } },
    fields: ["spec.writeConnectionSecretToRef.namespace", UNCHECKED],
    message: /Required value/,
  },
  {
    why: "a Secret that cannot be called so",
    spec: { writeConnectionSecretToRef: { name: "UPPER_x", namespace: "default" } },
    fields: ["spec.writeConnectionSecretToRef.name"],
    message: /should match/,
  },
  {
    why: "a namespace that cannot be called so",
    spec: { writeConnectionSecretToRef: { name: "s", namespace: "a.b" } },
    fields: ["spec.writeConnectionSecretToRef.namespace"],
    message: /should match/,
  },
  {
    why: "an unknown layout of the Secret",
    spec: { secretFormat: "pkcs12" },
    fields: ["spec.secretFormat", UNCHECKED],
    message: /Unsupported value: "pkcs12": supported values: "sap-kubernetes"/,
  },
  {
    why: "a key of the Secret that cannot be one",
    spec: { secretKey: "a b" },
    fields: ["spec.secretKey"],
    message: /should match/,
  },
  {
    why: "no name",
    spec: { forProvider: {} },
    fields: ["spec.forProvider.name", UNCHECKED],
    message: /spec\.forProvider\.name: Required value/,
  },
  {
    why: "no service instance, by whichever field",
    spec: { forProvider: { name: "x" } },
    fields: ["spec.forProvider.serviceInstanceId"],
    message:
      /Required value: say which service instance: serviceInstanceId, serviceInstanceRef or serviceInstanceSelector/,
  },
];

const accepted: readonly { readonly why: string; readonly spec: object }[] = [
  { why: "no rotation: a static key", spec: {} },
  { why: "the document's example", spec: both("336h", "228h") },
  { why: "one length in different units", spec: both("2w", "336h") },
  { why: "many units, and fractions", spec: both("1.5d", "1d11h59m59.5s") },
  { why: "either letter for micro", spec: both("1h1\u00b5s", "1h1\u03bcs") },
  { why: "a hundred years", spec: both("36525d", "1h") },
  { why: "keys that wait for consumers", spec: withRevoke({ revoke: "AfterConsumers", maxHold: "3d12h" }) },
  { why: "a day that some Februaries have", spec: withWindow({ schedule: "0 2 29 2 *" }) },
  { why: "a day that no February has, and every Monday in it", spec: withWindow({ schedule: "0 2 30 2 mon" }) },
  { why: "windows", spec: withWindow({ schedule: "0 2 * * sat,sun", timeZone: "America/Argentina/Buenos_Aires" }) },
  {
    why: "what upstream's manifests say and Keyturn does not need",
    spec: {
      forProvider: {
        name: "x",
        serviceInstanceId: "id",
        serviceInstanceRef: { name: "i", policy: { resolve: "Always" } },
        serviceInstanceSelector: { matchLabels: { a: "b" }, matchControllerRef: true },
        subaccountId: "s",
        subaccountRef: { name: "s" },
        subaccountSelector: { matchLabels: { a: "b" } },
        parameters: { deep: { er: [1] } },
      },
      publishConnectionDetailsTo: { name: "x", configRef: { name: "default" } },
    },
  },
];

const advice: readonly { readonly why: string; readonly spec: object; readonly warning: RegExp }[] = [
  {
    why: "no overlap is accepted, with a warning",
    spec: both("14d", "2w"),
    warning:
      /^299 - "Validation failed for ValidatingAdmissionPolicy 'advice\.[^']+' with binding 'advice\.[^']+': spec\.rotation\.ttl equals frequency: the old key ends when the new one begins, [^"]+"$/,
  },
  {
    why: "more than one retired key is accepted, with a warning that counts them",
    spec: both("24h", "1m"),
    warning: /: spec\.rotation\.ttl is more than twice the frequency: up to 1439 retired keys exist at a time; [^"]+"$/,
  },
  { why: "twice the frequency is one retired key: no warning", spec: both("2d", "24h"), warning: /^$/ },
  { why: "a static key gives no warning", spec: {}, warning: /^$/ },
  {
    why: "a hold that nothing comes of is warned of",
    spec: withRevoke({ maxHold: "3d" }),
    warning: /: spec\.rotation\.maxHold says nothing without revoke: AfterConsumers"$/,
  },
  {
    why: "a hold that keys wait for gives no warning",
    spec: withRevoke({ revoke: "AfterConsumers", maxHold: "3d" }),
    warning: /^$/,
  },
  {
    why: "a place that nothing is published to is warned of",
    spec: { publishConnectionDetailsTo: { name: "x" }, writeConnectionSecretToRef: undefined },
    warning: /: spec\.publishConnectionDetailsTo is ignored, so nothing is published; /,
  },
  {
    why: "no Secret at all is accepted, with a warning",
    spec: { writeConnectionSecretToRef: undefined },
    warning: /: spec\.writeConnectionSecretToRef names no Secret: the key is published nowhere, /,
  },
];

export const serviceBindings: BehaviourGroup = {
  name: "service bindings",
  behaviours: [
    ...refusals.map(({ why, spec, fields, message }) =>
      behaviour(`refused: ${why}`, async (world) => {
        await refused(kind.attempt(world, spec), { status: 422, code: "Invalid", message, fields });
      }),
    ),
    ...accepted.map(({ why, spec }) =>
      behaviour(`accepted as it is written: ${why}`, async (world) => {
        const made = await kind.attempt(world, spec);
        const { forProvider, ...rest } = { forProvider: { name: "my-sample" }, ...spec };
        for (const [field, value] of Object.entries(rest)) assert.deepEqual(at(made, "spec", field), value, field);
        assert.equal(at(made, "spec", "forProvider", "name"), forProvider.name);
      }),
    ),
    ...advice.map(({ why, spec, warning }) =>
      behaviour(`advice: ${why}`, async (world) => {
        const type = await kind.installAdvice(world, both("1d", "1d"));
        const answer = await kind.post(world, type, spec);
        assert.equal(answer.status, 201, answer.text);
        assert.match(warningOf(answer), warning);
      }),
    ),
    behaviour("advice: the annotation says what the field does not", async (world) => {
      const type = await kind.installAdvice(world, both("1d", "1d"));
      const path = `/apis/${type.group}/v1/${type.plural}?dryRun=All`;
      const draft = kind.draft(type, world.unique("b"), withRevoke({ maxHold: "3d" }));
      const annotations = { "keyturn.dev/revoke": "AfterConsumers" };
      const answer = await world.wire.post(path, { ...draft, metadata: { ...draft.metadata, annotations } });
      assert.equal(answer.status, 201, answer.text);
      assert.equal(warningOf(answer), "");
    }),
    behaviour("advice: given again only when the spec changes", async (world) => {
      const type = await kind.installAdvice(world, both("1d", "1d"));
      const name = world.unique("b");
      const path = `/apis/${type.group}/v1/${type.plural}/${name}`;
      const patch = (body: object): Promise<Answer> => world.wire.patch(path, "application/merge-patch+json", body);
      await world.kube.create(type, kind.draft(type, name, both("1d", "1d")));
      assert.equal(warningOf(await patch({ metadata: { annotations: { seen: "yes" } } })), "");
      assert.match(warningOf(await patch({ spec: { rotation: { ttl: "5d" } } })), /more than twice the frequency/);
    }),
  ],
};
