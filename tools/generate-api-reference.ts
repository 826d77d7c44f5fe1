import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { customResources } from "../src/api/custom-resources.ts";
import { apiReference } from "./api-reference.ts";
import { root } from "./run.ts";

/** `npm run generate:api`: writes `docs/api.md`. `test/docs/api.test.ts` fails while it is not what this would write. */
const target = join(root, "docs", "api.md");
const text = apiReference(customResources);
writeFileSync(target, text);
console.log(`${target}: ${text.split("\n").length} lines`);
