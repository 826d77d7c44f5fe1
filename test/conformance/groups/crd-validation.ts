import assert from "node:assert/strict";
import { eventually } from "../../support/eventually.ts";
import { type BehaviourGroup, behaviour } from "../behaviour.ts";
import { at, refused } from "../expectations.ts";
import { customResourceDefinitions } from "../kinds.ts";
import { kindManifest } from "../manifests.ts";
import { isGone } from "../watching.ts";
import { makeWidget, widgetDraft, widgets } from "../widgets.ts";

interface RefusedSpec {
  readonly why: string;
  readonly spec: unknown;
  /** Absent where the server names no field of the object. */
  readonly field?: string;
  readonly message: RegExp;
}

const refusedSpecs: readonly RefusedSpec[] = [
  {
    why: "a missing required field",
    spec: { owner: undefined },
    field: "spec.owner",
    message: /spec\.owner: Required value/,
  },
  {
    why: "a string for an integer",
    spec: { replicas: "3" },
    field: "spec.replicas",
    message: /spec\.replicas: Invalid value: "string": spec\.replicas in body must be of type integer: "string"/,
  },
  {
    why: "a fraction for an integer",
    spec: { replicas: 1.5 },
    message: /must be of type integer: "number"/,
  },
  {
    why: "a number above the maximum",
    spec: { replicas: 11 },
    field: "spec.replicas",
    message: /spec\.replicas: Invalid value: 11: spec\.replicas in body should be less than or equal to 10/,
  },
  {
    why: "a number below the minimum",
    spec: { replicas: -1 },
    field: "spec.replicas",
    message: /spec\.replicas in body should be greater than or equal to 0/,
  },
  {
    why: "a number at an exclusive minimum",
    spec: { ratio: 0 },
    field: "spec.ratio",
    message: /spec\.ratio in body should be greater than 0/,
  },
  {
    why: "a number that is no multiple",
    spec: { ratio: 0.75 },
    field: "spec.ratio",
    message: /spec\.ratio in body should be a multiple of 0\.5/,
  },
  {
    why: "a value outside the enum",
    spec: { size: "medium" },
    field: "spec.size",
    message: /spec\.size: Unsupported value: "medium": supported values: "small", "large"/,
  },
  {
    why: "a string that is too long",
    spec: { owner: "abcdefghijk" },
    field: "spec.owner",
    message: /spec\.owner: Too long: may not be more than 10 bytes/,
  },
  {
    why: "a string against the pattern",
    spec: { owner: "Team1" },
    field: "spec.owner",
    message: /spec\.owner: Invalid value: "Team1": spec\.owner in body should match '\^\[a-z\]\+\$'/,
  },
  {
    why: "a time that is none",
    spec: { startAt: "yesterday" },
    field: "spec.startAt",
    message: /spec\.startAt in body must be of type date-time: "yesterday"/,
  },
  {
    why: "too many items",
    spec: { tags: ["a", "b", "c", "d"] },
    field: "spec.tags",
    message: /spec\.tags: Too many: 4: must have at most 3 items/,
  },
  {
    why: "a set with doubles",
    spec: { tags: ["a", "a"] },
    field: "spec.tags[1]",
    message: /spec\.tags\[1\]: Duplicate value: "a"/,
  },
  {
    why: "a map list with a key twice",
    spec: { rules: [{ name: "x" }, { name: "x" }] },
    field: "spec.rules[1]",
    message: /spec\.rules\[1\]: Duplicate value: /,
  },
  {
    why: "an item without its required field",
    spec: { rules: [{ weight: 1 }] },
    field: "spec.rules[0].name",
    message: /spec\.rules\[0\]\.name: Required value/,
  },
  {
    why: "too few properties",
    spec: { settings: {} },
    field: "spec.settings",
    message: /spec\.settings in body should have at least 1 properties/,
  },
  {
    why: "an additional property that is too long",
    spec: { settings: { key: "toolong" } },
    field: "spec.settings.key",
    message: /spec\.settings\.key: Too long: may not be more than 5 bytes/,
  },
  {
    why: "a boolean where int-or-string is asked for",
    spec: { port: true },
    field: "spec.port",
    message: /spec\.port in body must be of type integer,string: "boolean"/,
  },
  {
    why: "an object for a boolean",
    spec: { enabled: { not: "a boolean" } },
    field: "spec.enabled",
    message: /spec\.enabled in body must be of type boolean: "object"/,
  },
  {
    why: "both sides of a oneOf",
    spec: { choice: { a: "1", b: "2" } },
    message: /"spec\.choice" must validate one and only one schema \(oneOf\)\. Found 2 valid alternatives/,
  },
];

interface RefusedDefinition {
  readonly why: string;
  readonly schema: Readonly<Record<string, unknown>>;
  readonly message: RegExp;
}

const text = { type: "string" };

const refusedDefinitions: readonly RefusedDefinition[] = [
  {
    why: "a node without a type",
    schema: { type: "object", properties: { spec: { properties: { a: { type: "string" } } } } },
    message: /properties\[spec\]\.type: Required value: must not be empty for specified object fields/,
  },
  {
    why: "a default that breaks the schema",
    schema: {
      type: "object",
      properties: { spec: { type: "object", properties: { a: { type: "integer", default: "x" } } } },
    },
    message: /properties\[a\]\.default: Invalid value: "string": .*must be of type integer/,
  },
  {
    why: "a root that is no object",
    schema: { type: "string" },
    message: /openAPIV3Schema\.type: Invalid value: "string": must be object at the root/,
  },
  {
    why: "additionalProperties beside properties",
    schema: {
      type: "object",
      properties: { spec: { type: "object", properties: { a: text }, additionalProperties: text } },
    },
    message: /additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive/,
  },
  {
    why: "a pattern that is no regular expression",
    schema: {
      type: "object",
      properties: { spec: { type: "object", properties: { a: { type: "string", pattern: "(" } } } },
    },
    message: /pattern/,
  },
  {
    why: "a rule that does not compile",
    schema: {
      type: "object",
      properties: {
        spec: { type: "object", "x-kubernetes-validations": [{ rule: "self.nothing == 1" }], properties: {} },
      },
    },
    message: /x-kubernetes-validations\[0\]\.rule: Invalid value: .*undefined field 'nothing'/s,
  },
  {
    why: "a map list without keys",
    schema: {
      type: "object",
      properties: {
        spec: {
          type: "array",
          "x-kubernetes-list-type": "map",
          items: { type: "object", properties: { name: { type: "string" } } },
        },
      },
    },
    message: /x-kubernetes-list-map-keys/,
  },
];

/** Structural schemas: which definitions are accepted, and which objects. */
export const crdValidation: BehaviourGroup = {
  name: "custom resource validation",
  behaviours: [
    ...refusedSpecs.map(({ why, spec, field, message }) =>
      behaviour(`${why} is refused`, async (world) => {
        const expected = { status: 422, code: "Invalid", message, ...(field !== undefined && { fields: [field] }) };
        await refused(makeWidget(world, { spec }), expected);
      }),
    ),
    behaviour("an object that keeps all rules is accepted as it is", async (world) => {
      const spec = {
        owner: "team",
        replicas: 10,
        size: "large",
        ratio: 1.5,
        enabled: false,
        note: null,
        port: "http",
        startAt: "2026-01-02T03:04:05Z",
        tags: ["x", "y"],
        rules: [{ name: "r", weight: 1 }],
        settings: { key: "value" },
        nested: { level: 1 },
        choice: { a: "1" },
      };
      assert.deepEqual((await makeWidget(world, { spec })).spec, spec);
    }),
    behaviour("several mistakes are reported together", async (world) => {
      const call = makeWidget(world, { spec: { replicas: 11, size: "medium" } });
      await refused(call, {
        status: 422,
        code: "Invalid",
        fields: ["spec.replicas", "spec.size"],
        message: /^Widget\.[^ ]+ "a" is invalid: \[spec\./,
      });
    }),
    behaviour("an update is validated like a create and changes nothing when refused", async (world) => {
      const made = await makeWidget(world);
      const type = await widgets(world);
      const ref = { namespace: made.metadata.namespace ?? "", name: "a" };
      const patch = { type: "merge", body: { spec: { replicas: 99 } } } as const;
      await refused(world.kube.patch(type, ref, patch), { status: 422, code: "Invalid", fields: ["spec.replicas"] });
      assert.deepEqual(await world.kube.get(type, ref), made);
    }),
    behaviour("metadata of a custom resource is checked by the server itself", async (world) => {
      const type = await widgets(world);
      const draft = await widgetDraft(world, { name: "Upper" });
      await refused(world.kube.create(type, draft), { status: 422, code: "Invalid", fields: ["metadata.name"] });
    }),
    ...refusedDefinitions.map(({ why, schema, message }) =>
      behaviour(`a definition with ${why} is refused`, async (world) => {
        const { manifest } = kindManifest(world.group(), { schema });
        await refused(world.kube.create(customResourceDefinitions, manifest), {
          status: 422,
          code: "Invalid",
          message,
        });
      }),
    ),
    behaviour("a definition must be named after its plural and group", async (world) => {
      const { manifest } = kindManifest(world.group(), { schema: { type: "object" } });
      const misnamed = { ...manifest, metadata: { name: `other.${world.group()}` } };
      await refused(world.kube.create(customResourceDefinitions, misnamed), {
        status: 422,
        code: "Invalid",
        fields: ["metadata.name"],
        message: /must be spec\.names\.plural\+"\."\+spec\.group/,
      });
    }),
    behaviour("a definition has exactly one storage version", async (world) => {
      const { manifest } = kindManifest(world.group(), { schema: { type: "object" }, version: { storage: false } });
      await refused(world.kube.create(customResourceDefinitions, manifest), {
        status: 422,
        code: "Invalid",
        message: /spec\.versions: Invalid value/,
      });
    }),
    behaviour("a definition is established and says what it accepted", async (world) => {
      const type = await widgets(world);
      const definition = await world.kube.get(customResourceDefinitions, { name: `${type.plural}.${type.group}` });
      assert.deepEqual(at(definition, "status", "acceptedNames"), {
        plural: "widgets",
        singular: "widget",
        kind: "Widget",
        listKind: "WidgetList",
        shortNames: ["wg"],
        categories: ["conformance"],
      });
      assert.deepEqual(at(definition, "status", "storedVersions"), ["v1"]);
      assert.deepEqual(at(definition, "spec", "conversion"), { strategy: "None" });
    }),
    behaviour("a deleted definition takes its objects along and is no longer served", async (world) => {
      const type = await world.defineKind({ schema: { type: "object" }, kind: "Gadget" });
      const namespace = await world.namespace();
      const draft = { apiVersion: `${type.group}/v1`, kind: type.kind, metadata: { namespace, name: "a" } };
      await world.kube.create(type, draft);
      const name = `${type.plural}.${type.group}`;
      await world.kube.delete(customResourceDefinitions, { name });
      await eventually("the definition to be gone", async () => {
        return (await isGone(world.kube.get(customResourceDefinitions, { name }))) || undefined;
      });
      await eventually("the kind to be unserved", async () => {
        const error = await world.kube.list(type, { namespace }).then(
          () => undefined,
          (reason: unknown) => reason,
        );
        return at(error, "code") === "NotServed" || undefined;
      });
    }),
    behaviour("a changed definition is in force soon", async (world) => {
      const field = (maximum: number) => ({
        type: "object",
        properties: { spec: { type: "object", properties: { n: { type: "integer", maximum } } } },
      });
      const type = await world.defineKind({ schema: field(1), kind: "Gauge" });
      const namespace = await world.namespace();
      const draft = (name: string) => ({
        apiVersion: `${type.group}/v1`,
        kind: type.kind,
        metadata: { namespace, name },
        spec: { n: 5 },
      });
      await refused(world.kube.create(type, draft("a")), { status: 422, code: "Invalid" });
      const name = `${type.plural}.${type.group}`;
      const body = [{ op: "replace", path: "/spec/versions/0/schema/openAPIV3Schema", value: field(9) }];
      await world.kube.patch(customResourceDefinitions, { name }, { type: "json", body });
      await eventually("the new maximum to hold", async () => {
        return world.kube.create(type, draft("a")).catch((error: unknown) => {
          if (at(error, "code") === "Invalid") return undefined;
          throw error;
        });
      });
    }),
    behaviour("every served version shows the same objects under its own apiVersion", async (world) => {
      const version = (name: string, storage: boolean) => ({
        name,
        served: true,
        storage,
        schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
      });
      const group = world.group();
      const { manifest, type } = kindManifest(group, { schema: { type: "object" }, kind: "Gizmo" });
      const versions = [version("v1", true), version("v1beta1", false)];
      const twice = { ...manifest, spec: { ...(manifest.spec as object), versions } };
      world.removeAtEnd(customResourceDefinitions, manifest.metadata.name);
      await world.kube.create(customResourceDefinitions, twice);
      await world.untilServed(type);
      const namespace = await world.namespace();
      const older = { ...type, version: "v1beta1" };
      const draft = {
        apiVersion: `${group}/v1beta1`,
        kind: "Gizmo",
        metadata: { namespace, name: "a" },
        spec: { x: 1 },
      };
      await world.kube.create(older, draft);
      const read = await world.kube.get(type, { namespace, name: "a" });
      assert.equal(read.apiVersion, `${group}/v1`);
      assert.deepEqual(read.spec, { x: 1 });
    }),
    behaviour("a cluster-scoped kind has no namespace", async (world) => {
      const type = await world.defineKind({ schema: { type: "object" }, kind: "Realm", scope: "Cluster" });
      const name = world.unique("realm");
      const made = await world.kube.create(type, {
        apiVersion: `${type.group}/v1`,
        kind: type.kind,
        metadata: { name },
      });
      assert.equal(made.metadata.namespace, undefined);
      const answer = await world.wire.get(`/apis/${type.group}/v1/namespaces/default/${type.plural}`);
      assert.equal(answer.status, 404);
    }),
  ],
};
