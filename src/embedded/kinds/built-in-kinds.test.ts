import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { ManualClock } from "../../base/manual-clock.ts";
import { seededRandom } from "../../base/random.ts";
import type { Json, JsonObject } from "../json.ts";
import { Operations } from "../operations.ts";
import { Registry } from "../registry.ts";
import { StatusError } from "../status-error.ts";
import { Store } from "../store.ts";
import { builtInDefinitions } from "./built-in-definitions.ts";
import { type RecordedCase, recordedCases } from "./recorded/cases.ts";
import { comparable } from "./recorded/comparable.ts";

interface Recording {
  readonly answers: Record<string, { status: number; body: Json }>;
  readonly kinds: Record<string, { resource: JsonObject; columns: readonly JsonObject[] }>;
}

const { answers, kinds }: Recording = JSON.parse(
  readFileSync(new URL("./recorded/answers.generated.json", import.meta.url), "utf8"),
);

const context = { fieldManager: "test", fieldValidation: "Ignore" } as const;
const definitions = builtInDefinitions();

function answerTo(one: RecordedCase): { status: number; body: Json } {
  const registry = new Registry(definitions);
  const objects = new Operations({ store: new Store(), clock: new ManualClock(), random: seededRandom(1) });
  const [group = "", version = "", plural = ""] = one.path.split("/");
  const namespaces = registry.find("", "v1", "namespaces");
  const definition = registry.find(group, version, plural);
  assert.ok(definition && namespaces, `${one.path} is served`);
  objects.create(namespaces, undefined, { metadata: { name: "default" } }, context);
  const namespace = definition.namespaced ? "default" : undefined;
  try {
    if (!one.given) {
      const { object } = objects.create(definition, namespace, one.body as Json, context);
      return { status: 201, body: comparable(object, { isPatched: one.given !== undefined }) };
    }
    const { name } = one.given.metadata;
    objects.create(definition, namespace, one.given as object as Json, context);
    const ref = namespace === undefined ? { name } : { namespace, name };
    const { object } = objects.patch(definition, ref, { type: "merge", body: one.body as Json }, context);
    return { status: 200, body: comparable(object, { isPatched: one.given !== undefined }) };
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    return {
      status: error.status,
      body: comparable(JSON.parse(JSON.stringify(error.toStatus())), { isPatched: false }),
    };
  }
}

for (const one of recordedCases) {
  const key = `${one.path}: ${one.reason}`;
  test(`${key} (as a real server answers)`, () => {
    assert.deepEqual(answerTo(one), answers[key], one.reason);
  });
}

for (const definition of definitions) {
  const path = `${definition.group}/${definition.version}/${definition.plural}`;
  test(`${path} is served as a real server serves it`, () => {
    const { singular, namespaced, kind, verbs, shortNames, categories } = definition;
    assert.deepEqual(
      {
        name: definition.plural,
        singularName: singular,
        namespaced,
        kind,
        verbs,
        ...(shortNames.length > 0 && { shortNames }),
        ...(categories.length > 0 && { categories }),
      },
      kinds[path]?.resource,
      "discovery",
    );
    const columns = definition.columns.map(({ name, type, format = "", priority = 0 }) => ({
      name,
      type,
      format,
      priority,
    }));
    assert.deepEqual(columns, kinds[path]?.columns, "columns");
  });
}
