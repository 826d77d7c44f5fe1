import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { customResources } from "../../src/api/custom-resources.ts";
import { commands } from "../../src/cli/commands.ts";
import { root } from "../run.ts";
import { apiReference } from "./api-reference.ts";
import { cliReference } from "./cli-reference.ts";
import { errorRules, type SourceFile } from "./error-rules.ts";
import { errorsReference } from "./errors-reference.ts";
import { everyMetric } from "./every-metric.ts";
import { metricsReference } from "./metrics-reference.ts";
import { namesReference } from "./names-reference.ts";

/** A page that is made, whole or in part. */
export interface GeneratedPage {
  /** From the root of the checkout. */
  readonly file: string;
  make(): string;
}

/** Production code alone: tests make errors of their own. */
export const sourceFiles = (): readonly SourceFile[] =>
  globSync("src/**/*.ts", { cwd: root })
    .filter((path) => !/\.(test|fixture)\.ts$/.test(path))
    .sort()
    .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));

/** What `npm run generate:reference` writes, and a test compares with what is there. */
export const generatedPages: readonly GeneratedPage[] = [
  { file: "docs/api.md", make: () => apiReference(customResources) },
  { file: "docs/reference/cli.md", make: () => cliReference(commands) },
  { file: "docs/reference/metrics.md", make: () => metricsReference(everyMetric()) },
  { file: "docs/reference/annotations.md", make: namesReference },
  {
    file: "docs/errors.md",
    make: () => errorsReference(readFileSync(join(root, "docs", "errors.md"), "utf8"), errorRules(sourceFiles())),
  },
];
