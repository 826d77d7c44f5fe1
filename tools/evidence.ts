import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./run.ts";

/** Writes what a `prove:*` run found to docs/evidence, with the commit it was run on. */
export function writeEvidence(name: string, figures: Readonly<Record<string, unknown>>): void {
  const evidence = { what: name, ...circumstances(), ...figures };
  mkdirSync(join(root, "docs", "evidence"), { recursive: true });
  writeFileSync(fileOf(name), `${JSON.stringify(evidence, null, 2)}\n`);
}

/** What an earlier run wrote, where there was one. */
export function readEvidence(name: string): Readonly<Record<string, unknown>> {
  return existsSync(fileOf(name)) ? (JSON.parse(readFileSync(fileOf(name), "utf8")) as Record<string, unknown>) : {};
}

/** Of what, and when. */
export function circumstances(): { readonly commit: string; readonly at: string; readonly node: string } {
  const git = (...words: string[]): string => execFileSync("git", words, { cwd: root, encoding: "utf8" }).trim();
  const isDirty = git("status", "--porcelain", "--", "src", "test", "tools") !== "";
  return {
    commit: git("rev-parse", "HEAD") + (isDirty ? " with uncommitted changes" : ""),
    at: new Date().toISOString(),
    node: process.version,
  };
}

const fileOf = (name: string): string => join(root, "docs", "evidence", `${name}.json`);
