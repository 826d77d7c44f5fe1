#!/usr/bin/env node
import { nodeProblem } from "./base/node-version.ts";

/** What `keyturn` is: says which Node it needs before anything is loaded that an older one cannot take, and begins. */
const problem = nodeProblem(process.versions.node);
if (problem === undefined) await import("./main.ts");
else {
  process.stderr.write(`keyturn: ${problem}\n`);
  process.exitCode = 1;
}
