import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { generatedPages } from "./reference/pages.ts";
import { root } from "./run.ts";

/** `npm run generate:reference`: writes the pages that are made. `test/docs/reference.test.ts` fails while one is not current. */
for (const { file, make } of generatedPages) {
  const text = make();
  const target = join(root, file);
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, text);
  console.log(`${file}: ${text.split("\n").length} lines`);
}
