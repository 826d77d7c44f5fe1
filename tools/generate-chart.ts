import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { chartFiles } from "./chart-files.ts";
import { root } from "./run.ts";

/** `npm run generate:chart`: writes `chart/files`. `test/install/chart-files.test.ts` fails while they are not what this would write. */
const folder = join(root, "chart", "files");
rmSync(folder, { recursive: true, force: true });
for (const [path, text] of chartFiles()) {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}
console.log(`${folder}: ${chartFiles().size} files`);
