import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import type { KubeObject } from "../../src/kube/objects.ts";
import { readPage } from "../docs/markdown.ts";

const folder = join(import.meta.dirname, "..", "..");

/** Manifests that people copy: where they stand, and the objects in them. */
export interface Manifest {
  readonly place: string;
  readonly objects: readonly KubeObject[];
}

export const exampleFiles = (): readonly string[] => globSync("examples/*.yaml", { cwd: folder }).sort();

/** The files of `examples/`. */
export const examples = (): readonly Manifest[] =>
  exampleFiles().map((file) => ({ place: file, objects: objectsIn(readFileSync(join(folder, file), "utf8")) }));

/** Pages whose whole manifests are meant to be applied as they stand; on others there are gaps to be filled in. */
const PAGES = ["bind.md", "migration/bindy.md", "security.md", "compliance.md", "runbook.md", "troubleshooting.md"];

export const manifestsOnPages = (): readonly Manifest[] =>
  PAGES.flatMap((name) => {
    const file = `docs/${name}`;
    const { blocks } = readPage(readFileSync(join(folder, file), "utf8"));
    return blocks
      .filter(({ language, text }) => language === "yaml" && text.startsWith("apiVersion: "))
      .map(({ text, line }) => ({ place: `${file}:${line}`, objects: objectsIn(text) }));
  });

const objectsIn = (text: string): readonly KubeObject[] =>
  parseAllDocuments(text).map((document) => document.toJS() as KubeObject);
