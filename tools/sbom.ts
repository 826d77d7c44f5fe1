import { writeFile } from "node:fs/promises";
import { readSbom } from "./image/read-sbom.ts";

/** `npm run sbom [-- FILE]`: the packages that ship, as CycloneDX; printed where no file is named. */
const [file] = process.argv.slice(2);
const text = `${JSON.stringify(await readSbom(), undefined, 2)}\n`;
if (file === undefined) process.stdout.write(text);
else await writeFile(file, text);
