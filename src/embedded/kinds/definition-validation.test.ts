import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../base/properties.fixture.ts";
import type { KubeObject } from "../../kube/objects.ts";
import type { Json, JsonObject } from "../json.ts";
import { definitionStrategy } from "./custom-resource-definition.ts";

interface Attempt {
  readonly name?: string;
  readonly schema?: Json;
  readonly spec?: JsonObject;
}

function crd({ name = "gizmos.h2.example.com", schema = { type: "object" }, spec = {} }: Attempt): KubeObject {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name },
    spec: {
      group: "h2.example.com",
      scope: "Namespaced",
      names: { plural: "gizmos", kind: "Gizmo" },
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema } }],
      ...spec,
    },
  };
}

function prepared(object: KubeObject): KubeObject {
  const defaulted = definitionStrategy.applyDefaults?.(object) ?? object;
  return definitionStrategy.prepareCreate?.(defaulted) ?? defaulted;
}

const LABEL =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";

/** Long parts that recur are written short. */
const shorten = (line: string): string =>
  line
    .replaceAll("spec.validation.openAPIV3Schema", "SCHEMA")
    .replaceAll(LABEL, "LABEL")
    .replace(/"Schema":null.*?null\}/g, "…}")
    .replaceAll(/Invalid value: \{"Rule":.*?"OptionalOldSelf":null\}/g, "Invalid value: RULE");

const refusals = (attempt: Attempt): readonly string[] =>
  (definitionStrategy.validateCreate?.(prepared(crd(attempt))) ?? []).map((error) =>
    shorten(`${error.field}: ${error.message}`),
  );

/** [reason, the CRD, what Kubernetes 1.36 said to it] */
const ANSWERS: readonly (readonly [string, Attempt, readonly string[]])[] = [
  [
    "badname",
    { name: "x.h2.example.com" },
    ['metadata.name: Invalid value: "x.h2.example.com": must be spec.names.plural+"."+spec.group'],
  ],
  [
    "nogroup",
    { spec: { group: "" } },
    [
      'metadata.name: Invalid value: "gizmos.h2.example.com": must be spec.names.plural+"."+spec.group',
      "spec.group: Required value",
    ],
  ],
  [
    "group1",
    { spec: { group: "x" } },
    [
      'metadata.name: Invalid value: "gizmos.h2.example.com": must be spec.names.plural+"."+spec.group',
      'spec.group: Invalid value: "x": should be a domain with at least one dot',
    ],
  ],
  [
    "scope",
    { spec: { scope: "X" } },
    ['spec.scope: Unsupported value: "X": supported values: "Cluster", "Namespaced"'],
  ],
  ["noscope", { spec: { scope: "" } }, ["spec.scope: Required value"]],
  [
    "noversions",
    { spec: { versions: [] } },
    [
      "spec.versions: Invalid value: []: must have exactly one version marked as storage version",
      "status.storedVersions: Invalid value: null: must have at least one stored version",
    ],
  ],
  [
    "nostorage",
    {
      spec: {
        versions: [{ name: "v1", served: true, storage: false, schema: { openAPIV3Schema: { type: "object" } } }],
      },
    },
    [
      'spec.versions: Invalid value: [{"Name":"v1","Served":true,"Storage":false,"Deprecated":false,"DeprecationWarning":null,…}]: must have exactly one version marked as storage version',
      "status.storedVersions: Invalid value: null: must have at least one stored version",
    ],
  ],
  [
    "dupver",
    {
      spec: {
        versions: [
          { name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } },
          { name: "v1", served: true, storage: false, schema: { openAPIV3Schema: { type: "object" } } },
        ],
      },
    },
    [
      'spec.versions: Invalid value: [{"Name":"v1","Served":true,"Storage":true,"Deprecated":false,"DeprecationWarning":null,…},{"Name":"v1","Served":true,"Storage":false,"Deprecated":false,"DeprecationWarning":null,…}]: must contain unique version names',
    ],
  ],
  [
    "badver",
    {
      spec: {
        versions: [{ name: "V_1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
      },
    },
    ['spec.versions[0].name: Invalid value: "V_1": LABEL', 'spec.version: Invalid value: "V_1": LABEL'],
  ],
  [
    "noschema",
    { spec: { versions: [{ name: "v1", served: true, storage: true }] } },
    ["spec.versions[0].schema.openAPIV3Schema: Required value"],
  ],
  [
    "nonames",
    { spec: { names: {} } },
    [
      'metadata.name: Invalid value: "gizmos.h2.example.com": must be spec.names.plural+"."+spec.group',
      "spec.names.plural: Required value",
      "spec.names.singular: Required value",
      "spec.names.kind: Required value",
      "spec.names.listKind: Required value",
    ],
  ],
  [
    "badkind",
    { spec: { names: { plural: "gizmos", kind: "Giz mo" } } },
    [
      'spec.names.singular: Invalid value: "giz mo": LABEL',
      'spec.names.kind: Invalid value: "Giz mo": may have mixed case, but should otherwise match: LABEL',
      'spec.names.listKind: Invalid value: "Giz moList": may have mixed case, but should otherwise match: LABEL',
    ],
  ],
  [
    "listkind",
    { spec: { names: { plural: "gizmos", kind: "Gizmo", listKind: "Gizmo" } } },
    ['spec.names.listKind: Invalid value: "Gizmo": kind and listKind may not be the same'],
  ],
  [
    "short",
    { spec: { names: { plural: "gizmos", kind: "Gizmo", shortNames: ["A_"] } } },
    ['spec.names.shortNames[0]: Invalid value: "A_": LABEL'],
  ],
  [
    "puf",
    { spec: { preserveUnknownFields: true } },
    [
      "spec.preserveUnknownFields: Invalid value: true: cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead",
    ],
  ],
  [
    "conv2",
    { spec: { conversion: { strategy: "X" } } },
    ['spec.conversion.strategy: Unsupported value: "X": supported values: "None", "Webhook"'],
  ],
  [
    "notype",
    { schema: { type: "object", properties: { spec: {} } } },
    ["SCHEMA.properties[spec].type: Required value: must not be empty for specified object fields"],
  ],
  ["rootstr", { schema: { type: "string" } }, ['SCHEMA.type: Invalid value: "string": must be object at the root']],
  [
    "arr",
    { schema: { type: "object", properties: { spec: { type: "array" } } } },
    ["SCHEMA.properties[spec].items: Required value: must be specified"],
  ],
  [
    "arritem",
    { schema: { type: "object", properties: { spec: { type: "array", items: {} } } } },
    ["SCHEMA.properties[spec].items.type: Required value: must not be empty for specified array items"],
  ],
  [
    "badtype",
    { schema: { type: "object", properties: { spec: { type: "foo" } } } },
    [
      'SCHEMA.properties[spec].type: Unsupported value: "foo": supported values: "array", "boolean", "integer", "number", "object", "string"',
    ],
  ],
  [
    "ref",
    { schema: { type: "object", properties: { spec: { $ref: "#/x" } } } },
    ["SCHEMA.properties[spec].$ref: Forbidden: $ref is not supported"],
  ],
  [
    "uniq",
    {
      schema: { type: "object", properties: { spec: { type: "array", uniqueItems: true, items: { type: "string" } } } },
    },
    [
      "SCHEMA.properties[spec].uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic",
    ],
  ],
  [
    "addl",
    {
      schema: {
        type: "object",
        properties: {
          spec: { type: "object", properties: { a: { type: "string" } }, additionalProperties: { type: "string" } },
        },
      },
    },
    [
      "SCHEMA.properties[spec].additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive",
    ],
  ],
  [
    "nestedtype",
    {
      schema: {
        type: "object",
        properties: {
          spec: {
            type: "object",
            properties: { a: { type: "string" } },
            anyOf: [{ properties: { a: { type: "string" } } }],
          },
        },
      },
    },
    ["SCHEMA.properties[spec].anyOf[0].properties[a].type: Forbidden: must be empty to be structural"],
  ],
  [
    "nestedunk",
    {
      schema: {
        type: "object",
        properties: {
          spec: {
            type: "object",
            properties: { a: { type: "string" } },
            anyOf: [{ properties: { b: { minLength: 1 } } }],
          },
        },
      },
    },
    [],
  ],
  [
    "nesteddesc",
    {
      schema: {
        type: "object",
        properties: {
          spec: {
            type: "object",
            properties: { a: { type: "string" } },
            allOf: [{ description: "x", properties: { a: { default: "x", nullable: true } } }],
          },
        },
      },
    },
    [
      "SCHEMA.properties[spec].allOf[0].description: Forbidden: must be empty to be structural",
      "SCHEMA.properties[spec].allOf[0].properties[a].default: Forbidden: must be undefined to be structural",
      "SCHEMA.properties[spec].allOf[0].properties[a].nullable: Forbidden: must be false to be structural",
    ],
  ],
  [
    "meta",
    {
      schema: {
        type: "object",
        properties: { metadata: { type: "object", properties: { labels: { type: "object" } } } },
      },
    },
    [
      "SCHEMA.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified",
    ],
  ],
  [
    "metaok",
    {
      schema: {
        type: "object",
        properties: { metadata: { type: "object", properties: { name: { type: "string", pattern: "^a" } } } },
      },
    },
    [],
  ],
  [
    "defbad",
    {
      schema: {
        type: "object",
        properties: { spec: { type: "object", properties: { a: { type: "string", default: 1 } } } },
      },
    },
    [
      'SCHEMA.properties[spec].properties[a].default: Invalid value: "integer":  in body must be of type string: "integer"',
    ],
  ],
  [
    "defprune",
    {
      schema: {
        type: "object",
        properties: {
          spec: {
            type: "object",
            properties: { a: { type: "object", properties: { b: { type: "string" } }, default: { c: 1 } } },
          },
        },
      },
    },
    ['SCHEMA.properties[spec].properties[a].default: Invalid value: {"c":1}: must not have unknown fields'],
  ],
  [
    "defroot",
    { schema: { type: "object", default: {} } },
    ["SCHEMA.default.apiVersion: Required value", "SCHEMA.default.kind: Required value"],
  ],
  [
    "patbad",
    { schema: { type: "object", properties: { spec: { type: "string", pattern: "(" } } } },
    [
      'SCHEMA.properties[spec].pattern: Invalid value: "(": must be a valid regular expression, but isn\'t: error parsing regexp: missing closing ): `(`',
    ],
  ],
  [
    "pufalse",
    {
      schema: {
        type: "object",
        properties: { spec: { type: "object", "x-kubernetes-preserve-unknown-fields": false } },
      },
    },
    ["SCHEMA.properties[spec].x-kubernetes-preserve-unknown-fields: Invalid value: false: must be true or undefined"],
  ],
  [
    "listtype",
    {
      schema: {
        type: "object",
        properties: { spec: { type: "array", "x-kubernetes-list-type": "foo", items: { type: "string" } } },
      },
    },
    [
      'SCHEMA.properties[spec].x-kubernetes-list-type: Unsupported value: "foo": supported values: "atomic", "set", "map"',
    ],
  ],
  [
    "listmap",
    {
      schema: {
        type: "object",
        properties: { spec: { type: "array", "x-kubernetes-list-type": "map", items: { type: "object" } } },
      },
    },
    [
      "SCHEMA.properties[spec].x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map",
    ],
  ],
  [
    "mapkey",
    {
      schema: {
        type: "object",
        properties: {
          spec: {
            type: "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["a", "b"],
            items: { type: "object", properties: { a: { type: "string" } } },
          },
        },
      },
    },
    [
      'SCHEMA.properties[spec].x-kubernetes-list-map-keys: Invalid value: ["a","b"]: entries must all be names of item properties',
      "SCHEMA.properties[spec].items.properties[a].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property",
    ],
  ],
  [
    "setobj",
    {
      schema: {
        type: "object",
        properties: { spec: { type: "array", "x-kubernetes-list-type": "set", items: { type: "object" } } },
      },
    },
    [
      "SCHEMA.properties[spec].items.x-kubernetes-map-type: Invalid value: null: must be atomic as item of a list with x-kubernetes-list-type=set",
    ],
  ],
  [
    "emb",
    { schema: { type: "object", properties: { spec: { type: "object", "x-kubernetes-embedded-resource": true } } } },
    [
      "SCHEMA.properties[spec].properties: Required value: must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields",
    ],
  ],
  [
    "col",
    {
      spec: {
        versions: [
          {
            name: "v1",
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: "object" } },
            additionalPrinterColumns: [{ name: "", type: "foo", jsonPath: "x", format: "zz" }],
          },
        ],
      },
    },
    [
      "spec.additionalPrinterColumns[0].name: Required value",
      'spec.additionalPrinterColumns[0].type: Invalid value: "foo": must be one of boolean,date,integer,number,string',
      'spec.additionalPrinterColumns[0].format: Invalid value: "zz": must be one of byte,date,date-time,double,float,int32,int64,password',
      'spec.additionalPrinterColumns[0].JSONPath: Invalid value: "x": must be a simple json path starting with .',
    ],
  ],
  [
    "sel",
    {
      spec: {
        versions: [
          {
            name: "v1",
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: "object" } },
            selectableFields: [{ jsonPath: ".spec.x" }],
          },
        ],
      },
    },
    [
      'spec.selectableFields[0].jsonPath: Invalid value: ".spec.x": is an invalid path: does not refer to a valid field',
    ],
  ],
  [
    "scale",
    {
      spec: {
        versions: [
          {
            name: "v1",
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: "object" } },
            subresources: { scale: { specReplicasPath: ".x", statusReplicasPath: "" } },
          },
        ],
      },
    },
    [
      'spec.subresources.scale.specReplicasPath: Invalid value: ".x": should be a json path under .spec',
      "spec.subresources.scale.statusReplicasPath: Required value",
    ],
  ],
  [
    "cel undef",
    {
      schema: {
        type: "object",
        properties: {
          spec: {
            type: "object",
            properties: {
              a: { type: "string", maxLength: 9 },
              n: { type: "integer" },
              l: { type: "array", maxItems: 3, items: { type: "string", maxLength: 4 } },
            },
            "x-kubernetes-validations": [{ rule: "self.b == 'x'" }],
          },
        },
      },
    },
    [
      "SCHEMA.properties[spec].x-kubernetes-validations[0].rule: Invalid value: RULE: compilation failed: ERROR: <input>:1:5: undefined field 'b'\n | self.b == 'x'\n | ....^",
    ],
  ],
  [
    "cel type",
    {
      schema: {
        type: "object",
        properties: {
          spec: {
            type: "object",
            properties: {
              a: { type: "string", maxLength: 9 },
              n: { type: "integer" },
              l: { type: "array", maxItems: 3, items: { type: "string", maxLength: 4 } },
            },
            "x-kubernetes-validations": [{ rule: "self.a + 1 == 'x'" }],
          },
        },
      },
    },
    [
      "SCHEMA.properties[spec].x-kubernetes-validations[0].rule: Invalid value: RULE: compilation failed: ERROR: <input>:1:8: found no matching overload for '_+_' applied to '(string, int)'\n | self.a + 1 == 'x'\n | .......^",
    ],
  ],
  [
    "cel nonbool",
    {
      schema: {
        type: "object",
        properties: {
          spec: {
            type: "object",
            properties: {
              a: { type: "string", maxLength: 9 },
              n: { type: "integer" },
              l: { type: "array", maxItems: 3, items: { type: "string", maxLength: 4 } },
            },
            "x-kubernetes-validations": [{ rule: "self.a" }],
          },
        },
      },
    },
    [
      "SCHEMA.properties[spec].x-kubernetes-validations[0].rule: Invalid value: RULE: cel expression must evaluate to a bool",
    ],
  ],
  [
    "cel fn",
    {
      schema: {
        type: "object",
        properties: {
          spec: {
            type: "object",
            properties: {
              a: { type: "string", maxLength: 9 },
              n: { type: "integer" },
              l: { type: "array", maxItems: 3, items: { type: "string", maxLength: 4 } },
            },
            "x-kubernetes-validations": [{ rule: "self.a.foo()" }],
          },
        },
      },
    },
    [
      "SCHEMA.properties[spec].x-kubernetes-validations[0].rule: Invalid value: RULE: compilation failed: ERROR: <input>:1:11: undeclared reference to 'foo' (in container '')\n | self.a.foo()\n | ..........^",
    ],
  ],
  [
    "cel fn2",
    {
      schema: {
        type: "object",
        properties: {
          spec: {
            type: "object",
            properties: {
              a: { type: "string", maxLength: 9 },
              n: { type: "integer" },
              l: { type: "array", maxItems: 3, items: { type: "string", maxLength: 4 } },
            },
            "x-kubernetes-validations": [{ rule: "foo(self.a)" }],
          },
        },
      },
    },
    [
      "SCHEMA.properties[spec].x-kubernetes-validations[0].rule: Invalid value: RULE: compilation failed: ERROR: <input>:1:4: undeclared reference to 'foo' (in container '')\n | foo(self.a)\n | ...^",
    ],
  ],
  [
    "cel var",
    {
      schema: {
        type: "object",
        properties: {
          spec: {
            type: "object",
            properties: {
              a: { type: "string", maxLength: 9 },
              n: { type: "integer" },
              l: { type: "array", maxItems: 3, items: { type: "string", maxLength: 4 } },
            },
            "x-kubernetes-validations": [{ rule: "foo == 1" }],
          },
        },
      },
    },
    [
      "SCHEMA.properties[spec].x-kubernetes-validations[0].rule: Invalid value: RULE: compilation failed: ERROR: <input>:1:1: undeclared reference to 'foo' (in container '')\n | foo == 1\n | ^",
    ],
  ],
  [
    "cel overload",
    {
      schema: {
        type: "object",
        properties: {
          spec: {
            type: "object",
            properties: {
              a: { type: "string", maxLength: 9 },
              n: { type: "integer" },
              l: { type: "array", maxItems: 3, items: { type: "string", maxLength: 4 } },
            },
            "x-kubernetes-validations": [{ rule: "self.a == self.n" }],
          },
        },
      },
    },
    [
      "SCHEMA.properties[spec].x-kubernetes-validations[0].rule: Invalid value: RULE: compilation failed: ERROR: <input>:1:8: found no matching overload for '_==_' applied to '(string, int)'\n | self.a == self.n\n | .......^",
    ],
  ],
  [
    "cel has",
    {
      schema: {
        type: "object",
        properties: {
          spec: {
            type: "object",
            properties: {
              a: { type: "string", maxLength: 9 },
              n: { type: "integer" },
              l: { type: "array", maxItems: 3, items: { type: "string", maxLength: 4 } },
            },
            "x-kubernetes-validations": [{ rule: "has(self.zz)" }],
          },
        },
      },
    },
    [
      "SCHEMA.properties[spec].x-kubernetes-validations[0].rule: Invalid value: RULE: compilation failed: ERROR: <input>:1:4: undefined field 'zz'\n | has(self.zz)\n | ...^",
    ],
  ],
  [
    "cel empty",
    {
      schema: {
        type: "object",
        properties: {
          spec: {
            type: "object",
            properties: {
              a: { type: "string", maxLength: 9 },
              n: { type: "integer" },
              l: { type: "array", maxItems: 3, items: { type: "string", maxLength: 4 } },
            },
            "x-kubernetes-validations": [{ rule: "" }],
          },
        },
      },
    },
    ["SCHEMA.properties[spec].x-kubernetes-validations[0].rule: Required value: rule is not specified"],
  ],
  [
    "cel reason",
    {
      schema: {
        type: "object",
        properties: {
          spec: {
            type: "object",
            properties: {
              a: { type: "string", maxLength: 9 },
              n: { type: "integer" },
              l: { type: "array", maxItems: 3, items: { type: "string", maxLength: 4 } },
            },
            "x-kubernetes-validations": [{ rule: "true", reason: "X" }],
          },
        },
      },
    },
    [
      'SCHEMA.properties[spec].x-kubernetes-validations[0].reason: Unsupported value: "X": supported values: "FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"',
    ],
  ],
  [
    "cel fp",
    {
      schema: {
        type: "object",
        properties: {
          spec: {
            type: "object",
            properties: {
              a: { type: "string", maxLength: 9 },
              n: { type: "integer" },
              l: { type: "array", maxItems: 3, items: { type: "string", maxLength: 4 } },
            },
            "x-kubernetes-validations": [{ rule: "true", fieldPath: ".zz" }],
          },
        },
      },
    },
    ['SCHEMA.properties[spec].x-kubernetes-validations[0].fieldPath: Invalid value: ".zz": must be a valid path'],
  ],
  [
    "cel me",
    {
      schema: {
        type: "object",
        properties: {
          spec: {
            type: "object",
            properties: {
              a: { type: "string", maxLength: 9 },
              n: { type: "integer" },
              l: { type: "array", maxItems: 3, items: { type: "string", maxLength: 4 } },
            },
            "x-kubernetes-validations": [{ rule: "true", messageExpression: "1" }],
          },
        },
      },
    },
    [
      "SCHEMA.properties[spec].x-kubernetes-validations[0].messageExpression: Invalid value: RULE: messageExpression must evaluate to a string",
    ],
  ],
  [
    "cel me2",
    {
      schema: {
        type: "object",
        properties: {
          spec: {
            type: "object",
            properties: {
              a: { type: "string", maxLength: 9 },
              n: { type: "integer" },
              l: { type: "array", maxItems: 3, items: { type: "string", maxLength: 4 } },
            },
            "x-kubernetes-validations": [{ rule: "true", messageExpression: "self.q" }],
          },
        },
      },
    },
    [
      "SCHEMA.properties[spec].x-kubernetes-validations[0].messageExpression: Invalid value: RULE: messageExpression compilation failed: ERROR: <input>:1:5: undefined field 'q'\n | self.q\n | ....^",
    ],
  ],
  [
    "cel msg",
    {
      schema: {
        type: "object",
        properties: {
          spec: {
            type: "object",
            properties: {
              a: { type: "string", maxLength: 9 },
              n: { type: "integer" },
              l: { type: "array", maxItems: 3, items: { type: "string", maxLength: 4 } },
            },
            "x-kubernetes-validations": [{ rule: "true", message: "a\nb" }],
          },
        },
      },
    },
    [
      'SCHEMA.properties[spec].x-kubernetes-validations[0].message: Invalid value: "a\\nb": must not contain line breaks',
    ],
  ],
  [
    "cel ool",
    {
      schema: {
        type: "object",
        properties: {
          spec: {
            type: "object",
            properties: {
              a: { type: "string", maxLength: 9 },
              n: { type: "integer" },
              l: { type: "array", maxItems: 3, items: { type: "string", maxLength: 4 } },
            },
            "x-kubernetes-validations": [{ rule: "true", optionalOldSelf: true }],
          },
        },
      },
    },
    [
      "SCHEMA.properties[spec].x-kubernetes-validations[0].optionalOldSelf: Invalid value: true: may not be set if oldSelf is not used in rule",
    ],
  ],
  [
    "cel uncorr",
    {
      schema: {
        type: "object",
        properties: {
          spec: {
            type: "array",
            maxItems: 3,
            items: { type: "string", maxLength: 3, "x-kubernetes-validations": [{ rule: "self == oldSelf" }] },
          },
        },
      },
    },
    [
      'SCHEMA.properties[spec].items.x-kubernetes-validations[0].rule: Invalid value: "self == oldSelf": oldSelf cannot be used on the uncorrelatable portion of the schema within SCHEMA.properties[spec]',
    ],
  ],
  [
    "cel nl",
    {
      schema: {
        type: "object",
        properties: {
          spec: {
            type: "object",
            properties: {
              a: { type: "string", maxLength: 9 },
              n: { type: "integer" },
              l: { type: "array", maxItems: 3, items: { type: "string", maxLength: 4 } },
            },
            "x-kubernetes-validations": [{ rule: "true &&\ntrue" }],
          },
        },
      },
    },
    [
      "SCHEMA.properties[spec].x-kubernetes-validations[0].message: Required value: message must be specified if rule contains line breaks",
    ],
  ],
  [
    "twover",
    {
      spec: {
        versions: [
          { name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } },
          { name: "v2", served: true, storage: false, schema: { openAPIV3Schema: { type: "object" } } },
        ],
      },
    },
    [],
  ],
  [
    "depr",
    {
      spec: {
        versions: [
          {
            name: "v1",
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: "object" } },
            deprecationWarning: "x",
          },
        ],
      },
    },
    ['spec.versions[0].deprecationWarning: Invalid value: "x": can only be set for deprecated versions'],
  ],
  [
    "k8sgroup",
    { name: "gizmos.h2.k8s.io", spec: { group: "h2.k8s.io" } },
    [
      'metadata.annotations[api-approved.kubernetes.io]: Required value: protected groups must have approval annotation "api-approved.kubernetes.io", see https://github.com/kubernetes/enhancements/pull/1111',
    ],
  ],
  [
    "nullroot",
    { schema: { type: "object", nullable: true } },
    ["SCHEMA.nullable: Forbidden: nullable cannot be true at the root"],
  ],
  [
    "rootadd",
    { schema: { type: "object", additionalProperties: { type: "string" } } },
    ["SCHEMA.additionalProperties: Forbidden: must not be used at the root"],
  ],
  ["unkn", { schema: { type: "object", properties: { spec: { type: "object", foo: 1 } } } }, []],
];

test("definitions are refused in the words of the real server", () => {
  for (const [reason, attempt, expected] of ANSWERS)
    assert.deepEqual(refusals(attempt).toSorted(), expected.toSorted(), reason);
});

/** What this server refuses although a real one takes it, by name, so that nobody looks for a mistake of their own. */
const UNSUPPORTED: readonly (readonly [string, Attempt, RegExp])[] = [
  [
    "conversion webhooks",
    { spec: { conversion: { strategy: "Webhook" } } },
    /conversion webhooks are not supported by the embedded API server/,
  ],
  [
    "comprehensions with two variables",
    { schema: withRule("self.l.all(i, v, i < 5 && v != '')") },
    /'all' with two variables is not supported by the embedded API server/,
  ],
  [
    "semantic versions",
    { schema: withRule("isSemver(self.a)") },
    /the function 'isSemver' is not supported by the embedded API server/,
  ],
  [
    "columns with a path this server does not read",
    {
      spec: {
        versions: [
          {
            name: "v1",
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: "object" } },
            additionalPrinterColumns: [{ name: "x", type: "string", jsonPath: ".spec[(@.length-1)]" }],
          },
        ],
      },
    },
    /is not supported by the embedded API server/,
  ],
];

function withRule(rule: string): Json {
  const spec = {
    type: "object",
    properties: { a: { type: "string" }, l: { type: "array", items: { type: "string" } } },
    "x-kubernetes-validations": [{ rule }],
  };
  return { type: "object", properties: { spec } };
}

test("what is not supported is refused by name", () => {
  for (const [reason, attempt, expected] of UNSUPPORTED) assert.match(refusals(attempt).join("\n"), expected, reason);
});

test("a rule that does not parse is refused at its place", () => {
  assert.match(
    refusals({ schema: withRule("self.a ==") }).join("\n"),
    /compilation failed: ERROR: <input>:1:10: Syntax error/,
  );
});

test("defaults must pass the rules of their schema", () => {
  const schema = {
    type: "object",
    properties: {
      spec: {
        type: "object",
        properties: { n: { type: "integer", default: 3, "x-kubernetes-validations": [{ rule: "self < 3" }] } },
      },
    },
  };
  assert.deepEqual(refusals({ schema }), [
    "SCHEMA.properties[spec].properties[n].default: Invalid value: 3: failed rule: self < 3",
  ]);
});

test("different schemas are reported at their versions", () => {
  const version = (name: string, storage: boolean, schema: Json): Json => ({
    name,
    served: true,
    storage,
    schema: { openAPIV3Schema: schema },
  });
  const versions = [
    version("v1", true, { type: "object" }),
    version("v2", false, { type: "object", properties: { a: {} } }),
  ];
  assert.deepEqual(refusals({ spec: { versions } }), [
    "spec.versions[1].schema.openAPIV3Schema.properties[a].type: Required value: must not be empty for specified object fields",
  ]);
});

test("what objects hang on cannot change once the kind is established", () => {
  const status = { conditions: [{ type: "Established", status: "True" }], storedVersions: ["v1"] };
  const old = { ...prepared(crd({})), status };
  const changed = {
    ...prepared(
      crd({
        spec: {
          scope: "Cluster",
          names: { plural: "gizmos", kind: "Other", singular: "gizmo", listKind: "GizmoList" },
        },
      }),
    ),
    status,
  };
  const errors = definitionStrategy.validateUpdate?.(changed, old) ?? [];
  assert.deepEqual(
    errors.map((error) => `${error.field}: ${error.message}`),
    [
      'spec.scope: Invalid value: "Cluster": field is immutable',
      'spec.names.kind: Invalid value: "Other": field is immutable',
    ],
  );
});

test("a version that objects are stored in cannot be dropped", () => {
  const status = { storedVersions: ["v0", "v1"] };
  const errors = definitionStrategy.validateCreate?.({ ...prepared(crd({})), status }) ?? [];
  assert.match(
    errors.map((error) => `${error.field}: ${error.message}`).join(),
    /^status\.storedVersions\[0\]: Invalid value: "v0": missing from spec\.versions; v0 was/,
  );
});

const keyword = fc.constantFrom(
  ..."type properties items additionalProperties required enum default nullable pattern format anyOf oneOf allOf not minimum maxLength $ref".split(
    " ",
  ),
  "x-kubernetes-validations",
  "x-kubernetes-list-type",
  "x-kubernetes-list-map-keys",
  "x-kubernetes-int-or-string",
  "x-kubernetes-preserve-unknown-fields",
  "x-kubernetes-embedded-resource",
);
const scalar = fc.constantFrom<Json[]>(
  "object",
  "string",
  "array",
  "integer",
  "(",
  "self.a == 1",
  true,
  false,
  null,
  3,
  -1,
  "map",
  "set",
);
const hostileSchema = fc.letrec<{ node: Json; leaf: Json }>((tie) => ({
  leaf: scalar,
  node: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    tie("leaf"),
    fc.array(tie("node"), { maxLength: 3 }),
    fc.dictionary(keyword, tie("node"), { maxKeys: 5 }),
    fc.dictionary(fc.constantFrom("a", "metadata", "__proto__", "rule", "message"), tie("node"), { maxKeys: 3 }),
    fc.record({ type: scalar, properties: tie("node") }),
  ),
})).node;

test("no schema, however broken, makes validation throw", () => {
  fc.assert(
    fc.property(hostileSchema, (schema) => {
      const errors = definitionStrategy.validateCreate?.(prepared(crd({ schema }))) ?? [];
      assert.ok(errors.every((error) => typeof error.field === "string" && error.message !== ""));
    }),
    { numRuns: 1_000 },
  );
});

test("no spec, however broken, makes validation throw", () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.constantFrom("group", "names", "versions", "scope", "conversion"), hostileSchema),
      (spec) => {
        assert.ok(definitionStrategy.validateCreate?.(prepared(crd({ spec }))));
      },
    ),
    { numRuns: 500 },
  );
});
