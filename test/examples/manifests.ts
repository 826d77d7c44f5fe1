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

const pages = (): readonly string[] =>
  globSync(["docs/*.md", "docs/{migration,tutorials,explanation}/*.md", "README.md"], { cwd: folder }).sort();

/** Every whole manifest on a page. One without a name is a piece, which shows where something belongs. */
export const manifestsOnPages = (): readonly Manifest[] =>
  pages().flatMap((file) => {
    const { blocks } = readPage(readFileSync(join(folder, file), "utf8"));
    return blocks
      .filter(({ language, text }) => language === "yaml" && text.startsWith("apiVersion: "))
      .map(({ text, line }) => ({ place: `${file}:${line}`, objects: objectsIn(text) }))
      .filter(({ objects }) => objects.every(({ metadata }) => metadata?.name !== undefined));
  });

const objectsIn = (text: string): readonly KubeObject[] =>
  parseAllDocuments(text).map((document) => document.toJS() as KubeObject);
