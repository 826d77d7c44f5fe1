import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./run.ts";

/** Writes what a `prove:*` run found to docs/evidence, with the commit it was run on. */
export function writeEvidence(name: string, figures: Readonly<Record<string, unknown>>): void {
  const git = (...words: string[]): string => execFileSync("git", words, { cwd: root, encoding: "utf8" }).trim();
  const isDirty = git("status", "--porcelain", "--", "src", "test", "tools") !== "";
  const evidence = {
    what: name,
    commit: git("rev-parse", "HEAD") + (isDirty ? " with uncommitted changes" : ""),
    at: new Date().toISOString(),
    node: process.version,
    ...figures,
  };
  mkdirSync(join(root, "docs", "evidence"), { recursive: true });
  writeFileSync(join(root, "docs", "evidence", `${name}.json`), `${JSON.stringify(evidence, null, 2)}\n`);
}
