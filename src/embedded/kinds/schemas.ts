import { readFileSync } from "node:fs";
import type { Definitions, Schema } from "../schema/schema.ts";

/** The API server's own schemas of the built-in kinds, as `tools/generate-schemas.ts` wrote them. Read on first use. */
let loaded: Definitions | undefined;

export function builtInSchemas(): Definitions {
  loaded ??= JSON.parse(readFileSync(new URL("./schemas.generated.json", import.meta.url), "utf8")) as Definitions;
  return loaded;
}

export function builtInSchemaOf(type: { group: string; version: string; kind: string }): Schema {
  const schema = Object.values(builtInSchemas()).find((candidate) =>
    candidate["x-kubernetes-group-version-kind"]?.some(
      ({ group, version, kind }) => group === type.group && version === type.version && kind === type.kind,
    ),
  );
  if (!schema)
    throw new Error(`no schema for ${type.group}/${type.version} ${type.kind}: run tools/generate-schemas.ts`);
  return schema;
}
